//! Where traces are sent: the base address of a collector, as `OTEL_EXPORTER_OTLP_ENDPOINT` holds it, or the address of its
//! traces.

use std::fmt;

/// The path of traces below a collector's base address.
const TRACES: &str = "/v1/traces";

/// Why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidEndpoint {
    /// It does not begin with a scheme that OTLP over HTTP uses.
    Scheme,
    /// There is no host in it, or its port is not a number.
    Host,
    /// It may hold a user name and a password.
    Credentials,
    /// It holds something that is no part of a base address.
    NotABase,
}

impl fmt::Display for InvalidEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidEndpoint::Scheme => "it must begin with http:// or https://",
            InvalidEndpoint::Host => "it has no valid host and port",
            InvalidEndpoint::Credentials => "it contains an @, as before a user name and a password",
            InvalidEndpoint::NotABase => "it contains spaces, `?`, `#` or characters that are not ASCII",
        })
    }
}

impl std::error::Error for InvalidEndpoint {}

/// The address that traces are posted to.
pub fn traces_url(base: &str) -> Result<String, InvalidEndpoint> {
    // First, so that whoever reports another mistake can repeat the address.
    if base.contains('@') {
        return Err(InvalidEndpoint::Credentials);
    }
    let (scheme, rest) = base.split_once("://").ok_or(InvalidEndpoint::Scheme)?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(InvalidEndpoint::Scheme);
    }
    if !rest.bytes().all(|b| b.is_ascii_graphic()) || rest.contains(['?', '#', '\\']) {
        return Err(InvalidEndpoint::NotABase);
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !is_authority(authority) {
        return Err(InvalidEndpoint::Host);
    }
    let path = path.trim_end_matches('/');
    let traces = if path.ends_with(TRACES) { "" } else { TRACES };
    Ok(format!("{}://{authority}{path}{traces}", scheme.to_ascii_lowercase()))
}

/// A host, or an IPv6 address in brackets, and maybe a port.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((address, port))) => (address.parse::<std::net::Ipv6Addr>().is_ok(), port),
        Some(None) => return false,
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let plain = |b: u8| b.is_ascii_alphanumeric() || b".-_".contains(&b);
            (!host.is_empty() && host.bytes().all(plain), port)
        }
    };
    let number = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    host && (port.is_empty() || port.strip_prefix(':').is_some_and(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_traces_is_appended_unless_it_is_there() {
        for (base, url) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            ("HTTPS://otlp.example.org", "https://otlp.example.org/v1/traces"),
            ("https://example.org/otlp", "https://example.org/otlp/v1/traces"),
            ("https://example.org/otlp/v1/traces", "https://example.org/otlp/v1/traces"),
            ("https://example.org/v1/traces/", "https://example.org/v1/traces"),
            ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
        ] {
            assert_eq!(traces_url(base).as_deref(), Ok(url), "{base}");
        }
    }

    #[test]
    fn other_addresses_are_refused() {
        for (base, why) in [
            ("", InvalidEndpoint::Scheme),
            ("localhost:4318", InvalidEndpoint::Scheme),
            ("grpc://localhost:4317", InvalidEndpoint::Scheme),
            ("file:///etc/passwd", InvalidEndpoint::Scheme),
            ("http://", InvalidEndpoint::Host),
            ("http:///v1/traces", InvalidEndpoint::Host),
            ("http://a:b", InvalidEndpoint::Host),
            ("http://a:70000", InvalidEndpoint::Host),
            ("http://[::1", InvalidEndpoint::Host),
            ("http://[a]:1", InvalidEndpoint::Host),
            ("https://me:secret@example.org", InvalidEndpoint::Credentials),
            ("me:secret@example.org", InvalidEndpoint::Credentials),
            ("https://example.org/?key=1", InvalidEndpoint::NotABase),
            ("https://example.org/#a", InvalidEndpoint::NotABase),
            ("https://example.org/a b", InvalidEndpoint::NotABase),
            ("https://exämple.org", InvalidEndpoint::NotABase),
            ("https://example.org\r\nX: y", InvalidEndpoint::NotABase),
        ] {
            assert_eq!(traces_url(base), Err(why), "{base}");
        }
    }
}
