//! Tampering with protected paths: each trick has its verdict.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use ralph_tree::{Index, Protect, Tree, violations};
use support::{Scratch, touched};

/// A workspace with something to protect, its ignored `.env` included.
fn guarded() -> (Scratch, Index) {
    let w = Scratch::new();
    w.write(".gitignore", ".env\nsecrets/\nprivate/\n*.key\n");
    w.write("src/auth/login.rs", "login")
        .write("src/auth/deep/token.rs", "token")
        .write("src/main.rs", "main");
    w.write("db/migrations/0001.sql", "create").write(".env", "KEY=1").write("secrets/a.key", "abc");
    w.write("private/nested/.env", "KEY=2").write(".env.example", "KEY=").write("ralph.toml", "x = 1");
    let first = w.walk();
    (w, first)
}

#[test]
fn work_elsewhere_is_no_violation() {
    let (w, first) = guarded();
    w.write("src/main.rs", "changed").write(".env.example", "KEY=\nMORE=").write(".envrc", "x");
    w.write("src/authors.rs", "x").write(".ralph/status.json", "{}").write("docs/src/auth/x", "x");
    w.write("db/migrations/node_modules/m/index.js", "left by a test run");
    assert_eq!(touched(&first, &w.walk_after(&first)), Vec::<String>::new());
}

/// Python runs what it finds there in the place of the source.
#[test]
fn byte_code_below_a_protected_directory_counts_but_is_no_work() {
    let (w, _) = guarded();
    w.write("secrets/__pycache__/known.pyc", "as it was").write("docs/__pycache__/x.pyc", "one");
    let first = w.walk();
    w.write("db/migrations/__pycache__/m.pyc", "code").write("docs/__pycache__/x.pyc", "two");
    w.write("secrets/__pycache__/known.pyc", "another");
    let after = w.walk_after(&first);
    let want = ["db/migrations/__pycache__/m.pyc (added)", "secrets/__pycache__/known.pyc (modified)"];
    assert_eq!(touched(&first, &after), want);
    assert_eq!(first.id(), after.id(), "byte code is not progress");
}

#[test]
fn plain_edits_also_of_ignored_files() {
    let (w, first) = guarded();
    w.write(".env", "KEY=9").write("private/nested/.env", "KEY=9").write("src/auth/login.rs", "LOGIN");
    w.write("secrets/new", "x").remove("db/migrations/0001.sql").write(".ralph/skills/s.md", "x");
    w.write("deep/er/.env.local", "x");
    let want = [
        ".env (modified)",
        ".ralph/skills/s.md (added)",
        "db/migrations/0001.sql (deleted)",
        "deep/er/.env.local (added)",
        "private/nested/.env (modified)",
        "secrets/new (added)",
        "src/auth/login.rs (modified)",
    ];
    assert_eq!(touched(&first, &w.walk_after(&first)), want);
}

#[test]
fn a_restored_mtime_hides_nothing() {
    let (w, _) = guarded();
    // Old enough that the next walk trusts the stat: only the ctime can tell.
    std::thread::sleep(std::time::Duration::from_millis(40));
    let first = w.walk();
    assert_eq!(w.tree.walk(Some(&first)).unwrap().files_hashed(), 0);
    for path in [".env", "src/auth/login.rs"] {
        let before = fs::metadata(w.at(path)).unwrap();
        let other = if path == ".env" { "KEY=7" } else { "LOGIN" };
        fs::write(w.at(path), other).unwrap();
        let times = FileTimes::new().set_modified(before.modified().unwrap());
        File::options().write(true).open(w.at(path)).unwrap().set_times(times).unwrap();
        let after = fs::metadata(w.at(path)).unwrap();
        assert_eq!((before.modified().unwrap(), before.len()), (after.modified().unwrap(), after.len()));
    }
    let want = [".env (modified)", "src/auth/login.rs (modified)"];
    assert_eq!(touched(&first, &w.walk_after(&first)), want);
}

#[test]
fn renaming_the_directory_around_shows_as_deleted() {
    let (w, first) = guarded();
    w.rename("src", "src.bak");
    let after = w.walk_after(&first);
    assert_eq!(touched(&first, &after), ["src/auth/deep/token.rs (deleted)", "src/auth/login.rs (deleted)"]);
    w.write("src/auth/login.rs", "mine now");
    let want = ["src/auth/deep/token.rs (deleted)", "src/auth/login.rs (modified)"];
    assert_eq!(touched(&first, &w.walk_after(&after)), want);
    w.rename("secrets", "node_modules");
    assert!(touched(&first, &w.walk_after(&after)).contains(&"secrets/a.key (deleted)".to_owned()));
}

