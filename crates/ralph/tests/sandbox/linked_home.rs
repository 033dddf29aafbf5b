//! A home directory with links: dot files that lie in a repository of their own, and programs that lie elsewhere.

use crate::modes::without_namespaces;
use crate::place::{Done, HELD, Place, everybody};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

pub const ME: &str = "[user]\n\tname = Ada\n\temail = ada@example.org\n";
/// A commit as somebody who is known only to the user's own settings.
pub const COMMIT: &str = "echo work > done.txt; git add done.txt && git commit -q -m Work && echo commit-made; git log -1 --format=by-%an; ";

fn link(place: &Place, to: &str, at: &str) {
    let at = place.home().join(at);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(to, at).unwrap();
}

/// The repository has no user of its own.
pub fn forget_user(place: &Place) {
    for key in ["user.name", "user.email"] {
        place.scratch.git(&["-c", "safe.directory=*", "config", "--unset", key]);
    }
    place.give_away();
}

fn linked(place: &Place) {
    place.home_file("dotfiles/v2/gitconfig", ME);
    place.home_file("dotfiles/v2/nvim/init.lua", "nvim-settings\n");
    place.home_file("dotfiles/v2/private", "private-words\n");
    place.home_file("dotfiles/ssh/id", "key-words\n");
    place.home_file("keys/deploy", "key-words\n");
    let tool = place.home_file("tools/real/mytool", "#!/bin/sh\necho tool-ran\n");
    let app = place.home_file(
        "tools/app/bin/app",
        "#!/bin/sh\n. \"$(dirname \"$(readlink -f \"$0\")\")/../lib/words\"\n",
    );
    place.home_file("tools/app/lib/words", "echo app-ran\n");
    for program in [tool, app] {
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (to, at) in [
        ("v2", "dotfiles/current"),
        ("dotfiles/current/gitconfig", ".gitconfig"),
        ("../dotfiles/v2/nvim", ".config/nvim"),
        ("dotfiles/ssh", ".ssh"),
        ("../keys/deploy", ".aws/credentials"),
        ("../keys/deploy", "bin/key"),
        ("../tools/real/mytool", "bin/mytool"),
        ("../tools/now/bin/app", "bin/app"),
        ("app", "tools/now"),
    ] {
        link(place, to, at);
    }
    forget_user(place);
}

fn run(place: &Place, script: &str, flags: &[&str]) -> Command {
    let mut command = place.run(script, flags);
    command.env("PATH", format!("{}/bin:/usr/local/bin:/usr/bin:/bin", place.home().display()));
    command
}

/// What works and what stays hidden, in every backend.
fn check(done: &Done, who: &str) {
    for word in ["commit-made", "by-Ada", "tool-ran", "app-ran"] {
        assert!(done.agent.contains(word), "{who}: {word} in {}", done.agent);
    }
    for word in ["private-words", "key-words"] {
        assert!(!done.agent.contains(word), "{who}: {word} in {}", done.agent);
    }
}

#[test]
fn what_links_in_home_lead_to_is_seen_and_secrets_behind_links_are_not() {
    let script = format!(
        "{COMMIT} mytool; app; cat ~/.config/nvim/init.lua ~/dotfiles/v2/private ~/.ssh/id ~/dotfiles/ssh/id \
         ~/.aws/credentials ~/keys/deploy ~/bin/key; echo x > ~/dotfiles/v2/gitconfig; true"
    );
    for who in everybody() {
        for settings in ["", "home = \"none\"\n", "home = \"all\"\n"] {
            let place = Place::new(who);
            linked(&place);
            place.config(&format!("[sandbox]\n{settings}"));
            let done = place.finished(&mut run(&place, &script, &[]));
            let name = format!("{who:?}, {settings:?}");
            assert!(done.sandbox().contains(HELD), "{name}: {} {}", done.sandbox(), done.stderr);
            if settings.contains("all") {
                assert!(done.agent.contains("private-words") && !done.agent.contains("key-words"), "{name}");
                continue;
            }
            check(&done, &name);
            assert_eq!(done.agent.contains("nvim-settings"), settings.is_empty(), "{name}: {}", done.agent);
            assert_eq!(fs::read_to_string(place.home().join("dotfiles/v2/gitconfig")).unwrap(), ME);
        }
    }
    let place = Place::new(everybody()[0]);
    linked(&place);
    let done = place.finished(&mut without_namespaces(&run(&place, &script, &[])));
    assert!(done.sandbox().starts_with("landlock"), "{}", done.sandbox());
    check(&done, "landlock");
}

/// What an earlier call left in the workspace leads nowhere, although the user's own link leads through it.
#[test]
fn a_link_that_an_agent_made_shows_nothing() {
    let place = Place::new(everybody()[0]);
    place.home_file("letters/private", "private-words\n");
    let workspace = place.scratch.workspace();
    let target = workspace.join("planted");
    link(&place, target.to_str().unwrap(), ".notes");
    symlink(place.home().join("letters/private"), &target).unwrap();
    place.config("");
    let script = "echo work > done.txt; cat ~/.notes planted ~/letters/private; echo end-of-it";
    let planted = workspace.join("bin");
    fs::create_dir(&planted).unwrap();
    symlink(place.home().join("letters/private"), planted.join("tool")).unwrap();
    let mut command = place.run(script, &[]);
    command.env("PATH", format!("/usr/local/bin:/usr/bin:/bin:{}", planted.display()));
    let done = place.finished(&mut command);
    assert!(done.agent.contains("end-of-it") && !done.agent.contains("private-words"), "{}", done.agent);
}
