//! Who may ask for what, decided from a request's head alone: the exact host, no foreign page, the token. A page of another
//! site, a name that somebody made point at this machine, and other users' programs end here.

use crate::assets::ASSETS;
use crate::token::Token;
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use std::net::{Ipv6Addr, SocketAddr};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The answer's status.
    pub status: StatusCode,
    /// Its code, for programs.
    pub code: &'static str,
    /// What happened.
    pub message: &'static str,
    /// What to do.
    pub hint: &'static str,
}

/// Characters of a host name at most.
const LONGEST_NAME: usize = 253;
/// Bytes of a request's head at most: its first line and its headers.
pub const HEAD_BYTES: usize = 32 * 1024;

const LONG_HEAD: Refusal = Refusal {
    status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    code: "long_head",
    message: "the address and headers of the request have more than 32 kB",
    hint: "send fewer or shorter headers",
};
const NO_HOST: Refusal = Refusal {
    status: StatusCode::BAD_REQUEST,
    code: "bad_host",
    message: "the request must name exactly one host",
    hint: "send one Host header",
};
const OTHER_HOST: Refusal = Refusal {
    status: StatusCode::MISDIRECTED_REQUEST,
    code: "other_host",
    message: "this server does not answer under that name",
    hint: "open the address that `ralph serve` printed, or start it with --host NAME",
};
const OTHER_SITE: Refusal = Refusal {
    status: StatusCode::FORBIDDEN,
    code: "other_site",
    message: "a page of another site asked for this",
    hint: "open the address that `ralph serve` printed",
};
const NO_TOKEN: Refusal = Refusal {
    status: StatusCode::UNAUTHORIZED,
    code: "no_token",
    message: "the token is missing or not the one of this server",
    hint: "open the address that `ralph serve` printed: it holds the token, which is new at every start",
};

/// What is asked for decides what must be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The page itself: a link from anywhere may lead to it, and it shows nothing without the token.
    Page,
    /// What the page is made of, and whether the server is there.
    Public,
    /// Runs: only with the token.
    Runs,
}

impl Asked {
    /// What a path asks for. Whatever is not known to be public needs the token, so that nothing can be found out without.
    pub fn by(path: &str) -> Asked {
        match path {
            "/" => Asked::Page,
            "/healthz" => Asked::Public,
            path if ASSETS.iter().any(|asset| asset.path == path) => Asked::Public,
            _ => Asked::Runs,
        }
    }
}

/// The names this server answers to.
#[derive(Clone, Debug)]
pub struct Names(Vec<String>);

impl Names {
    /// Those of an address, and of the names that were given with `--host`, each with its port.
    pub fn of(address: SocketAddr, given: &[String]) -> Names {
        let port = address.port();
        let with_port = |name: &str| match has_port(name) {
            true => name.to_ascii_lowercase(),
            false => format!("{}:{port}", name.to_ascii_lowercase()),
        };
        let mut names: Vec<String> = given.iter().map(|name| with_port(name)).collect();
        if !address.ip().is_unspecified() {
            names.push(address.to_string());
        }
        if address.ip().is_loopback() {
            names.push(format!("localhost:{port}"));
        }
        // Browsers leave the port of plain http out.
        let short = |name: &String| name.strip_suffix(":80").map(str::to_owned);
        let shorter: Vec<String> = names.iter().filter_map(short).collect();
        Names(names.into_iter().chain(shorter).collect())
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    fn has_origin(&self, origin: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|host| self.has(host))
    }
}

/// Whether a name ends with a port; an IPv6 address in brackets has colons of its own.
pub fn has_port(name: &str) -> bool {
    let after = name.rsplit_once(']').map_or(name, |(_, rest)| rest);
    after.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// Why a browser would never send this name as its host, if so.
pub fn wrong_name(name: &str) -> Option<&'static str> {
    const PORT: &str = "its port must be a number from 1 to 65535";
    if name.contains("://") {
        return Some("give the name alone, without http://");
    }
    if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some("it must not have spaces");
    }
    if name.contains(['/', '?', '#', '@', '\\']) {
        return Some("give the name alone, without a user or a path");
    }
    let is_ipv6 = |text: &str| text.parse::<Ipv6Addr>().is_ok();
    if is_ipv6(name) {
        return Some("put an IPv6 address into brackets, such as [::1]");
    }
    let (host, port) = match name.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inside, rest)) if is_ipv6(inside) => match rest.strip_prefix(':') {
            None if !rest.is_empty() => return Some(PORT),
            port => (None, port),
        },
        Some(_) => return Some("what is in brackets is not an IPv6 address"),
        None => name.split_once(':').map_or((Some(name), None), |(host, port)| (Some(host), Some(port))),
    };
    if host.is_some_and(|host| !host.is_ascii()) {
        return Some("write it as browsers send it, in ASCII (xn--…)");
    }
    if host.is_some_and(|host| host.len() > LONGEST_NAME || !host.split('.').all(is_label)) {
        return Some("use a host name or an IP address, such as desk or desk:8080");
    }
    let is_port =
        |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|p| p > 0);
    port.is_some_and(|port| !is_port(port)).then_some(PORT)
}

