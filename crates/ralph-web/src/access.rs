//! Who may ask for what, decided from a request's head alone: the exact host, no foreign page, the token. A page of another
//! site, a name that somebody made point at this machine, and other users' programs end here.

use crate::assets::ASSETS;
use crate::token::Token;
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use std::net::SocketAddr;

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

/// Lets a request through, or says why not.
pub fn check(head: &Parts, names: &Names, token: &Token) -> Result<(), Refusal> {
    let asked = Asked::by(head.uri.path());
    host(head, names)?;
    site(head, asked, names)?;
    if asked == Asked::Runs && !has_token(&head.headers, token) {
        return Err(NO_TOKEN);
    }
    Ok(())
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