#[test]
fn case_variants() {
    let (w, first) = guarded();
    w.write("SRC/Auth/new.rs", "x").write(".ENV", "x").write("db/Migrations/2.sql", "x");
    let want = [".ENV (added)", "SRC/Auth/new.rs (added)", "db/Migrations/2.sql (added)"];
    assert_eq!(touched(&first, &w.walk_after(&first)), want);
    w.rename(".env", ".Env");
    let found = touched(&first, &w.walk());
    assert!(
        found.contains(&".Env (added)".to_owned()) && found.contains(&".env (deleted)".to_owned()),
        "{found:?}"
    );
}

#[test]
fn swaps_for_links_and_other_kinds() {
    let (w, first) = guarded();
    w.rename(".env", "real");
    symlink("real", w.at(".env")).unwrap();
    w.rename("src/auth", "src/auth2");
    symlink("auth2", w.at("src/auth")).unwrap();
    w.remove("db/migrations/0001.sql");
    fs::create_dir(w.at("db/migrations/0001.sql")).unwrap();
    let want = [
        ".env (replaced by another kind of file)",
        "db/migrations/0001.sql (replaced by another kind of file)",
        "src/auth (replaced by another kind of file)",
        "src/auth/deep/token.rs (deleted)",
        "src/auth/login.rs (deleted)",
    ];
    assert_eq!(touched(&first, &w.walk_after(&first)), want);
}

#[test]
fn a_link_where_a_protected_directory_could_be() {
    let w = Scratch::new();
    w.write("other/x", "x");
    let first = w.walk();
    symlink("other", w.at("secrets")).unwrap();
    assert_eq!(touched(&first, &w.walk_after(&first)), ["secrets (added)"]);
}

#[test]
fn a_moved_link_target_and_a_write_through_a_hard_link() {
    let w = Scratch::new();
    w.write("outside.txt", "abc").write("src/auth/x", "x");
    symlink("a", w.at("src/auth/link")).unwrap();
    fs::hard_link(w.at("outside.txt"), w.at("src/auth/hard")).unwrap();
    let first = w.walk();
    w.write("outside.txt", "xyz").remove("src/auth/link");
    symlink("b", w.at("src/auth/link")).unwrap();
    let want = ["src/auth/hard (modified)", "src/auth/link (modified)"];
    assert_eq!(touched(&first, &w.walk_after(&first)), want);
}