/// A part of a host name between two dots.
fn is_label(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&text.len())
        && text.bytes().all(known)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Lets a request through, or says why not.
pub fn check(head: &Parts, names: &Names, token: &Token) -> Result<(), Refusal> {
    if head_bytes(head) > HEAD_BYTES {
        return Err(LONG_HEAD);
    }
    let asked = Asked::by(head.uri.path());
    host(head, names)?;
    site(head, asked, names)?;
    if asked == Asked::Runs && !has_token(&head.headers, token) {
        return Err(NO_TOKEN);
    }
    Ok(())
}

/// How long a head is. The parser's own limit is that of its buffer, which may hold a quarter more.
fn head_bytes(head: &Parts) -> usize {
    let line = head.method.as_str().len() + head.uri.to_string().len() + " HTTP/1.1\r\n".len() + 1;
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + headers.sum::<usize>() + "\r\n".len()
}

fn host(head: &Parts, names: &Names) -> Result<(), Refusal> {
    let host = single(&head.headers, &HOST).map_err(|_| NO_HOST)?.ok_or(NO_HOST)?;
    let in_line = head.uri.authority().is_none_or(|authority| names.has(authority.as_str()));
    let known_scheme = head.uri.scheme_str().is_none_or(|scheme| scheme == "http");
    (names.has(host) && in_line && known_scheme).then_some(()).ok_or(OTHER_HOST)
}

/// A page of another site can send requests here, though it cannot read the answers. The browser says who asks.
fn site(head: &Parts, asked: Asked, names: &Names) -> Result<(), Refusal> {
    let headers = &head.headers;
    let origin = single(headers, &ORIGIN).map_err(|_| OTHER_SITE)?;
    if origin.is_some_and(|origin| !names.has_origin(origin)) {
        return Err(OTHER_SITE);
    }
    let fetched =
        |name: &'static str| single(headers, &HeaderName::from_static(name)).map_err(|_| OTHER_SITE);
    let is_navigation = asked == Asked::Page
        && matches!(head.method, Method::GET | Method::HEAD)
        && fetched("sec-fetch-mode")? == Some("navigate")
        && fetched("sec-fetch-dest")? == Some("document");
    match fetched("sec-fetch-site")? {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) if is_navigation => Ok(()),
        Some(_) => Err(OTHER_SITE),
    }
}

