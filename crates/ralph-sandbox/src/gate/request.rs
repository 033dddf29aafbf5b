//! The head of a request to the gate: `CONNECT host:port`, or a plain request with an absolute `http://` target. Strict: what
//! could be read in two ways is refused. Pure.
//!
//! What follows the head goes to the one server that the head names, whatever it says, so the gate need not read it.

use super::headers::{Header, check_framing, is_token, passed_on, read};
use super::host::{Host, parse_port, split_port};
use thiserror::Error;

/// The longest head in bytes.
pub const MAX_HEAD: usize = 8 * 1024;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The server.
    pub host: Host,
    /// The same as the client wrote it.
    pub written: String,
    /// Its port.
    pub port: u16,
    /// For a plain request the head to send to the server, `None` for a tunnel.
    pub head: Option<Vec<u8>>,
}

/// Why a request was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadRequest {
    /// No end within [`MAX_HEAD`].
    #[error("its head is longer than 8 KiB")]
    TooLong,
    /// Not HTTP, or lines that do not end in CR LF.
    #[error("its lines are not those of HTTP/1.1")]
    Lines,
    /// Not a method, a target and a version, each after one space.
    #[error("its first line is not a method, a target and HTTP/1.0 or HTTP/1.1")]
    FirstLine,
    /// A path, or a scheme other than http.
    #[error("its target is neither host:port after CONNECT nor an http:// address")]
    Target,
    /// A host or port that is none.
    #[error("its target has no valid host and port")]
    Host,
    /// A line that is no header, or one that contradicts another.
    #[error("it has an invalid header")]
    Header,
    /// A body whose end can be read in two ways.
    #[error("its headers do not say clearly where its body ends")]
    Framing,
}

/// Where the head ends, after its empty line; `None` when more must be read.
///
/// # Errors
/// As soon as it can no longer be the head of a request.
pub fn head_end(bytes: &[u8]) -> Result<Option<usize>, BadRequest> {
    if bytes.first().is_some_and(|first| !first.is_ascii_alphabetic()) {
        return Err(BadRequest::Lines);
    }
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
    let head = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
    let lone_feed = head.iter().enumerate().any(|(at, byte)| {
        *byte == b'\n' && at.checked_sub(1).and_then(|before| head.get(before)) != Some(&b'\r')
    });
    match end {
        _ if lone_feed => Err(BadRequest::Lines),
        Some(end) if end <= MAX_HEAD => Ok(Some(end)),
        None if bytes.len() < MAX_HEAD => Ok(None),
        _ => Err(BadRequest::TooLong),
    }
}

/// Reads a whole head, up to and with its empty line.
///
/// # Errors
/// For everything that is not exactly a request to a proxy.
pub fn parse(head: &[u8]) -> Result<Request, BadRequest> {
    if head_end(head)? != Some(head.len()) {
        return Err(BadRequest::Lines);
    }
    let lines: Vec<&[u8]> =
        head.strip_suffix(b"\r\n\r\n").unwrap_or(head).split(|byte| *byte == b'\n').collect();
    let mut lines = lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = lines.next().unwrap_or_default();
    let (method, target, version) = read_first_line(first)?;
    let headers = read(lines)?;
    if method == "CONNECT" {
        let (host, port) = split_port(target).ok_or(BadRequest::Host)?;
        return request(host, port.ok_or(BadRequest::Host)?, None);
    }
    let (authority, path) = split_absolute(target)?;
    let (host, port) = split_port(authority).ok_or(BadRequest::Host)?;
    let mut request = request(host, port.unwrap_or("80"), None)?;
    check_framing(&headers, version)?;
    let first = format!("{method} {path} {version}");
    request.head = Some(rewritten(&first, &request, &passed_on(&headers)?));
    Ok(request)
}

fn read_first_line(line: &[u8]) -> Result<(&str, &str, &str), BadRequest> {
    // All of it visible, so that the only spaces are the two between the parts.
    let line = std::str::from_utf8(line).map_err(|_| BadRequest::FirstLine)?;
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(BadRequest::FirstLine);
    };
    let visible = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_graphic());
    if is_token(method) && visible && ["HTTP/1.0", "HTTP/1.1"].contains(&version) {
        Ok((method, target, version))
    } else {
        Err(BadRequest::FirstLine)
    }
}

/// The authority and the path with its query.
fn split_absolute(target: &str) -> Result<(&str, String), BadRequest> {
    let (scheme, rest) = target.split_once("://").ok_or(BadRequest::Target)?;
    if !scheme.eq_ignore_ascii_case("http") || rest.contains('#') {
        return Err(BadRequest::Target);
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok((authority, path))
}

fn request(host: &str, port: &str, head: Option<Vec<u8>>) -> Result<Request, BadRequest> {
    let port = parse_port(port).ok_or(BadRequest::Host)?;
    let written = host.to_owned();
    Ok(Request { host: Host::parse(host).ok_or(BadRequest::Host)?, written, port, head })
}

/// The head as the server gets it. The connection serves this request alone: the next one may be for another host.
fn rewritten(first: &str, request: &Request, headers: &[Header<'_>]) -> Vec<u8> {
    let mut head = match request.port {
        80 => format!("{first}\r\nHost: {}\r\n", request.host),
        port => format!("{first}\r\nHost: {}:{port}\r\n", request.host),
    }
    .into_bytes();
    for (name, value) in headers {
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}
