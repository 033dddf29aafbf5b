//! What counts as progress: contents, not times, not commits, not noise.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use ralph_tree::{Kind, changes};
use support::{Scratch, counting, diff};

#[test]
fn going_back_to_an_old_content_gives_the_old_id() {
    let w = Scratch::new();
    w.write("a.txt", "one").write("b/c.txt", "two");
    let first = w.walk();
    w.write("a.txt", "other").write("new.txt", "x");
    let second = w.walk_after(&first);
    assert_ne!(first.id(), second.id());
    assert_eq!(diff(&first, &second), ["+new.txt", "~a.txt"]);
    w.write("a.txt", "one").remove("new.txt");
    let third = w.walk_after(&second);
    assert_eq!(first.id(), third.id());
    assert!(changes(&first, &third).is_empty());
}

#[test]
fn times_and_plain_permissions_are_no_progress_but_the_executable_bit_is() {
    let w = Scratch::new();
    w.write("run.sh", "#!/bin/sh\n");
    let first = w.walk();
    let old = SystemTime::now() - Duration::from_secs(1_000_000);
    File::options().write(true).open(w.at("run.sh")).unwrap().set_modified(old).unwrap();
    fs::set_permissions(w.at("run.sh"), Permissions::from_mode(0o600)).unwrap();
    let second = w.walk_after(&first);
    assert_eq!(first.id(), second.id());
    fs::set_permissions(w.at("run.sh"), Permissions::from_mode(0o755)).unwrap();
    let third = w.walk_after(&second);
    assert_eq!(diff(&second, &third), ["~run.sh"]);
}

#[test]
fn kinds_names_and_places_are_part_of_the_id() {
    let w = Scratch::new();
    w.write("a", "x").write("d/keep", "k");
    let mut ids = vec![w.walk().id()];
    w.rename("a", "b");
    ids.push(w.walk().id());
    w.rename("b", "d/b");
    ids.push(w.walk().id());
    w.remove("d/b");
    symlink("x", w.at("d/b")).unwrap();
    ids.push(w.walk().id());
    w.remove("d/b");
    symlink("y", w.at("d/b")).unwrap();
    ids.push(w.walk().id());
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn empty_directories_noise_and_ralphs_own_files_do_not_count() {
    let w = Scratch::new();
    w.write("src/main.rs", "fn main() {}");
    let first = w.walk();
    fs::create_dir_all(w.at("empty/deep")).unwrap();
    for noise in [
        "target/debug/x",
        "web/node_modules/a/index.js",
        ".venv/bin/python",
        "pkg/__pycache__/m.pyc",
        ".pytest_cache/v/x",
        ".ralph/status.json",
        ".aider.chat.history.md",
        ".git/config",
        "sub/.git/HEAD",
    ] {
        w.write(noise, "noise");
    }
    let second = w.walk_after(&first);
    assert_eq!(diff(&first, &second), Vec::<String>::new());
    assert_eq!(counting(&second), ["src/main.rs"]);
}

#[test]
fn ignore_rules_at_every_level() {
    let w = Scratch::new();
    w.write(".gitignore", "*.log\n/dist/\n!keep.log\nsub/secret.txt\n# note\n\n[bad\nodd\\ name\n");
    w.write("sub/.gitignore", "!other.log\n*.tmp\n");
    for path in ["a.log", "keep.log", "dist/x.js", "lib/dist/x.js", "sub/secret.txt", "sub/other.log"] {
        w.write(path, "x");
    }
    for path in ["sub/deep/z.tmp", "sub/deep/y.log", "z.tmp", "dist/keep.log", "odd name"] {
        w.write(path, "x");
    }
    let first = w.walk();
    let want = [".gitignore", "keep.log", "lib/dist/x.js", "sub/.gitignore", "sub/other.log", "z.tmp"];
    assert_eq!(counting(&first), want);
    w.write("a.log", "changed").write("dist/x.js", "changed");
    let second = w.walk_after(&first);
    assert_eq!(first.id(), second.id());
    w.write(".gitignore", "");
    let third = w.walk_after(&second);
    let found = diff(&second, &third);
    assert!(
        found.contains(&"+a.log".to_owned()) && found.contains(&"+dist/keep.log".to_owned()),
        "{found:?}"
    );
    assert!(!found.contains(&"+sub/deep/z.tmp".to_owned()), "{found:?}");
}

#[test]
fn a_linked_ignore_file_is_not_followed() {
    let w = Scratch::new();
    fs::write(w.beside("rules"), "*.txt\n").unwrap();
    symlink(w.beside("rules"), w.at(".gitignore")).unwrap();
    w.write("a.txt", "x");
    assert_eq!(counting(&w.walk()), [".gitignore", "a.txt"]);
}

#[test]
fn names_that_are_no_text() {
    let w = Scratch::new();
    let odd = w.root().join(std::ffi::OsStr::from_bytes(b"bad\xff\nname"));
    fs::write(&odd, "x").unwrap();
    fs::create_dir(w.root().join(std::ffi::OsStr::from_bytes(b"dir\xfe"))).unwrap();
    fs::write(w.root().join(std::ffi::OsStr::from_bytes(b"dir\xfe/f")), "x").unwrap();
    let first = w.walk();
    assert_eq!(counting(&first), ["bad\\xff\\nname", "dir\\xfe/f"]);
    assert_eq!(first.get(b"bad\xff\nname").unwrap().kind, Kind::File);
    fs::write(&odd, "y").unwrap();
    let second = w.walk_after(&first);
    assert_eq!(changes(&first, &second).modified[0].as_bytes(), b"bad\xff\nname");
}

#[test]
fn entries_tell_what_they_are() {
    let w = Scratch::new();
    w.write("a.txt", "hello").write(".env", "K=1").write("dir/b", "x");
    symlink("a.txt", w.at("link")).unwrap();
    let index = w.walk();
    let file = index.get(b"a.txt").unwrap();
    assert_eq!((file.kind, file.size, file.counts, file.protected), (Kind::File, 5, true, false));
    assert_eq!(file.hash.to_le_bytes(), blake3::hash(b"hello").as_bytes()[..16]);
    assert!(index.get(b".env").unwrap().protected);
    assert_eq!(index.get(b"link").unwrap().kind, Kind::Symlink);
    assert_eq!(index.get(b"dir").unwrap().kind, Kind::Directory);
    assert!(index.get(b"dir/").is_none() && index.get(b"").is_none() && index.get(b"zzz").is_none());
    assert_eq!((index.files_hashed(), index.bytes_hashed()), (3, 9));
}

#[test]
fn only_tests_changed() {
    let w = Scratch::new();
    w.write("src/lib.rs", "a").write("tests/a.rs", "a");
    let first = w.walk();
    assert!(!changes(&first, &first).only_tests());
    w.write("tests/a.rs", "b").write("pkg/new_test.go", "b");
    let second = w.walk_after(&first);
    assert!(changes(&first, &second).only_tests());
    w.write("src/lib.rs", "b");
    assert!(!changes(&first, &w.walk_after(&second)).only_tests());
}

#[test]
fn a_workspace_that_is_not_there() {
    let w = Scratch::new();
    fs::remove_dir(w.root()).unwrap();
    let error = w.tree.walk(None).unwrap_err().to_string();
    assert!(error.contains("cannot look into the workspace"), "{error}");
    fs::write(w.root(), "a file").unwrap();
    assert!(w.tree.walk(None).is_err());
}
