//! A gate in this process, clients of it, and servers behind it. Everything is on loopback.

use ralph_sandbox::gate::{Gate, Resolver, send_listener};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The longest that a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Answers with what a test wrote down: the addresses for the first lookup of a name, the second, and so on.
#[derive(Clone, Default)]
pub struct Liar {
    pub answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    pub asked: Arc<AtomicUsize>,
}

impl Liar {
    pub fn saying(name: &'static str, answers: &[&[&str]]) -> Self {
        let parse = |list: &&[&str]| list.iter().map(|it| it.parse().unwrap()).collect();
        let answers = HashMap::from([(name, answers.iter().map(parse).collect())]);
        Self { answers, asked: Arc::default() }
    }
}

impl Resolver for Liar {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        let answers = self.answers.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(answers[at.min(answers.len() - 1)].clone())
    }
}

/// A gate with one listener at a free port, as if it came from a box.
pub struct Through {
    pub gate: Gate,
    pub box_end: OwnedFd,
    pub address: SocketAddr,
}

impl Through {
    pub fn new(rules: &[String]) -> Self {
        Self::resolving(rules, Liar::default())
    }

    pub fn resolving(rules: &[String], resolver: impl Resolver + 'static) -> Self {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let (gate, box_end) = Gate::start(rules, Vec::new(), resolver).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        send_listener(&box_end, &listener).unwrap();
        Self { gate, box_end, address: listener.local_addr().unwrap() }
    }

    pub fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.set_write_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// Everything the gate answers to these bytes.
    pub fn ask(&self, bytes: &[u8]) -> String {
        let mut client = self.client();
        client.write_all(bytes).unwrap();
        answer(client)
    }

    /// A tunnel to this port of localhost.
    pub fn tunnel(&self, port: u16) -> TcpStream {
        let mut client = self.client();
        client.write_all(connect_to(&format!("localhost:{port}")).as_bytes()).unwrap();
        expect_established(&mut client);
        client
    }
}

pub fn connect_to(target: &str) -> String {
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n")
}

pub fn expect_established(client: &mut TcpStream) {
    let expected = b"HTTP/1.1 200 Connection established\r\n\r\n";
    let mut answer = vec![0; expected.len()];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), String::from_utf8_lossy(expected));
}

/// Everything until the end.
pub fn answer(mut client: TcpStream) -> String {
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// A server that gives each connection to `serve`, in a thread of its own; its port.
pub fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

/// A server that sends back what it gets, as it gets it.
pub fn echo() -> u16 {
    server(|stream| {
        let _ = io::copy(&mut &stream, &mut &stream);
        let _ = stream.shutdown(Shutdown::Write);
    })
}

/// Bytes that show when they are mixed up.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at * 31 + at / 251) % 256).unwrap()).collect()
}

pub fn localhost(port: u16) -> String {
    format!("localhost:{port}")
}
