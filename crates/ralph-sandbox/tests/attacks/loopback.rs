//! The network of the machine, from a plan that has none. Judged by whoever listens outside.

use crate::attack::Control::None as NoControl;
use crate::attack::{Attack, attack};
use ralph_sandbox::Network;

pub fn attacks() -> Vec<Attack> {
    let all = [by_address(), by_other_ways()].into_iter().flatten();
    all.map(|attack| attack.victim().plan(|plan| plan.network = Network::Off)).collect()
}

fn by_address() -> Vec<Attack> {
    vec![
        attack("TCP", r#"socket.create_connection(("127.0.0.1", V["tcp"]), 2)"#),
        attack("TCP by name", r#"socket.create_connection(("localhost", V["tcp"]), 2)"#),
        attack(
            "TCP by another address of loopback",
            r#"socket.create_connection(("127.1.2.3", V["any"]), 2)"#,
        ),
        attack("TCP by no address", r#"socket.create_connection(("0.0.0.0", V["any"]), 2)"#),
        attack(
            "UDP",
            r#"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", V["udp"]))"#,
        ),
        attack(
            "TCP over IPv6",
            r#"
if not V["tcp6"]: absent("no IPv6")
socket.create_connection(("::1", V["tcp6"] or 1), 2)"#,
        ),
        attack(
            "UDP over IPv6",
            r#"
if not V["udp6"]: absent("no IPv6")
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("::1", V["udp6"] or 1))"#,
        ),
    ]
}

fn by_other_ways() -> Vec<Attack> {
    vec![
        attack(
            "IPv4 by an IPv6 address",
            r#"
s = socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(("::ffff:127.0.0.1", V["any"]))"#,
        ),
        attack(
            "TCP without waiting",
            r#"
s = socket.socket(); s.setsockopt(socket.IPPROTO_TCP, 30, 1)
s.sendto(b"x", 0x20000000, ("127.0.0.1", V["tcp"]))"#,
        ),
        attack(
            "the machine's other addresses",
            r#"
names = [name for _, name in socket.if_nameindex()]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for name in names:
    answer = attempt(fcntl.ioctl, s, 0x8915, struct.pack("256s", name.encode()))
    if answer: attempt(socket.create_connection, (socket.inet_ntoa(answer[20:24]), V["any"]), 2)"#,
        ),
        attack(
            "a network of its own that leads outside",
            r#"
nested(lambda: socket.create_connection(("127.0.0.1", V["tcp"]), 2), NEWUSER | NEWNET)"#,
        )
        .reaches("entered")
        .control(NoControl("a new network leads nowhere")),
        attack(
            "many ports",
            r#"
for port in {V["tcp"], V["any"]} | set(range(V["tcp"], V["tcp"] + 20)):
    s = socket.socket(); s.settimeout(1)
    s.connect_ex(("127.0.0.1", port)) if INSIDE or port in (V["tcp"], V["any"]) else None"#,
        ),
    ]
}
