//! Where a repository's refs stand, read from its files: loose refs, packed refs, every work tree's HEAD, and what
//! HEAD's log says was there in between. No git is run.
//!
//! The caller compares two moments and has the commits in between looked at. What cannot be read is kept by name, so that
//! it is not taken for unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ralph_os::{Links, ReadError, read_regular, read_start};

use crate::content::regular_file;
use crate::odd_places::{Expected, odd};
use crate::path::shown;
use crate::reftable;
use crate::repository::Repository;

/// More files below `refs/` are not read: git packs them long before.
const MOST_LOOSE: usize = 200_000;
const PACKED_REFS: u64 = 256 << 20;
/// A file with one object's name, or the name of another ref.
const SMALL: u64 = 4096;
/// One table of refs.
const TABLE: u64 = 256 << 20;
/// How much of a log is read from where it ended before.
const LOG: u64 = 16 << 20;

/// Where the refs stood at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// What the user's own refs name: branches, tags, stash, notes, every HEAD.
    pub local: BTreeSet<String>,
    /// What remote-tracking refs name.
    pub remote: BTreeSet<String>,
    /// The branches, each with what it names.
    pub branches: BTreeMap<String, String>,
    /// What could not be read, by its shown path, with the reason.
    pub unread: BTreeMap<String, String>,
    /// Which of those no ref names any more: what is packed or in a table, and was replaced since.
    pub replaced: BTreeSet<String>,
    /// How long HEAD's and the stash's logs were.
    logs: [u64; 2],
}

/// What each ref names, while they are read; for a tag in a table also what that points to.
type Named = BTreeMap<String, Vec<String>>;

const LOGS: [&str; 2] = ["logs/HEAD", "logs/refs/stash"];

impl Refs {
    /// As they stand now.
    #[must_use]
    pub fn read(repository: &Repository) -> Refs {
        let (mut refs, mut heads, mut current) = (Refs::default(), BTreeSet::new(), BTreeSet::new());
        for (dir, name) in repository.directories() {
            let mut named = Named::new();
            // A packed ref may be older than the loose one, which counts.
            refs.packed(&dir.join("packed-refs"), &format!("{name}/packed-refs"), &mut named);
            refs.loose(dir, &name, repository, &mut named);
            refs.tables(&dir.join("reftable"), &format!("{name}/reftable"), &mut named);
            current.extend(named.into_values().flatten());
            heads.extend(refs.head(&dir.join("HEAD"), &format!("{name}/HEAD")));
            for work_tree in fs::read_dir(dir.join("worktrees")).into_iter().flatten().flatten() {
                let called = shown(work_tree.file_name().as_bytes());
                let called = format!("{name}/worktrees/{called}/HEAD");
                heads.extend(refs.head(&work_tree.path().join("HEAD"), &called));
            }
        }
        current.extend(heads.iter().cloned());
        refs.local.extend(heads);
        refs.replaced = refs.all().filter(|id| !current.contains(*id)).cloned().collect();
        refs.logs = LOGS.map(|log| length(&repository.own.join(log)));
        refs
    }

