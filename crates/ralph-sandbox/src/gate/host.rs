//! A host as it is compared: a name in lower case without a final dot, or an address. `rules` and `request` read hosts with
//! the same functions, so that no spelling means one thing to the check and another to the dialling.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name, and the longest label in it, that DNS has.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// A name or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// In lower case, without a final dot.
    Name(String),
    /// An IPv4 address, never mapped into IPv6, or an IPv6 address.
    Address(IpAddr),
}

impl Host {
    /// Reads a host: a name, an IPv4 address, or an IPv6 address in brackets. Nothing is decoded, so `%`, `@` and everything
    /// else that no host name has makes it no host. Neither is a name that ends in a number: the system's resolver takes
    /// `127.1` and `0x7f000001` for addresses.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::Address(IpAddr::V4(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        (is_name(name) && !ends_in_number(name)).then(|| Self::Name(name.to_ascii_lowercase()))
    }

    /// Whether the name stands for loopback whatever a resolver says: `localhost` and what is below it.
    #[must_use]
    pub fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if is_localhost(name))
    }
}

/// With brackets around an IPv6 address, as in a URL.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

pub(super) fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether this is a host name, but for its last label.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

/// Underscores are in no host name by the book and in many in practice.
fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether a resolver may take the name for a number: its last label is decimal or hexadecimal.
pub(super) fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    last.bytes().all(|byte| byte.is_ascii_digit())
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Splits `host:port`; the port is `None` when there is no colon. `None` when colons stand elsewhere.
pub(super) fn split_port(text: &str) -> Option<(&str, Option<&str>)> {
    let end_of_host =
        if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
    let (host, rest) = text.split_at_checked(end_of_host)?;
    match rest.strip_prefix(':') {
        Some(port) => Some((host, Some(port))),
        None => rest.is_empty().then_some((host, None)),
    }
}

/// A port from 1 to 65535, in decimal digits and nothing else.
pub(super) fn parse_port(text: &str) -> Option<u16> {
    let digits = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|port| *port != 0)
}
