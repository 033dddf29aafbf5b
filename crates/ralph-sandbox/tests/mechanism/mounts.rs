//! Each kind of mount, seen inside and judged outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ralph_sandbox::{LayerFallback, Mount};

use crate::kit::{Who, everywhere};

#[test]
fn the_workspace_is_written_and_the_rest_is_not() {
    everywhere(|scene| {
        let home = scene.make_file("home/file", "real");
        let script =
            format!("echo new > made; echo x > {0}; echo x > /etc/x; rm -f {0}; cat {0}", home.display());
        let ran = scene.shell(&script);
        ran.assert(0, "real");
        assert_eq!(fs::read_to_string(scene.path("workspace/made")).unwrap(), "new\n");
        assert_eq!(fs::read_to_string(home).unwrap(), "real");
    });
}

#[test]
fn tmp_is_its_own_and_run_is_empty() {
    everywhere(|scene| {
        let outside = tempfile::NamedTempFile::new_in("/tmp").unwrap();
        let name = outside.path().display().to_string();
        let ran = scene
            .shell(&format!("echo x > /tmp/here; cat /var/tmp/here; test ! -e {name}; echo $?; ls /run"));
        let run = ran.stdout.strip_prefix("x\n0\n").unwrap_or_else(|| panic!("{ran:?}"));
        let allowed = ["ralph-init", "systemd", "resolvconf", "NetworkManager"];
        assert!(run.lines().all(|name| allowed.contains(&name)), "{run}");
        assert_eq!(fs::read_to_string(scene.path("tmp/here")).unwrap(), "x\n");
    });
}

