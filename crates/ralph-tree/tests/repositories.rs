//! Every kind of repository a workspace may be, hold or lie in.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;

use ralph_tree::{Protect, Tree, git_facts};
use support::{Scratch, counting, diff};

#[test]
fn commits_do_not_matter_only_contents_do() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write("a.txt", "one");
    let untracked = w.walk();
    w.git("", &["add", "-A"]);
    let staged = w.walk_after(&untracked);
    w.git("", &["commit", "-q", "-m", "first"]);
    let committed = w.walk_after(&staged);
    w.git("", &["commit", "-q", "--allow-empty", "-m", "nothing"]);
    w.git("", &["checkout", "-q", "--detach"]);
    let detached = w.walk_after(&committed);
    for index in [&staged, &committed, &detached] {
        assert_eq!(index.id(), untracked.id());
    }
    w.write("a.txt", "two");
    w.commit_all("", "second");
    assert_eq!(diff(&detached, &w.walk_after(&detached)), ["~a.txt"]);
    w.git("", &["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(w.walk().id(), untracked.id());
}

#[test]
fn a_plain_directory_and_one_without_commits_give_the_same_id() {
    let w = Scratch::new();
    w.write("a.txt", "one").write("sub/b.txt", "two");
    let plain = w.walk();
    w.git("", &["init", "-q"]);
    assert_eq!(w.walk_after(&plain).id(), plain.id());
    fs::remove_dir_all(w.at(".git")).unwrap();
    assert_eq!(w.walk_after(&plain).id(), plain.id());
}

#[test]
fn info_exclude_is_obeyed_below_gitignore() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    fs::create_dir_all(w.at(".git/info")).unwrap();
    fs::write(w.at(".git/info/exclude"), "*.local\nnotes/\n").unwrap();
    w.write(".gitignore", "!kept.local\n");
    w.write("a.local", "x").write("kept.local", "x").write("notes/n.md", "x").write("b.txt", "x");
    let first = w.walk();
    assert_eq!(counting(&first), [".gitignore", "b.txt", "kept.local"]);
    fs::write(w.at(".git/info/exclude"), "").unwrap();
    assert_eq!(diff(&first, &w.walk_after(&first)), ["+a.local", "+notes/n.md"]);
}

#[test]
fn a_linked_worktree_uses_the_shared_exclude() {
    let w = Scratch::new();
    w.write("main/a.txt", "x");
    w.git("main", &["init", "-q"]);
    w.commit_all("main", "first");
    fs::create_dir_all(w.at("main/.git/info")).unwrap();
    fs::write(w.at("main/.git/info/exclude"), "*.local\n").unwrap();
    w.git("main", &["worktree", "add", "-q", "-b", "side", "../linked"]);
    w.write("linked/x.local", "x").write("linked/new.txt", "x");
    assert!(w.at("linked/.git").is_file());
    let tree = Tree::new(w.at("linked"), Protect::new(Protect::DEFAULTS).unwrap());
    assert_eq!(counting(&tree.walk(None).unwrap()), ["a.txt", "new.txt"]);
    let facts = git_facts(&w.at("linked"));
    assert_eq!(facts.branch.as_deref(), Some("side"));
    assert_eq!(facts.head.unwrap(), w.git("main", &["rev-parse", "HEAD"]));
}

#[test]
fn several_repositories_each_with_its_own_rules() {
    let w = Scratch::new();
    for name in ["one", "two", "one/inner"] {
        w.write(&format!("{name}/file.txt"), "x").write(&format!("{name}/file.log"), "x");
        w.git(name, &["init", "-q"]);
    }
    w.write("one/.gitignore", "*.log\n");
    let first = w.walk();
    // The outer repository's rules end at the inner one's door.
    let want = [
        "one/.gitignore",
        "one/file.txt",
        "one/inner/file.log",
        "one/inner/file.txt",
        "two/file.log",
        "two/file.txt",
    ];
    assert_eq!(counting(&first), want);
    w.commit_all("two", "first");
    w.write("one/inner/file.txt", "y");
    assert_eq!(diff(&first, &w.walk_after(&first)), ["~one/inner/file.txt"]);
}

#[test]
fn an_empty_dot_git_is_no_repository() {
    let w = Scratch::new();
    w.write(".gitignore", "*.log\n").write("sub/a.log", "x").write("sub/a.txt", "x");
    fs::create_dir(w.at("sub/.git")).unwrap();
    assert_eq!(counting(&w.walk()), [".gitignore", "sub/a.txt"]);
    fs::remove_dir(w.at("sub/.git")).unwrap();
    fs::write(w.at("sub/.git"), "gitdir: /nowhere/at/all\n").unwrap();
    assert_eq!(counting(&w.walk()), [".gitignore", "sub/a.txt"]);
}

#[test]
fn a_submodules_files_count() {
    let w = Scratch::new();
    w.write("lib/l.txt", "x");
    w.git("lib", &["init", "-q"]);
    w.commit_all("lib", "lib");
    w.write("app/a.txt", "x");
    w.git("app", &["init", "-q"]);
    let lib = w.at("lib");
    w.git("app", &["submodule", "--quiet", "add", lib.to_str().unwrap(), "vendor/lib"]);
    w.commit_all("app", "with lib");
    let tree = Tree::new(w.at("app"), Protect::new(Protect::DEFAULTS).unwrap());
    let first = tree.walk(None).unwrap();
    assert_eq!(counting(&first), [".gitmodules", "a.txt", "vendor/lib/l.txt"]);
    w.write("app/vendor/lib/l.txt", "y");
    assert_eq!(diff(&first, &tree.walk(Some(&first)).unwrap()), ["~vendor/lib/l.txt"]);
    assert!(git_facts(&w.at("app/vendor/lib")).head.is_some());
}

#[test]
fn a_dirty_tree_is_where_the_run_begins() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write("a.txt", "one");
    w.commit_all("", "first");
    w.write("a.txt", "dirty").write("untracked.txt", "x");
    let first = w.walk();
    w.commit_all("", "the user's own mess");
    assert_eq!(w.walk_after(&first).id(), first.id());
    w.git("", &["stash", "-q", "--include-untracked", "--keep-index"]);
    assert_eq!(w.walk_after(&first).id(), first.id());
}

#[test]
fn a_workspace_deeper_in_a_repository_obeys_the_rules_above_it() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write(".gitignore", "dist/\n/packages/web/*.gen\n").write("packages/.gitignore", "*.log\n");
    for path in ["dist/x", "sub/dist/x", "a.log", "a.gen", "sub/a.gen", "a.txt"] {
        w.write(&format!("packages/web/{path}"), "x");
    }
    let tree = Tree::new(w.at("packages/web"), Protect::new(Protect::DEFAULTS).unwrap());
    let first = tree.walk(None).unwrap();
    assert_eq!(counting(&first), ["a.txt", "sub/a.gen"]);
    w.write(".gitignore", "");
    let second = tree.walk(Some(&first)).unwrap();
    assert_eq!(diff(&first, &second), ["+a.gen", "+dist/x", "+sub/dist/x"]);
}

#[test]
fn a_workspace_that_the_repository_around_it_ignores_is_on_its_own() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write(".gitignore", "scratch/\n*.txt\n").write("scratch/play/a.txt", "x");
    let tree = Tree::new(w.at("scratch/play"), Protect::new(Protect::DEFAULTS).unwrap());
    assert_eq!(counting(&tree.walk(None).unwrap()), ["a.txt"]);
}
