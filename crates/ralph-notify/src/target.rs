//! Who gets notes. A target's id is a hash of where notes go, so that rows of the outbox can name it without storing an
//! address or a secret.

use crate::message::Format;
use crate::program;
use crate::resolve::refusal;
use crate::secret_file;
use ralph_engine::redact::Secret;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Who gets notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// How.
    pub kind: Kind,
}

/// How notes are delivered.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A notification on the desktop.
    Desktop,
    /// A program with its arguments; `{title}` and `{text}` stand for those of the note.
    Command(Vec<String>),
    /// An HTTP request.
    Webhook(Webhook),
    /// The trace of every run that ended, as OTLP over HTTP.
    Traces(Traces),
}

/// A webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    /// Where.
    pub address: Address,
    /// The file with the secret that requests are signed with.
    pub secret_file: Option<PathBuf>,
    /// What the body looks like.
    pub format: Format,
    /// Whether the address may be on this machine or in a private network.
    pub allow_private: bool,
}

/// Where a webhook is.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// Given as it is.
    Url(Secret),
    /// The value of a variable, if it is set in this process.
    Variable(String, Option<Secret>),
    /// The content of a file.
    File(PathBuf),
}

/// A receiver of traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Traces {
    /// The whole address that traces are sent to.
    pub endpoint: Secret,
    /// Headers for it; their values may be keys.
    pub headers: Vec<(String, Secret)>,
    /// Why a header has no value in this process, if one has none.
    pub problem: Option<String>,
}

impl Target {
    /// Its id: the same for as long as notes go to the same place in the same format.
    pub fn id(&self) -> String {
        let mut parts: Vec<&[u8]> = Vec::new();
        match &self.kind {
            Kind::Desktop => {}
            Kind::Command(argv) => parts.extend(argv.iter().map(String::as_bytes)),
            Kind::Webhook(Webhook { address, format, .. }) => {
                parts.push(format.name().as_bytes());
                parts.extend(match address {
                    Address::Url(url) => [&b"url"[..], url.expose()],
                    Address::Variable(name, _) => [&b"variable"[..], name.as_bytes()],
                    Address::File(path) => [&b"file"[..], path.as_os_str().as_encoded_bytes()],
                });
            }
            Kind::Traces(traces) => parts.push(traces.endpoint.expose()),
        }
        let mut hash = blake3::Hasher::new();
        for part in parts {
            hash.update(&u64::try_from(part.len()).unwrap_or(0).to_le_bytes()).update(part);
        }
        let hash = hash.finalize().to_hex();
        format!("{}-{}", self.word(), hash.get(..12).unwrap_or_default())
    }

    /// What kind it is, in one word.
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Desktop => "desktop",
            Kind::Command(_) => "command",
            Kind::Webhook(_) => "webhook",
            Kind::Traces(_) => "traces",
        }
    }

    /// What it is, without anything that may be secret: of an address only the host. A webhook has its format with it.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Desktop => "desktop".into(),
            Kind::Command(argv) => format!("command {}", argv.first().map_or("", String::as_str)),
            Kind::Webhook(Webhook { address, format, .. }) => {
                let place = match address {
                    Address::Url(url) => host(url),
                    Address::Variable(name, _) => format!("${name}"),
                    Address::File(path) => {
                        format!("in {}", path.file_name().unwrap_or_default().to_string_lossy())
                    }
                };
                format!("webhook {place} ({})", format.name())
            }
            Kind::Traces(traces) => format!("traces {}", host(&traces.endpoint)),
        }
    }

    /// Which program is missing here, in words, if one is.
    pub fn missing_program(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Desktop => program::missing_on_desktop(),
            Kind::Command(argv) => program::missing_command(argv),
            Kind::Webhook(_) | Kind::Traces(_) => None,
        }
    }

    /// Why nothing can be delivered from this process, if so: a variable, a file or a secret is missing, or no connection
    /// to the address would be allowed.
    pub fn problem(&self) -> Option<String> {
        match &self.kind {
            Kind::Desktop | Kind::Command(_) => None,
            Kind::Webhook(webhook) => {
                let signed = webhook.secret_file.as_ref().map(|file| secret_file::secrets(file));
                let refused = |url: Secret| refused_literal(&url, webhook.allow_private);
                webhook.url().map_or_else(Some, refused).or_else(|| signed?.err())
            }
            Kind::Traces(traces) => {
                let refused = |url: Secret| refused_literal(&url, true);
                traces.problem.clone().or_else(|| traces.url().map_or_else(Some, refused))
            }
        }
    }
}

impl Webhook {
    /// The address.
    pub(crate) fn url(&self) -> Result<Secret, String> {
        let url = match &self.address {
            Address::Url(url) | Address::Variable(_, Some(url)) => url.clone(),
            Address::Variable(name, None) => return Err(format!("the variable {name} is not set here")),
            Address::File(path) => Secret::new(secret_file::read(path)?),
        };
        checked(&url, self.allow_private)
    }
}

