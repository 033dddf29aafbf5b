//! Where refs stand, read from a repository's files, however odd they are.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;
use std::os::unix::fs::symlink;

use ralph_os::Links;
use ralph_tree::{Index, Refs, Repository, check_objects, odd_places, repositories};
use rustix::fs::{CWD, Mode, mkfifoat};
use support::Scratch;

fn with_a_commit(format: &[&str]) -> (Scratch, String, Repository) {
    let w = Scratch::new();
    w.git("", &[&["init", "-q"], format].concat());
    w.write("a", "1");
    w.commit_all("", "one");
    let id = w.git("", &["rev-parse", "HEAD"]);
    let repository = repositories(w.root(), &Index::default()).remove(0);
    (w, id, repository)
}

fn fifo(w: &Scratch, path: &str) {
    let _ = fs::remove_file(w.at(path));
    mkfifoat(CWD, w.at(path), Mode::RUSR | Mode::WUSR).unwrap();
}

#[test]
fn a_ref_is_found_however_deep_it_lies() {
    let (w, id, repository) = with_a_commit(&[]);
    let deep = format!(".git/refs/heads/{}x", "d/".repeat(200));
    w.write(&deep, "1111111111111111111111111111111111111111\n");
    let refs = Refs::read(&repository);
    let deep = "1111111111111111111111111111111111111111".to_owned();
    assert!(refs.local.contains(&id) && refs.local.contains(&deep), "{refs:?}");
    assert!(refs.unread.is_empty(), "{refs:?}");
}

#[test]
fn refs_that_cannot_be_read_are_named() {
    let (w, _, repository) = with_a_commit(&[]);
    fs::create_dir(w.beside("elsewhere")).unwrap();
    symlink(w.beside("elsewhere"), w.at(".git/refs/heads/linked")).unwrap();
    symlink("/dev/zero", w.at(".git/refs/tags/endless")).unwrap();
    symlink("main", w.at(".git/refs/heads/alias")).unwrap();
    fifo(&w, ".git/refs/heads/pipe");
    fifo(&w, ".git/packed-refs");
    fs::remove_file(w.at(".git/HEAD")).unwrap();
    fs::create_dir(w.at(".git/HEAD")).unwrap();
    let refs = Refs::read(&repository);
    let unread: Vec<(&str, &str)> = refs.unread.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let elsewhere = format!("it is a link to {}", w.beside("elsewhere").display());
    let want = [
        (".git/HEAD", "it is a directory, not a regular file"),
        (".git/packed-refs", "it is a FIFO, not a regular file"),
        (".git/refs/heads/linked", elsewhere.as_str()),
        (".git/refs/heads/pipe", "it is a FIFO"),
        (".git/refs/tags/endless", "it is a link to /dev/zero"),
    ];
    assert_eq!(unread, want);
    assert_eq!(Refs::from_text(&refs.to_text()), refs);
    let odd = odd_places(&repository, Links::Refuse);
    assert_eq!(odd.get(".git/HEAD").map(String::as_str), Some("a directory"));
    assert_eq!(odd.get(".git/packed-refs").map(String::as_str), Some("a FIFO"));
    assert_eq!(odd.len(), 2, "{odd:?}");
}

#[test]
fn refs_in_tables_are_read() {
    let (w, id, repository) = with_a_commit(&["--ref-format=reftable"]);
    w.git("", &["tag", "-a", "t", "-m", "t"]);
    let tag = w.git("", &["rev-parse", "t"]);
    for number in 0..300 {
        w.git("", &["update-ref", &format!("refs/heads/branch-{number}"), &id]);
    }
    w.write("a", "2");
    w.commit_all("", "two");
    let two = w.git("", &["rev-parse", "HEAD"]);
    w.git("", &["update-ref", "refs/remotes/origin/main", &id]);
    let refs = Refs::read(&repository);
    assert!(refs.unread.is_empty(), "{:?}", refs.unread);
    assert!([&id, &two, &tag].iter().all(|id| refs.local.contains(*id)), "{refs:?}");
    assert!(refs.remote.contains(&id));
    let tables = fs::read_dir(w.at(".git/reftable")).unwrap().flatten().map(|entry| entry.path());
    let table = tables.into_iter().find(|path| path.extension().is_some_and(|end| end == "ref")).unwrap();
    let bytes = fs::read(&table).unwrap();
    fs::remove_file(&table).unwrap();
    fs::write(&table, &bytes[..bytes.len().min(60)]).unwrap();
    assert_eq!(Refs::read(&repository).unread.len(), 1, "a damaged table is named");
}

