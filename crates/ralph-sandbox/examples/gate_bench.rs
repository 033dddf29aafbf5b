//! How fast bytes pass the gate, beside a direct connection over loopback in the same run, interleaved.
//! `cargo run --release -p ralph-sandbox --example gate_bench [-- MEGABYTES]`
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::indexing_slicing
)]

use ralph_sandbox::gate::{Gate, SystemResolver, send_listener};
use ralph_testkit::{Limit, Table};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

const ROUNDS: usize = 7;
/// MB/s that must pass the gate.
const LEAST: f64 = 300.0;
const MEGABYTE: usize = 1_000_000;
const CHUNK: usize = 256 * 1024;
/// Requests one after another, each over a connection of its own.
const REQUESTS: usize = 200;

fn main() {
    let megabytes = std::env::args().nth(1).map_or(1000, |it| it.parse().unwrap());
    let server = serve();
    let rules = vec![format!("localhost:{}", server.port()).parse().unwrap()];
    let (_gate, box_end) = Gate::start(rules, Vec::new(), SystemResolver).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    send_listener(&box_end, &listener).unwrap();
    let gate = listener.local_addr().unwrap();
    let direct = || TcpStream::connect(server).unwrap();
    let through = || tunnel(gate, server.port());

    let (mut table, rate, per_s) = (Table::start(), ("MB/s", Some(LEAST)), ("per s", None));
    let table = &mut table;
    report(table, "download", rate, || download(direct(), megabytes), || download(through(), megabytes));
    report(table, "upload", rate, || upload(direct(), megabytes), || upload(through(), megabytes));
    report(table, "connections", per_s, || connections(direct), || connections(through));
}

/// The median of each, measured in turn.
fn report(
    table: &mut Table,
    what: &str,
    (unit, least): (&str, Option<f64>),
    direct: impl Fn() -> f64,
    through: impl Fn() -> f64,
) {
    let (mut plain, mut gated): (Vec<f64>, Vec<f64>) = (0..ROUNDS).map(|_| (direct(), through())).unzip();
    plain.sort_by(f64::total_cmp);
    gated.sort_by(f64::total_cmp);
    let (plain, gated) = (plain[ROUNDS / 2], gated[ROUNDS / 2]);
    table.row(&format!("{what}, direct"), plain, &Limit::Beside(gated), unit);
    table.row(&format!("{what}, gate"), gated, &least.map_or(Limit::Beside(plain), Limit::Least), unit);
}

/// A server: after `d` and a length it sends so many bytes; after `u` it reads to the end and says `.`.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut order = [0; 9];
                stream.read_exact(&mut order).unwrap();
                if order[0] == b'u' {
                    read_all(&stream);
                    return stream.write_all(b".").unwrap();
                }
                let length = usize::from_be_bytes(order[1..].try_into().unwrap());
                write_all(&stream, length);
            });
        }
    });
    address
}

fn tunnel(gate: SocketAddr, port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(gate).unwrap();
    stream.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = [0; 39];
    stream.read_exact(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    stream
}

fn order(stream: &mut TcpStream, kind: u8, length: usize) {
    let mut order = vec![kind];
    order.extend_from_slice(&length.to_be_bytes());
    stream.write_all(&order).unwrap();
}

fn download(mut stream: TcpStream, megabytes: usize) -> f64 {
    let started = Instant::now();
    order(&mut stream, b'd', megabytes * MEGABYTE);
    assert_eq!(read_all(&stream), megabytes * MEGABYTE);
    megabytes as f64 / started.elapsed().as_secs_f64()
}

fn upload(mut stream: TcpStream, megabytes: usize) -> f64 {
    let started = Instant::now();
    order(&mut stream, b'u', 0);
    write_all(&stream, megabytes * MEGABYTE);
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&stream), 1);
    megabytes as f64 / started.elapsed().as_secs_f64()
}

fn connections(open: impl Fn() -> TcpStream) -> f64 {
    let started = Instant::now();
    for _ in 0..REQUESTS {
        let mut stream = open();
        order(&mut stream, b'd', 1000);
        assert_eq!(read_all(&stream), 1000);
    }
    REQUESTS as f64 / started.elapsed().as_secs_f64()
}

fn read_all(mut stream: &TcpStream) -> usize {
    let mut buffer = vec![0; CHUNK];
    let mut total = 0;
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => return total,
            read => total += read,
        }
    }
}

fn write_all(mut stream: &TcpStream, length: usize) {
    let buffer = vec![7; CHUNK];
    let mut left = length;
    while left > 0 {
        let now = left.min(CHUNK);
        stream.write_all(&buffer[..now]).unwrap();
        left -= now;
    }
}
