//! Directories deeper than a process may hold open, in a process of its own because its limit is lowered.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::{Scratch, counting};

#[test]
fn very_deep_directories() {
    let usual = getrlimit(Resource::Nofile);
    let w = Scratch::new();
    let mut dir = openat(CWD, w.root(), OFlags::DIRECTORY, Mode::empty()).unwrap();
    for depth in 0..1500 {
        mkdirat(&dir, "d", Mode::from_raw_mode(0o755)).unwrap();
        let create = OFlags::CREATE | OFlags::WRONLY;
        if depth % 100 == 0 {
            openat(&dir, "z.txt", create, Mode::from_raw_mode(0o644)).unwrap();
        }
        dir = openat(&dir, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    openat(&dir, ".env", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o644)).unwrap();
    w.write("z/last.txt", "x");
    setrlimit(Resource::Nofile, Rlimit { current: Some(128), ..usual }).unwrap();
    let first = w.walk();
    assert_eq!(counting(&first).len(), 15 + 1 + 1);
    assert!(first.skipped().is_empty(), "{:?}", first.skipped());
    assert_eq!(w.walk_after(&first).id(), first.id());
    assert!(first.entries().any(|e| e.protected && e.path.len() >= 3000));
    // Removing the scratch directory holds all of it open.
    setrlimit(Resource::Nofile, usual).unwrap();
}
