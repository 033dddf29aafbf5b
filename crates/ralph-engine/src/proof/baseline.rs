//! The files before the agent worked: an index, and what the user changed between calls. Both are in the run's folder, so
//! that a later process of the run has them.

use super::site::{counted, kind};
use crate::room::{RoomFile, Source};
use crate::snapshots::Snapshots;
use ralph_diagnostics::Discard;
use ralph_proof::FileFacts;
use ralph_tree::{Entry, Index, Kind, TreePath, side_by_side};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The baseline's index, among the states that the run kept.
pub const BASELINE: &str = "oracle";
/// What the user changed since.
const USER_CHANGES: &str = "oracle.json";
/// The index of the files before the current story, and what the user changed since.
const STORY: [&str; 2] = ["story.tree", "story.json"];

/// The baseline.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    folder: PathBuf,
    /// It is that of a story, not of the run.
    of_story: bool,
    index: Index,
    user_changes: BTreeMap<Vec<u8>, Option<BaselineFile>>,
}

/// One file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaselineFile {
    /// File or link.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u16,
    /// Content.
    pub hash: u128,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    path: Vec<u8>,
    /// Link or file, mode, content; none is gone.
    was: Option<(bool, u16, String)>,
}

impl BaselineFile {
    fn of(entry: &Entry<'_>) -> BaselineFile {
        BaselineFile { kind: entry.kind, mode: entry.mode, hash: entry.hash }
    }

    /// The facts that a classification compares.
    pub(super) fn facts(&self) -> FileFacts {
        let executable = self.kind == Kind::File && self.mode & 0o100 != 0;
        FileFacts { kind: kind(self.kind), executable, hash: self.hash }
    }

    /// The same file in a room; none for what has no content.
    pub(super) fn in_room(&self) -> Option<RoomFile> {
        let link = self.kind == Kind::Symlink;
        let (source, mode) = (Source::Blob, u32::from(self.mode));
        matches!(self.kind, Kind::File | Kind::Symlink).then_some(RoomFile {
            source,
            hash: self.hash,
            mode,
            link,
        })
    }
}

impl Baseline {
    /// The baseline when the first call of a run begins.
    pub fn begin(folder: &Path, index: Index) -> Baseline {
        Baseline { folder: folder.to_owned(), index, ..Baseline::default() }
    }

    /// The baseline when the first call for a story begins.
    pub fn begin_story(folder: &Path, index: Index) -> Baseline {
        index.save(&folder.join(STORY[0])).discard("save the files before the story");
        Baseline { folder: folder.to_owned(), of_story: true, index, ..Baseline::default() }
    }

    /// The baseline of the current story that an earlier process of the run recorded.
    pub fn load_of_story(folder: &Path) -> Option<Baseline> {
        let index = Index::load(&folder.join(STORY[0]))?;
        let user_changes = user_changes(&folder.join(STORY[1]));
        Some(Baseline { folder: folder.to_owned(), of_story: true, index, user_changes })
    }

    /// Work on another story begins.
    pub fn forget_story(folder: &Path) {
        for name in STORY {
            match std::fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                removed => removed.discard("remove the files before the last story"),
            }
        }
    }

    /// The baseline that an earlier process of the run recorded.
    pub fn load(folder: &Path) -> Option<Baseline> {
        let index = Snapshots::recorded(folder, BASELINE)?;
        let user_changes = user_changes(&folder.join(USER_CHANGES));
        Some(Baseline { folder: folder.to_owned(), index, user_changes, ..Baseline::default() })
    }

    /// The same without a directory, which is ralph's own: runs of older versions recorded it.
    #[must_use]
    pub fn without(self, dir: Option<&TreePath>) -> Baseline {
        let lies_in = |path: &[u8]| dir.is_some_and(|dir| path.starts_with(&[dir.as_bytes(), b"/"].concat()));
        let user_changes = self.user_changes.into_iter().filter(|(path, _)| !lies_in(path)).collect();
        Baseline { index: self.index.without(dir), user_changes, ..self }
    }

    /// Only in memory.
    pub fn of(index: Index) -> Baseline {
        Baseline { index, ..Baseline::default() }
    }

    /// Adds what the user changed between two calls: from now on that counts.
    pub fn user_changed(&mut self, before: &Index, now: &Index) {
        let mut more = false;
        for (old, new) in side_by_side(before, now) {
            let counts =
                |entry: &Option<Entry<'_>>| entry.is_some_and(|e| e.counts && e.kind != Kind::Directory);
            let Some(either) = new.or(old).filter(|_| counts(&old) || counts(&new)) else { continue };
            // A file that the agent has changed stays the agent's, whoever edits it later.
            let by_agent = self.file(either.path) != old.as_ref().map(BaselineFile::of);
            let differs = old.map(|e| (e.kind, e.hash, e.mode)) != new.map(|e| (e.kind, e.hash, e.mode));
            if differs && !by_agent {
                self.user_changes.insert(either.path.to_vec(), new.as_ref().map(BaselineFile::of));
                more = true;
            }
        }
        if more {
            let kept: Vec<Kept> =
                self.user_changes.iter().map(|(path, was)| Kept::of(path, was.as_ref())).collect();
            let text = serde_json::to_vec(&kept).unwrap_or_default();
            let name = if self.of_story { STORY[1] } else { USER_CHANGES };
            ralph_os::write_durably(&self.folder.join(name), &text)
                .discard("save the user's changes to the baseline");
        }
    }

    /// The files as the walk before the first call found them.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Every file and link, in no particular order.
    pub fn files(&self) -> impl Iterator<Item = (Vec<u8>, BaselineFile)> + '_ {
        let kept = counted(&self.index).filter(|entry| !self.user_changes.contains_key(entry.path));
        let changed = self.user_changes.iter().filter_map(|(path, file)| Some((path.clone(), (*file)?)));
        kept.map(|entry| (entry.path.to_vec(), BaselineFile::of(&entry))).chain(changed)
    }

    /// One file as it was.
    pub fn file(&self, path: &[u8]) -> Option<BaselineFile> {
        match self.user_changes.get(path) {
            Some(user_changes) => *user_changes,
            None => self.index.get(path).filter(|entry| entry.counts).as_ref().map(BaselineFile::of),
        }
    }
}

fn user_changes(file: &Path) -> BTreeMap<Vec<u8>, Option<BaselineFile>> {
    let text = std::fs::read(file).unwrap_or_default();
    let kept: Vec<Kept> = serde_json::from_slice(&text).unwrap_or_default();
    kept.into_iter().filter_map(Kept::back).collect()
}

impl Kept {
    fn of(path: &[u8], was: Option<&BaselineFile>) -> Kept {
        let was = was.map(|was| (was.kind == Kind::Symlink, was.mode, format!("{:032x}", was.hash)));
        Kept { path: path.to_vec(), was }
    }

    fn back(self) -> Option<(Vec<u8>, Option<BaselineFile>)> {
        let was = match self.was {
            Some((link, mode, hash)) => {
                let kind = if link { Kind::Symlink } else { Kind::File };
                Some(BaselineFile { kind, mode, hash: u128::from_str_radix(&hash, 16).ok()? })
            }
            None => None,
        };
        Some((self.path, was))
    }
}
