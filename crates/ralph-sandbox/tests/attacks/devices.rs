//! Devices: the machine's own, one that everybody can read outside, and new ones. Landlock holds the machine's own and new
//! ones: a raw disk would show every hidden file.

use crate::attack::Control::{BareRoot, None as NoControl};
use crate::attack::{Attack, attack};
use crate::scene::{Scene, is_root};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::os::unix::fs::PermissionsExt;

pub fn attacks() -> Vec<Attack> {
    vec![
        attack("memory and the kernel's log", r#"
for name in ["mem", "kmem", "port", "kmsg", "cpu/0/msr"]: attempt(opens, f"/dev/{name}", os.O_RDONLY)"#)
        .control(BareRoot)
        .landlock(),
        attack("disks", r#"
for name in os.listdir("/sys/block"): attempt(opens, f"/dev/{name}", os.O_RDONLY)"#)
        .control(BareRoot)
        .landlock(),
        attack("devices that make others", r#"
for name in ["loop-control", "fuse", "net/tun", "kvm", "vhost-vsock", "vsock", "uinput", "userfaultfd", "vga_arbiter"]:
    attempt(opens, f"/dev/{name}", os.O_RDWR)"#)
        .control(BareRoot)
        .landlock(),
        attack("consoles", r#"
for name in ["console", "tty0", "tty1", "ttyS0", "vcs", "vcsa"]: attempt(opens, f"/dev/{name}", os.O_RDWR)"#)
        .control(BareRoot),
        attack("terminals of others", r#"
for name in os.listdir("/dev/pts"):
    if name != "ptmx": attempt(opens, f"/dev/pts/{name}", os.O_RDWR)"#)
        .control(NoControl("there need not be any")),
        attack("a device outside that everybody can read", r#"
if read(f"{HOME}/device", 4) == b"\0\0\0\0": did("read the device")"#)
        .before(|scene| device(scene, "device"))
        .only(|_| is_root()),
        attack("a device in the workspace that everybody can read", r#"
if read(f"{WS}/device", 4) == b"\0\0\0\0": did("read the device")"#)
        .before(|scene| device(scene, "project/device"))
        .only(|_| is_root()),
        attack("a device by a hard link", r#"
os.link(f"{HOME}/device", f"{WS}/hard"); opens(f"{WS}/hard", os.O_RDONLY)"#)
        .before(|scene| device(scene, "device"))
        .only(|_| is_root()),
        attack("a new device in the workspace", r#"
for kind, number in [(stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFBLK, os.makedev(7, 0)), (stat.S_IFCHR, os.makedev(1, 5))]:
    attempt(os.mknod, f"{WS}/new-{kind}-{number}", kind | 0o666, number)"#)
        .control(BareRoot)
        .landlock(),
        attack("a new device in /dev and /tmp", r#"
for at in ["/dev", "/tmp", "/dev/shm"]:
    path = f"{at}/ralph-attack-{ID}"
    if attempt(os.mknod, path, stat.S_IFCHR | 0o666, os.makedev(1, 5)) is None: attempt(opens, path, os.O_RDONLY)
    if not INSIDE and os.path.exists(path): os.unlink(path)"#)
        .control(BareRoot)
        .landlock(),
        attack("type into the terminal", r#"
if not INSIDE: absent("its own terminal is not the user's")
def body():
    os.setsid(); _, tty = os.openpty()
    fcntl.ioctl(tty, 0x540E, 0); fcntl.ioctl(tty, 0x5412, b"x"); did("typed into a terminal")
in_child(body)"#),
        attack("a device by an open directory of /dev", r#"
at = os.open("/dev", os.O_RDONLY)
os.close(os.open("kmsg", os.O_RDONLY | os.O_NONBLOCK, dir_fd=at)); did("opened kmsg")"#)
        .control(BareRoot)
        .landlock(),
    ]
}

/// A device like `/dev/zero`, readable by everybody.
fn device(scene: &Scene, name: &str) {
    let path = scene.home().join(name);
    mknodat(CWD, &path, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 5)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    scene.give(&path);
}
