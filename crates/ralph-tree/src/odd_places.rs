//! Things in a repository's own directory that git cannot read as it expects to: a FIFO in the place of HEAD makes every
//! git command wait for ever, a directory in the place of a file makes it fail. What is there cannot be compared either,
//! so the caller treats a new one as a change.
//!
//! A link is accepted if it leads to what is expected; where links are refused, only within the repository: old versions
//! of git made HEAD one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ralph_os::{Links, read_regular, what_it_is};

use crate::path::shown;
use crate::repository::Repository;

/// Regular files, wherever they are there.
const FILES: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "index",
    "packed-refs",
    "shallow",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "logs/HEAD",
    "logs/refs/stash",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/pack/multi-pack-index",
    "reftable/tables.list",
];
/// Directories, wherever they are there.
const DIRECTORIES: &[&str] =
    &["hooks", "info", "logs", "objects", "objects/info", "objects/pack", "refs", "reftable"];
/// More directories of objects than this are not looked into; git itself makes 258.
const MOST_DIRECTORIES: usize = 4096;
/// How far alternates may lead from one to the next, as in git.
const ALTERNATES: usize = 5;
const ALTERNATES_FILE: u64 = 1 << 20;
/// More directories that a repository borrows objects from are not looked into.
const MOST_BORROWED: usize = 16;

/// The odd things by their shown paths, each with what it is.
#[must_use]
pub fn odd_places(repository: &Repository, links: Links) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (dir, name) in repository.directories() {
        for (names, expected) in [(FILES, Expected::File), (DIRECTORIES, Expected::Directory)] {
            for place in names {
                if let Some(what) = odd(&dir.join(place), expected, repository, links) {
                    found.insert(format!("{name}/{place}"), what);
                }
            }
        }
    }
    found
}

/// What a path is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// One of the two.
    Either,
}

/// What is at a path in words, unless it is what it should be or nothing.
pub(crate) fn odd(path: &Path, expected: Expected, repository: &Repository, links: Links) -> Option<String> {
    let kind = path.symlink_metadata().ok()?.file_type();
    if kind.is_symlink() {
        let target = path.read_link().unwrap_or_default();
        let there = path.canonicalize().ok();
        let inside = |there: &PathBuf| {
            let own = there.starts_with(&repository.own) || there.starts_with(&repository.common);
            own || links == Links::Follow
        };
        let fine =
            there.filter(inside).and_then(|there| there.metadata().ok()).is_some_and(|meta| match expected {
                Expected::File | Expected::Either => meta.is_file(),
                Expected::Directory => meta.is_dir(),
            });
        return (!fine).then(|| format!("a link to {}", shown(target.as_os_str().as_bytes())));
    }
    let fine = match expected {
        Expected::File => kind.is_file(),
        Expected::Directory => kind.is_dir(),
        Expected::Either => kind.is_file() || kind.is_dir(),
    };
    (!fine).then(|| what_it_is(kind).unwrap_or("a file").to_owned())
}

/// Looks through the objects that git would read, with their alternates. The error names what git would wait on.
pub fn check_objects(repository: &Repository) -> io::Result<()> {
    let mut open = vec![(repository.common.join("objects"), 0)];
    let mut left = MOST_DIRECTORIES;
    while let Some((objects, hops)) = open.pop() {
        check_tree(&objects, &mut left)?;
        if hops < ALTERNATES {
            open.extend(alternates(&objects)?.into_iter().map(|next| (next, hops + 1)));
        }
    }
    Ok(())
}

/// Everything below a directory of objects is a file, a directory or a link to one.
fn check_tree(objects: &Path, left: &mut usize) -> io::Result<()> {
    let mut open = vec![objects.to_path_buf()];
    while let Some(dir) = open.pop() {
        *left = left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("there are too many directories of objects"))?;
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(named(&dir, &error.to_string())),
            Ok(entries) => entries,
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = if kind.is_symlink() {
                entry.path().metadata().map_or(kind, |meta| meta.file_type())
            } else {
                kind
            };
            match what_it_is(kind) {
                Some("a directory") if entry.file_type()?.is_dir() => open.push(entry.path()),
                // Links to directories, as some tools make them, hold no FIFO that the agent made for this repository.
                None | Some("a directory" | "a link") => {}
                Some(what) => return Err(named(&entry.path(), &format!("it is {what}"))),
            }
        }
    }
    Ok(())
}

/// Where a repository's objects lie: its own directory of them, and those that it borrows from. What cannot be read is
/// left out.
pub(crate) fn object_directories(repository: &Repository) -> Vec<PathBuf> {
    let mut found = vec![repository.common.join("objects")];
    let (mut from, mut hops) = (0, 0);
    while from < found.len() && hops < ALTERNATES {
        let next: Vec<PathBuf> =
            found.iter().skip(from).flat_map(|objects| alternates(objects).unwrap_or_default()).collect();
        from = found.len();
        hops += 1;
        for objects in next {
            if found.len() < MOST_BORROWED && !found.contains(&objects) {
                found.push(objects);
            }
        }
    }
    found
}

/// The directories that `objects/info/alternates` names.
fn alternates(objects: &Path) -> io::Result<Vec<PathBuf>> {
    let path = objects.join("info/alternates");
    let text = match read_regular(&path, ALTERNATES_FILE, Links::Follow).map_err(io::Error::from) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(named(&path, &error.to_string())),
    };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    Ok(lines.map(|line| objects.join(OsStr::from_bytes(line))).collect())
}

fn named(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{}: {why}", shown(path.as_os_str().as_bytes())))
}
