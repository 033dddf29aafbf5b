//! No thread of a gate outlives it. Alone in its program, so that the only threads named after a gate are this one's.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ralph_sandbox::gate::{Gate, SystemResolver, send_listener};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The threads of this program that belong to a gate.
fn gate_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.map(|task| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default());
    names.filter(|name| name.starts_with("gate") && !name.starts_with("gate_threads")).count()
}

fn wait_for(threads: usize, at_most: Duration) {
    let started = Instant::now();
    while gate_threads() != threads {
        assert!(started.elapsed() < at_most, "{} threads instead of {threads}", gate_threads());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn threads_end_with_the_box_and_with_the_gate() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    for dropped_first in [true, false] {
        let rules = vec![format!("localhost:{port}").parse().unwrap()];
        let (gate, box_end) = Gate::start(rules, Vec::new(), SystemResolver).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        send_listener(&box_end, &listener).unwrap();
        let silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut stuck = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stuck.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        stuck.read_exact(&mut [0; 39]).unwrap();
        // The server reads nothing, so that the gate's buffers are full.
        stuck.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        while stuck.write(&[0; 65536]).is_ok() {}
        wait_for(3, Duration::from_mins(1));
        if dropped_first {
            drop(gate);
            assert_eq!(gate_threads(), 0, "dropping waits for them");
        } else {
            drop(box_end);
            wait_for(0, Duration::from_secs(1));
        }
        drop((silent, stuck));
    }
}
