//! Whole connections: what passes and how, what is refused and how it is reported.

use crate::kit::{Liar, Through, answer, connect_to, echo, expect_established, localhost, pattern, server};
use ralph_sandbox::gate::{Gate, Reason, Refused, send_listener};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

#[test]
fn a_tunnel_carries_both_ways_and_a_half_closed_client_gets_its_answer() {
    // Answers only after the client has said that it is finished.
    let port = server(|mut stream| {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all.reverse();
        stream.write_all(&all).unwrap();
    });
    let through = Through::new(&[localhost(port)]);
    let mut client = through.tunnel(port);
    let sent = pattern(3_000_000);
    client.write_all(&sent).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut back = Vec::new();
    client.read_to_end(&mut back).unwrap();
    back.reverse();
    assert!(back == sent, "{} of {} bytes came back", back.len(), sent.len());
    assert_eq!(through.gate.refused().hosts, []);
}

#[test]
fn both_ways_at_once_and_a_slow_reader() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    let mut client = through.tunnel(port);
    let sent = pattern(20_000_000);
    let expected = sent.clone();
    let mut writer = client.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    // Until all buffers on the way are full, nobody reads.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut back = Vec::new();
    client.read_to_end(&mut back).unwrap();
    writing.join().unwrap();
    assert!(back == expected, "{} of {} bytes came back", back.len(), expected.len());
}

