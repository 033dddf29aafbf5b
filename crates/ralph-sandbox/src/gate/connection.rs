//! One connection to the gate: reads the request, decides, dials, copies.

use super::addresses::{is_own, may_dial};
use super::answer::Answer;
use super::copy::copy_both;
use super::dial::dial;
use super::host::Host;
use super::refusals::Reason;
use super::request::{MAX_HEAD, Request, head_end, parse};
use super::rules::names_address;
use super::server::Shared;
use super::wait::wait;
use rustix::event::PollFlags;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a client may take for the head of its request.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a name may take to resolve and a server to answer, together.
const DIAL_TIME: Duration = Duration::from_secs(10);

/// How long a client that was answered may take to read the answer.
const ANSWER_TIME: Duration = Duration::from_millis(500);

/// At most so many addresses of a name are tried.
const MAX_ADDRESSES: usize = 8;

/// Said to a client whose tunnel is open.
const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// What a failed step means for the client.
enum Failure {
    /// Answer it.
    Answer(Answer),
    /// The client or the gate is gone.
    Gone,
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Serves a client of the proxy. Nobody is left to be told of an error.
pub(super) fn serve(shared: &Shared, client: &TcpStream) {
    match open(shared, client) {
        Ok((server, to_client, to_server)) => {
            let _ = copy_both(&shared.control, client, &server, to_client, to_server);
        }
        Err(Failure::Answer(answer)) => {
            let _ = reply(&shared.control, client, &answer.to_bytes());
        }
        Err(Failure::Gone) => {}
    }
}

/// Serves a client of a forwarded port: the same port of the loopback outside, at the addresses that entries name.
pub(super) fn forward(shared: &Shared, client: &TcpStream, port: u16) {
    let named = LOOPBACK.into_iter().filter(|ip| names_address(&shared.rules, *ip, port));
    let addresses: Vec<SocketAddr> = named.map(|ip| SocketAddr::new(ip, port)).collect();
    let until = Instant::now() + DIAL_TIME;
    if prepare(client).is_ok()
        && let Ok(server) = dial(&addresses, &shared.control, until)
        && prepare(&server).is_ok()
    {
        let _ = copy_both(&shared.control, client, &server, Vec::new(), Vec::new());
    }
}

/// The connection to the server, and what goes to the client and to the server first.
fn open(shared: &Shared, client: &TcpStream) -> Result<(TcpStream, Vec<u8>, Vec<u8>), Failure> {
    prepare(client)?;
    let (mut request, rest) = read_request(&shared.control, client)?;
    let until = Instant::now() + DIAL_TIME;
    let addresses = addresses(shared, &request, until)?;
    let server = dial(&addresses, &shared.control, until).map_err(|error| unreachable(&request, &error))?;
    prepare(&server)?;
    let (to_client, mut to_server) = match request.head.take() {
        Some(head) => (Vec::new(), head),
        None => (ESTABLISHED.to_vec(), Vec::new()),
    };
    to_server.extend_from_slice(&rest);
    Ok((server, to_client, to_server))
}

fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)
}

/// The request, and what the client sent after its head.
fn read_request(control: &UnixStream, mut client: &TcpStream) -> Result<(Request, Vec<u8>), Failure> {
    let until = Instant::now() + HEAD_TIME;
    let bad = |problem| Failure::Answer(Answer::bad(problem));
    let mut head = Vec::new();
    let mut piece = [0; MAX_HEAD];
    loop {
        match wait(control, client, PollFlags::IN, until) {
            Err(error) if error.kind() == ErrorKind::TimedOut => return Err(Failure::Answer(Answer::slow())),
            waited => waited?,
        }
        let read = match client.read(&mut piece) {
            Ok(0) => return Err(Failure::Gone),
            Ok(read) => read,
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => continue,
            Err(error) => return Err(error.into()),
        };
        head.extend_from_slice(piece.get(..read).unwrap_or_default());
        if let Some(end) = head_end(&head).map_err(bad)? {
            let rest = head.split_off(end);
            return Ok((parse(&head).map_err(bad)?, rest));
        }
    }
}

/// The addresses to dial, each of them allowed.
fn addresses(shared: &Shared, request: &Request, until: Instant) -> Result<Vec<SocketAddr>, Failure> {
    let Request { host, port, .. } = request;
    if !shared.rules.iter().any(|rule| rule.covers(host, *port)) {
        return Err(refuse(shared, request, Reason::NotListed));
    }
    let found = match host {
        Host::Address(address) => vec![*address],
        host if host.is_localhost() => LOOPBACK.to_vec(),
        Host::Name(name) => {
            let resolved = shared.lookups.resolve(name, &shared.control, until);
            resolved.map_err(|error| unreachable(request, &error))?
        }
    };
    let mut reason = None;
    let mut allowed = Vec::new();
    for address in found.into_iter().take(MAX_ADDRESSES).map(|address| address.to_canonical()) {
        match may_dial(address, names_address(&shared.rules, address, *port), is_own) {
            Ok(()) => allowed.push(SocketAddr::new(address, *port)),
            Err(refused) => reason = reason.or(Some(refused)),
        }
    }
    match reason {
        Some(reason) if allowed.is_empty() => Err(refuse(shared, request, reason)),
        _ => Ok(allowed),
    }
}

fn refuse(shared: &Shared, request: &Request, reason: Reason) -> Failure {
    shared.refusals().add(&request.written, request.port, reason);
    Failure::Answer(Answer::refused(&request.host, request.port, reason))
}

fn unreachable(request: &Request, error: &io::Error) -> Failure {
    Failure::Answer(Answer::unreachable(&request.host, request.port, error))
}

/// Answers and lets the client read it: closed at once, with bytes of the client unread, the answer would be lost.
fn reply(control: &UnixStream, mut client: &TcpStream, answer: &[u8]) -> io::Result<()> {
    let until = Instant::now() + ANSWER_TIME;
    // The buffer of a new connection takes an answer of a few hundred bytes at once.
    client.write_all(answer)?;
    client.shutdown(Shutdown::Write)?;
    let mut unread = [0; MAX_HEAD];
    loop {
        wait(control, client, PollFlags::IN, until)?;
        match client.read(&mut unread) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
}
