//! Files that a checkout brought along or took away: `git worktree add`, `git submodule update` and `git clone` make
//! directories whose files may have the names of protected paths. They are no tampering if their directory is new and
//! they are as the commit checked out there has them; and none if the directory of a work tree is gone and the
//! repository still has them. Only a path that would be protected at the checkout's top as well is let through: a
//! repository that begins at `migrations/`, or at `src/` with `auth/` in it, takes the place of what is protected here.

use super::git::Git;
use crate::step_context::StepContext;
use ralph_os::{Links, open_regular};
use ralph_tree::{How, Index, Kind, Repository, Violation, git_facts, repositories};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The protected paths among these that only a checkout made or removed.
pub fn checked_out(
    ctx: &StepContext,
    before: &Index,
    after: &Index,
    found: &[Violation],
) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::new();
    let Some(program) = ctx.deps.git.as_deref().filter(|_| !found.is_empty()) else { return all };
    let beside = |repository: &Repository| Git::beside(program, repository, &ctx.folder.join("history.git"));
    let like_its_own = |dir: &[u8], path: &[u8]| {
        path.strip_prefix(dir).is_some_and(|path| ctx.tree.protect().protects(path, false))
    };
    for dir in apart(after, before) {
        let mut new = below(found, How::Added, &dir);
        new.retain(|path| like_its_own(&dir, path));
        if !new.is_empty() {
            all.extend(as_committed(ctx, after, &dir, &new, beside).unwrap_or_default());
        }
    }
    let is_protected = |dir: &[u8]| ctx.tree.protect().protects(dir.strip_suffix(b"/").unwrap_or(dir), true);
    let kept = ctx.protection.repositories();
    let Some(main) = kept.histories.first().map(|history| &history.repository) else { return all };
    for dir in apart(before, after) {
        let gone = below(found, How::Deleted, &dir);
        let files: Vec<&[u8]> = gone.iter().copied().filter(|path| !path.ends_with(b"/.git")).collect();
        if gone.is_empty() || is_protected(&dir) || !files.iter().all(|path| like_its_own(&dir, path)) {
            continue;
        }
        let safe = beside(main).and_then(|git| still_kept(ctx, before, &files, &git));
        if safe.unwrap_or(false) {
            all.extend(gone.iter().map(|path| path.to_vec()));
        }
    }
    all
}

/// Directories (with their slash) in which a repository begins, and of which the other state has nothing.
fn apart(one: &Index, other: &Index) -> Vec<Vec<u8>> {
    let dirs = one.repositories().filter_map(|entry| entry.path.strip_suffix(b".git"));
    let dirs = dirs.filter(|dir| !dir.is_empty());
    dirs.filter(|dir| has_nothing(other, dir)).map(<[u8]>::to_vec).collect()
}

/// Nothing lies in a directory (with its slash). Of an ignored one that is not known.
fn has_nothing(index: &Index, dir: &[u8]) -> bool {
    let itself = dir.strip_suffix(b"/").and_then(|dir| index.get(dir));
    itself.is_none_or(|dir| dir.counts) && !index.entries().any(|entry| entry.path.starts_with(dir))
}

fn below<'f>(found: &'f [Violation], how: How, dir: &[u8]) -> Vec<&'f [u8]> {
    let paths =
        found.iter().filter(|violation| violation.how == how).map(|violation| violation.path.as_bytes());
    paths.filter(|path| path.starts_with(dir)).collect()
}

/// Those of the new files that are as the commit checked out in their directory has them.
fn as_committed(
    ctx: &StepContext,
    after: &Index,
    dir: &[u8],
    new: &[&[u8]],
    beside: impl Fn(&Repository) -> io::Result<Git>,
) -> io::Result<Vec<Vec<u8>>> {
    let files = dir.strip_suffix(b"/").unwrap_or(dir);
    let known = repositories(&ctx.workspace, after);
    let repository = known.iter().find(|repository| repository.files == files);
    let head = git_facts(&ctx.workspace.join(OsStr::from_bytes(files))).head;
    let (Some(repository), Some(head)) = (repository, head) else { return Ok(Vec::new()) };
    let git = beside(repository)?;
    let listed = git.run(&["ls-tree", "-r", "-z", "--full-tree", &head], b"")?;
    let committed: BTreeMap<&[u8], &[u8]> = listed.split(|byte| *byte == 0).filter_map(blob).collect();
    let regular = |path: &&&[u8]| after.get(path).is_some_and(|entry| entry.kind == Kind::File);
    let new: Vec<&[u8]> = new.iter().filter(regular).copied().collect();
    let places: Vec<PathBuf> = new.iter().map(|path| ctx.workspace.join(OsStr::from_bytes(path))).collect();
    let names = names(&git, &places)?;
    let same = |(path, name): &(&&[u8], &String)| {
        path.strip_prefix(dir).and_then(|path| committed.get(path)).is_some_and(|id| *id == name.as_bytes())
    };
    Ok(new.iter().zip(&names).filter(same).map(|(path, _)| path.to_vec()).collect())
}

/// A line of `ls-tree`: the path and the name of its content.
fn blob(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let id = line.get(..tab)?.rsplit(|byte| *byte == b' ').next()?;
    Some((line.get(tab + 1..)?, id))
}

/// Whether the repository has the content of every file that is gone.
fn still_kept(ctx: &StepContext, before: &Index, gone: &[&[u8]], git: &Git) -> io::Result<bool> {
    let blobs = ctx.snapshots.store().blobs();
    let entries = gone.iter().map(|path| before.get(path).filter(|entry| entry.kind == Kind::File));
    let places: Option<Vec<PathBuf>> =
        entries.map(|entry| entry.filter(|e| blobs.has(e.hash)).map(|e| blobs.path(e.hash))).collect();
    let Some(places) = places else { return Ok(false) };
    let names = names(git, &places)?;
    let asked: String = names.iter().map(|name| format!("{name}\n")).collect();
    let answers = git.run(&["cat-file", "--batch-check"], asked.as_bytes())?;
    let answers = String::from_utf8_lossy(&answers).lines().filter(|line| line.contains(" blob ")).count();
    Ok(answers == names.len())
}

/// The names git gives to the contents of these files.
fn names(git: &Git, places: &[PathBuf]) -> io::Result<Vec<String>> {
    let mut asked = Vec::new();
    for place in places {
        let bytes = place.as_os_str().as_bytes();
        let plain = is_regular(place) && !bytes.contains(&b'\n') && !bytes.starts_with(b"\"");
        if !plain {
            return Err(io::Error::other("a file cannot be named to git"));
        }
        asked.extend_from_slice(bytes);
        asked.push(b'\n');
    }
    let names = git.run(&["hash-object", "--no-filters", "--stdin-paths"], &asked)?;
    let names: Vec<String> = String::from_utf8_lossy(&names).lines().map(ToOwned::to_owned).collect();
    if names.len() == places.len() { Ok(names) } else { Err(io::Error::other("git did not read every file")) }
}

/// Git would wait on a FIFO.
fn is_regular(path: &Path) -> bool {
    open_regular(path, Links::RefuseLast).is_ok()
}