#[test]
fn a_head_may_come_in_pieces_and_with_the_first_bytes_of_the_tunnel() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    let mut client = through.client();
    for byte in connect_to(&localhost(port)).bytes() {
        client.write_all(&[byte]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    expect_established(&mut client);
    let mut client = through.client();
    client.write_all(format!("{}early", connect_to(&localhost(port))).as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    expect_established(&mut client);
    assert_eq!(answer(client), "early");
}

#[test]
fn a_plain_request_reaches_its_server_rewritten() {
    let (send, seen) = mpsc::channel();
    let port = server(move |mut stream| {
        let mut head = vec![0; 4096];
        let mut read = 0;
        while !head[..read].ends_with(b"body") {
            read += stream.read(&mut head[read..]).unwrap();
        }
        send.send(String::from_utf8_lossy(&head[..read]).into_owned()).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello").unwrap();
    });
    let through = Through::new(&[localhost(port)]);
    let request = format!(
        "POST http://localhost:{port}/a?b HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: x\r\nContent-Length: 4\r\n\r\nbody"
    );
    let answer = through.ask(request.as_bytes());
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
    let expected = format!(
        "POST /a?b HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
    );
    assert_eq!(seen.recv().unwrap(), expected);
}

#[test]
fn a_refused_host_is_told_and_reported() {
    let through = Through::new(&["*.crates.io".to_owned(), "a.org:8080".to_owned()]);
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    let refused = through.ask(connect_to("Evil.org:443").as_bytes());
    assert!(refused.starts_with("HTTP/1.1 403 Refused by ralph (sandbox.hosts)\r\n"), "{refused}");
    assert_eq!(
        body(&refused),
        "ralph's sandbox refused evil.org:443: it is not in sandbox.hosts. To allow it, add \"evil.org\" to sandbox.hosts in your ralph configuration.\n"
    );
    through.ask(connect_to("Evil.org:443").as_bytes());
    let plain = through.ask(b"GET http://a.org:81/ HTTP/1.1\r\n\r\n");
    assert!(body(&plain).contains("add \"a.org:81\" to sandbox.hosts"), "{plain}");
    through.ask(connect_to("crates.io.evil.org:443").as_bytes());
    through.ask(connect_to("127.0.0.1:22").as_bytes());
    let entry =
        |host: &str, port, count| Refused { host: host.to_owned(), port, reason: Reason::NotListed, count };
    let expected = [
        entry("Evil.org", 443, 2),
        entry("a.org", 81, 1),
        entry("crates.io.evil.org", 443, 1),
        entry("127.0.0.1", 22, 1),
    ];
    assert_eq!(through.gate.refused().hosts, expected);
    assert_eq!(through.gate.refused().further, 0);
}

#[test]
fn a_malformed_request_is_told_and_not_reported_as_a_host() {
    let through = Through::new(&["a.org".to_owned()]);
    for head in [
        "GET / HTTP/1.1\r\n\r\n",
        "CONNECT a.org\0.evil.org:443 HTTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "GET http://a.org/ HTTP/1.1\nHost: a.org\n\n",
    ] {
        let answer = through.ask(head.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{head:?}: {answer}");
    }
    assert_eq!(through.gate.refused().hosts, []);
}

#[test]
fn a_listed_name_that_leads_here_is_refused_unless_the_address_is_named() {
    let port = echo();
    let liar = || Liar::saying("db.corp", &[&["127.0.0.1"]]);
    let listed = format!("db.corp:{port}");
    let through = Through::resolving(std::slice::from_ref(&listed), liar());
    let answer = through.ask(connect_to(&listed).as_bytes());
    assert!(answer.contains("403") && answer.contains("it leads to an address of this machine"), "{answer}");
    let refused = through.gate.refused().hosts;
    assert_eq!(
        (refused.len(), refused[0].host.as_str(), refused[0].reason),
        (1, "db.corp", Reason::ThisMachine)
    );
    for naming in [localhost(port), format!("127.0.0.1:{port}")] {
        let through = Through::resolving(&[listed.clone(), naming], liar());
        let mut client = through.client();
        client.write_all(connect_to(&listed).as_bytes()).unwrap();
        expect_established(&mut client);
    }
    let others = ["169.254.169.254", "fe80::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "0.0.0.0", "::1"];
    for address in others {
        let through =
            Through::resolving(std::slice::from_ref(&listed), Liar::saying("db.corp", &[&[address]]));
        assert!(through.ask(connect_to(&listed).as_bytes()).contains("HTTP/1.1 403"), "{address}");
    }
}

#[test]
fn a_name_is_resolved_once_and_that_address_dialled() {
    let port = echo();
    let listed = [format!("rebind.corp:{port}"), format!("127.0.0.1:{port}")];
    // Harmless when first asked, and another address for whoever asks again.
    let liar = Liar::saying("rebind.corp", &[&["127.0.0.1"], &["127.0.0.9"]]);
    let asked = liar.asked.clone();
    let through = Through::resolving(&listed, liar);
    let mut client = through.client();
    client.write_all(connect_to(&listed[0]).as_bytes()).unwrap();
    expect_established(&mut client);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(
        through.ask(connect_to(&listed[0]).as_bytes()).contains("403"),
        "the second time it leads elsewhere"
    );
    // Of several addresses, only the allowed ones are dialled.
    let through =
        Through::resolving(&listed, Liar::saying("rebind.corp", &[&["127.0.0.9", "::1", "127.0.0.1"]]));
    let mut client = through.client();
    client.write_all(connect_to(&listed[0]).as_bytes()).unwrap();
    expect_established(&mut client);
}

#[test]
fn names_that_are_refused_are_never_resolved() {
    let liar = Liar::saying("evil.org", &[&["127.0.0.1"]]);
    let asked = liar.asked.clone();
    let through = Through::resolving(&["a.org".to_owned()], liar);
    through.ask(connect_to("evil.org:443").as_bytes());
    assert_eq!(asked.load(Ordering::SeqCst), 0, "a name can carry data out to its name server");
}

#[test]
fn a_server_that_cannot_be_reached_is_told_as_such() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let through = Through::new(&[localhost(closed), "nowhere.corp".to_owned()]);
    let answer = through.ask(connect_to(&localhost(closed)).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway") && answer.contains("cannot reach it"), "{answer}");
    let answer = through.ask(connect_to("nowhere.corp:443").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway"), "{answer}");
    assert_eq!(through.gate.refused().hosts, []);
}

#[test]
fn a_forwarded_port_leads_to_the_same_port_outside() {
    if TcpListener::bind(("::1", 0)).is_err() {
        return ralph_testkit::skip("no IPv6 loopback");
    }
    let port = echo();
    assert_eq!(through_forwarded(port, &localhost(port)), "no proxy here");
    assert_eq!(through_forwarded(port, &format!("127.0.0.1:{port}")), "no proxy here");
    assert_eq!(through_forwarded(port, &format!("127.0.0.2:{port}")), "", "that is another address");
}

/// What comes back through a forwarded port where this host is listed.
fn through_forwarded(port: u16, listed: &str) -> String {
    let rules = vec![listed.parse().unwrap()];
    let (_gate, box_end) = Gate::start(rules, vec![port], Liar::default()).unwrap();
    // In one network, the same port is free only on the other loopback.
    let listener = TcpListener::bind(("::1", port)).unwrap();
    send_listener(&box_end, &listener).unwrap();
    drop(listener);
    let mut client = TcpStream::connect(("::1", port)).unwrap();
    // A connection that leads nowhere is closed or reset at once.
    let _ = client.write_all(b"no proxy here");
    let _ = client.shutdown(Shutdown::Write);
    let mut said = String::new();
    let _ = client.read_to_string(&mut said);
    said
}

#[test]
fn curl_gets_through_and_shows_what_was_refused() {
    let port = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    });
    let through = Through::new(&[localhost(port)]);
    let curl = |arguments: &[&str]| {
        let mut command = Command::new("curl");
        command
            .args(["--silent", "--show-error", "--noproxy", "", "--proxy"])
            .arg(format!("http://{}", through.address));
        let output = command.args(arguments).output()?;
        let said = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        std::io::Result::Ok(said.concat())
    };
    let listed = format!("http://localhost:{port}/");
    match curl(&[&listed]) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return ralph_testkit::skip("no curl"),
        plain => assert_eq!(plain.unwrap(), "hi"),
    }
    assert_eq!(curl(&["--proxytunnel", &listed]).unwrap(), "hi");
    let plain = curl(&["http://evil.org/"]).unwrap();
    assert!(plain.contains("refused evil.org:80: it is not in sandbox.hosts"), "{plain}");
    let tunnel = curl(&["https://evil.org/"]).unwrap();
    assert!(tunnel.contains("403"), "{tunnel}");
}
