//! Other processes of the machine: seeing, ending, tracing and reading them.

use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    vec![
        attack("see its arguments", r#"keep(read(f"/proc/{V['pid']}/cmdline"))"#),
        attack("see everybody's arguments", r#"
for pid in filter(str.isdigit, os.listdir("/proc")): keep(attempt(read, f"/proc/{pid}/cmdline") or b"")"#),
        attack("see its variables", r#"keep(read(f"/proc/{V['pid']}/environ"))"#),
        attack("end it", r#"os.kill(V["pid"], signal.SIGKILL)"#),
        attack("ask it to end", r#"os.kill(V["pid"], signal.SIGTERM)"#),
        attack("stop it", r#"os.kill(V["pid"], signal.SIGSTOP)"#),
        attack("end its group", r#"os.killpg(V["pid"], signal.SIGKILL)"#).control(
            crate::attack::Control::None("outside it is in the group of the test"),
        ),
        attack("end it by a pidfd", r#"
fd = syscall("pidfd_open", V["pid"], 0)
call("pidfd_send_signal", fd, 9, None, 0) if hasattr(libc, "pidfd_send_signal") else syscall(424, fd, 9, None, 0)"#),
        attack("end everybody", r#"
# Only where it can reach nobody else: a mistake here would end the machine.
if not INSIDE: raise SystemError("outside")
def body():
    os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.kill(-1, signal.SIGTERM)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
in_child(body)"#)
        .alone()
        .control(crate::attack::Control::None("it would end the machine")),
        attack("end its thread", r#"syscall({"x86_64": 234, "aarch64": 131}[platform.machine()], V["pid"], V["pid"], 9)"#),
        attack("trace it", r#"
libc.ptrace.restype = ctypes.c_long
checked(libc.ptrace(0x4206, V["pid"], None, None)); did("traced")"#),
        attack("attach to it", r#"
libc.ptrace.restype = ctypes.c_long
checked(libc.ptrace(16, V["pid"], None, None)); did("attached")
os.waitpid(V["pid"], 0x40000000); libc.ptrace(17, V["pid"], None, None)"#),
        attack("read its memory", r#"
fd = os.open(f"/proc/{V['pid']}/mem", os.O_RDONLY)
keep(os.pread(fd, V["length"], V["address"]))"#),
        attack("read its memory by process_vm_readv", r#"
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine = ctypes.create_string_buffer(V["length"])
local, remote = Part(ctypes.addressof(mine), V["length"]), Part(V["address"], V["length"])
libc.process_vm_readv.restype = ctypes.c_ssize_t
checked(libc.process_vm_readv(V["pid"], ctypes.byref(local), ctypes.c_ulong(1), ctypes.byref(remote), ctypes.c_ulong(1), ctypes.c_ulong(0)))
keep(mine.raw)"#),
        attack("read what it has open", r#"keep(read(f"/proc/{V['pid']}/fd/{V['fd']}"))"#),
        attack("take what it has open", r#"
fd = syscall("pidfd_getfd", syscall("pidfd_open", V["pid"], 0), V["fd"], 0)
os.lseek(fd, 0, 0); keep(os.read(fd, 100))"#),
        attack("read in its directory", r#"keep(read(f"/proc/{V['pid']}/cwd/id_ed25519"))"#),
        attack("change its limits", r#"
import resource
resource.prlimit(V["pid"], resource.RLIMIT_CORE, (0, 0)); did("limits changed")"#),
        attack("change its priority", r#"os.setpriority(os.PRIO_PROCESS, V["pid"], 19); did("priority changed")"#),
        attack("change its processors", r#"
os.sched_setaffinity(V["pid"], os.sched_getaffinity(0)); did("processors changed")"#),
    ]
    .into_iter()
    .map(Attack::victim)
    .collect()
}
