//! A set-uid file in the workspace gives whoever made it away to everybody else on the machine; a set-uid program inside
//! the sandbox would give it more than it was started with. Landlock must hold these.

use crate::attack::Control::BareRoot;
use crate::attack::{Attack, Who, attack};
use crate::scene::is_root;
use std::fs;
use std::os::unix::fs::PermissionsExt;

pub fn attacks() -> Vec<Attack> {
    [by_mode(), by_creating(), others()].into_iter().flatten().map(Attack::landlock).collect()
}

fn by_mode() -> Vec<Attack> {
    vec![
        attack("chmod", r#"write(f"{WS}/p"); os.chmod(f"{WS}/p", 0o4755)"#),
        attack("chmod set-gid", r#"write(f"{WS}/p"); os.chmod(f"{WS}/p", 0o2755)"#),
        attack("fchmod", r#"fd = os.open(f"{WS}/p", os.O_CREAT | os.O_RDWR); os.fchmod(fd, 0o6755)"#),
        attack("fchmodat", r#"write(f"{WS}/p"); syscall("fchmodat", AT_FDCWD, f"{WS}/p", 0o4755)"#),
        attack(
            "fchmodat2",
            r#"
write(f"{WS}/p")
try:
    syscall("fchmodat2", AT_FDCWD, f"{WS}/p", 0o4755, 0x100)
except OSError as refused:
    if refused.errno == errno.ENOSYS and not INSIDE: absent("an older kernel")
    raise"#,
        ),
        attack("chmod of the shell", r#"sh("cp /bin/true p; chmod u+s p; install -m 4755 /bin/true q")"#),
        attack("copied with its mode", r#"sh("cp -p /usr/bin/su p || cp -p /bin/su p")"#).control(BareRoot),
        attack(
            "unpacked from an archive",
            r#"
import io, tarfile
head = tarfile.TarInfo("p"); head.mode = 0o4755
with tarfile.open(f"{WS}/a.tar", "w") as tar: tar.addfile(head, io.BytesIO(b""))
sh("tar -xpf a.tar")"#,
        ),
    ]
}

fn by_creating() -> Vec<Attack> {
    vec![
        attack(
            "created with the mode",
            r#"os.umask(0); os.open(f"{WS}/p", os.O_CREAT | os.O_WRONLY, 0o4755)"#,
        ),
        attack("created with the mode by creat", r#"os.umask(0); call("creat", f"{WS}/p", 0o4755)"#),
        attack(
            "created with the mode by openat2",
            r#"
os.umask(0)
how = ctypes.create_string_buffer(struct.pack("3Q", os.O_CREAT | os.O_WRONLY, 0o4755, 0))
syscall("openat2", AT_FDCWD, f"{WS}/p", how, 24)"#,
        ),
        attack(
            "created without a name and linked",
            r#"
os.umask(0)
fd = os.open(WS, os.O_TMPFILE | os.O_RDWR, 0o4755)
call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}", AT_FDCWD, f"{WS}/p", 0x400)"#,
        ),
        attack(
            "created with the mode by mknod",
            r#"os.umask(0); os.mknod(f"{WS}/p", stat.S_IFREG | 0o4755)"#,
        ),
        attack(
            "created with the mode by mknodat",
            r#"
os.umask(0); syscall("mknodat", AT_FDCWD, f"{WS}/p", stat.S_IFREG | 0o6755, 0)"#,
        ),
    ]
}

fn others() -> Vec<Attack> {
    vec![
        attack("a set-uid program linked into the workspace", r#"os.link(f"{HOME}/set-uid", f"{WS}/p")"#)
            .before(|scene| set_uid_program(&scene.home().join("set-uid")))
            .only(|who| is_root() && who != Who::User),
        attack(
            "run a set-uid program",
            r#"
answer = subprocess.run([f"{HOME}/set-uid", "-u"], capture_output=True).stdout
if answer.strip() == b"0": did("became root")"#,
        )
        .before(|scene| set_uid_program(&scene.home().join("set-uid")))
        .only(|who| is_root() && who == Who::User),
        attack(
            "run a set-uid program of the workspace",
            r#"
answer = subprocess.run([f"{WS}/src/set-uid", "-u"], capture_output=True).stdout
os.unlink(f"{WS}/src/set-uid")
if answer.strip() == b"0": did("became root")"#,
        )
        .before(|scene| set_uid_program(&scene.workspace().join("src/set-uid")))
        .only(|who| is_root() && who == Who::User),
        attack(
            "become somebody else",
            r#"
os.setgroups([]) if attempt(os.setgid, 12345) is None and os.getgid() == 12345 else None
os.setuid(12345); did("became somebody else")"#,
        )
        .control(BareRoot)
        .only(|who| who == Who::User),
    ]
}

/// Tells the effective user when run.
fn set_uid_program(path: &std::path::Path) {
    fs::copy("/usr/bin/id", path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o4755)).unwrap();
}
