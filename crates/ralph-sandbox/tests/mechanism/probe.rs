//! What is said to hold here.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use ralph_sandbox::{Backend, Mount, Network};

use crate::kit::{Scene, everybody, everywhere};

#[test]
fn backends_with_namespaces_hold_all_that_they_promise() {
    everywhere(|scene| {
        for network in [Network::Open, Network::Off, Network::Gate { forward: vec![8080] }] {
            let more = if network == Network::Open { "" } else { ", network" };
            scene.plan.network = network;
            let output = scene.command(&["probe"]).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(said.starts_with(&format!("held: files, protected paths, processes{more}\n")), "{said}");
        }
    });
}

#[test]
fn the_runs_own_protected_paths_are_tried() {
    everywhere(|scene| {
        let path = scene.make_file("workspace/src/auth/file", "real");
        scene.mount(Mount::Protect(path.clone()));
        let output = scene.command(&["probe"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("held: files, protected paths, processes\n"), "{said}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "real");
        // Written for real after it was protected: the last one counts, and the probe notices.
        let dir = scene.path("workspace/src/auth");
        scene.mount(Mount::Write(dir));
        let output = scene.command(&["probe"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("not held: protected paths did not hold: opened"), "{said}");
    });
}

#[test]
fn landlock_holds_files_alone() {
    for who in everybody() {
        let mut scene = Scene::new(who, Backend::Landlock);
        let output = scene.command(&["probe"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.lines().next(), Some("held: files"), "{said}");
        scene.plan.network = Network::Off;
        let output = scene.command(&["probe"]).output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().starts_with("held: files, network\n"));
    }
}

#[test]
fn a_backend_that_cannot_be_built_says_why() {
    for who in everybody() {
        let scene = Scene::new(who, Backend::Bwrap("/no/such/bwrap".into()));
        let output = scene.command(&["probe"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("not held: ") && said.contains("/no/such/bwrap"), "{said}");
        assert_eq!(output.status.code(), Some(125));
    }
}

#[test]
fn the_runs_own_hidden_paths_are_tried() {
    everywhere(|scene| {
        let dir = scene.make_dir("home/.keys");
        scene.make_file("home/.keys/key", "secret");
        let file = scene.make_file("home/token", "secret");
        scene.mount(Mount::Hide(dir.clone()));
        scene.mount(Mount::Hide(file));
        assert!(probed(scene).starts_with("held: files, protected paths, processes\n"), "{}", probed(scene));
        // Shown again on purpose: not what the probe looks for.
        scene.mount(Mount::Show(dir.join("key")));
        assert!(probed(scene).starts_with("held: files, protected paths, processes\n"), "{}", probed(scene));
        scene.mount(Mount::Show(scene.path("home")));
        let said = probed(scene);
        assert!(said.starts_with("not held: files did not hold: read /"), "{said}");
        assert!(said.contains("home/token"), "{said}");
    });
}

#[test]
fn what_a_link_shows_in_a_hidden_directory_is_no_attack() {
    everywhere(|scene| {
        scene.make_file("home/tools/real/tool", "tool");
        scene.make_dir("home/bin");
        let link = scene.path("home/bin/tool");
        std::os::unix::fs::symlink("../tools/real/tool", &link).unwrap();
        let tools = scene.path("home/tools");
        scene.mount(Mount::Hide(tools));
        scene.mount(Mount::Show(link));
        assert!(probed(scene).starts_with("held: files, protected paths, processes\n"), "{}", probed(scene));
    });
}

#[test]
fn the_place_of_what_is_hidden_twice_is_no_attack() {
    everywhere(|scene| {
        scene.make_file("home/.local/share/agent/login", "secret");
        for hidden in ["home/.local", "home/.local/share/agent"] {
            let hidden = scene.path(hidden);
            scene.mount(Mount::Hide(hidden));
        }
        assert!(probed(scene).starts_with("held: files, protected paths, processes\n"), "{}", probed(scene));
    });
}

/// More than one argument of a program may hold, and with Landlock more answers than a pipe.
#[test]
fn hundreds_of_protected_paths_with_long_names_are_tried() {
    let name = "n".repeat(200);
    let check = |scene: &mut Scene, expected: &str| {
        for n in 0..700 {
            let path = scene.make_file(&format!("workspace/a/b/{name}{n}"), "real");
            scene.mount(Mount::Protect(path));
        }
        let said = probed(scene);
        assert!(said.starts_with(expected), "{said}");
    };
    everywhere(|scene| check(scene, "held: files, protected paths, processes\n"));
    for who in everybody() {
        check(&mut Scene::new(who, Backend::Landlock), "held: files\n");
    }
}

/// Whoever writes to the workspace chooses its names.
#[test]
fn a_name_that_is_no_text_breaks_no_plan() {
    let check = |scene: &mut Scene, expected: &str| {
        let odd = |name: &[u8]| scene.make_dir("workspace").join(OsStr::from_bytes(name));
        let (dir, file) = (odd(b"x\xff"), odd(b".env\xfe"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("config"), "real").unwrap();
        std::fs::write(&file, "secret").unwrap();
        scene.mount(Mount::Protect(dir));
        // Landlock grants the workspace as a whole.
        if scene.plan.backend != Backend::Landlock {
            scene.mount(Mount::Hide(file));
        }
        let said = probed(scene);
        assert!(said.starts_with(expected), "{said}");
    };
    everywhere(|scene| {
        check(scene, "held: files, protected paths, processes\n");
        scene.shell("cat .env*; echo more >> x*/config; cat x*/config").assert(0, "real");
    });
    for who in everybody() {
        check(&mut Scene::new(who, Backend::Landlock), "held: files");
    }
}

#[test]
fn what_is_hidden_in_what_is_read_only_stays_hidden() {
    everywhere(|scene| {
        let key = scene.make_file("workspace/secrets/key", "secret");
        let dir = scene.path("workspace/secrets");
        scene.make_file("workspace/a/.git/config", "secret");
        let git = scene.path("workspace/a/.git");
        // As the policy orders them.
        scene.mount(Mount::Protect(dir));
        scene.mount(Mount::Protect(git.join("config")));
        scene.mount(Mount::Hide(key));
        scene.mount(Mount::Hide(git));
        let said = probed(scene);
        assert!(said.starts_with("held: files, protected paths, processes\n"), "{said}");
        scene.shell("cat secrets/key a/.git/config; mv a b; ls -A a/.git; echo end").assert(0, "end\n");
    });
}

/// Nothing to protect: the probe takes a workspace of its own.
#[test]
fn what_is_hidden_in_a_workspace_without_protected_paths_is_hidden() {
    everywhere(|scene| {
        let file = scene.make_file("workspace/token", "secret");
        scene.mount(Mount::Hide(file));
        let said = probed(scene);
        assert!(said.starts_with("held: files, protected paths, processes\n"), "{said}");
    });
}

fn probed(scene: &Scene) -> String {
    String::from_utf8(scene.command(&["probe"]).output().unwrap().stdout).unwrap()
}