#[test]
fn branches_name_what_git_says_they_do() {
    for format in [&[][..], &["--ref-format=reftable"]] {
        let (w, first, repository) = with_a_commit(format);
        w.git("", &["branch", "-q", "deep/er"]);
        w.git("", &["update-ref", "refs/remotes/origin/x", "HEAD"]);
        w.git("", &["tag", "v1"]);
        w.git("", &["pack-refs", "--all"]);
        w.write("a", "2");
        w.commit_all("", "two");
        let second = w.git("", &["rev-parse", "HEAD"]);
        let main = w.git("", &["branch", "--show-current"]);
        let refs = Refs::read(&repository);
        let expected = [("deep/er".to_owned(), first), (main, second)];
        assert_eq!(refs.branches, expected.into(), "{format:?}: the packed ref is older");
        assert_eq!(Refs::from_text(&refs.to_text()), refs);
    }
}

#[test]
fn what_no_ref_names_any_more_is_not_current() {
    for format in [&[][..], &["--ref-format=reftable"]] {
        let (w, first, repository) = with_a_commit(format);
        w.git("", &["tag", "-a", "-m", "x", "v1"]);
        let tag = w.git("", &["rev-parse", "v1"]);
        w.git("", &["branch", "gone"]);
        w.git("", &["pack-refs", "--all"]);
        w.git("", &["commit", "-q", "--amend", "-m", "another"]);
        w.git("", &["branch", "-D", "-q", "gone"]);
        let second = w.git("", &["rev-parse", "HEAD"]);
        let refs = Refs::read(&repository);
        let current: Vec<&String> = refs.current().collect();
        assert!(current.contains(&&tag) && current.contains(&&second), "{format:?}: {refs:?}");
        // What an annotated tag points to is named in a table, but not among packed refs.
        assert!(refs.all().any(|id| *id == first) && current.contains(&&first) != format.is_empty());
        w.git("", &["tag", "-d", "v1"]);
        let refs = Refs::read(&repository);
        assert!(!refs.current().any(|id| *id == first || *id == tag), "{format:?}: {refs:?}");
        assert_eq!(Refs::from_text(&refs.to_text()), refs);
    }
}

#[test]
fn what_git_would_wait_on_among_the_objects_is_named() {
    let (w, _, repository) = with_a_commit(&[]);
    check_objects(&repository).unwrap();
    let said = |path: &str, what: &str| {
        let error = check_objects(&repository).unwrap_err().to_string();
        assert!(error.contains(path) && error.contains(what), "{error}");
    };
    fifo(&w, ".git/objects/pack/pack-1.pack");
    said("objects/pack/pack-1.pack", "it is a FIFO");
    w.remove(".git/objects/pack/pack-1.pack");
    fs::create_dir_all(w.at(".git/objects/ab")).unwrap();
    symlink("/dev/zero", w.at(".git/objects/ab/cd")).unwrap();
    said("objects/ab/cd", "it is a device");
    w.remove(".git/objects/ab/cd");
    fs::create_dir(w.beside("other")).unwrap();
    mkfifoat(CWD, w.beside("other/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    w.write(".git/objects/info/alternates", &format!("{}\n", w.beside("other").display()));
    said("other/pipe", "it is a FIFO");
    fifo(&w, ".git/objects/info/alternates");
    said("info/alternates", "it is a FIFO");
}