#[test]
fn permissions_of_files_and_directories() {
    let (w, first) = guarded();
    fs::set_permissions(w.at(".env"), Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(w.at("src/auth"), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(w.at("src"), Permissions::from_mode(0o777)).unwrap();
    let after = w.walk_after(&first);
    assert_eq!(touched(&first, &after), [".env (permissions changed)", "src/auth (permissions changed)"]);
    assert_eq!(first.id(), after.id());
}

#[test]
fn replaced_by_the_same_content_or_put_back_is_fine() {
    let (w, first) = guarded();
    w.write(".env", "KEY=9");
    let between = w.walk_after(&first);
    assert_eq!(violations(&first, &between).len(), 1);
    w.remove(".env").write(".env", "KEY=1");
    let after = w.walk_after(&between);
    assert_eq!(touched(&first, &after), Vec::<String>::new());
}

#[test]
fn git_tricks_that_blind_git() {
    let (w, _) = guarded();
    w.git("", &["init", "-q"]);
    w.git("", &["add", "-f", "-A"]);
    w.git("", &["commit", "-q", "-m", "first"]);
    let first = w.walk();
    w.git("", &["update-index", "--assume-unchanged", "src/auth/login.rs"]);
    w.git("", &["update-index", "--skip-worktree", "db/migrations/0001.sql"]);
    w.write("src/auth/login.rs", "LOGIN").write("db/migrations/0001.sql", "DROP");
    assert_eq!(w.git("", &["status", "--porcelain"]), "");
    w.write("src/auth/deep/token.rs", "TOKEN");
    w.git("", &["commit", "-q", "-a", "-m", "hidden in a commit"]);
    let want = [
        "db/migrations/0001.sql (modified)",
        "src/auth/deep/token.rs (modified)",
        "src/auth/login.rs (modified)",
    ];
    assert_eq!(touched(&first, &w.walk_after(&first)), want);
}

#[test]
fn new_ignore_rules_do_not_hide_protected_paths() {
    let (w, first) = guarded();
    w.write(".gitignore", "*\n").write("src/.gitignore", "*\n").write("src/auth/login.rs", "LOGIN");
    w.write("ignored/.env", "x");
    let after = w.walk_after(&first);
    assert_eq!(touched(&first, &after), ["ignored/.env (added)", "src/auth/login.rs (modified)"]);
}

#[test]
fn a_glob_that_names_a_noise_directory_is_obeyed() {
    let w = Scratch::protecting(&[".git/hooks/", "vendor/node_modules/", "*.pem"]);
    w.write(".git/hooks/pre-commit", "x").write(".git/config", "x").write("node_modules/a", "x");
    w.write("vendor/node_modules/a/b.js", "x").write("target/a.pem", "x");
    let first = w.walk();
    w.write(".git/hooks/pre-commit", "y").write(".git/config", "y").write("node_modules/a", "y");
    w.write("vendor/node_modules/a/b.js", "y").write("target/a.pem", "y");
    let after = w.walk_after(&first);
    let want = [".git/hooks/pre-commit (modified)", "vendor/node_modules/a/b.js (modified)"];
    assert_eq!(touched(&first, &after), want);
    assert_eq!(first.id(), after.id());
}

#[test]
fn other_globs_on_an_older_index() {
    let (w, first) = guarded();
    let stricter = Tree::new(w.root(), Protect::new(["*.rs"]).unwrap());
    let known: Vec<_> =
        stricter.walk(Some(&first)).unwrap().entries().map(|e| (e.path.to_vec(), e.protected)).collect();
    let fresh: Vec<_> =
        stricter.walk(None).unwrap().entries().map(|e| (e.path.to_vec(), e.protected)).collect();
    assert_eq!(known, fresh);
    assert!(known.contains(&(b"src/main.rs".to_vec(), true)));
}

/// Only what is protected is kept of a repository around a workspace, and the workspace itself is left to its own walk.
#[test]
fn around_a_workspace_only_protected_paths_are_kept() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write(".gitignore", "out/\n")
        .write(".env", "KEY=1")
        .write("src/auth/login.rs", "x")
        .write("big/a/b", "x");
    w.write("big/a/secrets/key", "x")
        .write("out/.env", "x")
        .write("node_modules/.env", "x")
        .write("sub/.env", "x");
    let around = Tree::around(w.root(), w.tree.protect().clone(), b"sub");
    let first = around.walk(None).unwrap();
    let kept: Vec<String> = first.entries().map(|e| String::from_utf8_lossy(e.path).into_owned()).collect();
    assert_eq!(kept, [".env", "big/a/secrets", "big/a/secrets/key", "src/auth", "src/auth/login.rs"]);
    assert_eq!(first.files_hashed(), 3, "nothing else is read");
    w.write("big/a/b", "changed").write("sub/.env", "changed").write("big/a/secrets/key", "changed");
    w.write("big/new/.env.local", "x");
    let second = around.walk(Some(&first)).unwrap();
    assert_eq!(touched(&first, &second), ["big/a/secrets/key (modified)", "big/new/.env.local (added)"]);
}

/// The other way round: what counts as work is kept, and ignored directories are not even entered.
#[test]
fn around_a_workspace_the_work_is_kept_without_what_is_ignored() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write(".gitignore", "out/\n*.log\n").write("tests/t.py", "x").write("out/a/b", "x").write("x.log", "x");
    w.write("node_modules/c/d", "x")
        .write("sub/e", "x")
        .write("sub2/e", "x")
        .write(".ralph/status.json", "{}");
    let around = Tree::work_around(w.root(), w.tree.protect().clone(), b"sub");
    let first = around.walk(None).unwrap();
    let kept: Vec<String> = first.entries().map(|e| String::from_utf8_lossy(e.path).into_owned()).collect();
    assert_eq!(kept, [".gitignore", "sub2", "sub2/e", "tests", "tests/t.py"]);
    assert!(!first.is_cut_short() && first.reaches(b"tests/a") && !first.reaches(b"z"));
    w.write("sub/e", "changed").write("out/a/b", "changed").write("x.log", "changed");
    assert_eq!(around.walk(Some(&first)).unwrap().id(), first.id());
    w.write("tests/t.py", "changed");
    assert_ne!(around.walk(Some(&first)).unwrap().id(), first.id());
}