impl Traces {
    /// The address.
    pub(crate) fn url(&self) -> Result<Secret, String> {
        checked(&self.endpoint, true)
    }
}

/// An address that may be used: https, or http in a private network.
fn checked(url: &Secret, allow_private: bool) -> Result<Secret, String> {
    let text = url.expose_text().unwrap_or_default().trim();
    match wrong_url(text, allow_private) {
        Some(wrong) => Err(wrong),
        None => Ok(Secret::new(text)),
    }
}

/// What is wrong with an address, without repeating it.
pub(crate) fn wrong_url(text: &str, allow_private: bool) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let Some(rest) = rest else { return Some("the address must begin with https://".into()) };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some("the address is not a valid URL".into());
    }
    if authority.contains('@') {
        return Some("the address must not have a user name or a password in it".into());
    }
    let plain = lower.starts_with("http://") && !allow_private;
    plain.then(|| "the address must begin with https:// (http:// only with allow_private)".into())
}

impl Address {
    /// What is wrong with an address that is given as it is.
    pub fn wrong(text: &str, allow_private: bool) -> Option<String> {
        wrong_url(text, allow_private)
    }
}

/// Why nothing would be sent to an address whose host is an IP address or this machine. What a name stands for is known
/// only when it is connected to, and checked then.
fn refused_literal(url: &Secret, allow_private: bool) -> Option<String> {
    let authority = host(url).to_ascii_lowercase();
    let name = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let ip = match name.trim_end_matches('.') {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        literal => literal.parse().ok()?,
    };
    let is_plain = !url.expose_text().unwrap_or_default().to_ascii_lowercase().starts_with("https:");
    refusal(ip, is_plain, allow_private).map(|why| why.to_string())
}

fn host(url: &Secret) -> String {
    let text = url.expose_text().unwrap_or_default();
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(url: &str, format: Format) -> Target {
        let webhook = Webhook {
            address: Address::Url(Secret::new(url)),
            secret_file: None,
            format,
            allow_private: false,
        };
        Target { kind: Kind::Webhook(webhook) }
    }

    #[test]
    fn an_id_names_the_place_and_nothing_of_it() {
        let one = webhook("https://example.org/secret-path", Format::Standard);
        assert_eq!(one.id(), webhook("https://example.org/secret-path", Format::Standard).id());
        assert!(one.id().starts_with("webhook-") && !one.id().contains("secret"), "{}", one.id());
        assert_ne!(one.id(), webhook("https://example.org/other", Format::Standard).id());
        assert_ne!(one.id(), webhook("https://example.org/secret-path", Format::Slack).id());
        let argv =
            |args: &[&str]| Target { kind: Kind::Command(args.iter().map(|a| (*a).to_owned()).collect()) };
        assert_ne!(argv(&["ab", "c"]).id(), argv(&["a", "bc"]).id());
        assert_eq!(one.shown(), "webhook example.org (standard)");
        assert!(!format!("{one:?}").contains("secret-path"));
    }

    #[test]
    fn an_address_that_is_never_connected_to_is_a_problem() {
        let table = [
            ("https://10.0.0.7/hook", false, Some("private network")),
            ("https://[::1]:8443/hook", false, Some("private network")),
            ("https://[::ffff:169.254.169.254]/", false, Some("private network")),
            ("https://LOCALHOST:8443/hook", false, Some("private network")),
            ("https://10.0.0.7/hook", true, None),
            ("http://127.0.0.1:8080/hook", true, None),
            ("http://93.184.216.34/hook", true, Some("http:// is only for private addresses")),
            ("https://93.184.216.34/hook", false, None),
            // Known once it is looked up.
            ("https://intranet.example.org/hook", false, None),
        ];
        for (url, allow_private, why) in table {
            let mut target = webhook(url, Format::Standard);
            if let Kind::Webhook(webhook) = &mut target.kind {
                webhook.allow_private = allow_private;
            }
            let problem = target.problem();
            assert_eq!(problem.is_some(), why.is_some(), "{url}: {problem:?}");
            assert!(problem.unwrap_or_default().contains(why.unwrap_or_default()), "{url}");
        }
    }

    #[test]
    fn only_https_and_no_credentials() {
        let table = [
            ("https://example.org/x", false, true),
            ("HTTPS://example.org", false, true),
            ("http://example.org/x", false, false),
            ("http://localhost:8080/x", true, true),
            ("ftp://example.org", true, false),
            ("file:///etc/passwd", true, false),
            ("https://", false, false),
            ("https:///x", false, false),
            ("https://me:pw@example.org", false, false),
            ("https://exa mple.org", false, false),
            ("https://example.org/\r\nX: y", false, false),
            ("", false, false),
        ];
        for (url, private, good) in table {
            assert_eq!(wrong_url(url, private).is_none(), good, "{url}");
        }
    }
}
