//! The scripted model server (`tools/model_server`), one a case, and its door: as long as it is closed, scenarios that
//! can be closed fail, whatever the client tries.

use crate::run::until;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// Where it listens if nothing else is said.
pub const LOOPBACK: &str = "127.0.0.1";

/// A server that runs as long as it is kept.
pub struct Server {
    child: Child,
    door: PathBuf,
}

impl Server {
    /// Starts it on a port, its files beside the workspace.
    pub fn start(root: &Path, workspace: &Path, port: u16) -> Server {
        Server::start_at(LOOPBACK, port, root, workspace)
    }

    /// The same at an address.
    pub fn start_at(host: &str, port: u16, root: &Path, workspace: &Path) -> Server {
        let door = root.join("door");
        let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/model_server");
        let portfile = root.join("port");
        let mut command = Command::new("python3");
        command.arg("-B").arg(code).args(["--host", host, "--port", &port.to_string()]);
        command.arg("--workspace").arg(workspace).arg("--door").arg(&door);
        command.arg("--portfile").arg(&portfile).arg("--log").arg(root.join("requests"));
        command.arg("--requests").arg(root.join("bodies"));
        let said = File::create(root.join("server.err")).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn();
        let mut server = Server { child: child.expect("python3 runs the model server"), door };
        until("the model server", || {
            assert!(
                server.child.try_wait().unwrap().is_none(),
                "the model server ended: see {}",
                root.display()
            );
            portfile.exists().then_some(())
        });
        server
    }

    /// Scenarios that can be closed fail from now on.
    pub fn close_door(&self) {
        File::create(&self.door).unwrap();
    }

    /// And no longer.
    pub fn open_door(&self) {
        fs::remove_file(&self.door).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on. Below those that the kernel hands out by itself, so that it stays free.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let from = 20_000 + u16::try_from(std::process::id() % 100).unwrap() * 100;
    let ports = std::iter::repeat_with(|| from + NEXT.fetch_add(1, Ordering::Relaxed));
    ports.take(1000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}
