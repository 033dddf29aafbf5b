//! Requests that somebody sends to get at runs, to hold the server up or to confuse it: each gets exactly this answer, learns
//! nothing, and the server answers everybody else.

use super::bed::{Bed, row, write};
use super::client::{Got, SOON, got};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const SECRET_TASK: &str = "Task of 0199a1b2-secret";

fn bed() -> Bed {
    Bed::with(|home| write(&home.store().unwrap(), row("0199a1b2-secret", 1)))
}

/// Nothing about runs, the token or this machine is in an answer.
fn leaks_nothing(bed: &Bed, got: &Got, name: &str) {
    let all = format!("{}\n{}", got.headers, got.body);
    let state = bed.dir.path().to_string_lossy().into_owned();
    for secret in
        ["0199a1b2", SECRET_TASK, bed.token.as_str(), state.as_str(), "sqlite", "panicked", "/rustc/"]
    {
        assert!(!all.contains(secret), "{name}: {secret} in {all}");
    }
    assert!(!got.headers.contains("access-control-"), "{name}: no other site may read answers");
    assert!(!got.headers.contains("set-cookie"), "{name}");
}

fn still_answers(bed: &Bed, name: &str) {
    let overview = bed.get("/api/v1/overview");
    assert_eq!(overview.status, 200, "after {name}");
    assert!(overview.body.contains(SECRET_TASK), "after {name}");
}

