//! Many connections, and clients and servers that behave badly.

use crate::kit::{PATIENCE, Through, answer, connect_to, echo, localhost, pattern, server};
use ralph_sandbox::gate::MAX_CONNECTIONS;
use rustix::net::sockopt::set_socket_linger;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn abort(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}

#[test]
fn two_hundred_connections_at_once() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    // All open before any is used.
    let mut clients: Vec<TcpStream> = (0..200).map(|_| through.tunnel(port)).collect();
    let sent = pattern(64 * 1024);
    for client in &mut clients {
        client.write_all(&sent).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
    }
    for mut client in clients {
        let mut back = Vec::new();
        client.read_to_end(&mut back).unwrap();
        assert!(back == sent);
    }
}

#[test]
fn further_connections_wait_until_one_ends() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    let mut clients: Vec<TcpStream> = (0..MAX_CONNECTIONS).map(|_| through.tunnel(port)).collect();
    let mut waiting = through.client();
    waiting.write_all(connect_to(&localhost(port)).as_bytes()).unwrap();
    waiting.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let nothing = waiting.read(&mut [0]).unwrap_err().kind();
    assert!([ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&nothing), "{nothing}");
    drop(clients.pop());
    waiting.set_read_timeout(Some(PATIENCE)).unwrap();
    crate::kit::expect_established(&mut waiting);
}

#[test]
fn a_client_that_says_nothing_is_sent_away_and_hinders_nobody() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    let started = Instant::now();
    let silent = through.client();
    let mut stuttering = through.client();
    stuttering.write_all(b"CONNECT a.org").unwrap();
    drop(through.tunnel(port));
    assert!(answer(silent).starts_with("HTTP/1.1 408 Request Timeout\r\n"));
    assert!(answer(stuttering).starts_with("HTTP/1.1 408 Request Timeout\r\n"));
    assert!(started.elapsed() >= Duration::from_secs(9), "{:?}", started.elapsed());
}

#[test]
fn a_huge_head_is_answered_although_the_client_does_not_stop() {
    let through = Through::new(&["a.org".to_owned()]);
    let mut client = through.client();
    client.write_all(b"CONNECT a.org:443 HTTP/1.1\r\n").unwrap();
    for _ in 0..1000 {
        if client.write_all(format!("X-Padding: {}\r\n", "x".repeat(1000)).as_bytes()).is_err() {
            break;
        }
    }
    let mut answer = [0; 12];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 400");
}

#[test]
fn a_client_that_aborts_ends_its_connection_alone() {
    let (send, ended) = mpsc::channel();
    let port = server(move |mut stream| {
        let mut buffer = [0; 4096];
        let how = loop {
            match stream.read(&mut buffer) {
                Ok(0) => break None,
                Ok(_) => {}
                Err(error) => break Some(error.kind()),
            }
        };
        send.send(how).unwrap();
    });
    let through = Through::new(&[localhost(port)]);
    let bystander = through.tunnel(port);
    for _ in 0..20 {
        let mut client = through.tunnel(port);
        client.write_all(&[1; 1000]).unwrap();
        abort(client);
        assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), Some(ErrorKind::ConnectionReset));
        // Before any request, and in the middle of one.
        abort(through.client());
        let mut client = through.client();
        client.write_all(b"CONNECT a.org").unwrap();
        abort(client);
    }
    drop(bystander);
    assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), None, "that one was closed in order");
}

#[test]
fn a_server_that_aborts_is_not_shown_as_one_that_finished() {
    let port = server(|mut stream| {
        let _ = stream.write_all(b"half of it");
        let _ = stream.read(&mut [0]);
        abort(stream);
    });
    let through = Through::new(&[localhost(port)]);
    let mut client = through.tunnel(port);
    let mut half = [0; 10];
    client.read_exact(&mut half).unwrap();
    client.write_all(&[1]).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_server_that_answers_without_reading_is_heard() {
    let port = server(|mut stream| {
        stream.write_all(b"enough").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        std::thread::sleep(Duration::from_secs(1));
    });
    let through = Through::new(&[localhost(port)]);
    let client = through.tunnel(port);
    let mut writer = client.try_clone().unwrap();
    let writing = std::thread::spawn(move || while writer.write_all(&[1; 65536]).is_ok() {});
    let mut reader = client;
    let mut heard = [0; 6];
    reader.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"enough");
    writing.join().unwrap();
}
