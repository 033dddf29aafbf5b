//! Reading what the plan hides: keys, tokens, cookies, ralph's state, another repository; by name and by other ways.

use crate::attack::Control::BareRoot;
use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    [by_name(), by_other_ways(), by_processes_and_handles()].into_iter().flatten().collect()
}

fn by_name() -> Vec<Attack> {
    vec![
        attack("a key", r#"keep(read(f"{HOME}/.ssh/id_ed25519"))"#).landlock(),
        attack("the names of keys", r#"keep("\n".join(os.listdir(f"{HOME}/.ssh")))"#).landlock(),
        attack("cloud credentials", r#"keep(read(f"{HOME}/.aws/credentials"))"#).landlock(),
        attack("a private GPG key", r#"keep(read(f"{HOME}/.gnupg/private-keys-v1.d/key"))"#).landlock(),
        attack("a token in a file beside others", r#"keep(read(f"{HOME}/.config/gh/hosts.yml"))"#).landlock(),
        attack("a registry's token", r#"keep(read(f"{HOME}/.npmrc"))"#).landlock(),
        attack("passwords of hosts", r#"keep(read(f"{HOME}/.netrc"))"#).landlock(),
        attack("cookies", r#"keep(read(f"{HOME}/.mozilla/firefox/x.default/cookies.sqlite"))"#).landlock(),
        attack("ralph's state", r#"keep(read(f"{HOME}/.local/state/ralph/ledger.db"))"#).landlock(),
        attack("the shell's history", r#"keep(read(f"{HOME}/.bash_history"))"#).landlock(),
        attack("another repository", r#"keep(read(f"{HOME}/other/source.rs"))"#).landlock(),
        attack(
            "everything below home",
            r#"
for top, _, files in os.walk(HOME):
    if not top.startswith(WS):
        for file in files:
            keep(attempt(read, os.path.join(top, file)) or b"")"#,
        )
        .landlock(),
    ]
}

fn by_other_ways() -> Vec<Attack> {
    vec![
        attack("by /proc/self/root", r#"keep(read(f"/proc/self/root{HOME}/.ssh/id_ed25519"))"#).landlock(),
        attack("by the root of pid 1", r#"keep(read(f"/proc/{TARGET}/root{HOME}/.ssh/id_ed25519"))"#)
            .victim(),
        attack(
            "by the current directory of pid 1",
            r#"
at = f"/proc/{TARGET}/cwd"
keep(attempt(read, f"{at}/id_ed25519") or read(f"{at}/../.ssh/id_ed25519"))"#,
        )
        .victim(),
        attack(
            "by dots from the current directory",
            r#"os.chdir(WS); keep(read("/proc/self/cwd/../.ssh/id_ed25519"))"#,
        )
        .landlock(),
        attack("through a link made before", r#"keep(read(f"{WS}/link-to-keys/id_ed25519"))"#).landlock(),
        attack(
            "through a link made now",
            r#"os.symlink(f"{HOME}/.npmrc", f"{WS}/l"); keep(read(f"{WS}/l"))"#,
        )
        .landlock(),
        attack("by a hard link", r#"os.link(f"{HOME}/.npmrc", f"{WS}/hard"); keep(read(f"{WS}/hard"))"#)
            .landlock(),
        attack(
            "by renaming it into the workspace",
            r#"
attempt(os.rename, f"{HOME}/.ssh", f"{WS}/keys")
keep(read(f"{WS}/keys/id_ed25519"))"#,
        )
        .landlock(),
        attack(
            "by renaming the directory above",
            r#"
os.rename(f"{HOME}/.config", f"{WS}/config"); keep(read(f"{WS}/config/gh/hosts.yml"))"#,
        )
        .landlock(),
    ]
}

fn by_processes_and_handles() -> Vec<Attack> {
    vec![
        attack(
            "by a file handle",
            r#"
size, kind, data = V["handle"]
handle = ctypes.create_string_buffer(struct.pack("Ii", size, kind) + bytes(data))
for place in [WS, HOME, "/", "/usr"]:
    at = attempt(os.open, place, os.O_RDONLY)
    fd = at and attempt(syscall, "open_by_handle_at", at, handle, os.O_RDONLY)
    if fd is not None: keep(os.read(fd, 100))"#,
        )
        .control(BareRoot)
        .victim()
        .landlock(),
        attack(
            "by every process there is",
            r#"
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid(): continue
    for file in ["cwd/id_ed25519", f"root{HOME}/.ssh/id_ed25519", "environ", "cmdline", f"fd/{V['fd']}"]:
        keep(attempt(read, f"/proc/{pid}/{file}") or b"")"#,
        )
        .victim(),
        attack(
            "by every thread there is",
            r#"
for pid in filter(str.isdigit, os.listdir("/proc")):
    for task in attempt(os.listdir, f"/proc/{pid}/task") or []:
        if int(pid) != os.getpid():
            keep(attempt(read, f"/proc/{pid}/task/{task}/root{HOME}/.ssh/id_ed25519") or b"")"#,
        )
        .victim(),
        attack(
            "by looking around the root of a nested namespace",
            r#"
def body():
    attempt(umount, f"{HOME}/.ssh", 2)
    keep(attempt(read, f"{HOME}/.ssh/id_ed25519") or b"")
    attempt(os.mkdir, f"{WS}/x"); attempt(mount, HOME, f"{WS}/x", "", MS_BIND)
    keep(attempt(read, f"{WS}/x/.ssh/id_ed25519") or b"")
    attempt(umount, f"{WS}/x", 2)
    attempt(mount, HOME, f"{WS}/x", "", MS_BIND | MS_REC); attempt(umount, f"{WS}/x/.ssh", 2)
    keep(attempt(read, f"{WS}/x/.ssh/id_ed25519") or b"")
nested(body)"#,
        )
        .control(crate::attack::Control::None("the secret is not hidden without a sandbox")),
    ]
}