/// What is sent, with the host and the token filled in, and the status it gets; 0: the connection is closed without a word.
#[allow(clippy::too_many_lines)] // a table
fn table(bed: &Bed) -> Vec<(&'static str, String, u16)> {
    let host = bed.address;
    let port = bed.address.port();
    let token = &bed.token;
    let plain = |line: &str| format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let with = |line: &str, headers: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{headers}\r\n"
        )
    };
    let to_host = |name: &str| format!("GET /healthz HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n");
    let overview = "GET /api/v1/overview";
    let path = |path: &str| with(&format!("GET {path}"), "");
    vec![
        // No token, or not the right one.
        ("no token", plain(overview), 401),
        ("no token for metrics", plain("GET /metrics"), 401),
        ("no token for an address that is not there", plain("GET /admin"), 401),
        ("no token to control", plain("POST /api/v1/runs/0199a1b2-secret/requests"), 401),
        (
            "empty token",
            format!(
                "{overview} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer \r\nConnection: close\r\n\r\n"
            ),
            401,
        ),
        (
            "half a token",
            format!(
                "{overview} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
                &token[..32]
            ),
            401,
        ),
        (
            "token in upper case",
            format!(
                "{overview} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
                token.to_uppercase()
            ),
            401,
        ),
        (
            "token as basic",
            format!(
                "{overview} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {token}\r\nConnection: close\r\n\r\n"
            ),
            401,
        ),
        ("token in the query", plain(&format!("{overview}?token={token}")), 401),
        (
            "token in a cookie",
            format!(
                "{overview} HTTP/1.1\r\nHost: {host}\r\nCookie: token={token}\r\nConnection: close\r\n\r\n"
            ),
            401,
        ),
        ("two tokens", with(overview, &format!("Authorization: Bearer {token}\r\n")), 401),
        // Names of other machines: DNS rebinding.
        ("another host", to_host("evil.example"), 421),
        ("another host with our port", to_host(&format!("evil.example:{port}")), 421),
        ("our address as a prefix", to_host(&format!("127.0.0.1.evil.example:{port}")), 421),
        ("another port", to_host("127.0.0.1:1"), 421),
        ("no port", to_host("127.0.0.1"), 421),
        ("address as a number", to_host(&format!("2130706433:{port}")), 421),
        ("user in the host", to_host(&format!("127.0.0.1:{port}@evil.example")), 421),
        ("empty host", to_host(""), 421),
        ("no host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n".into(), 400),
        ("no host in HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n".into(), 400),
        (
            "two hosts",
            format!(
                "GET /healthz HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
            ),
            400,
        ),
        ("absolute form of another host", with("GET http://evil.example/api/v1/overview", ""), 421),
        ("absolute form of https", with(&format!("GET https://{host}/api/v1/overview"), ""), 421),
        // Pages of other sites.
        ("origin of another site", with(overview, "Origin: http://evil.example\r\n"), 403),
        ("origin of another port", with(overview, "Origin: http://127.0.0.1:3000\r\n"), 403),
        ("origin null", with(overview, "Origin: null\r\n"), 403),
        ("https origin", with(overview, &format!("Origin: https://{host}\r\n")), 403),
        ("two origins", with(overview, &format!("Origin: http://{host}\r\nOrigin: http://{host}\r\n")), 403),
        ("cross-site fetch", with(overview, "Sec-Fetch-Site: cross-site\r\n"), 403),
        ("same-site fetch from another port", with(overview, "Sec-Fetch-Site: same-site\r\n"), 403),
        ("cross-site script", with("GET /app.js", "Sec-Fetch-Site: cross-site\r\n"), 403),
        (
            "page in a frame",
            with(
                "GET /",
                "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
            ),
            403,
        ),
        (
            "navigation to the API",
            with(
                overview,
                "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
            ),
            403,
        ),
        (
            "preflight",
            with(
                "OPTIONS /api/v1/overview",
                "Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n",
            ),
            403,
        ),
        // Methods.
        ("DELETE", with("DELETE /api/v1/runs/0199a1b2-secret", ""), 405),
        ("PUT on the page", with("PUT /", ""), 405),
        ("OPTIONS", with("OPTIONS /api/v1/overview", ""), 405),
        ("TRACE", with("TRACE /api/v1/overview", ""), 405),
        ("CONNECT", format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"), 401),
        ("GET where only POST is", with("GET /api/v1/runs/x/requests", ""), 405),
        ("a method that is not there", with("HACK /api/v1/overview", ""), 405),
        (
            "POST without control",
            with(
                "POST /api/v1/runs/0199a1b2-secret/requests",
                "Content-Type: application/json\r\nContent-Length: 0\r\n",
            ),
            403,
        ),
        // Paths and ids.
        ("dot dot", path("/../../../etc/passwd"), 404),
        ("dot dot below the API", path("/api/v1/runs/../../../../etc/passwd"), 404),
        ("encoded dot dot", path("/api/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), 404),
        ("encoded twice", path("/api/v1/runs/%252e%252e%252f"), 404),
        ("NUL", path("/api/v1/runs/0199a1b2%00"), 404),
        ("backslashes", path("/api/v1/runs/..\\..\\etc"), 404),
        ("a wildcard for an id", path("/api/v1/runs/%25"), 404),
        ("quotes in an id", path("/api/v1/runs/'%20OR%201=1--"), 404),
        ("an id that is too long", path(&format!("/api/v1/runs/{}", "a".repeat(4_000))), 404),
        ("iteration 0", path("/api/v1/runs/0199a1b2-secret/iterations/0"), 404),
        ("iteration -1", path("/api/v1/runs/0199a1b2-secret/iterations/-1/diff"), 404),
        (
            "an iteration that is too large",
            path("/api/v1/runs/0199a1b2-secret/iterations/99999999999999999999"),
            404,
        ),
        ("an iteration that is a path", path("/api/v1/runs/0199a1b2-secret/iterations/..%2f1/prompt"), 404),
        ("two slashes", path("//api//v1//overview"), 404),
        ("another case", path("/API/V1/overview"), 404),
        ("a database", path("/ralph.db"), 404),
        ("a limit that is no number", path("/api/v1/runs?limit=1e9"), 400),
        ("a limit that is too large", path("/api/v1/runs?limit=101"), 400),
        ("half an escape", path("/api/v1/runs?text=%f"), 400),
        ("an event id that is none", with("GET /api/v1/events", "Last-Event-ID: 1; drop\r\n"), 400),
        ("an attempt that is a path", path("/api/v1/events?run=../../x"), 404),
        // Heads that are no heads.
        (
            "a header without an end",
            format!("{overview} HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "a".repeat(64_000)),
            431,
        ),
        ("an address without an end", with(&format!("GET /{}", "a".repeat(64_000)), ""), 431),
        ("a hundred headers", with(overview, &"X-A: b\r\n".repeat(100)), 431),
        ("a line break in a header", with(overview, "X: a\rb\r\n"), 400),
        ("a NUL in a header", with(overview, "X: a\0b\r\n"), 400),
        ("a header that continues", with(overview, "X: a\r\n b\r\n"), 400),
        ("no such version", format!("{overview} HTTP/9.9\r\nHost: {host}\r\n\r\n"), 400),
        ("HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), 0),
        ("TLS", "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03".into(), 400),
        ("no HTTP at all", "EHLO evil.example\r\n\r\n".into(), 400),
        ("a space in the address", "GET /heal thz HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        // Bodies.
        (
            "two lengths",
            with("POST /api/v1/runs/x/requests", "Content-Length: 5\r\nContent-Length: 6\r\n"),
            400,
        ),
        ("a length that is none", with("POST /api/v1/runs/x/requests", "Content-Length: -1\r\n"), 400),
        (
            "length and chunks",
            with("POST /api/v1/runs/x/requests", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            403,
        ),
        (
            "chunks and something else",
            with("POST /api/v1/runs/x/requests", "Transfer-Encoding: gzip, identity\r\n"),
            400,
        ),
        (
            "a websocket",
            with(
                "GET /api/v1/events",
                "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: http://evil.example\r\n",
            ),
            403,
        ),
        ("h2c", with(overview, "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"), 200),
    ]
}

#[test]
fn every_hostile_request_gets_exactly_its_answer() {
    let bed = bed();
    let table = table(&bed);
    assert!(table.len() >= 40);
    let mut wrong = Vec::new();
    for (name, request, status) in &table {
        let got = bed.send(request.as_bytes());
        if got.status != *status {
            wrong.push(format!("{name}: {} instead of {status}", got.status));
        }
        if got.status != 200 {
            leaks_nothing(&bed, &got, name);
        }
        if got.status == 405 {
            assert!(got.headers.contains("\r\nallow: "), "{name}");
        }
        still_answers(&bed, name);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_answer_forbids_what_browsers_might_do() {
    let bed = bed();
    for path in [
        "/",
        "/app.js",
        "/app.css",
        "/icon.svg",
        "/healthz",
        "/metrics",
        "/api/v1/overview",
        "/api/v1/nothing",
        "/x",
    ] {
        let got = bed.get(path);
        for header in [
            "content-security-policy: default-src 'none'; ",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "permissions-policy: ",
        ] {
            assert!(got.headers.contains(header), "{path}: {header}\n{}", got.headers);
        }
        let stored = if path.starts_with("/api") || path == "/metrics" {
            "cache-control: no-store"
        } else {
            "cache-control: no-"
        };
        assert!(got.headers.contains(stored), "{path}");
    }
    assert!(bed.get("/").headers.contains("require-trusted-types-for 'script'"));
}

#[test]
fn a_request_that_is_not_asked_to_control_is_never_read_and_one_that_is_has_a_limit() {
    let bed = Bed::with_control();
    write(&bed.store(), row("0199a1b2-secret", 1));
    let path = "/api/v1/runs/0199a1b2-secret/requests";
    let large = format!("{{\"request\":\"hint\",\"text\":\"{}\"}}", "a".repeat(17_000));
    let table = [
        ("too large", bed.post(path, &large), 413),
        ("no JSON", bed.post(path, "pause"), 400),
        ("another request", bed.post(path, "{\"request\":\"run\",\"text\":\"rm -rf /\"}"), 400),
        ("a field that is not there", bed.post(path, "{\"request\":\"pause\",\"policy\":{}}"), 400),
        (
            "a hint that is too long",
            bed.post(path, &format!("{{\"request\":\"hint\",\"text\":\"{}\"}}", "a".repeat(9_000))),
            422,
        ),
        ("a hint without words", bed.post(path, "{\"request\":\"hint\",\"text\":\" \"}"), 422),
        (
            "a run that is not there",
            bed.post("/api/v1/runs/0199ffff/requests", "{\"request\":\"pause\"}"),
            404,
        ),
        ("a run that is not active", bed.post(path, "{\"request\":\"pause\"}"), 409),
        ("deep JSON", bed.post(path, &"[".repeat(10_000)), 400),
    ];
    for (name, got, status) in table {
        assert_eq!(got.status, status, "{name}: {got:?}");
        assert!(got.json()["error"]["message"].is_string(), "{name}");
    }
    let form = format!(
        "{}Content-Type: text/plain\r\nContent-Length: 19\r\nConnection: close\r\n\r\n{{\"request\":\"pause\"}}",
        bed.head("POST", path)
    );
    assert_eq!(bed.send(form.as_bytes()).status, 415);
    let away = bed.post(path, "{\"request\":\"put_away\"}");
    assert_eq!((away.status, away.json()), (202, serde_json::json!({"recorded": true})));
    assert_eq!(bed.get("/api/v1/overview").json()["cards"][0]["put_away"], true);
    // Kept for the run when it is resumed, as the command does.
    let hint = bed.post(path, "{\"request\":\"hint\",\"text\":\"look at parse.rs\"}");
    assert_eq!((hint.status, hint.json()), (202, serde_json::json!({"recorded": false})));
}

#[test]
fn two_requests_in_one_piece_get_two_answers_and_a_smuggled_one_none() {
    let bed = bed();
    let get = |path: &str, close: &str| format!("{}{close}\r\n", bed.head("GET", path));
    let both = format!("{}{}", get("/healthz", ""), get("/api/v1/overview", "Connection: close\r\n"));
    let mut stream = bed.connect();
    stream.write_all(both.as_bytes()).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 2);
    // A body that looks like a request is a body.
    let inner = get("/api/v1/overview", "");
    let outer = format!(
        "{}Content-Length: {}\r\nConnection: close\r\n\r\n{inner}",
        bed.head("POST", "/healthz"),
        inner.len()
    );
    let got = bed.send(outer.as_bytes());
    assert_eq!(got.status, 405);
    leaks_nothing(&bed, &got, "smuggled");
}

#[test]
fn half_a_request_loses_its_connection_and_holds_nobody_up() {
    let bed = bed();
    let began = Instant::now();
    let mut halves: Vec<_> = (0..50).map(|_| bed.connect()).collect();
    for (n, half) in halves.iter_mut().enumerate() {
        let text = ["", "G", "GET / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nX: "][n % 4];
        half.write_all(text.as_bytes()).unwrap();
    }
    still_answers(&bed, "half requests");
    for mut half in halves {
        let mut rest = Vec::new();
        // Closed by the server, with or without a word.
        let _ = half.read_to_end(&mut rest);
        assert!(matches!(got(&rest).status, 0 | 408), "{}", got(&rest).status);
    }
    assert!(began.elapsed() < Duration::from_secs(50));
    still_answers(&bed, "half requests that were closed");
}

#[test]
fn too_many_connections_are_turned_away_and_the_next_one_after_is_answered() {
    let bed = bed();
    let mut all: Vec<_> = (0..400).map(|_| bed.connect()).collect();
    let refused = all.iter_mut().filter_map(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let mut bytes = [0; 64];
        stream.read(&mut bytes).ok().filter(|n| *n > 0).map(|n| got(&bytes[..n]).status)
    });
    let refused: Vec<u16> = refused.collect();
    assert!(!refused.is_empty() && refused.iter().all(|status| *status == 503), "{refused:?}");
    drop(all);
    let until = Instant::now() + SOON;
    while bed.get("/healthz").status != 200 {
        assert!(Instant::now() < until, "it never answered again");
    }
    still_answers(&bed, "many connections");
}

#[test]
fn a_head_has_32_kilobytes_at_most() {
    let bed = Bed::new();
    let bare = format!("{}Connection: close\r\nX-A: \r\n\r\n", bed.head("GET", "/api/v1/overview")).len();
    let with = |value: usize| {
        let head = bed.head("GET", "/api/v1/overview");
        bed.send(format!("{head}Connection: close\r\nX-A: {}\r\n\r\n", "a".repeat(value)).as_bytes()).status
    };
    assert_eq!(with(32 * 1024 - bare), 200);
    for more in [1, 1_000, 4_000, 7_000, 20_000] {
        assert_eq!(with(32 * 1024 - bare + more), 431, "{more}");
    }
}
