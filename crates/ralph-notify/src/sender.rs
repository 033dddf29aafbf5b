//! One HTTP request: no redirects, no proxy, no private address unless it was allowed, at most 20 seconds. Of the answer
//! only the status and `Retry-After` are read.

use crate::message::Body;
use crate::resolve::PermittedAddresses;
use crate::retry::retry_after;
use ralph_engine::redact::Secret;
use ralph_rules::record::Ms;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Error};

/// Time for a whole request, and for the connection.
const WHOLE: Duration = Duration::from_secs(20);
const CONNECT: Duration = Duration::from_secs(10);
/// Longest head of an answer.
const HEAD: usize = 16 * 1024;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The receiver has it.
    Accepted(u16),
    /// The receiver wants nothing more, ever.
    Gone,
    /// It failed: why, and how long the receiver asks to be left alone.
    Failed(String, Option<Ms>),
}

impl Answer {
    /// In words that hold no address and no secret.
    pub fn words(&self) -> String {
        match self {
            Answer::Accepted(status) => format!("answered {status}"),
            Answer::Gone => "answered 410 Gone; nothing more is sent to this target".into(),
            Answer::Failed(why, _) => why.clone(),
        }
    }
}

/// Sends requests.
#[derive(Default)]
pub struct Sender {
    roots: OnceLock<RootCerts>,
}

impl Sender {
    /// Trusts the certificates that the system trusts, or Mozilla's where it has none.
    pub fn new() -> Sender {
        Sender::default()
    }

    /// Sends a body to an address.
    pub(crate) fn post(&self, url: &Secret, allow_private: bool, body: &Body, now: Ms) -> Answer {
        let Some(url) = url.expose_text() else {
            return Answer::Failed("the address is not text".into(), None);
        };
        let agent = self.agent(allow_private);
        let mut request = agent.post(url);
        for (name, value) in &body.headers {
            request = request.header(name.as_str(), value.as_str());
        }
        match request.send(&body.bytes[..]) {
            Ok(response) => {
                let status = response.status().as_u16();
                let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
                judged(status, asked.and_then(|value| retry_after(value, now)))
            }
            Err(error) => Answer::Failed(words(&error), None),
        }
    }

    fn agent(&self, allow_private: bool) -> Agent {
        let roots = self.roots.get_or_init(system_roots).clone();
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .https_only(!allow_private)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .max_idle_connections(0)
            .max_response_header_size(HEAD)
            .timeout_global(Some(WHOLE))
            .timeout_connect(Some(CONNECT))
            .user_agent(concat!("ralph/", env!("CARGO_PKG_VERSION")))
            .build();
        Agent::with_parts(config, DefaultConnector::default(), PermittedAddresses::new(allow_private))
    }
}

fn system_roots() -> RootCerts {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return RootCerts::WebPki;
    }
    let certificates = found.iter().map(|der| Certificate::from_der(der.as_ref()).to_owned()).collect();
    RootCerts::Specific(Arc::new(certificates))
}

fn judged(status: u16, asked: Option<Ms>) -> Answer {
    match status {
        200..300 => Answer::Accepted(status),
        410 => Answer::Gone,
        300..400 => Answer::Failed(
            format!("answered {status}: redirects are not followed; set the final address"),
            None,
        ),
        _ => Answer::Failed(format!("answered {status}"), asked),
    }
}

/// An error in words. ureq's own may repeat the address, which may be secret.
fn words(error: &Error) -> String {
    match error {
        Error::Timeout(_) => format!("no answer within {} seconds", WHOLE.as_secs()),
        Error::HostNotFound => "the host name cannot be resolved".into(),
        Error::ConnectionFailed => "the connection failed".into(),
        Error::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            format!("no secure connection: {error}")
        }
        Error::Io(error) => format!("the connection failed ({})", error.kind()),
        Error::Rustls(error) => format!("no secure connection: {error}"),
        Error::RequireHttpsOnly(_) => "http:// is only for private addresses; use https://".into(),
        Error::BadUri(_) | Error::Http(_) => "the address is not a valid URL".into(),
        Error::LargeResponseHeader(..) => "the response headers are too large".into(),
        Error::Protocol(_) => "the answer is not HTTP".into(),
        Error::Other(error) => error.to_string(),
        _ => "the request failed".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A proxy would look the name up itself, and the addresses that it connects to are not checked.
    #[test]
    fn no_proxy_is_used_and_no_redirect_is_followed() {
        for allow_private in [false, true] {
            let agent = Sender::new().agent(allow_private);
            assert!(agent.config().proxy().is_none());
            assert_eq!(agent.config().max_redirects(), 0);
        }
    }

    #[test]
    fn what_a_status_means() {
        let failed = |words: &str, asked| Answer::Failed(words.into(), asked);
        assert_eq!(judged(204, None), Answer::Accepted(204));
        assert_eq!(judged(410, None), Answer::Gone);
        assert_eq!(judged(429, Some(7)), failed("answered 429", Some(7)));
        assert!(judged(302, None).words().contains("redirects are not followed"));
    }
}
