//! System calls and socket families that a build does not need and whose bugs are escapes. Landlock must hold these: its
//! backend has the same filter.

use crate::attack::Control::{BareRoot, None as NoControl};
use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    [calls(), sockets(), other_interfaces()].into_iter().flatten().map(Attack::landlock).collect()
}

fn calls() -> Vec<Attack> {
    vec![
        attack("io_uring", r#"
syscall("io_uring_setup", 1, ctypes.create_string_buffer(256)); did("io_uring")"#),
        attack("bpf map", r#"
syscall("bpf", 0, ctypes.create_string_buffer(struct.pack("5I", 2, 4, 8, 1, 0), 128), 128); did("bpf")"#)
        .control(BareRoot),
        attack("bpf program", r#"
code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0))
text = ctypes.create_string_buffer(b"GPL")
attr = struct.pack("IIQQ", 1, 2, ctypes.addressof(code), ctypes.addressof(text))
syscall("bpf", 5, ctypes.create_string_buffer(attr, 128), 128); did("bpf program")"#)
        .control(BareRoot),
        attack("perf", r#"
attr = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 112, 0, 1000, 0, 0, 1 << 5 | 1 << 6), 112)
syscall("perf_event_open", attr, 0, -1, -1, 0); did("perf")"#),
        attack("perf of everything", r#"
attr = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 112, 0, 1000, 0, 0, 0), 112)
syscall("perf_event_open", attr, -1, 0, -1, 0); did("perf of everything")"#)
        .control(BareRoot),
        attack("a key in the user's keyring", r#"
syscall("add_key", "user", f"ralph-attack-{ID}", "x", 1, -4 if INSIDE else -2); did("add_key")"#),
        attack("keyctl", r#"syscall("keyctl", 0, -2, 1); did("keyctl")"#),
        attack("request_key", r#"
try:
    syscall("request_key", "user", f"ralph-attack-{ID}", None, -2); did("request_key")
except OSError as refused:
    if refused.errno in (errno.ENOKEY, 126): did("request_key was answered")
    else: raise"#),
        attack("userfaultfd", r#"syscall("userfaultfd", 1); did("userfaultfd")"#),
        attack("the kernel's log", r#"
syscall("syslog", 3, ctypes.create_string_buffer(100), 100); did("read the kernel's log")"#)
        .control(BareRoot),
        attack("modules and another kernel", r#"
numbers = {"x86_64": [175, 313, 176, 246, 320], "aarch64": [105, 273, 106, 104, 294]}[platform.machine()]
for number in numbers:
    try:
        syscall(number, None, 0, "", 0, 0x80000000)
    except OSError as refused:
        if refused.errno not in (errno.EPERM, errno.ENOSYS, errno.EACCES): did(f"call {number} was answered: {refused}")"#)
        .control(NoControl("outside it could change the machine")),
        attack("set the clock", r#"
number = {"x86_64": 227, "aarch64": 112}[platform.machine()]
try:
    syscall(number, 0, None)
except OSError as refused:
    if refused.errno == errno.EFAULT: did("the clock can be set")
    else: raise"#)
        .control(BareRoot)
        .only(|who| who != crate::attack::Who::User),
    ]
}

fn sockets() -> Vec<Attack> {
    vec![
        attack(
            "a vsock socket",
            r#"
try:
    socket.socket(40, socket.SOCK_STREAM); did("vsock")
except OSError as refused:
    if refused.errno == errno.EAFNOSUPPORT and not INSIDE: absent("no vsock")
    raise"#,
        ),
        attack("a packet socket", r#"socket.socket(17, socket.SOCK_RAW, 0x300); did("packet socket")"#)
            .control(BareRoot),
        attack("a raw socket", r#"socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); did("raw socket")"#)
            .control(BareRoot),
        attack(
            "an alg socket",
            r#"
try:
    socket.socket(38, socket.SOCK_SEQPACKET); did("alg socket")
except OSError as refused:
    if refused.errno == errno.EAFNOSUPPORT: absent("no alg sockets")
    raise"#,
        ),
        attack(
            "every other family of sockets",
            r#"
answered = 0
for family in set(range(1, 46)) - {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}:
    for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET]:
        try:
            socket.socket(family, kind).close(); did(f"a socket of family {family}")
        except OSError as refused:
            pass
if not INSIDE: absent("this kernel may have no other")"#,
        ),
        attack(
            "a pair of sockets of another family",
            r#"
pair = (ctypes.c_int * 2)()
for family in [30, 38, 40]: attempt(call, "socketpair", family, 1, 0, pair)
if pair[0]: did("a pair of sockets")
if not INSIDE: absent("this kernel may have no other")"#,
        ),
        attack(
            "change the network",
            r#"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ask = struct.pack("16sH22x", b"lo", 0)
flags = fcntl.ioctl(s, 0x8913, ask); fcntl.ioctl(s, 0x8914, flags); did("set the flags of an interface")"#,
        )
        .control(BareRoot),
    ]
}

/// Filters that look at the number of a call must look at its interface as well.
fn other_interfaces() -> Vec<Attack> {
    vec![
        attack("io_uring by the 32-bit interface", r#"
if platform.machine() != "x86_64": absent("another machine")
low = libc.mmap; low.restype = ctypes.c_void_p
page = low(None, 4096, 7, 0x62, -1, 0)
code = b"\xb8" + struct.pack("<I", 425) + b"\x53\xbb\x01\x00\x00\x00\xb9" + struct.pack("<I", page + 256) + b"\xcd\x80\x5b\xc3"
ctypes.memmove(page, code, len(code))
answer = ctypes.CFUNCTYPE(ctypes.c_int)(page)()
if answer >= 0: did("io_uring")"#)
        .ends_itself()
        .control(NoControl("the kernel may lack the interface")),
        attack("unshare by the 32-bit interface", r#"
if platform.machine() != "x86_64": absent("another machine")
low = libc.mmap; low.restype = ctypes.c_void_p
page = low(None, 4096, 7, 0x62, -1, 0)
code = b"\x53\xb8" + struct.pack("<I", 310) + b"\xbb" + struct.pack("<I", NEWUSER | NEWNS) + b"\xcd\x80\x5b\xc3"
ctypes.memmove(page, code, len(code))
if ctypes.CFUNCTYPE(ctypes.c_int)(page)() == 0: did("unshared a mount namespace")"#)
        .ends_itself()
        .control(NoControl("the kernel may lack the interface")),
        attack("io_uring by the x32 interface", r#"
syscall(425 | 0x40000000, 1, ctypes.create_string_buffer(256)); did("io_uring")"#)
        .ends_itself()
        .control(NoControl("the kernel may lack the interface")),
    ]
}
