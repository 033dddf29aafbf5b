//! What is reached without a name: inherited descriptors, sockets, shared memory.

use crate::attack::Control::{BareRoot, None as NoControl};
use crate::attack::{Attack, attack};
use ralph_sandbox::{Mount, Network};

pub fn attacks() -> Vec<Attack> {
    [inherited(), sockets(), memory()].into_iter().flatten().collect()
}

fn inherited() -> Vec<Attack> {
    let all = vec![
        attack(
            "read by an inherited directory",
            r#"
for fd in range(3, 256):
    try:
        keep(os.read(os.open("id_ed25519", os.O_RDONLY, dir_fd=fd), 100))
    except OSError: pass"#,
        ),
        attack(
            "write by an inherited descriptor",
            r#"
for fd in range(3, 256): attempt(os.write, fd, b"x") if INSIDE or fd == 6 else None"#,
        ),
        attack(
            "leave by an inherited directory",
            r#"
for fd in range(3, 256):
    try:
        os.fchdir(fd)
        keep(attempt(read, ".ssh/id_ed25519") or b"")
        keep(attempt(read, "../.ssh/id_ed25519") or b"")
    except OSError: pass"#,
        ),
        attack(
            "by /proc/self/fd",
            r#"
for fd in os.listdir("/proc/self/fd"):
    keep(attempt(read, f"/proc/self/fd/{fd}/id_ed25519") or b"")"#,
        ),
    ];
    all.into_iter().map(|attack| attack.descriptors().victim()).collect()
}

fn sockets() -> Vec<Attack> {
    vec![
        attack("an abstract socket", r#"
socket.socket(socket.AF_UNIX).connect("\0" + V["abstract"])"#)
        .landlock(),
        attack("an abstract datagram socket", r#"
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "\0" + V["abstract_datagram"])"#)
        .landlock(),
        attack("an abstract socket without network", r#"
socket.socket(socket.AF_UNIX).connect("\0" + V["abstract"])"#)
        .plan(|plan| plan.network = Network::Off)
        .landlock(),
        attack("the names of sockets", r#"
keep(read("/proc/net/unix").replace(b"ralph-attack-", b"SECRET-"))"#)
        .plan(|plan| plan.network = Network::Off),
        attack("a socket file that is hidden", r#"socket.socket(socket.AF_UNIX).connect(V["hidden_socket"])"#),
        attack("a socket file that is hidden in a directory that is seen", r#"
socket.socket(socket.AF_UNIX).connect(V["seen_socket"])"#)
        .plan(|plan| {
            let home = plan.workspace.parent().unwrap().to_path_buf();
            plan.mounts.insert(0, Mount::Hide(home.join(".config/agent.sock")));
        }),
        attack("a socket file in /tmp", r#"socket.socket(socket.AF_UNIX).connect(V["tmp_socket"])"#),
        attack("a socket file in /run", r#"
if not V["run_socket"]: absent("this user could not make it")
socket.socket(socket.AF_UNIX).connect(V["run_socket"] or "/run/none")"#),
        attack("a socket file by the root of pid 1", r#"
os.chdir(f"/proc/{TARGET}/root{HOME}/.ssh"); socket.socket(socket.AF_UNIX).connect("agent.sock")"#),
        attack("a system bus and containers", r#"
for path in ["/run/dbus/system_bus_socket", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/systemd/private",
             "/run/systemd/journal/socket", "/dev/log", "/run/snapd.socket"]:
    for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM]:
        s = socket.socket(socket.AF_UNIX, kind)
        try:
            s.connect(path); did(f"reached {path}")
        except OSError: pass"#)
        .control(NoControl("not every machine has them")),
    ]
    .into_iter()
    .map(Attack::victim)
    .collect()
}

fn memory() -> Vec<Attack> {
    vec![
        attack(
            "read shared memory",
            r#"
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(V["shm"], None, 0)
if at != ctypes.c_void_p(-1).value: keep(ctypes.string_at(at, 100))"#,
        ),
        attack(
            "write shared memory",
            r#"
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(V["shm"], None, 0)
if at != ctypes.c_void_p(-1).value: ctypes.memmove(at, b"attacked", 8)"#,
        ),
        attack(
            "find shared memory",
            r#"
for number in range(0, 4096) if INSIDE else [V["shm"]]:
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(number, None, 0o10000)
    if at != ctypes.c_void_p(-1).value: keep(ctypes.string_at(at, 100))"#,
        ),
        attack(
            "take a message",
            r#"
message = ctypes.create_string_buffer(200)
libc.msgrcv.restype = ctypes.c_ssize_t
length = checked(libc.msgrcv(V["queue"], message, ctypes.c_size_t(100), ctypes.c_long(0), 0o4000))
keep(message.raw[8:8 + length])"#,
        ),
        attack("change a semaphore", r#"call("semctl", V["semaphore"], 0, 16, 7)"#),
        attack("named shared memory", r#"keep(read(V["posix_shm"])); attempt(write, V["posix_shm"], "x")"#),
        attack(
            "write named shared memory",
            r#"
if open(V["posix_shm"], "r+").write("x"): did("wrote")"#,
        ),
        attack(
            "a named queue",
            r#"
if not V["mqueue"]: absent("no queues of this kind")
rt = ctypes.CDLL("librt.so.1", use_errno=True)
queue = checked(rt.mq_open((V["mqueue"] or "/none").encode(), os.O_RDONLY | os.O_NONBLOCK))
message = ctypes.create_string_buffer(8192)
checked(rt.mq_receive(queue, message, ctypes.c_size_t(8192), None)); keep(message.value)"#,
        ),
        attack("remove shared memory", r#"call("shmctl", V["shm"], 0, None); did("removed")"#)
            .control(BareRoot),
    ]
    .into_iter()
    .map(Attack::victim)
    .collect()
}
