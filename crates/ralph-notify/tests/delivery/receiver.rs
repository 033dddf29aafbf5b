//! A receiver of webhooks that behaves as it is told, with or without TLS.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a receiver answers.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// With this status, and further lines of the head.
    Status(u16, &'static str),
    /// With this status, but only after so long.
    Late(u16, Duration),
    /// Reads and never answers.
    Hangs,
    /// Closes the connection at once.
    Closes,
    /// Something that is not HTTP.
    Nonsense,
    /// A head without an end.
    EndlessHead,
    /// A body of a gigabyte, as slowly as it is read.
    HugeBody,
    /// A byte of the head a second.
    Drips,
}

/// A request that arrived whole.
#[derive(Clone, Debug, Default)]
pub struct Received {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub struct Receiver {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    behaviour: Arc<Mutex<Behaviour>>,
    /// The certificate that a client has to trust, as PEM.
    pub certificate: Option<String>,
}

impl Receiver {
    pub fn plain(behaviour: Behaviour) -> Receiver {
        Receiver::new(behaviour, None)
    }

    /// For `localhost`, with a certificate of its own.
    pub fn tls(behaviour: Behaviour) -> Receiver {
        let own = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        Receiver::new(behaviour, Some((pem(own.cert.der()), Arc::new(config))))
    }

    fn new(behaviour: Behaviour, tls: Option<(String, Arc<ServerConfig>)>) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let behaviour = Arc::new(Mutex::new(behaviour));
        let (certificate, config) = tls.map_or((None, None), |(pem, config)| (Some(pem), Some(config)));
        let (kept, told) = (Arc::clone(&received), Arc::clone(&behaviour));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, told, config) = (Arc::clone(&kept), told.lock().unwrap().clone(), config.clone());
                std::thread::spawn(move || match config {
                    None => answer(stream, &told, &kept),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        answer(StreamOwned::new(connection, stream), &told, &kept);
                    }
                });
            }
        });
        Receiver { address, received, behaviour, certificate }
    }

    pub fn url(&self) -> String {
        match self.certificate {
            Some(_) => format!("https://localhost:{}/hook", self.address.port()),
            None => format!("http://{}/hook", self.address),
        }
    }

    pub fn becomes(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until so many requests have arrived.
    pub fn wait_for(&self, requests: usize) -> Vec<Received> {
        for _ in 0..3_000 {
            if self.received().len() >= requests {
                return self.received();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("only {} of {requests} requests arrived within a minute", self.received().len());
    }
}

fn answer<S: Read + Write>(mut stream: S, behaviour: &Behaviour, kept: &Mutex<Vec<Received>>) {
    if matches!(behaviour, Behaviour::Closes) {
        return;
    }
    let Some(request) = read(&mut stream) else { return };
    kept.lock().unwrap().push(request);
    let _ = match behaviour {
        Behaviour::Status(status, more) => respond(&mut stream, *status, more),
        Behaviour::Late(status, after) => {
            std::thread::sleep(*after);
            respond(&mut stream, *status, "")
        }
        Behaviour::Nonsense => stream.write_all(b"220 mail.example.org ESMTP\r\n\r\n"),
        Behaviour::EndlessHead => endless(&mut stream, b"HTTP/1.1 200 OK\r\n", b"x-filler: 0123456789\r\n"),
        Behaviour::HugeBody => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n";
            endless(&mut stream, head, &[b'x'; 65_536])
        }
        Behaviour::Drips => b"HTTP/1.1 200 OK".iter().try_for_each(|byte| {
            std::thread::sleep(Duration::from_secs(5));
            stream.write_all(&[*byte]).and_then(|()| stream.flush())
        }),
        Behaviour::Hangs | Behaviour::Closes => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).is_ok_and(|n| n > 0) {}
            Ok(())
        }
    };
    let _ = stream.flush();
}

fn respond(stream: &mut impl Write, status: u16, more: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n{more}\r\n")
}

fn endless(stream: &mut impl Write, head: &[u8], more: &[u8]) -> std::io::Result<()> {
    stream.write_all(head)?;
    loop {
        stream.write_all(more)?;
    }
}

fn read(stream: &mut impl Read) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4_096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        match stream.read(&mut chunk) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&chunk[..n]),
            _ => return None,
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let header =
        |line: &str| Some((line.split_once(": ")?.0.to_lowercase(), line.split_once(": ")?.1.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse::<usize>().ok()?;
    let mut body = bytes[end..].to_vec();
    while body.len() < length {
        match stream.read(&mut chunk) {
            Ok(n) if n > 0 => body.extend_from_slice(&chunk[..n]),
            _ => return None,
        }
    }
    Some(Received { path, headers, body })
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

/// A port that nobody listens on.
pub fn nobody() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(TcpStream::connect(free).is_err());
    format!("http://{free}/hook")
}
