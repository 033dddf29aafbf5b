//! What two moments say about the files that hold a repository's objects.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ralph_tree::{ChangedObjects, Index, ObjectFiles, Repository, repositories};
use support::Scratch;

fn repository() -> (Scratch, Repository) {
    let w = Scratch::new();
    w.git("", &["init", "-q"]);
    w.write("a", "1");
    w.commit_all("", "one");
    let repository = repositories(w.root(), &Index::default()).remove(0);
    (w, repository)
}

fn loose(repository: &Repository, id: &str) -> PathBuf {
    repository.common.join("objects").join(&id[..2]).join(&id[2..])
}

fn names(ids: &[&String]) -> BTreeSet<String> {
    ids.iter().map(ToString::to_string).collect()
}

fn packs(repository: &Repository) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(repository.common.join("objects/pack")).unwrap().flatten();
    let packs =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "pack"));
    packs.map(|path| path.with_extension("")).collect()
}

/// Git makes them read-only.
fn overwrite(path: &Path, content: &[u8]) {
    let bytes = [content, &fs::read(path).unwrap()].concat();
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_loose_object_that_is_gone_or_altered_is_named_and_a_new_one_is_not() {
    let (w, repository) = repository();
    let before = ObjectFiles::look(&repository, None, true);
    let (commit, tree) = (w.git("", &["rev-parse", "HEAD"]), w.git("", &["rev-parse", "HEAD^{tree}"]));
    w.write("b", "2");
    w.commit_all("", "two");
    let after = ObjectFiles::look(&repository, Some(&before), true);
    let changed = after.changed_since(&before);
    // Git gives an object that it would write once more a new time.
    let expected = ChangedObjects { altered: changed.altered.clone(), ..Default::default() };
    assert!(after.is_same_repository(&before) && changed == expected, "{changed:?}");
    fs::remove_file(loose(&repository, &commit)).unwrap();
    overwrite(&loose(&repository, &tree), b"x");
    let changed = ObjectFiles::look(&repository, Some(&before), true).changed_since(&before);
    assert_eq!(changed.gone, names(&[&commit]));
    assert!(changed.altered.contains(&tree) && changed.packs.is_empty(), "{changed:?}");
}

#[test]
fn a_pack_that_is_gone_shorter_or_written_anew_is_told_apart() {
    let (w, repository) = repository();
    w.git("", &["repack", "-adq"]);
    let (before, all) = (ObjectFiles::look(&repository, None, true), packs(&repository));
    assert_eq!(before.pack_indexes().count(), 1);
    let pack = all.iter().next().unwrap().with_extension("pack");
    let bytes = fs::read(&pack).unwrap();
    let changed = || ObjectFiles::look(&repository, Some(&before), true).changed_since(&before);
    let (gone, anew) = (
        ChangedObjects { packs: all.clone(), ..Default::default() },
        ChangedObjects { rewritten: all, ..Default::default() },
    );
    fs::remove_file(&pack).unwrap();
    assert_eq!(changed(), gone);
    fs::write(&pack, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(changed(), gone);
    fs::write(&pack, &bytes).unwrap();
    assert_eq!(changed(), anew);
    fs::remove_file(pack.with_extension("idx")).unwrap();
    assert_eq!(changed(), gone);
}

/// Very many loose objects are not looked at one by one if the times of their directory say that none came or went.
#[test]
fn a_large_directory_is_read_again_when_a_name_went() {
    let (w, repository) = repository();
    let ids: Vec<String> = (0..100).map(|n| format!("ab{n:038x}")).collect();
    for id in &ids {
        w.write(&format!(".git/objects/ab/{}", &id[2..]), "x");
    }
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let dir = fs::File::open(repository.common.join("objects/ab")).unwrap();
    dir.set_modified(old).unwrap();
    // Its ctime is as new as it was, so it counts as unsettled until two seconds are over.
    let early = ObjectFiles::look(&repository, None, true);
    fs::remove_file(loose(&repository, &ids[0])).unwrap();
    dir.set_modified(old).unwrap();
    let changed = ObjectFiles::look(&repository, Some(&early), true).changed_since(&early);
    assert_eq!(changed.gone, names(&[&ids[0]]));
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let settled = ObjectFiles::look(&repository, None, true);
    assert!(ObjectFiles::look(&repository, Some(&settled), true).changed_since(&settled).is_empty());
    fs::remove_file(loose(&repository, &ids[1])).unwrap();
    dir.set_modified(old).unwrap();
    let changed = ObjectFiles::look(&repository, Some(&settled), true).changed_since(&settled);
    assert_eq!(changed.gone, names(&[&ids[1]]));
}

/// Between two steps only names are of interest, so files that were written into are found by the look after a step.
#[test]
fn a_file_that_was_written_into_is_found_after_a_step() {
    let (w, repository) = repository();
    let commit = w.git("", &["rev-parse", "HEAD"]);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let before = ObjectFiles::look(&repository, None, false);
    let path = loose(&repository, &commit);
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(&path, "").unwrap();
    let changed =
        |after_step| ObjectFiles::look(&repository, Some(&before), after_step).changed_since(&before);
    assert!(changed(false).is_empty());
    assert_eq!(changed(true).altered, names(&[&commit]));
}

#[test]
fn objects_that_a_repository_borrows_are_its_own_too() {
    let (w, repository) = repository();
    w.git("", &["clone", "-q", "--shared", ".", "shared"]);
    let borrower = Repository { common: w.at("shared/.git"), own: w.at("shared/.git"), ..repository.clone() };
    let before = ObjectFiles::look(&borrower, None, true);
    let commit = w.git("", &["rev-parse", "HEAD"]);
    fs::remove_file(loose(&repository, &commit)).unwrap();
    assert_eq!(
        ObjectFiles::look(&borrower, Some(&before), true).changed_since(&before).gone,
        names(&[&commit])
    );
}

#[test]
fn another_repository_in_its_place_is_not_the_same() {
    let (w, repository) = repository();
    let before = ObjectFiles::look(&repository, None, true);
    fs::remove_dir_all(w.at(".git")).unwrap();
    assert!(!ObjectFiles::look(&repository, Some(&before), true).is_same_repository(&before));
    w.git("", &["init", "-q"]);
    assert!(!ObjectFiles::look(&repository, Some(&before), true).is_same_repository(&before));
}

#[test]
fn what_is_kept_for_a_later_process_says_the_same_or_nothing() {
    let (w, repository) = repository();
    w.git("", &["repack", "-adq"]);
    w.write("b", "2");
    w.commit_all("", "two");
    w.write(".git/shallow", &w.git("", &["rev-parse", "HEAD"]));
    let files = ObjectFiles::look(&repository, None, true);
    let text = files.to_text();
    assert_eq!(ObjectFiles::from_text(&text), Some(files));
    let cut = text.char_indices().map(|(at, _)| &text[..at]).filter(|cut| !cut.ends_with('\n'));
    assert!(cut.filter(|cut| !cut.is_empty()).all(|cut| ObjectFiles::from_text(cut).is_none()));
}
