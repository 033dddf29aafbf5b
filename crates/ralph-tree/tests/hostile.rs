//! Trees that would hang, break or blind a careless walk.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};

use ralph_tree::{Kind, Protect, Tree};
use rustix::fs::{CWD, FileType, Mode, mkdirat, mknodat, openat};
use rustix::thread::{CapabilitySet, CapabilitySets};
use support::{Scratch, counting, touched};

#[test]
fn loops_of_links_are_not_followed() {
    let w = Scratch::new();
    w.write("a/file", "x");
    symlink("..", w.at("a/up")).unwrap();
    symlink("self", w.at("self")).unwrap();
    symlink("/", w.at("everything")).unwrap();
    symlink("nowhere", w.at("dangling")).unwrap();
    let index = w.walk();
    assert_eq!(counting(&index), ["a/file", "a/up", "dangling", "everything", "self"]);
    assert!(index.skipped().is_empty());
}

#[test]
fn special_files_are_never_opened() {
    let w = Scratch::new();
    let fifo = |path: &str| mknodat(CWD, w.at(path), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    fifo("pipe");
    fifo(".gitignore");
    fs::create_dir_all(w.at(".git/info")).unwrap();
    fifo(".git/HEAD");
    fifo(".git/info/exclude");
    let _socket = UnixListener::bind(w.at("socket")).unwrap();
    w.write("a.txt", "x");
    let first = w.walk();
    assert_eq!(counting(&first), ["a.txt"]);
    assert_eq!(ralph_tree::git_facts(w.root()).head, None);
    fifo(".env");
    let second = w.walk_after(&first);
    assert_eq!(second.get(b".env").unwrap().kind, Kind::Special);
    assert_eq!(touched(&first, &second), [".env (added)"]);
    assert_eq!(first.id(), second.id());
}

/// Runs as one who is stopped by permissions, also when the tests run as root: only this thread changes.
fn without_privileges<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let none = CapabilitySet::empty();
            let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
            rustix::thread::set_capabilities(None, sets).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn what_cannot_be_read_is_said_and_watched_by_its_stat() {
    let w = Scratch::new();
    w.write("open/a.txt", "x").write("closed/b.txt", "x").write("mute.txt", "abc").write("src/auth/k", "x");
    let whole = w.walk();
    fs::set_permissions(w.at("closed"), Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(w.at("mute.txt"), Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(w.at("src/auth/k"), Permissions::from_mode(0o0)).unwrap();
    // Old enough that a stat is trusted: what cannot be read is tried, and said, every time all the same.
    std::thread::sleep(std::time::Duration::from_millis(40));
    let (first, second) = without_privileges(|| {
        let first = w.tree.walk(None).unwrap();
        let second = w.tree.walk(Some(&first)).unwrap();
        (first, second)
    });
    let skipped: Vec<String> = first.skipped().iter().map(|s| format!("{}: {}", s.path, s.why)).collect();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    assert!(skipped[0].starts_with("closed: Permission denied"), "{skipped:?}");
    assert_eq!(counting(&first), ["mute.txt", "open/a.txt", "src/auth/k"]);
    assert!(first.get(b"mute.txt").unwrap().unreadable);
    assert_eq!((first.id(), first.skipped()), (second.id(), second.skipped()));
    assert_eq!(touched(&whole, &first), ["src/auth/k (permissions changed)"]);
    w.remove("mute.txt").write("mute.txt", "xyz");
    fs::set_permissions(w.at("mute.txt"), Permissions::from_mode(0o0)).unwrap();
    let third = without_privileges(|| w.tree.walk(Some(&second)).unwrap());
    assert_ne!(second.id(), third.id());
    fs::set_permissions(w.at("closed"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(w.at("mute.txt"), Permissions::from_mode(0o644)).unwrap();
    assert!(without_privileges(|| w.tree.walk(Some(&third)).unwrap()).get(b"closed/b.txt").is_some());
}

/// What nobody could look into may hold anything: it is never taken for unchanged.
#[test]
fn a_protected_directory_that_cannot_be_read_is_told_by_its_times_and_never_unchanged() {
    let w = Scratch::new();
    w.write("secrets/key", "x").write("migrations/1.sql", "x").write("a.txt", "x");
    let close = |path: &str| fs::set_permissions(w.at(path), Permissions::from_mode(0o0)).unwrap();
    let open = |path: &str| fs::set_permissions(w.at(path), Permissions::from_mode(0o700)).unwrap();
    close("secrets");
    let walk = |before: Option<&ralph_tree::Index>| without_privileges(|| w.tree.walk(before).unwrap());
    let first = walk(None);
    assert_eq!(touched(&first, &walk(Some(&first))), Vec::<String>::new());
    // Opened, changed and closed again; closed; new, filled and closed.
    open("secrets");
    w.write("secrets/key", "other");
    close("secrets");
    close("migrations");
    w.write("app/secrets/new", "x");
    close("app/secrets");
    let second = walk(Some(&first));
    let want = [
        "app/secrets (added)",
        "migrations (permissions changed)",
        "migrations/1.sql (deleted)",
        "secrets (modified)",
    ];
    assert_eq!(touched(&first, &second), want);
    for path in ["secrets", "migrations", "app/secrets"] {
        open(path);
    }
}

#[test]
fn paths_beyond_all_use_are_left_out_and_said() {
    let w = Scratch::new();
    let name = "n".repeat(250);
    let mut dir = openat(CWD, w.root(), rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..40 {
        mkdirat(&dir, &*name, Mode::from_raw_mode(0o755)).unwrap();
        dir = openat(&dir, &*name, rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let index = w.walk();
    assert_eq!(index.skipped().len(), 1);
    assert!(index.skipped()[0].why.contains("too long"), "{:?}", index.skipped()[0].why);
}

#[test]
fn files_that_vanish_and_appear_under_the_walk() {
    let w = Scratch::new();
    for number in 0..50 {
        w.write(&format!("stay/{number}"), "x");
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for number in 0..20 {
                    let dir = w.at(&format!("come{number}"));
                    let _ = fs::create_dir(&dir);
                    let _ = fs::write(dir.join("a"), "content");
                    let _ = fs::write(dir.join(".gitignore"), "b\n");
                }
                for number in 0..20 {
                    let _ = fs::remove_dir_all(w.at(&format!("come{number}")));
                }
            }
        });
        let mut before = None;
        for _ in 0..40 {
            let index = w.tree.walk(before.as_ref()).unwrap();
            let staying = counting(&index).iter().filter(|path| path.starts_with("stay/")).count();
            assert_eq!(staying, 50);
            before = Some(index);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn quick_edits_of_the_same_length_are_not_missed() {
    let w = Scratch::new();
    w.write("a.txt", "0000");
    let mut before = w.walk();
    for number in 1..100 {
        fs::write(w.at("a.txt"), format!("{number:04}")).unwrap();
        let after = w.tree.walk(Some(&before)).unwrap();
        assert_ne!(before.id(), after.id(), "edit {number}");
        before = after;
    }
}

#[test]
fn a_sparse_giant_is_not_read_through() {
    let w = Scratch::new();
    let file = File::create(w.at("giant")).unwrap();
    file.set_len(1 << 42).unwrap();
    let first = w.walk();
    assert!(first.bytes_hashed() <= 4 << 20);
    std::os::unix::fs::FileExt::write_at(&file, b"x", 1 << 41).unwrap();
    assert_ne!(w.tree.walk(Some(&first)).unwrap().id(), first.id());
}

#[test]
fn a_large_file_is_hashed_whole() {
    let w = Scratch::new();
    let mut content = vec![7_u8; 3_000_001];
    fs::write(w.at("large"), &content).unwrap();
    let first = w.walk();
    assert_eq!(first.get(b"large").unwrap().hash.to_le_bytes(), blake3::hash(&content).as_bytes()[..16]);
    content[1_500_000] = 8;
    fs::write(w.at("large"), &content).unwrap();
    assert_ne!(w.walk_after(&first).id(), first.id());
}

#[test]
fn ignore_files_full_of_nonsense() {
    let w = Scratch::new();
    fs::write(w.at(".gitignore"), b"\xff\xfe\0\n[[[\n\\\n!\n/\n{a,b\n*.log\r\n").unwrap();
    w.write("a.txt", "x").write("b.log", "x");
    assert_eq!(counting(&w.walk()), [".gitignore", "a.txt"]);
}

#[test]
fn nothing_is_written_into_the_workspace() {
    let w = Scratch::new();
    w.write("a.txt", "x").write("dir/b.txt", "x");
    let times =
        || [w.root().to_path_buf(), w.at("dir")].map(|dir| fs::metadata(dir).unwrap().modified().unwrap());
    let before = times();
    let first = w.walk();
    Tree::new(w.root(), Protect::new(["x"]).unwrap()).walk(Some(&first)).unwrap();
    assert_eq!(before, times());
}
