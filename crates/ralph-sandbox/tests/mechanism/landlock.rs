//! The backend without namespaces.

use std::fs;

use ralph_sandbox::report::End;
use ralph_sandbox::{Backend, Mount, Network};

use crate::kit::{Scene, everybody};

fn everyone(test: impl Fn(&mut Scene)) {
    for who in everybody() {
        test(&mut Scene::new(who, Backend::Landlock));
    }
}

#[test]
fn only_the_workspace_and_what_is_opened_are_written() {
    everyone(|scene| {
        let (data, other) = (scene.make_dir("home/data"), scene.make_file("home/other", "real"));
        scene.mount(Mount::Write(data.clone()));
        let tmp = scene.plan.tmp.display().to_string();
        let script = format!(
            "echo x > made; echo x > {}/made; echo x > {tmp}/made; echo x > {}; (: > {1}); echo end",
            data.display(),
            other.display()
        );
        scene.shell(&script).assert(0, "end\n");
        assert!([&data, &scene.plan.tmp, &scene.plan.workspace].iter().all(|dir| dir.join("made").exists()));
        assert_eq!(fs::read_to_string(other).unwrap(), "real");
    });
}

#[test]
fn what_is_hidden_is_not_read_and_what_is_shown_in_it_is() {
    everyone(|scene| {
        scene.make_file("home/.ssh/key", "secret");
        scene.make_file("home/.ssh/known", "known");
        scene.make_file("home/other", "other");
        std::os::unix::fs::symlink(".ssh", scene.path("home/link")).unwrap();
        let at = |name: &str| scene.path(name);
        let mounts = [Mount::Hide(at("home/.ssh")), Mount::Show(at("home/.ssh/known"))];
        scene.plan.mounts.extend(mounts);
        let ran = scene
            .shell("cd $HOME; cat .ssh/key link/key /proc/self/root$HOME/.ssh/key; cat .ssh/known other");
        assert_eq!(ran.stdout, "knownother", "{ran:?}");
    });
}

#[test]
fn the_end_is_reported_and_whoever_is_left_is_killed() {
    everyone(|scene| {
        let ran = scene.shell("setsid sleep 60 & (setsid sleep 60 &) & sleep 0.3; kill -9 $$");
        assert_eq!((ran.end(), ran.outlived()), (End::Signal(9), 2), "{ran:?}");
        assert_eq!(scene.shell("exit 9").end(), End::Code(9));
    });
}

#[test]
fn nobody_outside_is_signalled_and_without_network_no_socket_is_made() {
    everyone(|scene| {
        scene.plan.network = Network::Off;
        let ran = scene.shell("kill -0 $PPID; echo $?; python3 -c 'import socket; socket.socket()'; echo $?");
        assert_eq!(ran.stdout, "1\n1\n", "{ran:?}");
        scene.plan.network = Network::Gate { forward: vec![] };
        let ran = scene.shell("true");
        assert!(ran.code == 125 && ran.stderr.contains("hosts"), "{ran:?}");
    });
}