#[test]
fn a_workspace_below_tmp_is_seen_there() {
    everywhere(|scene| {
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let below = dir.path().join("work");
        fs::create_dir(&below).unwrap();
        fs::set_permissions(&below, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        scene.plan.workspace = below.clone();
        scene.shell("echo x > made; ls -A /tmp | wc -l").assert(0, "1\n");
        assert!(below.join("made").exists());
    });
}

#[test]
fn devices_are_the_usual_ones() {
    everywhere(|scene| {
        let ran = scene.shell("echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; test -w /dev/shm; ls /dev");
        let listed = ran.stdout.strip_prefix("3\n3\n").unwrap_or_else(|| panic!("{ran:?}"));
        let usual = "core console fd full null ptmx pts random shm stderr stdin stdout tty urandom zero";
        assert!(listed.lines().all(|name| usual.split(' ').any(|it| it == name)), "{listed}");
        let ran = scene.shell("script -qc 'echo in a terminal' /dev/null </dev/null");
        assert!(ran.stdout.contains("in a terminal"), "{ran:?}");
    });
}

#[test]
fn hidden_directories_and_files_are_empty() {
    everywhere(|scene| {
        let (dir, file) = (scene.make_dir("home/.ssh"), scene.make_file("home/token", "secret"));
        scene.make_file("home/.ssh/key", "secret");
        let inside = scene.make_file("workspace/private", "secret");
        for path in [&dir, &file, &inside] {
            scene.mount(Mount::Hide(path.clone()));
        }
        let script = format!(
            "ls {0}; cat {1}; cat private; echo x > {0}/new; echo x > {1}; echo end",
            dir.display(),
            file.display()
        );
        scene.shell(&script).assert(0, "end\n");
        assert_eq!(fs::read_to_string(scene.path("home/.ssh/key")).unwrap(), "secret");
        assert_eq!(fs::read_to_string(file).unwrap(), "secret");
    });
}

#[test]
fn something_is_shown_in_what_is_hidden_or_empty() {
    everywhere(|scene| {
        scene.make_file("home/hidden/a/tool", "tool");
        scene.make_file("home/empty/file", "secret");
        scene.make_file("home/empty/b/tool", "tool");
        let path = |name: &str| scene.path(name);
        let mounts = [
            Mount::Hide(path("home/hidden")),
            Mount::Show(path("home/hidden/a/tool")),
            Mount::Empty(path("home/empty")),
            Mount::Show(path("home/empty/b")),
            Mount::Show(path("home/missing")),
        ];
        scene.plan.mounts.extend(mounts);
        let home = scene.path("home");
        let script = "cd $HOME; ls hidden empty; cat hidden/a/tool empty/b/tool; echo x > empty/new && cat empty/new; \
            echo x > hidden/new; echo x > empty/b/tool; echo x > empty/b/new";
        let ran = scene.shell(script);
        assert_eq!(ran.stdout, "empty:\nb\n\nhidden:\na\ntooltoolx\n", "{ran:?}");
        assert!(!home.join("empty/new").exists() && !home.join("hidden/new").exists());
        assert_eq!(fs::read_to_string(home.join("empty/b/tool")).unwrap(), "tool");
    });
}

#[test]
fn what_is_opened_is_written_for_real() {
    everywhere(|scene| {
        let dir = scene.make_dir("home/data");
        scene.mount(Mount::Write(dir.clone()));
        scene.shell(&format!("echo x > {}/new", dir.display())).assert(0, "");
        assert_eq!(fs::read_to_string(dir.join("new")).unwrap(), "x\n");
    });
}

#[test]
fn a_socket_is_reached_where_it_is_shown() {
    everywhere(|scene| {
        let dir = scene.make_dir("home/sockets");
        let listener = std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap();
        fs::set_permissions(dir.join("socket"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let connect = format!(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}/socket\")'",
            dir.display()
        );
        scene.mount(Mount::Hide(dir.clone()));
        assert_ne!(scene.shell(&connect).code, 0);
        scene.mount(Mount::Show(dir.join("socket")));
        scene.shell(&connect).assert(0, "");
        drop(listener);
    });
}

#[test]
fn a_file_takes_the_place_of_another() {
    everywhere(|scene| {
        let (from, at) = (scene.make_file("home/clean", "clean"), scene.make_file("home/config", "secret"));
        scene.mount(Mount::Replace { from: from.clone(), at: at.clone() });
        scene.shell(&format!("cat {0}; echo x > {0}", at.display())).assert(2, "clean");
        assert_eq!(
            (fs::read_to_string(from).unwrap(), fs::read_to_string(at).unwrap()),
            ("clean".into(), "secret".into())
        );
    });
}

#[test]
fn protected_paths_are_neither_written_nor_moved() {
    everywhere(|scene| {
        scene.make_file("workspace/src/auth/login", "real");
        scene.make_file("workspace/src/other", "other");
        scene.make_file("workspace/.env", "real");
        for name in ["workspace/src/auth", "workspace/.env", "workspace/missing", "workspace/src/auth/login"]
        {
            let path = scene.path(name);
            scene.mount(Mount::Protect(path));
        }
        let script = "echo x > src/auth/login; rm -rf src/auth; mv src away; mv src/auth away; mv .env away; rm -f .env; \
            echo x > .env; ln .env linked; chmod 777 .env; mkdir new && mv new src/auth; rmdir src; \
            mv src/other moved && ln moved src/other && cat src/auth/login .env src/other; ls; ls src";
        let ran = scene.shell(script);
        assert_eq!(ran.stdout, "realrealothermoved\nnew\nsrc\nauth\nother\n", "{ran:?}");
        assert_eq!(fs::read_to_string(scene.path("workspace/src/auth/login")).unwrap(), "real");
        assert_eq!(fs::read_to_string(scene.path("workspace/.env")).unwrap(), "real");
        assert!(ran.notes().is_empty(), "{ran:?}");
    });
}

#[test]
fn no_mount_namespace_is_made_even_where_others_are() {
    everywhere(|scene| {
        scene.plan.nested = true;
        let ran = scene
            .shell("unshare -U true; echo $?; unshare -U -m true; echo $?; unshare -U -p -f true; echo $?");
        assert_eq!(ran.stdout, "0\n1\n0\n", "{ran:?}");
        scene.plan.nested = false;
        let ran = scene.shell("unshare -U true; echo $?");
        assert_eq!(ran.stdout, "1\n", "{ran:?}");
    });
}

#[test]
fn with_all_ids_the_files_of_others_can_be_written_and_no_more() {
    for backend in crate::kit::contained() {
        if !rustix::process::getuid().is_root() {
            return ralph_testkit::skip("only root can be root in somebody else's workspace");
        }
        let mut scene = crate::kit::Scene::new(Who::Root, backend);
        let file = scene.make_file("workspace/file", "old");
        std::os::unix::fs::chown(&file, Some(1234), Some(1234)).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        scene.plan.ids = ralph_sandbox::Ids::All;
        let script = "stat -c %u file; echo new > file; chown 77 file; stat -c %u file; grep -E 'Cap(Prm|Eff)' /proc/self/status; \
            echo x > /etc/x; mount -t tmpfs none /mnt; echo $?";
        let caps = "CapPrm:\t000000000000001b\nCapEff:\t000000000000001b\n";
        let ran = scene.shell(script);
        assert_eq!(ran.stdout, format!("1234\n77\n{caps}32\n"), "{ran:?}");
        assert_eq!(fs::read_to_string(file).unwrap(), "new\n");
    }
}

#[test]
fn a_file_in_a_protected_directory_can_be_written_if_the_plan_says_so() {
    everywhere(|scene| {
        let open = scene.make_file("workspace/own/plan", "old\n");
        let closed = scene.make_file("workspace/own/other", "old\n");
        scene.mount(Mount::Protect(scene.path("workspace/own")));
        scene.mount(Mount::Write(open.clone()));
        let ran = scene.shell(
            "echo new > own/plan; echo new > own/other; touch own/made; mv own away; rm own/plan; ls own",
        );
        assert_eq!(ran.stdout, "other\nplan\n", "{ran:?}");
        assert_eq!(fs::read_to_string(open).unwrap(), "new\n");
        assert_eq!(fs::read_to_string(closed).unwrap(), "old\n");
        assert!(!scene.path("workspace/away").exists());
    });
}

/// Everything else in `/dev` is the program's own.
#[test]
fn a_workspace_in_shared_memory_is_written_and_protected() {
    everywhere(|scene| {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let workspace = dir.path().canonicalize().unwrap();
        fs::create_dir_all(workspace.join("keys")).unwrap();
        fs::write(workspace.join("keys/key"), "real").unwrap();
        scene.plan.workspace = workspace.clone();
        // Two that share an overlay, over directories that are missing and over one that is there.
        scene.make_dir("home/.cache/a");
        scene.make_dir("home/.cache/b");
        for name in ["a", "b"] {
            let upper = scene.make_dir(&format!("layers/up/.cache/{name}"));
            let work = scene.make_dir(&format!("layers/work/{name}"));
            let at = scene.path(&format!("home/.cache/{name}"));
            scene.mount(Mount::Layer { at, upper, work, fallback: LayerFallback::Upper });
        }
        scene.mount(Mount::Protect(workspace.join("keys/key")));
        let script = "cat keys/key; touch new; echo no >> keys/key; mv keys k; ls -A /dev/shm | wc -l";
        scene.shell(script).assert(0, "real1\n");
        assert!(workspace.join("new").exists() && workspace.join("keys").exists());
    });
}