    /// As text, for a process that comes after a crash.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lines = |kind: &str, ids: &BTreeSet<String>| -> String {
            ids.iter().map(|id| format!("{kind} {id}\n")).collect()
        };
        let [head, stash] = self.logs;
        let unread: String =
            self.unread.iter().map(|(path, why)| format!("unread {path}\t{why}\n")).collect();
        let named =
            lines("local", &self.local) + &lines("remote", &self.remote) + &lines("replaced", &self.replaced);
        let branches: String =
            self.branches.iter().map(|(name, id)| format!("branch {id} {name}\n")).collect();
        format!("{named}{branches}logs {head} {stash}\n{unread}")
    }

    /// The same, read back; what cannot be read is left out.
    #[must_use]
    pub fn from_text(text: &str) -> Refs {
        let mut refs = Refs::default();
        for line in text.lines() {
            if let Some((path, why)) = line.strip_prefix("unread ").and_then(|rest| rest.split_once('\t')) {
                refs.unread.insert(path.to_owned(), why.to_owned());
                continue;
            }
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["local", id] => refs.local.extend(object_name(id.as_bytes())),
                ["remote", id] => refs.remote.extend(object_name(id.as_bytes())),
                ["replaced", id] => refs.replaced.extend(object_name(id.as_bytes())),
                ["branch", id, name] => {
                    refs.branches.extend(object_name(id.as_bytes()).map(|id| (name.to_owned(), id)));
                }
                ["logs", head, stash] => refs.logs = [head, stash].map(|n| n.parse().unwrap_or(0)),
                _ => continue,
            };
        }
        refs
    }

    /// Everything named.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.local.iter().chain(&self.remote)
    }

    /// Everything that a ref names now.
    pub fn current(&self) -> impl Iterator<Item = &String> {
        self.all().filter(|id| !self.replaced.contains(*id))
    }

    /// The same of the user's own refs.
    pub fn current_local(&self) -> impl Iterator<Item = &String> {
        self.local.iter().filter(|id| !self.replaced.contains(*id))
    }

    /// What HEAD or the stash named in between, though no ref may name it any more: a commit that was amended away,
    /// reset away or dropped.
    #[must_use]
    pub fn passed_through(&self, repository: &Repository) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (log, was) in LOGS.iter().zip(self.logs) {
            let path = repository.own.join(log);
            // A log that is shorter now was written anew.
            let from = if length(&path) < was { 0 } else { was };
            let Some(mut file) = regular_file(&path) else { continue };
            let mut text = Vec::new();
            if file.seek(SeekFrom::Start(from)).is_err() || file.take(LOG).read_to_end(&mut text).is_err() {
                continue;
            }
            let new = |line: &[u8]| object_name(line.split(|b| *b == b' ').nth(1)?);
            found.extend(text.split(|b| *b == b'\n').filter_map(new));
        }
        found
    }

    fn head(&mut self, path: &Path, called: &str) -> Option<String> {
        let text = self.read_or_note(read_start(path, SMALL, Links::Follow), called);
        text.and_then(|text| object_name(text.trim_ascii()))
    }

    /// What was read; what is there but cannot be read is noted.
    fn read_or_note(&mut self, read: Result<Vec<u8>, ReadError>, called: &str) -> Option<Vec<u8>> {
        match read {
            Ok(bytes) => Some(bytes),
            Err(ReadError::System(error)) if is_nothing(&error) => None,
            Err(error) => {
                self.unread.insert(called.to_owned(), error.to_string());
                None
            }
        }
    }

    /// The files below `refs/`. A directory behind a link is not entered, as deep a one as the system allows is.
    fn loose(&mut self, git_dir: &Path, name: &str, repository: &Repository, named: &mut Named) {
        let mut open = vec!["refs".to_owned()];
        let mut left = MOST_LOOSE;
        while let Some(called) = open.pop() {
            let entries = match fs::read_dir(git_dir.join(&called)) {
                Ok(entries) => entries,
                Err(error) if is_nothing(&error) => continue,
                Err(error) => {
                    self.unread.insert(format!("{name}/{}", shown(called.as_bytes())), error.to_string());
                    continue;
                }
            };
            for entry in entries.flatten() {
                let called = format!("{called}/{}", entry.file_name().to_string_lossy());
                let path = entry.path();
                if let Some(what) = odd(&path, Expected::Either, repository, Links::Refuse) {
                    self.unread
                        .insert(format!("{name}/{}", shown(called.as_bytes())), format!("it is {what}"));
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(called);
                } else if left == 0 {
                    self.unread.insert(format!("{name}/refs"), "it has too many files".into());
                    return;
                } else {
                    left -= 1;
                    let shown = format!("{name}/{}", shown(called.as_bytes()));
                    let text = self.read_or_note(read_start(&path, SMALL, Links::Follow), &shown);
                    if let Some(id) = text.and_then(|text| object_name(text.trim_ascii())) {
                        named.insert(called.clone(), vec![id.clone()]);
                        self.add(&called, id);
                    }
                }
            }
        }
    }

    /// The tables of the `reftable` format, whether they are listed or not.
    fn tables(&mut self, dir: &Path, name: &str, named: &mut Named) {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if is_nothing(&error) => return,
            Err(error) => {
                self.unread.insert(name.to_owned(), error.to_string());
                return;
            }
        };
        // Their names begin with a number that grows.
        let paths: BTreeSet<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        for path in paths {
            if path.extension().is_none_or(|end| end != "ref") {
                continue;
            }
            let called = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
            let table = read_regular(&path, TABLE, Links::RefuseLast).map_err(|error| error.to_string());
            match table.and_then(|bytes| reftable::refs(&bytes).ok_or_else(|| "it is damaged".into())) {
                Ok(refs) => self.table(&refs, named),
                Err(why) => drop(self.unread.insert(called, why)),
            }
        }
    }

    /// The records of one table, which replace those of earlier ones. One without an object deletes the ref.
    fn table(&mut self, refs: &[reftable::Named], named: &mut Named) {
        let mut last = None;
        for (called, id) in refs {
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            let (id, text) = (object_name(hex.as_bytes()), String::from_utf8_lossy(called));
            let names = named.entry(text.clone().into_owned()).or_default();
            if last != Some(called) {
                names.clear();
            }
            names.extend(id.clone());
            last = Some(called);
            if let Some(id) = id {
                self.add(&text, id);
            }
        }
    }

    fn packed(&mut self, path: &Path, called: &str, named: &mut Named) {
        let read = read_regular(path, PACKED_REFS, Links::Follow);
        let Some(text) = self.read_or_note(read, called) else { return };
        for line in text.split(|b| *b == b'\n') {
            let mut words = line.splitn(2, |b| *b == b' ');
            if let (Some(id), Some(called)) = (words.next().and_then(object_name), words.next()) {
                let called = String::from_utf8_lossy(called);
                named.insert(called.clone().into_owned(), vec![id.clone()]);
                self.add(&called, id);
            }
        }
    }

    fn add(&mut self, called: &str, id: String) {
        if let Some(name) = called.strip_prefix("refs/heads/") {
            self.branches.insert(name.to_owned(), id.clone());
        }
        // `git maintenance` fetches into `refs/prefetch/`.
        let fetched = called.starts_with("refs/remotes/") || called.starts_with("refs/prefetch/");
        if fetched { &mut self.remote } else { &mut self.local }.insert(id);
    }
}

/// Nothing is there; that a file stands in the place of a directory is told elsewhere, once.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn length(path: &Path) -> u64 {
    path.symlink_metadata().map_or(0, |meta| meta.len())
}

/// An object's name: 40 or 64 hexadecimal digits.
fn object_name(text: &[u8]) -> Option<String> {
    let hex = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    let zero = text.iter().all(|b| *b == b'0');
    (hex && !zero).then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
}
