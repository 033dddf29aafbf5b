//! What a repository says about itself, read without git.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;

use ralph_tree::{GitFacts, git_facts};
use support::Scratch;

#[test]
fn a_repository_before_and_after_its_first_commits() {
    let w = Scratch::new();
    assert_eq!(git_facts(w.root()), GitFacts::default());
    w.git("", &["init", "-q"]);
    let fresh = git_facts(w.root());
    assert_eq!((fresh.head, fresh.branch.as_deref(), fresh.recent.len()), (None, Some("main"), 0));
    for number in 1..=7 {
        w.write("a", &number.to_string());
        w.commit_all("", &format!("change: number {number}"));
    }
    let facts = git_facts(w.root());
    assert_eq!(facts.head.unwrap(), w.git("", &["rev-parse", "HEAD"]));
    let want: Vec<String> = (3..=7).rev().map(|n| format!("change: number {n}")).collect();
    assert_eq!(facts.recent, want);
    w.write("sub/dir/x", "x");
    assert_eq!(git_facts(&w.at("sub/dir")).branch.as_deref(), Some("main"));
}

#[test]
fn packed_refs_slashed_branches_and_a_detached_head() {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write("a", "1");
    w.commit_all("", "first");
    w.git("", &["checkout", "-q", "-b", "feature/x"]);
    w.write("a", "2");
    w.commit_all("", "second");
    w.git("", &["pack-refs", "--all"]);
    assert!(!w.at(".git/refs/heads/feature/x").exists());
    let facts = git_facts(w.root());
    assert_eq!(facts.branch.as_deref(), Some("feature/x"));
    assert_eq!(facts.head.unwrap(), w.git("", &["rev-parse", "HEAD"]));
    w.git("", &["checkout", "-q", "HEAD~1"]);
    let facts = git_facts(w.root());
    assert_eq!(facts.branch, None);
    assert_eq!(facts.head.unwrap(), w.git("", &["rev-parse", "HEAD"]));
    assert_eq!(facts.recent, ["second", "first"], "checkouts are no commits");
}

#[test]
fn broken_repositories_say_nothing_and_break_nothing() {
    let w = Scratch::new();
    fs::create_dir_all(w.at(".git/logs")).unwrap();
    for head in
        ["", "garbage", "ref: ../../etc/passwd", "ref: refs/heads/../../../x", "ref: refs/heads/none", "\0"]
    {
        fs::write(w.at(".git/HEAD"), head).unwrap();
        assert_eq!(git_facts(w.root()).head, None, "{head:?}");
    }
    fs::create_dir_all(w.at(".git/refs/heads")).unwrap();
    fs::write(w.at(".git/HEAD"), "ref: refs/heads/a").unwrap();
    fs::write(w.at(".git/refs/heads/a"), "ref: refs/heads/b").unwrap();
    fs::write(w.at(".git/refs/heads/b"), "ref: refs/heads/a").unwrap();
    assert_eq!(git_facts(w.root()).head, None);
    let long = format!("a b t <t> 1 +0\tcommit: {}\x1b[31m\n", "x".repeat(500));
    fs::write(w.at(".git/logs/HEAD"), [&b"\xff\xff\t\n\tcommit: \n"[..], long.as_bytes()].concat()).unwrap();
    let recent = git_facts(w.root()).recent;
    assert!(recent.iter().all(|line| line.chars().count() <= 120 && !line.contains('\x1b')), "{recent:?}");
    fs::remove_file(w.at(".git/HEAD")).unwrap();
    fs::create_dir(w.at(".git/HEAD")).unwrap();
    assert_eq!(git_facts(w.root()).head, None);
}
