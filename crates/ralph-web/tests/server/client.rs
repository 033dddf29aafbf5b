//! A client of the server that sends whatever bytes it is given, and reads streams of events.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long to wait for what must come.
pub const SOON: Duration = Duration::from_secs(60);

/// Knows where the server is, and its token.
#[derive(Clone, Debug)]
pub struct Client {
    pub address: SocketAddr,
    pub token: String,
}

/// What a request got.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Client {
    /// The head of a good request, to be changed by a test.
    pub fn head(&self, method: &str, path: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n",
            self.address, self.token
        )
    }

    /// A good request.
    pub fn get(&self, path: &str) -> Got {
        self.send(format!("{}Connection: close\r\n\r\n", self.head("GET", path)).as_bytes())
    }

    /// A request with JSON.
    pub fn post(&self, path: &str, body: &str) -> Got {
        let head = self.head("POST", path);
        let head = format!(
            "{head}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n",
            body.len()
        );
        self.send(format!("{head}\r\n{body}").as_bytes())
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream
    }

    /// Sends these bytes and reads until the server closes.
    pub fn send(&self, bytes: &[u8]) -> Got {
        let mut stream = self.connect();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        got(&all)
    }

    /// A stream of events.
    pub fn events(&self, query: &str, last: Option<&str>) -> Events {
        self.events_on(self.connect(), query, last)
    }

    /// A stream whose reader's side takes only a few kilobytes at a time.
    pub fn narrow_events(&self) -> Events {
        use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
        connect(&socket, &self.address).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(SOON)).unwrap();
        self.events_on(stream, "", None)
    }

    fn events_on(&self, mut stream: TcpStream, query: &str, last: Option<&str>) -> Events {
        let last = last.map_or(String::new(), |last| format!("Last-Event-ID: {last}\r\n"));
        let head = format!("{}{last}\r\n", self.head("GET", &format!("/api/v1/events{query}")));
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut status = String::new();
        lines.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 200 "), "{status}");
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        Events { lines, last_id: None, text: String::new() }
    }
}

/// The first answer in these bytes; one that is missing has the status 0.
pub fn got(bytes: &[u8]) -> Got {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (headers, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Got { status, headers: headers.to_ascii_lowercase(), body: body.to_owned() }
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub id: Option<u64>,
    pub data: Value,
}

/// The events of a stream, as they come. Chunked transfer coding is taken apart by hand.
pub struct Events {
    lines: BufReader<TcpStream>,
    pub last_id: Option<u64>,
    text: String,
}

impl Events {
    /// The next event; none at the end of the stream.
    pub fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                match event(&block) {
                    Some(event) => {
                        self.last_id = event.id.or(self.last_id);
                        return Some(event);
                    }
                    None => continue,
                }
            }
            self.chunk()?;
        }
    }

    fn chunk(&mut self) -> Option<()> {
        let mut size = String::new();
        self.lines.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        self.lines.read_exact(&mut chunk).ok()?;
        self.text.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        Some(())
    }
}

fn event(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = serde_json::from_str(field("data")?).unwrap();
    Some(Event { name: field("event")?.to_owned(), id: field("id").map(|id| id.parse().unwrap()), data })
}
