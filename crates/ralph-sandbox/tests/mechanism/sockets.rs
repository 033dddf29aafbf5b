//! Socket files in the workspace, and that of the system's resolver.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

use ralph_sandbox::{Backend, Mount, Network};

use crate::kit::{Scene, everybody, everywhere};

#[test]
fn a_hidden_socket_in_the_workspace_is_not_connected_to() {
    for who in everybody() {
        for backend in [Backend::Namespaces, Backend::Bwrap("/usr/bin/bwrap".into())] {
            let mut scene = Scene::new(who, backend);
            let socket = scene.plan.workspace.join("s");
            let _listener = UnixListener::bind(&socket).unwrap();
            fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
            let connect = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'; echo $?";
            assert_eq!(scene.shell(connect).stdout, "0\n", "it can be connected to as it is");
            scene.mount(Mount::Hide(socket));
            assert_eq!(scene.shell(connect).stdout, "1\n");
        }
    }
}

/// A system whose `/etc/resolv.conf` is a link to what systemd-resolved keeps in `/run`, beside its socket.
const WITH_RESOLVED: &str = "set -e
    mount -t tmpfs none /run; mkdir -p /run/systemd/resolve /run/etc
    echo nameserver 127.0.0.53 > /run/systemd/resolve/stub-resolv.conf
    echo socket > /run/systemd/resolve/io.systemd.Resolve
    cp -a /etc/passwd /etc/group /etc/ld.so.cache /run/etc
    ln -s ../run/systemd/resolve/stub-resolv.conf /run/etc/resolv.conf
    mount --bind /run/etc /etc
    exec \"$@\"";

#[test]
fn the_systems_resolver_is_seen_only_where_names_can_be_resolved() {
    everywhere(|scene| {
        for (network, expected) in [
            (Network::Open, "nameserver 127.0.0.53\n2\n"),
            (Network::Off, "0\n"),
            (Network::Gate { forward: vec![] }, "0\n"),
        ] {
            scene.plan.network = network;
            let script = "exec 2>/dev/null; cat /etc/resolv.conf; ls /run/systemd/resolve | wc -l";
            let program = scene.shell_command(script);
            let mut there = Command::new("unshare");
            let flags = if rustix::process::getuid().is_root() { "-m" } else { "-rm" };
            there.args([flags, "sh", "-c", WITH_RESOLVED, "sh"]).arg(program.get_program());
            there.args(program.get_args());
            there.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let said = String::from_utf8(there.output().unwrap().stdout).unwrap();
            assert_eq!(said, expected, "{:?}", scene.plan);
        }
    });
}
