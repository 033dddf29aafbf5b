//! Heads of requests: what is understood and how it is passed on, and hostile ones.

use ralph_sandbox::gate::{BadRequest, MAX_HEAD, Request, head_end, parse};

fn read(head: &str) -> Result<Request, BadRequest> {
    parse(head.as_bytes())
}

#[test]
fn a_tunnel_names_its_host_and_port() {
    let table = [
        ("CONNECT crates.io:443 HTTP/1.1\r\n\r\n", "crates.io", 443),
        ("CONNECT Crates.IO.:443 HTTP/1.1\r\nHost: other.org\r\n\r\n", "crates.io", 443),
        ("CONNECT crates.io:8443 HTTP/1.0\r\nProxy-Authorization: Basic x\r\n\r\n", "crates.io", 8443),
        ("CONNECT [::1]:80 HTTP/1.1\r\nUser-Agent: a\tb \u{e4}\r\n\r\n", "[::1]", 80),
        ("CONNECT 10.0.0.5:65535 HTTP/1.1\r\nX:\r\n\r\n", "10.0.0.5", 65535),
    ];
    for (head, host, port) in table {
        let request = read(head).expect(head);
        assert_eq!(
            (request.host.to_string().as_str(), request.port, request.head),
            (host, port, None),
            "{head}"
        );
    }
    let written = read("CONNECT sk-Secret.Evil.org:443 HTTP/1.1\r\n\r\n").unwrap().written;
    assert_eq!(written, "sk-Secret.Evil.org", "a secret in it is still recognised");
}

#[test]
fn a_plain_request_is_rewritten_for_its_server() {
    let table = [
        (
            "GET http://a.org/x?y=1 HTTP/1.1\r\nHost: evil.org\r\nAccept: */*\r\n\r\n",
            "GET /x?y=1 HTTP/1.1\r\nHost: a.org\r\nAccept: */*\r\n",
        ),
        ("GET http://a.org HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a.org\r\n"),
        ("GET http://a.org?q HTTP/1.0\r\n\r\n", "GET /?q HTTP/1.0\r\nHost: a.org\r\n"),
        ("GET HTTP://A.org:8080/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a.org:8080\r\n"),
        ("GET http://[::1]:81/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1]:81\r\n"),
        (
            "GET http://a.org/http://evil.org/ HTTP/1.1\r\n\r\n",
            "GET /http://evil.org/ HTTP/1.1\r\nHost: a.org\r\n",
        ),
        ("GET http://a.org//evil.org@x HTTP/1.1\r\n\r\n", "GET //evil.org@x HTTP/1.1\r\nHost: a.org\r\n"),
        (
            "POST http://a.org/ HTTP/1.1\r\nContent-Length: 3\r\nProxy-Connection: keep-alive\r\nproxy-authorization: x\r\nKeep-Alive: 5\r\nConnection: X-Hop, keep-alive\r\nx-hop: 1\r\nUpgrade: h2c\r\nTE: trailers\r\nX-Stays: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a.org\r\nContent-Length: 3\r\nX-Stays: 1\r\n",
        ),
        (
            "POST http://a.org/ HTTP/1.1\r\ntransfer-encoding:  Chunked \r\nExpect: 100-continue\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a.org\r\ntransfer-encoding: Chunked\r\nExpect: 100-continue\r\n",
        ),
    ];
    for (head, expected) in table {
        let request = read(head).expect(head);
        let sent = String::from_utf8(request.head.unwrap()).unwrap();
        assert_eq!(sent, format!("{expected}Connection: close\r\n\r\n"), "{head}");
    }
}

/// First lines that are not a request to a proxy.
const FIRST_LINES: [(&str, BadRequest); 42] = {
    use BadRequest as B;
    [
        ("GET / HTTP/1.1", B::Target),
        ("GET * HTTP/1.1", B::Target),
        ("OPTIONS * HTTP/1.1", B::Target),
        ("GET a.org HTTP/1.1", B::Target),
        ("GET //a.org/ HTTP/1.1", B::Target),
        ("GET https://a.org/ HTTP/1.1", B::Target),
        ("GET ftp://a.org/ HTTP/1.1", B::Target),
        ("GET file:///etc/passwd HTTP/1.1", B::Target),
        ("GET http:/a.org/ HTTP/1.1", B::Target),
        ("GET http://a.org/#part HTTP/1.1", B::Target),
        ("GET http://a.org#@evil.org/ HTTP/1.1", B::Target),
        ("GET http:///x HTTP/1.1", B::Host),
        ("GET http://user@a.org/ HTTP/1.1", B::Host),
        ("GET http://a.org@evil.org/ HTTP/1.1", B::Host),
        ("GET http://a.org:80@evil.org/ HTTP/1.1", B::Host),
        ("GET http://a.org\\@evil.org/ HTTP/1.1", B::Host),
        ("GET http://a.org:/ HTTP/1.1", B::Host),
        ("GET http://a.org:0/ HTTP/1.1", B::Host),
        ("GET http://a.org:+80/ HTTP/1.1", B::Host),
        ("GET http://a.org:80:81/ HTTP/1.1", B::Host),
        ("GET http://a%2eorg/ HTTP/1.1", B::Host),
        ("GET http://a..org/ HTTP/1.1", B::Host),
        ("GET http://2130706433/ HTTP/1.1", B::Host),
        ("GET http://0x7f.1/ HTTP/1.1", B::Host),
        ("GET http://::1/ HTTP/1.1", B::Host),
        ("CONNECT a.org HTTP/1.1", B::Host),
        ("CONNECT a.org: HTTP/1.1", B::Host),
        ("CONNECT :443 HTTP/1.1", B::Host),
        ("CONNECT a.org:443:443 HTTP/1.1", B::Host),
        ("CONNECT a.org:99999 HTTP/1.1", B::Host),
        ("CONNECT a.org:443/ HTTP/1.1", B::Host),
        ("CONNECT http://a.org:443 HTTP/1.1", B::Host),
        ("CONNECT ::1:443 HTTP/1.1", B::Host),
        ("CONNECT [::1%25lo]:443 HTTP/1.1", B::Host),
        ("CONNECT [::1]x:443 HTTP/1.1", B::Host),
        ("connect a.org:443 HTTP/1.1", B::Target),
        ("CONNECT a.org:443", B::FirstLine),
        ("CONNECT  a.org:443 HTTP/1.1", B::FirstLine),
        ("CONNECT a.org:443 HTTP/1.1 ", B::FirstLine),
        ("CONNECT a.org:443 HTTP/2.0", B::FirstLine),
        ("CONNECT a.org:443\tevil.org:443 HTTP/1.1", B::FirstLine),
        ("G(T http://a.org/ HTTP/1.1", B::FirstLine),
    ]
};

