//! Changing the mounts that hold everything else: remount, unmount, bind elsewhere, move, clone, another root; the same in
//! a namespace of the program's own, with a plan that allows those and with one that does not.

use crate::attack::Control::{self, WeakBox};
use crate::attack::{Attack, attack};

/// A nested namespace starts with every mount locked by the kernel, so that nothing short of a sandbox shows these.
const LOCKED: Control = Control::None("the kernel locks what a nested namespace inherits");

pub fn attacks() -> Vec<Attack> {
    let all = || {
        [
            with_kept_capabilities(),
            new_interface(),
            in_a_nested_namespace(),
            of_the_kernel_in_a_nested_namespace(),
            of_another(),
        ]
        .into_iter()
        .flatten()
    };
    let strict =
        all().map(|attack| attack.plan(|plan| plan.nested = false).control(Control::None("shown above")));
    all().chain(strict).collect()
}

fn with_kept_capabilities() -> Vec<Attack> {
    vec![
        attack("remount a protected file writable", r#"
attempt(mount, "", f"{WS}/.env", "", MS_REMOUNT | MS_BIND)
write(f"{WS}/.env")"#)
        .control(WeakBox),
        attack("remount everything writable", r#"
for at in ["/", HOME, WS, f"{WS}/src/auth", f"{WS}/.git/config"]:
    attempt(mount, "", at, "", MS_REMOUNT | MS_BIND)
attempt(write, f"{WS}/src/auth/login.rs"); attempt(write, f"{HOME}/.bashrc")
write(f"/etc/ralph-attack-{ID}")"#)
        .control(WeakBox),
        attack("unmount a protected file", r#"attempt(umount, f"{WS}/.env"); write(f"{WS}/.env")"#).control(WeakBox),
        attack("unmount lazily", r#"attempt(umount, f"{WS}/src/auth", 2); write(f"{WS}/src/auth/login.rs")"#)
            .control(WeakBox),
        attack("unmount what hides keys", r#"
attempt(umount, f"{HOME}/.ssh", 2); keep(read(f"{HOME}/.ssh/id_ed25519"))"#)
        .control(WeakBox),
        attack("bind the workspace elsewhere", r#"
os.mkdir(f"{WS}/x"); attempt(mount, WS, f"{WS}/x", "", MS_BIND); write(f"{WS}/x/.env")"#)
        .control(WeakBox),
        attack("bind home elsewhere", r#"
os.mkdir(f"{WS}/x"); attempt(mount, HOME, f"{WS}/x", "", MS_BIND); keep(read(f"{WS}/x/.ssh/id_ed25519"))"#)
        .control(WeakBox),
        attack("move a mount away", r#"
os.mkdir(f"{WS}/x"); attempt(mount, f"{WS}/src/auth", f"{WS}/x", "", MS_MOVE); write(f"{WS}/src/auth/login.rs")"#)
        .control(WeakBox),
        attack("an overlay with the workspace as its upper directory", r#"
for d in ["m", "w"]: os.makedirs(f"{WS}/{d}", exist_ok=True)
attempt(mount, "overlay", f"{WS}/m", "overlay", 0, f"lowerdir=/usr/bin,upperdir={WS}/src,workdir={WS}/w,userxattr")
write(f"{WS}/m/auth/login.rs")"#)
        .control(Control::None("the protected directory is a file system of its own in the weak box")),
    ]
}

fn new_interface() -> Vec<Attack> {
    vec![
        attack(
            "clear read-only by mount_setattr",
            r#"
attr = ctypes.create_string_buffer(struct.pack("4Q", 0, 1, 0, 0))
for at in [f"{WS}/.env", WS, HOME, "/"]:
    attempt(syscall, "mount_setattr", AT_FDCWD, at, AT_RECURSIVE if at == "/" else 0, attr, 32)
attempt(write, f"{HOME}/.bashrc"); write(f"{WS}/.env")"#,
        )
        .control(WeakBox),
        attack(
            "clone the workspace without its mounts",
            r#"
fd = syscall("open_tree", AT_FDCWD, WS, 1)
os.write(os.open(".env", os.O_WRONLY | os.O_TRUNC, dir_fd=fd), b"x")"#,
        )
        .control(WeakBox),
        attack(
            "clone home without its mounts",
            r#"
fd = syscall("open_tree", AT_FDCWD, HOME, 1)
keep(os.read(os.open(".ssh/id_ed25519", os.O_RDONLY, dir_fd=fd), 100))"#,
        )
        .control(WeakBox),
        attack(
            "attach a clone over a protected path",
            r#"
write(f"{WS}/new"); fd = syscall("open_tree", AT_FDCWD, f"{WS}/new", 1)
syscall("move_mount", fd, "", AT_FDCWD, f"{WS}/.env", 4)
if b"attacked" in read(f"{WS}/.env"): did("another file lies over the protected one")"#,
        )
        .control(WeakBox),
        attack(
            "another file system by fsopen",
            r#"
fd = syscall("fsopen", "tmpfs", 0); syscall("fsconfig", fd, 6, None, None, 0)
at = syscall("fsmount", fd, 0, 0); syscall("move_mount", at, "", AT_FDCWD, f"{WS}/src/auth", 4)
did("another file system lies over the protected directory")"#,
        )
        .control(WeakBox),
        attack(
            "another file system over a protected path",
            r#"
mount("none", f"{WS}/src/auth", "tmpfs"); did("another file system lies over the protected directory")"#,
        )
        .control(WeakBox),
        attack(
            "another root",
            r#"
os.mkdir(f"{WS}/r"); attempt(mount, WS, f"{WS}/r", "", MS_BIND)
os.mkdir(f"{WS}/r/old"); call("pivot_root", f"{WS}/r", f"{WS}/r/old"); did("another root")"#,
        )
        .control(WeakBox),
        attack("chroot", r#"os.chroot(WS); did("another root")"#).control(WeakBox),
    ]
}

fn in_a_nested_namespace() -> Vec<Attack> {
    vec![
        attack("nested: unmount and write", r#"
def body():
    for at in [f"{WS}/.env", f"{WS}/src/auth", WS]: attempt(umount, at, 2)
    attempt(write, f"{WS}/src/auth/login.rs"); attempt(write, f"{WS}/.env")
nested(body)"#)
        .control(LOCKED),
        attack("nested: remount and write", r#"
def body():
    for at in [f"{WS}/.env", f"{WS}/src/auth", HOME, "/"]: attempt(mount, "", at, "", MS_REMOUNT | MS_BIND)
    attr = ctypes.create_string_buffer(struct.pack("4Q", 0, 1, 0, 0))
    attempt(syscall, "mount_setattr", AT_FDCWD, "/", AT_RECURSIVE, attr, 32)
    attempt(write, f"{WS}/.env"); attempt(write, f"{HOME}/.bashrc"); attempt(write, f"/etc/ralph-attack-{ID}")
nested(body)"#)
        .control(LOCKED),
        attack("nested: bind elsewhere without the mounts", r#"
def body():
    attempt(os.mkdir, f"{WS}/x")
    for flags in [MS_BIND, MS_BIND | MS_REC]:
        if attempt(mount, WS, f"{WS}/x", "", flags) is None: continue
    attempt(write, f"{WS}/x/.env"); attempt(umount, f"{WS}/x/.env", 2); attempt(write, f"{WS}/x/.env")
    fd = attempt(syscall, "open_tree", AT_FDCWD, WS, 1)
    if fd: write(f"/proc/self/fd/{fd}/.env")
nested(body)"#)
        .control(LOCKED),
        attack("nested: an overlay with the workspace as its upper directory", r#"
def body():
    for d in ["m", "w"]: attempt(os.mkdir, f"{WS}/{d}")
    for upper, file in [(WS, ".env"), (f"{WS}/src", "auth/login.rs"), (f"{WS}/deep/a/b", "key.txt")]:
        attempt(mount, "overlay", f"{WS}/m", "overlay", 0, f"lowerdir=/usr,upperdir={upper},workdir={WS}/w,userxattr")
        attempt(write, f"{WS}/m/{file}"); attempt(umount, f"{WS}/m", 2)
nested(body)"#)
        .control(LOCKED),
        attack("nested: rename where nothing is mounted any more", r#"
os.makedirs("/tmp/root/old") if INSIDE else None
def body():
    fd = os.open(WS, os.O_RDONLY | os.O_DIRECTORY)
    # A namespace without a map of ids may not make a directory in a file system of its own.
    attempt(mount, "/tmp/root", "/tmp/root", "", MS_BIND)
    call("pivot_root", "/tmp/root", "/tmp/root/old"); umount("/old", 2)
    for old, new in [("src", "src2"), (".env", "env"), ("deep", "deep2"), (".git", "git2")]:
        attempt(os.rename, old, new, src_dir_fd=fd, dst_dir_fd=fd)
    attempt(os.unlink, ".mcp.json", dir_fd=fd)
nested(body)"#)
        .control(LOCKED),
        attack("nested: rename after entering a root of its own", r#"
def body():
    fd = os.open(f"{WS}/src", os.O_RDONLY | os.O_DIRECTORY)
    attempt(mount, "none", WS, "tmpfs"); attempt(umount, "/", 2)
    attempt(os.rename, "auth", "auth2", src_dir_fd=fd, dst_dir_fd=fd)
    attempt(os.rename, f"{WS}/src", f"{WS}/src2")
nested(body)"#)
        .control(LOCKED),
    ]
}

fn of_the_kernel_in_a_nested_namespace() -> Vec<Attack> {
    vec![
        attack("nested: another /proc, whose settings are writable", r#"
def body():
    attempt(os.mkdir, "/tmp/proc")
    for at in ["/tmp/proc", "/proc"]:
        if attempt(mount, "proc", at, "proc") is None: continue
    for at in ["/tmp/proc", "/proc"]: attempt(opens, f"{at}/sys/kernel/core_pattern")
nested(body, NEWUSER | NEWNS | NEWPID)"#)
        .control(LOCKED),
        attack("nested: a cgroup hierarchy with a release agent", r#"
def body():
    attempt(os.mkdir, f"{WS}/cg")
    for kind, data in [("cgroup", "rdma"), ("cgroup", "misc"), ("cgroup", "memory"), ("cgroup", "none,name=x"), ("cgroup2", "")]:
        attempt(mount, "none", f"{WS}/cg", kind, 0, data)
        attempt(opens, f"{WS}/cg/release_agent"); attempt(os.mkdir, f"{WS}/cg/ralph-attack-{ID}")
        attempt(opens, f"{WS}/cg/cgroup.procs") if not INSIDE else None
        attempt(umount, f"{WS}/cg", 2)
nested(body, NEWUSER | NEWNS | NEWCGROUP)"#)
        .control(LOCKED),
        attack("nested: /sys once more", r#"
def body():
    attempt(os.mkdir, f"{WS}/s"); attempt(mount, "sysfs", f"{WS}/s", "sysfs")
    attempt(opens, f"{WS}/s/kernel/mm/transparent_hugepage/enabled"); attempt(opens, f"{WS}/s/power/state")
nested(body, NEWUSER | NEWNS | NEWNET)"#)
        .control(LOCKED),
        attack("nested: a device of its own", r#"
def body():
    attempt(mount, "none", "/tmp", "tmpfs")
    attempt(os.mknod, "/tmp/zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    attempt(opens, "/tmp/zero", os.O_RDONLY)
nested(body)"#)
        .control(LOCKED),
        attack("nested: a file with capabilities", r#"
write(f"{WS}/program", mode=0o755)
def body():
    for revision in [struct.pack("<5I", 0x02000001, 0x3fffff, 0, 0, 0), struct.pack("<6I", 0x03000001, 0x3fffff, 0, 0, 0, 0)]:
        attempt(os.setxattr, f"{WS}/program", "security.capability", revision)
attempt(body); nested(body); nested(body, NEWUSER)"#)
        .control(LOCKED),
    ]
}

fn of_another() -> Vec<Attack> {
    vec![
        attack(
            "enter the namespaces of pid 1",
            r#"
def enter(name):
    fd = os.open(f"/proc/{TARGET}/ns/{name}", os.O_RDONLY)
    call("setns", fd, 0)
    did(f"entered the {name} namespace of pid {TARGET}")
for name in ["user", "mnt", "pid", "net", "ipc", "cgroup"]: in_child(lambda: enter(name))
pidfd = syscall("pidfd_open", TARGET, 0)
call("setns", pidfd, NEWNS); did("entered by a pidfd")"#,
        )
        .victim()
        .control(Control::BareRoot),
        attack(
            "leave a root of its own",
            r#"
os.mkdir(f"{WS}/r")
def body():
    top = os.open("/", os.O_RDONLY)
    os.chroot(f"{WS}/r"); os.fchdir(top)
    for _ in range(20): os.chdir("..")
    os.chroot("."); keep(attempt(read, f"{HOME}/.ssh/id_ed25519") or b""); attempt(write, f"{WS}/.env")
nested(body, NEWUSER)"#,
        )
        .control(Control::None("nothing is hidden without a sandbox")),
        attack(
            "nested: enter the namespaces outside",
            r#"
def body():
    for name in ["mnt_parent", "mnt", "user", "net"]:
        fd = attempt(os.open, f"/proc/1/ns/{name}", os.O_RDONLY)
        if fd and attempt(call, "setns", fd, 0) == 0: attempt(write, f"{WS}/.env")
    me = os.open("/proc/self/ns/user", os.O_RDONLY)
    above = attempt(fcntl.ioctl, me, 0xb701)
    above = above and attempt(fcntl.ioctl, above, 0xb701)
    if above and attempt(call, "setns", above, 0) == 0: did("entered the user namespace outside")
nested(body)"#,
        )
        .control(LOCKED),
    ]
}
