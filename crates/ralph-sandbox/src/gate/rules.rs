//! Which hosts and ports the gate dials: the entries of `sandbox.hosts` and the agents' own hosts. Pure.

use super::host::{Host, ends_in_number, is_localhost, is_name, parse_port, split_port};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use thiserror::Error;

/// The ports that an entry without a port allows: HTTPS and HTTP. A registry's name is listed once for both.
const DEFAULT_PORTS: [u16; 2] = [443, 80];

/// One entry: `registry.npmjs.org`, `*.crates.io`, `localhost:5432`, `10.0.0.5:8080`, `[::1]:80`.
///
/// Without a port an entry allows 443 and 80, with a port that one alone. `*.crates.io` allows everything below `crates.io`
/// at any depth, but not `crates.io` itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    pattern: Pattern,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Exactly(Host),
    /// Every name below this one.
    Below(String),
}

/// An entry that is not a host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the host {entry:?} {problem}")]
pub struct RuleError {
    /// The entry as it was written.
    pub entry: String,
    /// What is wrong with it.
    pub problem: RuleProblem,
}

/// What is wrong with an entry, and what to write instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RuleProblem {
    /// Nothing there.
    #[error("is empty; remove it or name a host, such as \"registry.npmjs.org\"")]
    Empty,
    /// A URL.
    #[error("has a scheme; write the host alone, such as \"registry.npmjs.org\" or \"localhost:5432\"")]
    Scheme,
    /// A slash, question mark or number sign.
    #[error(
        "has a path or a range; only whole hosts can be allowed, such as \"registry.npmjs.org\" or \"10.0.0.5\""
    )]
    Path,
    /// A user name or password.
    #[error("has a user name; write only what follows the @")]
    User,
    /// Several hosts in one entry, or a stray space.
    #[error("contains a space or a comma; write each host as an entry of its own")]
    Space,
    /// An international name.
    #[error("has characters other than ASCII; write the encoded name, which begins with \"xn--\"")]
    NotAscii,
    /// A star alone.
    #[error("would allow every host; set sandbox.network = \"open\" instead")]
    Everything,
    /// A star in another place than the first label.
    #[error("has a * in the wrong place; write it as the first label, such as \"*.crates.io\"")]
    Star,
    /// A port that is none.
    #[error("has an invalid port; use a number from 1 to 65535, such as \"localhost:5432\"")]
    Port,
    /// An IPv6 address whose end and whose port cannot be told apart.
    #[error("is an IPv6 address without brackets; write it as in \"[::1]\" or \"[::1]:80\"")]
    Brackets,
    /// Something between brackets that is not an IPv6 address.
    #[error("is not an IPv6 address; write it as in \"[::1]\" or \"[::1]:80\"")]
    Ipv6,
    /// A name that resolvers take for a number.
    #[error("is not an IPv4 address; use four numbers from 0 to 255, such as \"10.0.0.5\"")]
    Ipv4,
    /// The unspecified address, a multicast or broadcast address.
    #[error("is not the address of one host; for this machine write \"127.0.0.1\"")]
    NotOneHost,
    /// Empty or overlong labels, characters that no name has.
    #[error("is not a valid host name; use labels of letters, digits and hyphens separated by single dots")]
    Name,
}

impl FromStr for HostRule {
    type Err = RuleError;

    fn from_str(entry: &str) -> Result<Self, RuleError> {
        read(entry).map_err(|problem| RuleError { entry: entry.to_owned(), problem })
    }
}

fn read(entry: &str) -> Result<HostRule, RuleProblem> {
    check_characters(entry)?;
    if entry.parse::<Ipv6Addr>().is_ok() {
        return Err(RuleProblem::Brackets);
    }
    let bracketed = entry.starts_with('[');
    let (host, port) = split_port(entry).ok_or(RuleProblem::Ipv6)?;
    let port = match port {
        Some(port) => Some(parse_port(port).ok_or(RuleProblem::Port)?),
        None => None,
    };
    let pattern = match host.strip_prefix("*.") {
        Some(parent) => Pattern::Below(read_parent(parent)?),
        None => Pattern::Exactly(read_host(host, bracketed)?),
    };
    Ok(HostRule { pattern, port })
}

