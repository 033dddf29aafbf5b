//! `ralph serve` started in a scene.

use super::client::Client;
use super::scene::Scene;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Stdio};

/// A server and a client of it; dropped, the server ends.
pub struct Served {
    pub process: Child,
    client: Client,
}

impl Served {
    /// On a free port, with these arguments besides.
    pub fn start(scene: &Scene, more: &[&str]) -> Served {
        let listen: &[&str] = if more.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
        let args = [&["serve"], listen, more].concat();
        let mut process = scene.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        let client = Client { address: address.parse().unwrap(), token: token.to_owned() };
        Served { process, client }
    }
}

impl Deref for Served {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
