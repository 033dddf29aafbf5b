//! The end of the gate: by dropping it, or because the box is gone.

use crate::kit::{PATIENCE, Through, connect_to, echo, localhost};
use ralph_sandbox::gate::{Resolver, gate_port, proxy_variables};
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

fn is_ended(mut client: TcpStream) -> bool {
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    matches!(client.read(&mut [0]), Ok(0) | Err(_))
}

/// Waits until nobody listens there any more.
fn refused_soon(through: std::net::SocketAddr) -> bool {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match TcpStream::connect(through) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return true,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    false
}

#[test]
fn a_dropped_gate_closes_everything() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    let tunnel = through.tunnel(port);
    let silent = through.client();
    let Through { gate, box_end, address } = through;
    let started = Instant::now();
    drop(gate);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert!(is_ended(tunnel) && is_ended(silent) && refused_soon(address));
    drop(box_end);
}

#[test]
fn a_gate_ends_with_the_last_copy_of_the_boxs_descriptor() {
    let port = echo();
    let through = Through::new(&[localhost(port)]);
    let mut tunnel = through.tunnel(port);
    through.ask(connect_to("evil.org:443").as_bytes());
    let Through { gate, box_end, address } = through;
    let copy = box_end.try_clone().unwrap();
    drop(box_end);
    tunnel.write_all(b"x").unwrap();
    tunnel.read_exact(&mut [0]).unwrap();
    drop(copy);
    assert!(is_ended(tunnel) && refused_soon(address));
    assert_eq!(gate.refused().hosts.len(), 1, "what was refused is still known");
}

#[test]
fn listeners_sent_just_before_the_end_are_no_trouble() {
    for _ in 0..50 {
        let Through { gate, box_end, address } = Through::new(&[]);
        drop(box_end);
        assert!(refused_soon(address));
        drop(gate);
    }
}

struct Stuck;

impl Resolver for Stuck {
    fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        std::thread::sleep(Duration::from_secs(30));
        Ok(Vec::new())
    }
}

#[test]
fn a_resolver_that_hangs_delays_neither_the_answer_nor_the_end() {
    let through = Through::resolving(&["slow.corp".to_owned()], Stuck);
    let mut abandoned = through.client();
    abandoned.write_all(connect_to("slow.corp:443").as_bytes()).unwrap();
    let answer = through.ask(connect_to("slow.corp:443").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 504 Gateway Timeout\r\n"), "{answer}");
    let mut again = through.client();
    again.write_all(connect_to("slow.corp:443").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let started = Instant::now();
    drop(through);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn the_gate_leaves_its_port_to_a_forwarded_one() {
    for (forward, port) in
        [(&[][..], 7257), (&[5432][..], 7257), (&[7257][..], 7258), (&[7258, 7257][..], 7259)]
    {
        assert_eq!(gate_port(forward), port, "{forward:?}");
        let proxy = proxy_variables(forward).into_iter().find(|(name, _)| *name == "https_proxy").unwrap().1;
        assert_eq!(proxy, format!("http://127.0.0.1:{port}"));
    }
}

#[test]
fn programs_are_led_to_the_gate_but_for_loopback() {
    let variables = proxy_variables(&[]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        let value = |name: &str| variables.iter().find(|(it, _)| *it == name).unwrap().1.clone();
        assert_eq!(value(name), value(&name.to_ascii_lowercase()));
        let expected = if name == "NO_PROXY" { "127.0.0.1,localhost,::1" } else { "http://127.0.0.1:7257" };
        assert_eq!(value(name), expected);
    }
    assert!(variables.contains(&("NODE_USE_ENV_PROXY", "1".to_owned())));
    assert_eq!(variables.len(), 9);
}
