//! Nothing but this crate and the sandbox's backends names a platform, and what both sides of the seam do is the same where it can be.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::HashSet;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_os::portable;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Pid;

/// What only some systems have, as it is written in code.
const PLATFORM: [&str; 44] = [
    "target_os",
    "target_vendor",
    "cfg!(linux",
    "os::linux",
    "os::macos",
    "\"/proc",
    "\"/sys/",
    "/dev/shm",
    "OFlags::PATH",
    "O_PATH",
    "openat2",
    "ResolveFlags",
    "statx(",
    "StatxFlags",
    "RawDir",
    "fs::statfs",
    "fstatfs",
    "mknodat",
    "fallocate",
    "renameat_with",
    "RenameFlags",
    "ioctl_ficlone",
    "copy_file_range",
    "sendfile",
    "memfd",
    "inotify",
    "epoll",
    "eventfd",
    "signalfd",
    "timerfd",
    "pidfd",
    "subreaper",
    "prctl",
    "parent_process_death_signal",
    "setpipe_size",
    "CMSG_CLOEXEC",
    "NOSIGNAL",
    "Boottime",
    "CLOCK_BOOTTIME",
    "UnshareFlags",
    "rustix::mount",
    "rustix::thread::unshare",
    "cgroup",
    "/proc/self",
];

/// A sandbox is made of what one system has, so its backends have no fallback to hide behind this crate. The crate's root
/// chooses between them and none.
const SANDBOX: &str = "crates/ralph-sandbox/src/linux";
const SANDBOX_ROOT: &str = "crates/ralph-sandbox/src/lib.rs";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The Rust files of what is built from a crate: `src`, without tests and benchmarks, which may look at a system as
/// closely as they like.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for krate in fs::read_dir(workspace().join("crates")).unwrap().flatten() {
        if krate.file_name() != "ralph-os" {
            collect(&krate.path().join("src"), &mut found);
        }
    }
    assert!(found.len() > 100, "the sources are elsewhere now: {} files found", found.len());
    found
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The platform's names in the code of a file; comments may speak of anything.
fn named(code: &str) -> Vec<(usize, &'static str)> {
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|(at, line)| {
            PLATFORM.iter().filter(|word| line.contains(**word)).map(move |w| (at + 1, *w))
        })
        .collect()
}

