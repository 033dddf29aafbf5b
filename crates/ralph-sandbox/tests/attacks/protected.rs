//! Changing what the plan protects inside the workspace. Landlock cannot hold these: detection finds and restores them.

use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    [contents(), names(), links(), directories_above(), attributes()].into_iter().flatten().collect()
}

fn contents() -> Vec<Attack> {
    vec![
        attack("edit a file", r#"write(f"{WS}/.env")"#),
        attack("edit a file deep below", r#"write(f"{WS}/deep/a/b/key.txt")"#),
        attack("edit a file in a directory", r#"write(f"{WS}/src/auth/inner/token.rs")"#),
        attack("edit in place", r#"sh("sed -i s/user/other/ .env; echo x >> .env; printf y | tee -a .env")"#),
        attack("truncate", r#"os.truncate(f"{WS}/.env", 0)"#),
        attack("truncate by opening", r#"os.open(f"{WS}/.env", os.O_RDONLY | os.O_TRUNC)"#),
        attack(
            "write by mapping",
            r#"
fd = os.open(f"{WS}/.env", os.O_RDWR)
mmap.mmap(fd, 4)[0:1] = b"X""#,
        ),
        attack(
            "punch a hole",
            r#"
fd = os.open(f"{WS}/.env", os.O_WRONLY)
call("fallocate", fd, 3, 0, 4)"#,
        ),
        attack(
            "copy_file_range",
            r#"
a, b = os.open(f"{WS}/README.md", os.O_RDONLY), os.open(f"{WS}/.env", os.O_WRONLY)
os.copy_file_range(a, b, 4)"#,
        ),
        attack(
            "reopen a readable descriptor for writing",
            r#"
fd = os.open(f"{WS}/.env", os.O_RDONLY)
attempt(write, f"/dev/fd/{fd}")
write(f"/proc/self/fd/{fd}")"#,
        ),
        attack("by /proc/self/root", r#"write(f"/proc/self/root{WS}/.env")"#),
        attack("by /proc/self/cwd", r#"os.chdir(WS); write("/proc/self/cwd/.env")"#),
        attack("a new file in a directory", r#"write(f"{WS}/src/auth/planted.rs")"#),
        attack("a new directory in a directory", r#"os.mkdir(f"{WS}/src/auth/planted")"#),
        attack(
            "an agent's settings in the workspace",
            r#"
write(f"{WS}/.claude/settings.json"); write(f"{WS}/.mcp.json")"#,
        ),
        attack("ralph's own files", r#"attempt(write, f"{WS}/ralph.toml"); write(f"{WS}/.ralph/state")"#),
    ]
}

fn names() -> Vec<Attack> {
    vec![
        attack("delete a file", r#"os.unlink(f"{WS}/.env")"#),
        attack("delete a file in a directory", r#"os.unlink(f"{WS}/src/auth/login.rs")"#),
        attack("delete a directory", r#"sh("rm -rf src/auth")"#),
        attack("delete everything", r#"sh("rm -rf src deep .ralph .env ralph.toml")"#),
        attack("rename a file", r#"os.rename(f"{WS}/.env", f"{WS}/env")"#),
        attack("rename a directory", r#"os.rename(f"{WS}/src/auth", f"{WS}/src/auth2")"#),
        attack("rename over a file", r#"write(f"{WS}/new"); os.replace(f"{WS}/new", f"{WS}/.env")"#),
        attack("rename into a directory", r#"os.rename(f"{WS}/README.md", f"{WS}/src/auth/README.md")"#),
        attack("rename out of a directory", r#"os.rename(f"{WS}/src/auth/login.rs", f"{WS}/login.rs")"#),
        attack(
            "rename a directory over a directory",
            r#"
os.mkdir(f"{WS}/empty"); sh("rm -rf .ralph/*"); os.rename(f"{WS}/empty", f"{WS}/.ralph")"#,
        ),
        attack(
            "exchange a file",
            r#"
write(f"{WS}/new"); syscall("renameat2", AT_FDCWD, f"{WS}/new", AT_FDCWD, f"{WS}/.env", 2)"#,
        ),
        attack(
            "exchange a directory",
            r#"
os.mkdir(f"{WS}/new"); syscall("renameat2", AT_FDCWD, f"{WS}/src/auth", AT_FDCWD, f"{WS}/new", 2)"#,
        ),
        attack(
            "rename and leave a whiteout",
            r#"
syscall("renameat2", AT_FDCWD, f"{WS}/.env", AT_FDCWD, f"{WS}/env", 4)"#,
        )
        .control(crate::attack::Control::BareRoot),
        attack(
            "by a descriptor of the directory above",
            r#"
above = os.open(f"{WS}/src", os.O_RDONLY)
attempt(os.rename, "auth", "auth2", src_dir_fd=above, dst_dir_fd=above)
auth = os.open("auth", os.O_RDONLY, dir_fd=above)
os.unlink("login.rs", dir_fd=auth)"#,
        ),
    ]
}

fn links() -> Vec<Attack> {
    vec![
        attack(
            "a hard link to it, then edit the link",
            r#"
os.link(f"{WS}/.env", f"{WS}/hard"); write(f"{WS}/hard")"#,
        ),
        attack(
            "a hard link to a file in a directory",
            r#"
os.link(f"{WS}/src/auth/login.rs", f"{WS}/src/hard"); write(f"{WS}/src/hard")"#,
        ),
        attack(
            "a hard link over it",
            r#"
write(f"{WS}/new"); os.link(f"{WS}/new", f"{WS}/new2"); os.replace(f"{WS}/new2", f"{WS}/.env")"#,
        ),
        attack(
            "a link over it",
            r#"os.symlink("README.md", f"{WS}/l"); os.replace(f"{WS}/l", f"{WS}/.env")"#,
        ),
        attack("ln -sf", r#"sh("ln -sf README.md .env; ln -sfn /tmp src/auth")"#),
        attack(
            "a hard link by a descriptor",
            r#"
fd = os.open(f"{WS}/.env", os.O_RDONLY)
call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}", AT_FDCWD, f"{WS}/hard", 0x400)
write(f"{WS}/hard")"#,
        ),
        attack("through a link to it", r#"os.symlink("src/auth", f"{WS}/l"); write(f"{WS}/l/login.rs")"#),
    ]
}

fn directories_above() -> Vec<Attack> {
    vec![
        attack("rename the directory above", r#"os.rename(f"{WS}/src", f"{WS}/src2")"#),
        attack("rename the second directory above", r#"os.rename(f"{WS}/deep/a", f"{WS}/deep/z")"#),
        attack("rename the third directory above", r#"os.rename(f"{WS}/deep", f"{WS}/deeper")"#),
        attack(
            "another directory in place of the one above",
            r#"
os.rename(f"{WS}/src", f"{WS}/src2"); os.makedirs(f"{WS}/src/auth"); write(f"{WS}/src/auth/login.rs")"#,
        ),
        attack(
            "a link in place of the directory above",
            r#"
os.rename(f"{WS}/deep", f"{WS}/deep2"); os.symlink("/tmp", f"{WS}/deep")"#,
        ),
        attack(
            "exchange the directory above",
            r#"
os.makedirs(f"{WS}/new/auth"); syscall("renameat2", AT_FDCWD, f"{WS}/src", AT_FDCWD, f"{WS}/new", 2)"#,
        ),
        attack(
            "exchange the directory above with a link",
            r#"
os.symlink("/tmp", f"{WS}/l"); syscall("renameat2", AT_FDCWD, f"{WS}/deep/a/b", AT_FDCWD, f"{WS}/l", 2)"#,
        ),
        attack(
            "move the directory above into another",
            r#"
os.mkdir(f"{WS}/box"); os.rename(f"{WS}/deep/a/b", f"{WS}/box/b")"#,
        ),
    ]
}

fn attributes() -> Vec<Attack> {
    vec![
        attack("chmod a file", r#"os.chmod(f"{WS}/.env", 0o777)"#),
        attack("chmod a directory", r#"os.chmod(f"{WS}/src/auth", 0o777)"#),
        attack("chmod by a descriptor", r#"os.fchmod(os.open(f"{WS}/.env", os.O_RDONLY), 0o777)"#),
        attack("chown a file to oneself", r#"os.chown(f"{WS}/.env", os.getuid(), os.getgid())"#),
        attack("set the times of a file", r#"os.utime(f"{WS}/.env", (1, 1))"#),
        attack("an extended attribute", r#"os.setxattr(f"{WS}/.env", "user.x", b"1")"#),
        attack(
            "flags of a file",
            r#"
fd, now = os.open(f"{WS}/.env", os.O_RDONLY), ctypes.c_int()
if libc.ioctl(fd, ctypes.c_ulong(0x80086601), ctypes.byref(now)) != 0: absent("no flags on this file system")
now.value |= 0x40
checked(libc.ioctl(fd, ctypes.c_ulong(0x40086602), ctypes.byref(now)))"#,
        ),
    ]
}
