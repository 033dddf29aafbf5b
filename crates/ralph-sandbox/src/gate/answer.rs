//! The answers that the gate gives itself. Their text tells an agent, and whoever reads its log, what to change.

use super::host::Host;
use super::refusals::Reason;
use super::request::BadRequest;

/// A response without a connection behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    status: &'static str,
    text: String,
}

impl Answer {
    /// The request could not be read.
    pub(super) fn bad(problem: BadRequest) -> Self {
        Self {
            status: "400 Bad Request",
            text: format!("ralph's sandbox cannot read this request: {problem}."),
        }
    }

    /// The head did not come in time.
    pub(super) fn slow() -> Self {
        let text = "ralph's sandbox waited 10 seconds for the head of a request.".to_owned();
        Self { status: "408 Request Timeout", text }
    }

    /// The host may not be reached. Many programs print nothing but the first line, so that it names the setting too.
    pub(super) fn refused(host: &Host, port: u16, reason: Reason) -> Self {
        let allow = match (reason, port) {
            (Reason::NotListed, 443 | 80) => {
                format!("To allow it, add \"{host}\" to sandbox.hosts in your ralph configuration.")
            }
            (Reason::NotListed, _) => {
                format!("To allow it, add \"{host}:{port}\" to sandbox.hosts in your ralph configuration.")
            }
            _ => format!(
                "To allow it all the same, add that address to sandbox.hosts, as in \"127.0.0.1:{port}\"."
            ),
        };
        let status = "403 Refused by ralph (sandbox.hosts)";
        Self { status, text: format!("ralph's sandbox refused {host}:{port}: {reason}. {allow}") }
    }

    /// The host may be reached, but was not.
    pub(super) fn unreachable(host: &Host, port: u16, error: &std::io::Error) -> Self {
        let late = error.kind() == std::io::ErrorKind::TimedOut;
        let status = if late { "504 Gateway Timeout" } else { "502 Bad Gateway" };
        Self { status, text: format!("ralph's sandbox allows {host}:{port} but cannot reach it: {error}.") }
    }

    /// As it is sent.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Self { status, text } = self;
        let length = text.len() + 1;
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
        )
        .into_bytes()
    }
}