fn has_token(headers: &HeaderMap, token: &Token) -> bool {
    let sent = single(headers, &AUTHORIZATION).ok().flatten();
    let text = sent
        .and_then(|sent| sent.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    text.is_some_and(|(_, text)| token.is(text.as_bytes()))
}

/// The one value of a header, if it is there; an error if there are several or it is not plain text.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ()> {
    let mut all = headers.get_all(name).iter();
    let first = all.next().map(|value| value.to_str().map_err(|_| ())).transpose()?;
    if all.next().is_some() { Err(()) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn names() -> Names {
        Names::of("127.0.0.1:7257".parse().unwrap(), &["Desk.example".into(), "127.0.0.1:8000".into()])
    }

    fn judged(path: &str, headers: &[(&str, &str)]) -> Result<(), &'static str> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let token = Token::new().unwrap();
        let request = match headers.iter().any(|(name, _)| *name == "authorization") {
            true => request,
            false => request.header("authorization", format!("Bearer {}", token.text())),
        };
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(&parts, &names(), &token).map_err(|refusal| refusal.code)
    }

    #[test]
    fn only_the_names_of_this_server_are_answered_to() {
        let at = |host: &str| judged("/healthz", &[("host", host)]);
        for host in
            ["127.0.0.1:7257", "localhost:7257", "LOCALHOST:7257", "desk.example:7257", "127.0.0.1:8000"]
        {
            assert_eq!(at(host), Ok(()), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example",
            "evil.example:7257",
            "127.0.0.1.evil.example:7257",
            "127.0.0.1:7257 ",
            "127.0.0.1:7257.",
            "localhost:7257@evil.example",
            "[::1]:7257",
            "desk.example:8000",
            "2130706433:7257",
        ] {
            assert_eq!(at(host), Err("other_host"), "{host}");
        }
        assert_eq!(judged("/healthz", &[]), Err("bad_host"));
        assert_eq!(
            judged("/healthz", &[("host", "127.0.0.1:7257"), ("host", "127.0.0.1:7257")]),
            Err("bad_host")
        );
        assert_eq!(judged("http://evil.example/healthz", &[("host", "127.0.0.1:7257")]), Err("other_host"));
        assert_eq!(judged("http://127.0.0.1:7257/healthz", &[("host", "127.0.0.1:7257")]), Ok(()));
    }

    #[test]
    fn names_of_an_address_have_its_port_and_an_unspecified_address_has_none_of_its_own() {
        let of = |address: &str, given: &[&str]| {
            let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
            Names::of(address.parse().unwrap(), &given).0
        };
        assert_eq!(of("[::1]:7257", &[]), ["[::1]:7257", "localhost:7257"]);
        assert_eq!(of("0.0.0.0:80", &["desk"]), ["desk:80", "desk"]);
        assert_eq!(
            of("192.0.2.1:9000", &["[2001:db8::1]", "a:1"]),
            ["[2001:db8::1]:9000", "a:1", "192.0.2.1:9000"]
        );
    }

    #[test]
    fn a_name_that_no_browser_sends_is_refused_with_words() {
        for name in [
            "desk",
            "Desk.example",
            "a_b",
            "192.0.2.1",
            "desk:8080",
            "[::1]",
            "[2001:db8::1]:80",
            "xn--bcher-kva.example",
        ] {
            assert_eq!(wrong_name(name), None, "{name}");
        }
        let table = [
            ("", "host name"),
            ("http://desk", "without http://"),
            ("desk tower", "spaces"),
            (" desk", "spaces"),
            ("desk\n", "spaces"),
            ("desk/", "path"),
            ("desk/path", "path"),
            ("me@desk", "user"),
            ("desk?x", "path"),
            ("desk#x", "path"),
            ("::1", "brackets"),
            ("[desk]", "not an IPv6"),
            ("[::1]x", "port"),
            ("[::1]:", "port"),
            ("desk:", "port"),
            ("desk:0", "port"),
            ("desk:+80", "port"),
            ("desk:65536", "port"),
            ("desk:80:80", "port"),
            (":80", "host name"),
            ("a..b", "host name"),
            ("desk.", "host name"),
            ("-desk", "host name"),
            ("*.example", "host name"),
            ("[::1", "host name"),
            ("bücher.example", "xn--"),
        ];
        for (name, why) in table {
            let wrong = wrong_name(name).unwrap_or_else(|| panic!("{name:?} is accepted"));
            assert!(wrong.contains(why), "{name:?}: {wrong}");
        }
    }

    #[test]
    fn a_page_of_another_site_gets_nothing_but_may_link_to_the_page() {
        let host = ("host", "127.0.0.1:7257");
        let ours = ("origin", "http://127.0.0.1:7257");
        assert_eq!(judged("/api/v1/overview", &[host, ours, ("sec-fetch-site", "same-origin")]), Ok(()));
        assert_eq!(judged("/api/v1/overview", &[host]), Ok(()));
        for origin in [
            "null",
            "https://127.0.0.1:7257",
            "http://127.0.0.1:3000",
            "http://evil.example",
            "",
            "http://127.0.0.1:7257/",
        ] {
            for path in ["/", "/app.js", "/healthz", "/metrics", "/api/v1/overview", "/nothing"] {
                assert_eq!(judged(path, &[host, ("origin", origin)]), Err("other_site"), "{origin} {path}");
            }
        }
        let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        for site in ["cross-site", "same-site", "evil"] {
            for path in ["/", "/app.js", "/api/v1/overview"] {
                assert_eq!(
                    judged(path, &[host, ("sec-fetch-site", site)]),
                    Err("other_site"),
                    "{site} {path}"
                );
            }
            assert_eq!(judged("/", &[host, ("sec-fetch-site", site), link[0], link[1]]), Ok(()));
            assert_eq!(
                judged("/", &[host, ("sec-fetch-site", site), link[0], ("sec-fetch-dest", "iframe")]),
                Err("other_site")
            );
            assert_eq!(
                judged("/api/v1/overview", &[host, ("sec-fetch-site", site), link[0], link[1]]),
                Err("other_site")
            );
        }
    }

    #[test]
    fn whatever_is_not_public_needs_the_token() {
        let host = ("host", "127.0.0.1:7257");
        for sent in ["", "Bearer", "Bearer ", "Basic abc", "Bearer 00", "abc", "Bearer x y"] {
            for path in [
                "/metrics",
                "/api/v1/overview",
                "/api/v1/openapi.json",
                "/api/",
                "/nothing",
                "//",
                "/index.html",
            ] {
                assert_eq!(
                    judged(path, &[host, ("authorization", sent)]),
                    Err("no_token"),
                    "{sent:?} {path}"
                );
            }
            for path in ["/", "/app.js", "/app.css", "/icon.svg", "/healthz"] {
                assert_eq!(judged(path, &[host, ("authorization", sent)]), Ok(()), "{sent:?} {path}");
            }
        }
    }
}
