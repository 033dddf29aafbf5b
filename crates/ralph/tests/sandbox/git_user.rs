//! A git that knows its user although the file that says so is hidden.

use crate::linked_home::{COMMIT, ME, forget_user};
use crate::modes::without_namespaces;
use crate::place::{HELD, Place, everybody};

#[test]
fn git_knows_its_user_where_the_configuration_holds_a_credential() {
    let secret =
        "[url \"https://me:tok-4f9a8b7c6d5e@git.example.org/\"]\n\tinsteadOf = https://git.example.org/\n";
    let script = format!(
        "{COMMIT} cat ~/.gitconfig; git config --get-regexp url; git config init.defaultBranch; true"
    );
    let place = |who, own: bool| {
        let place = Place::new(who);
        place.home_file(".gitconfig", &format!("{ME}{secret}[init]\n\tdefaultBranch = \"trunk\" # mine\n"));
        if !own {
            forget_user(&place);
        }
        place
    };
    for who in everybody() {
        for own in [false, true] {
            let place = place(who, own);
            let done = place.done(&script, &[]);
            assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
            let author = if own { "by-Test" } else { "by-Ada" };
            for word in ["commit-made", author, "trunk"] {
                assert!(done.agent.contains(word), "{who:?}: {word} in {}", done.agent);
            }
            assert!(!done.agent.contains("git.example.org"), "{who:?}: {}", done.agent);
        }
    }
    let place = place(everybody()[0], false);
    let done = place.finished(&mut without_namespaces(&place.run(&script, &[])));
    assert!(done.sandbox().starts_with("landlock"), "{}", done.sandbox());
    assert!(done.agent.contains("by-Ada") && done.agent.contains("trunk"), "{}", done.agent);
    assert!(!done.agent.contains("git.example.org"), "{}", done.agent);
}
