//! Socket files in the workspace.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use ralph_sandbox::{Backend, Mount};

use crate::kit::{Scene, everybody};

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
