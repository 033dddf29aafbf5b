//! Links that a program of an earlier call may have left.

use std::fs;
use std::os::unix::fs::symlink;

use ralph_sandbox::{Backend, LayerFallback, Mount};

use crate::kit::everywhere;

#[test]
fn a_link_in_the_workspace_redirects_no_mount() {
    everywhere(|scene| {
        let victim = scene.make_file("home/victim/file", "real");
        let dir = scene.path("home/victim");
        scene.make_dir("workspace/src");
        symlink(&dir, scene.path("workspace/link")).unwrap();
        symlink(&dir, scene.path("workspace/src/deep")).unwrap();
        symlink("src", scene.path("workspace/alias")).unwrap();
        let [upper, work] = ["upper", "work"].map(|part| scene.make_dir(&format!("layer/{part}")));
        let at = |name: &str| scene.path(name);
        let mounts = [
            Mount::Protect(at("workspace/link")),
            Mount::Protect(at("workspace/src/deep/file")),
            Mount::Protect(at("workspace/alias")),
            Mount::Hide(at("workspace/src/deep")),
            Mount::Write(at("workspace/link")),
            Mount::Show(at("workspace/link/file")),
            Mount::Replace { from: at("plan.json"), at: at("workspace/src/deep/file") },
            Mount::Layer { at: at("workspace/link"), upper, work, fallback: LayerFallback::Write },
        ];
        // There a protected link is held itself.
        let held = if scene.plan.backend == Backend::Namespaces { 2 } else { 0 };
        let count = mounts.len() - held;
        scene.plan.mounts.extend(mounts);
        let ran =
            scene.shell(&format!("cat {0}; echo x > {0}; echo x > {1}/new", victim.display(), dir.display()));
        assert_eq!((ran.stdout.as_str(), ran.notes().len()), ("real", count), "{ran:?}");
        assert!(ran.notes().iter().all(|note| note.contains("symbolic link")), "{ran:?}");
        assert_eq!((fs::read_to_string(victim).unwrap(), dir.join("new").exists()), ("real".into(), false));
    });
}

#[test]
fn a_link_in_what_is_written_for_real_redirects_no_mount() {
    everywhere(|scene| {
        scene.make_file("home/secret/key", "secret");
        scene.make_dir("home/data");
        symlink(scene.path("home/secret"), scene.path("home/data/link")).unwrap();
        let at = |name: &str| scene.path(name);
        let mounts = [
            Mount::Write(at("home/data")),
            Mount::Hide(at("home/secret")),
            Mount::Show(at("home/data/link/key")),
        ];
        scene.plan.mounts.extend(mounts);
        let ran = scene.shell("cat $HOME/secret/key $HOME/data/link/key; echo end");
        assert_eq!((ran.stdout.as_str(), ran.notes().len()), ("end\n", 1), "{ran:?}");
    });
}

#[test]
fn a_link_of_the_user_is_followed() {
    everywhere(|scene| {
        scene.make_file("home/dotfiles/ssh/key", "secret");
        symlink("dotfiles/ssh", scene.path("home/.ssh")).unwrap();
        let path = scene.path("home/.ssh");
        scene.mount(Mount::Hide(path));
        scene.shell("cat $HOME/.ssh/key $HOME/dotfiles/ssh/key; echo end").assert(0, "end\n");
    });
}

/// A file is found by the path that leads to it outside, also where a link on the way lies in something hidden.
#[test]
fn links_that_lead_to_what_is_shown_are_seen() {
    everywhere(|scene| {
        scene.make_file("home/dotfiles/v2/gitconfig", "config");
        scene.make_file("home/dotfiles/v2/other", "secret");
        scene.make_file("home/tools/real/bin/tool", "tool");
        scene.make_file("empty/file", "secret");
        symlink("v2", scene.path("home/dotfiles/current")).unwrap();
        symlink("dotfiles/current/gitconfig", scene.path("home/.gitconfig")).unwrap();
        symlink("real", scene.path("home/tools/now")).unwrap();
        symlink(scene.path("home/tools/now"), scene.path("empty/tools")).unwrap();
        let at = |name: &str| scene.path(name);
        let mounts = [
            Mount::Hide(at("home/dotfiles")),
            Mount::Hide(at("home/tools")),
            Mount::Empty(at("empty")),
            Mount::Show(at("home/.gitconfig")),
            Mount::Show(at("empty/tools/bin/tool")),
            Mount::Show(at("empty/tools/bin")),
        ];
        scene.plan.mounts.extend(mounts);
        let script = "cd $HOME; cat .gitconfig dotfiles/v2/gitconfig ../empty/tools/bin/tool; ls dotfiles/v2 ../empty; \
            echo x > .gitconfig; readlink ../empty/tools dotfiles/current";
        let ran = scene.shell(script);
        let links = format!("{}\nv2\n", scene.path("home/tools/now").display());
        let expected = format!("configconfigtool../empty:\ntools\n\ndotfiles/v2:\ngitconfig\n{links}");
        assert_eq!((ran.stdout, ran.code), (expected, 0), "{}", ran.stderr);
        assert_eq!(fs::read_to_string(scene.path("home/dotfiles/v2/gitconfig")).unwrap(), "config");
    });
}