#[test]
fn nothing_else_names_a_platform() {
    let root = workspace();
    let mut found = Vec::new();
    for path in sources() {
        let within = path.strip_prefix(&root).unwrap();
        if within.starts_with(SANDBOX) {
            continue;
        }
        for (line, word) in named(&fs::read_to_string(&path).unwrap()) {
            if !(within.starts_with(SANDBOX_ROOT) && word == "target_os") {
                found.push(format!("{}:{line}: {word}", within.display()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "these belong into crates/ralph-os, each with a fallback in `portable`:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_name_is_found_and_a_comment_is_not() {
    assert_eq!(named("// \"/proc/self\" is read elsewhere\nlet it = read(\"/proc/9\");"), [(2, "\"/proc")]);
    assert_eq!(named("#[cfg(target_os = \"linux\")]"), [(1, "target_os")]);
    assert_eq!(named("let amount = proc(1);"), []);
}

/// A tree with a link in the middle, a link at the end, and a file below a directory.
fn scene() -> tempfile::TempDir {
    let scene = tempfile::tempdir().unwrap();
    fs::create_dir_all(scene.path().join("inside/deep")).unwrap();
    fs::write(scene.path().join("inside/deep/file"), "here").unwrap();
    fs::write(scene.path().join("outside"), "elsewhere").unwrap();
    std::os::unix::fs::symlink("deep", scene.path().join("inside/through")).unwrap();
    std::os::unix::fs::symlink("../outside", scene.path().join("inside/out")).unwrap();
    scene
}

#[test]
fn nobody_gets_out_of_the_directory_or_through_a_link() {
    let scene = scene();
    let root = fs::File::open(scene.path().join("inside")).unwrap();
    type Open = fn(BorrowedFd<'_>, &[u8], OFlags) -> Result<OwnedFd, Errno>;
    let both: [Open; 2] =
        [|r, p, f| ralph_os::open_beneath(r, p, f), |r, p, f| portable::open_beneath(r, p, f)];
    for open in both {
        let read = |path: &[u8]| {
            open(root.as_fd(), path, OFlags::RDONLY)
                .map(|fd| std::io::read_to_string(fs::File::from(fd)).unwrap())
        };
        assert_eq!(read(b"deep/file").unwrap(), "here");
        assert!(open(root.as_fd(), b"", OFlags::RDONLY).is_ok(), "itself");
        for path in [
            &b"through/file"[..],
            b"out",
            b"../outside",
            b"deep/../../outside",
            b"/etc/passwd",
            b"deep/none",
            b"deep/file/x",
        ] {
            assert!(read(path).is_err(), "{}", String::from_utf8_lossy(path));
        }
    }
}

#[test]
fn both_sides_see_the_same_files() {
    let scene = scene();
    let dir = fs::File::open(scene.path().join("inside")).unwrap();
    let mut names = Vec::new();
    portable::each_name(dir.as_fd(), &mut Vec::new(), |name, _| names.push(name.to_owned())).unwrap();
    let mut again = Vec::new();
    ralph_os::each_name(dir.as_fd(), &mut Vec::new(), |name, _| again.push(name.to_owned())).unwrap();
    names.sort();
    again.sort();
    assert_eq!(names, again);
    assert!(names.len() >= 3, "{names:?}");
    for name in &names {
        assert_eq!(portable::stat_at(dir.as_fd(), name), ralph_os::stat_at(dir.as_fd(), name), "{name:?}");
    }
    assert_eq!(portable::stat_open(dir.as_fd()), ralph_os::stat_open(dir.as_fd()));
    assert_eq!(portable::identity(dir.as_fd()), ralph_os::identity(dir.as_fd()));
}

#[test]
fn both_sides_find_out_whether_a_directory_can_be_written_and_leave_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let before = fs::metadata(dir.path()).unwrap().modified().unwrap();
    for probe in [ralph_os::probe_writable, portable::probe_writable] {
        probe(dir.path()).unwrap();
        assert!(probe(&dir.path().join("missing")).is_err());
    }
    assert_eq!(
        fs::metadata(dir.path()).unwrap().modified().unwrap(),
        before,
        "whoever watches it sees nothing"
    );
    // As an ordinary user, what the permissions say; root may write there all the same.
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    assert_eq!(
        ralph_os::probe_writable(dir.path()).is_ok(),
        portable::probe_writable(dir.path()).is_ok(),
        "both agree on permissions"
    );
}

#[test]
fn both_sides_see_the_same_tree_of_processes() {
    let mut shell =
        Command::new("sh").args(["-c", "exec 2>/dev/null; sleep 60 & sleep 60; :"]).spawn().unwrap();
    let root = Pid::from_child(&shell);
    let pids = |tree: Vec<ralph_os::Process>| {
        tree.into_iter().map(|it| (it.pid, it.parent, it.group)).collect::<HashSet<_>>()
    };
    while ralph_os::descendants(root).len() < 2 {
        std::thread::yield_now();
    }
    let found = pids(portable::descendants(root));
    assert_eq!(found, pids(ralph_os::descendants(root)));
    assert_eq!((found.clone(), &found), (pids(portable::children(root)), &pids(ralph_os::children(root))));
    for (pid, ..) in &found {
        let line = ralph_os::with_ancestors(*pid);
        assert_eq!(line, portable::with_ancestors(*pid));
        let me = rustix::process::getpid();
        assert_eq!(line.get(..3), Some(&[*pid, root, me][..]));
    }
    for (pid, ..) in found {
        assert!(portable::kill_if(pid, |_| true));
    }
    shell.kill().unwrap();
    shell.wait().unwrap();
}

#[test]
fn a_fallback_says_what_it_cannot_do() {
    assert!(!portable::missing().is_empty());
    assert_eq!(ralph_os::missing().is_empty(), ralph_os::ADOPTS);
}

/// Plays the program under test: says whether it ignores SIGHUP.
#[test]
fn nohup_is_noticed() {
    if let Ok(expected) = std::env::var("SEAM_NOHUP") {
        let expected = expected == "yes";
        assert_eq!((ralph_os::hang_up_is_ignored(), portable::hang_up_is_ignored()), (expected, expected));
        return;
    }
    let me = std::env::current_exe().unwrap();
    for (expected, trap) in [("yes", "trap '' HUP"), ("no", ":")] {
        let script = format!("{trap}; exec \"$0\" --exact nohup_is_noticed");
        let shell =
            Command::new("sh").args(["-c", &script]).arg(&me).env("SEAM_NOHUP", expected).output().unwrap();
        // Who runs this test under nohup cannot have it heard again.
        let told = String::from_utf8_lossy(&shell.stdout).into_owned();
        assert!(shell.status.success() || (expected == "no" && ralph_os::hang_up_is_ignored()), "{told}");
    }
}

#[test]
fn both_sides_make_sockets_that_neither_block_nor_are_inherited() {
    for make in [ralph_os::tcp_socket, portable::tcp_socket] {
        let socket = make(rustix::net::AddressFamily::INET).unwrap();
        assert!(rustix::io::fcntl_getfd(&socket).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        assert!(rustix::fs::fcntl_getfl(&socket).unwrap().contains(OFlags::NONBLOCK));
    }
}
