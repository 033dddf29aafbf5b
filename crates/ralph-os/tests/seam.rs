//! Nothing but this crate names a platform, and what both sides of the seam do is the same where it can be.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};

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
        for (line, word) in named(&fs::read_to_string(&path).unwrap()) {
            found.push(format!("{}:{line}: {word}", path.strip_prefix(&root).unwrap().display()));
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
