//! The first process inside: it holds the way to the report and must outlive everybody. Outside, the victim stands for it.

use crate::attack::Control::None as NoControl;
use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    vec![
        attack("end it", r#"os.kill(TARGET, signal.SIGKILL)"#),
        attack("signal it", r#"
for number in [1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14, 15, 19, 20, 31, 34, 64]: attempt(os.kill, TARGET, number)
time.sleep(0.2)"#),
        attack("make it dump core", r#"os.kill(TARGET, signal.SIGABRT); time.sleep(0.2)"#),
        attack("trace it", r#"
libc.ptrace.restype = ctypes.c_long
checked(libc.ptrace(0x4206, TARGET, None, None)); did("traced")"#),
        attack("attach to it", r#"
libc.ptrace.restype = ctypes.c_long
checked(libc.ptrace(16, TARGET, None, None)); did("attached")
os.waitpid(TARGET, 0x40000000); libc.ptrace(17, TARGET, None, None)"#),
        attack("open its memory", r#"opens(f"/proc/{TARGET}/mem", os.O_RDWR)"#),
        attack("read its maps", r#"
if read(f"/proc/{TARGET}/maps"): did("read its maps")"#),
        attack("read its memory by process_vm_readv", r#"
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine = ctypes.create_string_buffer(16)
local, remote = Part(ctypes.addressof(mine), 16), Part(V["address"], 16)
libc.process_vm_readv.restype = ctypes.c_ssize_t
try:
    checked(libc.process_vm_readv(TARGET, ctypes.byref(local), ctypes.c_ulong(1), ctypes.byref(remote), ctypes.c_ulong(1), ctypes.c_ulong(0)))
    did("read its memory")
except OSError as refused:
    # Another answer than EPERM would mean that it was only the wrong address.
    if refused.errno not in (errno.EPERM, errno.ESRCH): did(f"could read its memory: {refused}")"#),
        attack("see what it has open", r#"
for name in range(64): did(f"descriptor {name} is {os.readlink(f'/proc/{TARGET}/fd/{name}')}")"#),
        attack("open what it has open", r#"
for name in range(64):
    for flags in [os.O_RDONLY, os.O_WRONLY]: attempt(opens, f"/proc/{TARGET}/fd/{name}", flags)"#),
        attack("take what it has open", r#"
pidfd = syscall("pidfd_open", TARGET, 0)
for name in range(64):
    if attempt(syscall, "pidfd_getfd", pidfd, name, 0) is not None: did(f"took descriptor {name}")"#),
        attack("read its program file", r#"opens(f"/proc/{TARGET}/exe", os.O_RDONLY)"#),
        attack("write its program file", r#"
try:
    opens(f"/proc/{TARGET}/exe", os.O_WRONLY)
except OSError as refused:
    if refused.errno == errno.ETXTBSY: did("only busy")
    else: raise"#)
        .control(NoControl("the victim's program belongs to root")),
        attack("write the program that runs it", r#"
for name in ["/run/ralph-init", "/proc/self/exe"] + [os.path.join(top, file) for top, _, files in os.walk("/run") for file in files]:
    if "ralph" in name or "init" in name: attempt(opens, name)"#)
        .control(NoControl("it is not there outside")),
        attack("read its variables", r#"keep(read(f"/proc/{TARGET}/environ")); did("read") if read(f"/proc/{TARGET}/environ") else None"#),
        attack("enter its root", r#"
os.listdir(f"/proc/{TARGET}/root/"); did("listed its root")"#),
    ]
    .into_iter()
    .map(Attack::victim)
    .collect()
}