fn check_characters(entry: &str) -> Result<(), RuleProblem> {
    let has = |characters: &[char]| entry.contains(characters);
    match () {
        () if entry.is_empty() => Err(RuleProblem::Empty),
        () if !entry.is_ascii() => Err(RuleProblem::NotAscii),
        () if entry.contains("://") => Err(RuleProblem::Scheme),
        () if has(&['/', '?', '#']) => Err(RuleProblem::Path),
        () if has(&['@']) => Err(RuleProblem::User),
        () if has(&[' ', '\t', '\n', '\r', ',', ';']) => Err(RuleProblem::Space),
        () if entry == "*" || entry.starts_with("*:") => Err(RuleProblem::Everything),
        () if entry.strip_prefix("*.").unwrap_or(entry).contains('*') && !has(&[':']) => {
            Err(RuleProblem::Star)
        }
        () => Ok(()),
    }
}

fn read_parent(parent: &str) -> Result<String, RuleProblem> {
    match Host::parse(parent) {
        Some(Host::Name(name)) => Ok(name),
        _ if parent.contains('*') => Err(RuleProblem::Star),
        _ => Err(RuleProblem::Name),
    }
}

fn read_host(host: &str, bracketed: bool) -> Result<Host, RuleProblem> {
    match Host::parse(host) {
        Some(Host::Address(address)) if !is_one_host(address) => Err(RuleProblem::NotOneHost),
        Some(host) => Ok(host),
        None if bracketed => Err(RuleProblem::Ipv6),
        None if host.contains('*') => Err(RuleProblem::Star),
        None if is_name(host) && ends_in_number(host) => Err(RuleProblem::Ipv4),
        None => Err(RuleProblem::Name),
    }
}

fn is_one_host(address: IpAddr) -> bool {
    !address.is_unspecified() && !address.is_multicast() && address != IpAddr::V4(Ipv4Addr::BROADCAST)
}

impl HostRule {
    /// Whether the entry allows this host at this port.
    #[must_use]
    pub fn covers(&self, host: &Host, port: u16) -> bool {
        let host_matches = match (&self.pattern, host) {
            (Pattern::Exactly(listed), host) => listed == host,
            (Pattern::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
            }
            (Pattern::Below(_), Host::Address(_)) => false,
        };
        host_matches && self.covers_port(port)
    }

    fn covers_port(&self, port: u16) -> bool {
        self.port.map_or_else(|| DEFAULT_PORTS.contains(&port), |listed| listed == port)
    }

    /// Whether the entry says `localhost` or a name below it.
    fn is_localhost(&self) -> bool {
        match &self.pattern {
            Pattern::Exactly(host) => host.is_localhost(),
            Pattern::Below(parent) => is_localhost(parent),
        }
    }

    fn names(&self, address: IpAddr, port: u16) -> bool {
        self.covers(&Host::Address(address), port)
            || (is_usual_loopback(address) && self.is_localhost() && self.covers_port(port))
    }
}

/// Whether an address is what `localhost` stands for.
fn is_usual_loopback(address: IpAddr) -> bool {
    address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST
}

/// Whether a request for `host`, as a client writes it, is allowed. Case and one final dot do not matter; a host that
/// [`Host::parse`] does not read is refused.
#[must_use]
pub fn allows(rules: &[HostRule], host: &str, port: u16) -> bool {
    Host::parse(host).is_some_and(|host| rules.iter().any(|rule| rule.covers(&host, port)))
}

/// Whether an entry names this very address: itself, or `localhost` for 127.0.0.1 and ::1.
#[must_use]
pub fn names_address(rules: &[HostRule], address: IpAddr, port: u16) -> bool {
    rules.iter().any(|rule| rule.names(address, port))
}

/// The ports of 127.0.0.1 and ::1 that entries name, such as 5432 for `localhost:5432`. Forward them: a database client knows
/// no proxy, and programs connect to loopback without one. Another address of loopback is reached through the proxy alone:
/// inside, its ports are the program's own.
#[must_use]
pub fn loopback_ports(rules: &[HostRule]) -> Vec<u16> {
    let named = rules.iter().filter(|rule| match &rule.pattern {
        Pattern::Exactly(Host::Address(address)) => is_usual_loopback(*address),
        _ => rule.is_localhost(),
    });
    let mut ports: Vec<u16> = named.filter_map(|rule| rule.port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}
