//! A gate whose sockets come from a network namespace: this test's program, started again as the box.

use crate::kit::{Liar, answer, connect_to, echo, expect_established};
use ralph_sandbox::gate::{Gate, Reason, gate_port, hand_out};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink::SocketAddrNetlink};
use std::io::{ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// Ports outside for the program inside: one listed for the proxy, one forwarded.
const PORTS: &str = "RALPH_TEST_GATE_PORTS";

#[test]
fn a_program_in_another_network_reaches_what_is_listed_and_nothing_else() {
    if let Ok(ports) = std::env::var(PORTS) {
        return be_the_program(&ports);
    }
    let (listed, forwarded) = (echo(), echo());
    let rules = [listed, forwarded].map(|port| format!("localhost:{port}").parse().unwrap()).to_vec();
    let (gate, box_end) = Gate::start(rules, vec![forwarded], Liar::default()).unwrap();
    let me = std::env::current_exe().unwrap();
    let inside = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--"])
        .arg(me)
        .args(["--exact", "namespace::a_program_in_another_network_reaches_what_is_listed_and_nothing_else"])
        .env(PORTS, format!("{listed} {forwarded}"))
        .stdin(Stdio::from(box_end))
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&inside.stdout), String::from_utf8_lossy(&inside.stderr));
    assert!(inside.status.success() && said.contains("1 passed"), "{said}");
    let refused: Vec<_> = gate.refused().hosts.into_iter().map(|it| (it.host, it.port, it.reason)).collect();
    assert_eq!(refused, [("127.0.0.1".to_owned(), forwarded, Reason::NotListed)]);
}

/// Runs in a network of its own.
fn be_the_program(ports: &str) {
    let (listed, forwarded) = ports.split_once(' ').unwrap();
    let (listed, forwarded): (u16, u16) = (listed.parse().unwrap(), forwarded.parse().unwrap());
    raise_loopback();
    let gate = std::io::stdin();
    // A port below 1024 can be taken too, as long as the box has its capabilities.
    hand_out(gate.as_fd(), &[forwarded, forwarded, 80]).unwrap();
    let port = gate_port(&[forwarded, 80]);

    for address in ["127.0.0.1", "0.0.0.0"] {
        assert_eq!(
            TcpListener::bind((address, port)).unwrap_err().kind(),
            ErrorKind::AddrInUse,
            "the port is taken"
        );
    }
    for gate in ["127.0.0.1", "::1"] {
        let mut tunnel = TcpStream::connect((gate, port)).unwrap();
        tunnel.write_all(connect_to(&format!("localhost:{listed}")).as_bytes()).unwrap();
        expect_established(&mut tunnel);
        assert_eq!(said_back(tunnel), "hello");
        assert_eq!(said_back(TcpStream::connect((gate, forwarded)).unwrap()), "hello");
    }
    let mut other = TcpStream::connect(("127.0.0.1", port)).unwrap();
    other.write_all(connect_to(&format!("127.0.0.1:{forwarded}")).as_bytes()).unwrap();
    assert!(
        answer(other).starts_with("HTTP/1.1 403"),
        "another spelling of the forwarded port is not listed"
    );
    assert!(TcpStream::connect(("127.0.0.1", listed)).is_err(), "the loopback outside is another one");
    assert!(UdpSocket::bind("0.0.0.0:0").unwrap().connect("192.0.2.1:9").is_err(), "no way out");
}

fn said_back(mut stream: TcpStream) -> String {
    stream.write_all(b"hello").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    answer(stream)
}

/// Sets the first interface up, as `ip link set lo up` does.
fn raise_loopback() {
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None).unwrap();
    let words: [u32; 8] = [32, 16 | (5 << 16), 1, 0, 0, 1, 1, 1]; // RTM_NEWLINK with an answer; index 1, IFF_UP
    let message: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    rustix::net::sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).unwrap();
    let mut answer = [0; 512];
    rustix::net::recv(&socket, &mut answer, RecvFlags::empty()).unwrap();
    assert_eq!(answer[16..20], [0; 4], "loopback could not be set up");
}
