//! Stands for kernels and containers that have less: a system call filter that refuses what they do not have.

use std::ffi::OsStr;
use std::process::Command;

const SCRIPT: &str = include_str!("older_kernel.py");

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Entering new namespaces other than a user namespace. Starting a process in new ones is possible, as bubblewrap does:
    /// a system where only bubblewrap may.
    Unshare,
    /// New namespaces: most containers.
    Namespaces,
    /// New namespaces and Landlock: a container on an older kernel.
    NamespacesAndLandlock,
}

/// A program, to be started where this is refused to it and all its descendants.
pub fn on_older_kernel(refused: Refused, program: impl AsRef<OsStr>) -> Command {
    let words = match refused {
        Refused::Unshare => "unshare",
        Refused::Namespaces => "namespaces",
        Refused::NamespacesAndLandlock => "namespaces+landlock",
    };
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, words]).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of entering a namespace, of starting a process in one, and of Landlock.
    const TRY: &str = "import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
said = [libc.syscall(444, None, 0, 1), ctypes.get_errno()]
if os.fork() == 0: os._exit(0 if libc.unshare(0x10020000) == 0 else ctypes.get_errno())
said.append(os.waitstatus_to_exitcode(os.wait()[1]))
pid = libc.syscall({'x86_64': 56, 'aarch64': 220}[os.uname().machine], 0x10000011, 0, 0, 0, 0)
if pid == 0: os._exit(0)
said.append(0 if pid > 0 else ctypes.get_errno())
print(*said)";

    #[test]
    fn what_is_refused_is_refused() {
        let said = |mut command: Command| {
            let output = command.args(["-c", TRY]).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            let text = String::from_utf8(output.stdout).unwrap();
            text.split_whitespace().map(|it| it.parse().expect(&error)).collect::<Vec<i32>>()
        };
        let here = said(Command::new("python3"));
        let [landlock, landlock_error, unshare, clone] = here[..] else { panic!("{here:?}") };
        for (refused, expected) in [
            (Refused::Unshare, [landlock, landlock_error, 1, clone]),
            (Refused::Namespaces, [landlock, landlock_error, 1, 1]),
            (Refused::NamespacesAndLandlock, [-1, 38, 1, 1]),
        ] {
            assert_eq!(said(on_older_kernel(refused, "python3")), expected, "{refused:?}");
        }
        assert_eq!((unshare, clone), (0, 0), "this machine refuses namespaces itself");
    }

    #[test]
    fn a_program_gets_its_arguments_and_works() {
        let output = on_older_kernel(Refused::NamespacesAndLandlock, "sh")
            .args(["-c", "(echo \"$1\" | cat) && exit 3", "sh", "a b"])
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"a b\n"[..]));
    }
}