/// Headers that make a request for a plain page invalid.
const HEADERS: [(&str, BadRequest); 22] = {
    use BadRequest as B;
    [
        ("no colon", B::Header),
        (": no name", B::Header),
        ("Host : a.org", B::Header),
        (" Folded: line", B::Header),
        ("X: 1\r\n folded", B::Header),
        ("X\u{e4}: 1", B::Header),
        ("X: a\u{0}b", B::Header),
        ("X: a\u{b}b", B::Header),
        ("X: a\rY: b", B::Header),
        ("X: a\r\r\nY: b", B::Header),
        ("Host: a.org\r\nHost: evil.org", B::Header),
        ("Connection: a b", B::Header),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", B::Framing),
        ("Content-Length: 3\r\nContent-Length: 3", B::Framing),
        ("Content-Length: 3, 3", B::Framing),
        ("Content-Length: +3", B::Framing),
        ("Content-Length: 0x3", B::Framing),
        ("Content-Length:", B::Framing),
        ("Transfer-Encoding: gzip, chunked", B::Framing),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", B::Framing),
        ("Connection: Content-Length\r\nContent-Length: 3", B::Framing),
        ("Connection: close, host", B::Framing),
    ]
};

#[test]
fn everything_that_could_be_read_in_two_ways_is_refused() {
    for (line, expected) in FIRST_LINES {
        assert_eq!(read(&format!("{line}\r\n\r\n")), Err(expected), "{line:?}");
    }
    for (lines, expected) in HEADERS {
        let head = format!("POST http://a.org/ HTTP/1.1\r\n{lines}\r\n\r\n");
        assert_eq!(read(&head), Err(expected), "{lines:?}");
    }
    let old = "POST http://a.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(read(old), Err(BadRequest::Framing));
}

#[test]
fn a_head_that_cannot_become_one_is_refused_at_once() {
    let refused: [&[u8]; 7] = [
        b"\r\nGET http://a.org/ HTTP/1.1\r\n\r\n",
        b"\n",
        b"\x16\x03\x01\x02\x00\x01",
        b" GET",
        b"\x05\x01\x00",
        b"GET http://a.org/ HTTP/1.1\n",
        b"GET http://a.org/ HTTP/1.1\r\nX: 1\n\r\n",
    ];
    for bytes in refused {
        assert_eq!(head_end(bytes), Err(BadRequest::Lines), "{bytes:?}");
        assert!(parse(bytes).is_err());
    }
    for begun in [&b""[..], b"C", b"CONNECT a.org:443 HTTP/1.1\r", b"CONNECT a.org:443 HTTP/1.1\r\n\r"] {
        assert_eq!(head_end(begun), Ok(None));
        assert!(parse(begun).is_err());
    }
    let whole = b"CONNECT a.org:443 HTTP/1.1\r\n\r\n";
    let with_more = [&whole[..], b"\n\n\x16\x03"].concat();
    assert_eq!(head_end(&with_more), Ok(Some(whole.len())), "what follows is the server's");
    assert!(parse(&with_more).is_err());
}

#[test]
fn a_head_is_bounded() {
    let padded = |length: usize| {
        let (start, end) = ("CONNECT a.org:443 HTTP/1.1\r\nX: ", "\r\n\r\n");
        format!("{start}{}{end}", "x".repeat(length - start.len() - end.len()))
    };
    assert!(read(&padded(MAX_HEAD)).is_ok());
    assert_eq!(read(&padded(MAX_HEAD + 1)), Err(BadRequest::TooLong));
    assert_eq!(head_end(&[b'G'; MAX_HEAD]), Err(BadRequest::TooLong));
    assert_eq!(head_end(&[b'G'; MAX_HEAD - 1]), Ok(None));
}
