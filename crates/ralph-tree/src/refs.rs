//! Where a repository's refs stand, read from its files: loose refs, packed refs, every work tree's HEAD, and what
//! HEAD's log says was there in between. No git is run.
//!
//! The caller compares two moments and has the commits in between looked at. Refs that cannot be read are not there.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::content::{regular_file, small_file};
use crate::repository::Repository;

/// Directories below `refs/` are not followed deeper than this.
const DEEPEST: usize = 24;
const PACKED_REFS: u64 = 256 << 20;
/// How much of a log is read from where it ended before.
const LOG: u64 = 16 << 20;

/// Where the refs stood at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// What the user's own refs name: branches, tags, stash, notes, every HEAD.
    pub local: BTreeSet<String>,
    /// What remote-tracking refs name.
    pub remote: BTreeSet<String>,
    /// How long HEAD's and the stash's logs were.
    logs: [u64; 2],
}

const LOGS: [&str; 2] = ["logs/HEAD", "logs/refs/stash"];

impl Refs {
    /// As they stand now.
    #[must_use]
    pub fn read(repository: &Repository) -> Refs {
        let mut refs = Refs::default();
        for dir in [&repository.own, &repository.common] {
            refs.head(&dir.join("HEAD"));
            refs.loose(&dir.join("refs"), "refs", 0);
        }
        refs.packed(&repository.common.join("packed-refs"));
        for work_tree in fs::read_dir(repository.common.join("worktrees")).into_iter().flatten().flatten() {
            refs.head(&work_tree.path().join("HEAD"));
        }
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
        format!("{}{}logs {head} {stash}\n", lines("local", &self.local), lines("remote", &self.remote))
    }

    /// The same, read back; what cannot be read is left out.
    #[must_use]
    pub fn from_text(text: &str) -> Refs {
        let mut refs = Refs::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["local", id] => refs.local.extend(name(id.as_bytes())),
                ["remote", id] => refs.remote.extend(name(id.as_bytes())),
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
            let new = |line: &[u8]| name(line.split(|b| *b == b' ').nth(1)?);
            found.extend(text.split(|b| *b == b'\n').filter_map(new));
        }
        found
    }

    fn head(&mut self, path: &Path) {
        self.local.extend(small_file(path, 4096).and_then(|text| name(text.trim_ascii())));
    }

    fn loose(&mut self, dir: &Path, prefix: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let called = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                self.loose(&entry.path(), &called, depth + 1);
            } else if let Some(id) = small_file(&entry.path(), 4096).and_then(|text| name(text.trim_ascii()))
            {
                self.add(&called, id);
            }
        }
    }

    fn packed(&mut self, path: &Path) {
        let Some(file) = regular_file(path) else { return };
        let mut text = Vec::new();
        let _ = file.take(PACKED_REFS).read_to_end(&mut text);
        for line in text.split(|b| *b == b'\n') {
            let mut words = line.splitn(2, |b| *b == b' ');
            if let (Some(id), Some(called)) = (words.next().and_then(name), words.next()) {
                self.add(&String::from_utf8_lossy(called), id);
            }
        }
    }

    fn add(&mut self, called: &str, id: String) {
        if called.starts_with("refs/remotes/") { &mut self.remote } else { &mut self.local }.insert(id);
    }
}

fn length(path: &Path) -> u64 {
    path.symlink_metadata().map_or(0, |meta| meta.len())
}

/// An object's name: 40 or 64 hexadecimal digits.
fn name(text: &[u8]) -> Option<String> {
    let hex = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    let zero = text.iter().all(|b| *b == b'0');
    (hex && !zero).then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
}
