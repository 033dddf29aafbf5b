//! Writing where the plan does not allow it: home, start files, programs, other repositories, the system, `/tmp`.

use crate::attack::Control::BareRoot;
use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    [by_name(), through_links(), by_hard_links(), without_writing_bytes(), in_shared_places()]
        .into_iter()
        .flatten()
        .collect()
}

fn by_name() -> Vec<Attack> {
    vec![
        attack("a new file in home", r#"write(f"{HOME}/planted")"#).landlock(),
        attack("append to .bashrc", r#"write(f"{HOME}/.bashrc", "x\n", os.O_WRONLY | os.O_APPEND)"#)
            .landlock(),
        attack(
            "replace .profile by renaming",
            r#"write(f"{WS}/new"); os.replace(f"{WS}/new", f"{HOME}/.profile")"#,
        )
        .landlock(),
        attack("truncate .zshrc", r#"os.truncate(f"{HOME}/.zshrc", 0)"#).landlock(),
        attack("an autostart entry", r#"write(f"{HOME}/.config/autostart/x.desktop")"#).landlock(),
        attack("a new program on PATH", r#"write(f"{HOME}/.local/bin/ls", SCRIPT, mode=0o755)"#).landlock(),
        attack(
            "replace a program on PATH",
            r#"
attempt(os.unlink, f"{HOME}/.local/bin/tool")
write(f"{HOME}/.local/bin/tool", "x")"#,
        )
        .landlock(),
        attack("edit another repository", r#"write(f"{HOME}/sibling/README.md")"#).landlock(),
        attack("a hook in another repository", r#"write(f"{HOME}/sibling/.git/hooks/pre-commit")"#)
            .landlock(),
        attack("git config --global", r#"sh("git config --global core.hooksPath /tmp/x")"#).landlock(),
        attack("a file in /etc", r#"write(f"/etc/ralph-attack-{ID}")"#).control(BareRoot).landlock(),
        attack("a cron job", r#"attempt(os.mkdir, "/etc/cron.d"); write(f"/etc/cron.d/ralph-attack-{ID}")"#)
            .control(BareRoot)
            .landlock(),
        attack("a program in /usr/local/bin", r#"write(f"/usr/local/bin/ralph-attack-{ID}", mode=0o755)"#)
            .control(BareRoot)
            .landlock(),
        attack(
            "the plan itself",
            r#"write(f"{F['base']}/plan.json", "{}", os.O_WRONLY | os.O_TRUNC | os.O_CREAT)"#,
        )
        .landlock(),
        attack("delete .bashrc", r#"os.unlink(f"{HOME}/.bashrc")"#).landlock(),
        attack("take .bashrc into the workspace", r#"os.rename(f"{HOME}/.bashrc", f"{WS}/mine")"#).landlock(),
        attack(
            "put a file of the workspace into home",
            r#"os.rename(f"{WS}/README.md", f"{HOME}/README.md")"#,
        )
        .landlock(),
        attack(
            "exchange a start file",
            r#"
write(f"{WS}/new")
syscall("renameat2", AT_FDCWD, f"{WS}/new", AT_FDCWD, f"{HOME}/.profile", 2)"#,
        )
        .landlock(),
        attack(
            "rename the workspace",
            r#"os.rename(WS, HOME + "/elsewhere"); os.rename(HOME + "/elsewhere", WS + "2")"#,
        )
        .ends_itself()
        .alone()
        .landlock(),
        attack("a directory beside the workspace", r#"os.mkdir(f"{HOME}/project2")"#).landlock(),
    ]
}

fn through_links() -> Vec<Attack> {
    vec![
        attack("through a link to home made before", r#"write(f"{WS}/link-to-home/planted")"#).landlock(),
        attack("through a link to a start file made before", r#"write(f"{WS}/link-to-bashrc")"#).landlock(),
        attack("through a link made now", r#"os.symlink(HOME, f"{WS}/now"); write(f"{WS}/now/.profile")"#)
            .landlock(),
        attack(
            "through links that lead to each other",
            r#"
os.symlink("..", f"{WS}/a"); os.symlink("a/../.bashrc", f"{WS}/b"); os.symlink("b", f"{WS}/c")
attempt(write, f"{WS}/c")
write(f"{WS}/a/.bashrc")"#,
        )
        .landlock(),
        attack("by dots", r#"write(f"{WS}/src/../../.bashrc")"#).landlock(),
        attack("by /proc/self/cwd", r#"os.chdir(WS); write("/proc/self/cwd/../.bashrc")"#).landlock(),
        attack("by /proc/self/root", r#"write(f"/proc/self/root{HOME}/.bashrc")"#).landlock(),
        attack(
            "by a descriptor of a directory",
            r#"
fd = os.open(WS, os.O_RDONLY | os.O_DIRECTORY)
os.write(os.open("../.bashrc", os.O_WRONLY | os.O_APPEND, dir_fd=fd), b"x")"#,
        )
        .landlock(),
        attack(
            "reopen a readable descriptor for writing",
            r#"
fd = os.open(f"{HOME}/.bashrc", os.O_RDONLY)
write(f"/proc/self/fd/{fd}", "x", os.O_WRONLY | os.O_APPEND)"#,
        )
        .landlock(),
        attack(
            "a directory that becomes a link in between",
            r#"
os.mkdir(f"{WS}/dir"); os.symlink(HOME, f"{WS}/link")
def swap():
    # An odd number: at the end the link has the directory's name.
    for _ in range(301):
        syscall("renameat2", AT_FDCWD, f"{WS}/dir", AT_FDCWD, f"{WS}/link", 2)
        time.sleep(0.0001)
swapper = threading.Thread(target=swap); swapper.start()
while swapper.is_alive():
    attempt(write, f"{WS}/dir/.profile")
attempt(write, f"{WS}/dir/.profile")
swapper.join()"#,
        )
        .landlock(),
    ]
}

fn by_hard_links() -> Vec<Attack> {
    vec![
        attack(
            "a hard link to a start file",
            r#"
os.link(f"{HOME}/.bashrc", f"{WS}/hard"); write(f"{WS}/hard")"#,
        )
        .landlock(),
        attack("a hard link into home", r#"os.link(f"{WS}/README.md", f"{HOME}/hard")"#).landlock(),
        attack(
            "a file without a name, linked into home",
            r#"
fd = os.open(WS, os.O_TMPFILE | os.O_RDWR, 0o644)
call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}", AT_FDCWD, f"{HOME}/from-tmpfile", 0x400)"#,
        )
        .landlock(),
    ]
}

/// Landlock knows no rights for the first three.
fn without_writing_bytes() -> Vec<Attack> {
    vec![
        attack("chmod a start file", r#"os.chmod(f"{HOME}/.bashrc", 0o777)"#),
        attack("set the time of a start file", r#"os.utime(f"{HOME}/.bashrc", (1, 1))"#),
        attack("an extended attribute on a start file", r#"os.setxattr(f"{HOME}/.bashrc", "user.x", b"1")"#),
        attack("a pipe in home", r#"os.mkfifo(f"{HOME}/pipe")"#).landlock(),
        attack("a socket in home", r#"socket.socket(socket.AF_UNIX).bind(f"{HOME}/s")"#).landlock(),
        attack("a link in home", r#"os.symlink("/etc/passwd", f"{HOME}/link")"#).landlock(),
        attack(
            "write by mapping",
            r#"
fd = os.open(f"{HOME}/.bashrc", os.O_RDWR)
mmap.mmap(fd, 4)[0:1] = b"X""#,
        )
        .landlock(),
        attack(
            "write by mapping what was opened for reading",
            r#"
fd = os.open(f"{HOME}/.bashrc", os.O_RDONLY)
at = libc.mmap; at.restype = ctypes.c_void_p
if at(None, 4096, 3, 1, fd, 0) != ctypes.c_void_p(-1).value: did("mapped for writing")"#,
        )
        .control(crate::attack::Control::None("no kernel allows it"))
        .landlock(),
    ]
}

/// Landlock cannot give a program a `/tmp` of its own; it writes nowhere but to the plan's.
fn in_shared_places() -> Vec<Attack> {
    vec![
        attack("a file left in /tmp", r#"write(f"/tmp/ralph-attack-{ID}")"#),
        attack("a file left in /var/tmp", r#"write(f"/var/tmp/ralph-attack-{ID}")"#),
        attack("a file left in /dev/shm", r#"write(f"/dev/shm/ralph-attack-{ID}")"#),
        attack("a file left in /run", r#"write(f"/run/ralph-attack-{ID}")"#).control(BareRoot),
        attack("a link left in /tmp", r#"os.symlink(HOME, f"/tmp/ralph-attack-{ID}")"#),
    ]
}
