//! What a commit does with one file that a run changed: the three versions that matter are the committed one, the one
//! before the run and the one the run left.

use super::git::{Git, GitEntry, Listing};
use super::git_error::GitError;
use super::objects::{Version, Versions, versions};
use ralph_engine::receipt::Receipt;
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Kind};
use ralph_view::workspace_diff::ChangedFile;
use std::cell::OnceCell;
use std::path::Path;

/// What becomes of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Act {
    /// It is committed already.
    Nothing,
    /// It gets this entry, or goes.
    Put(Option<GitEntry>),
    /// It is not committed.
    LeaveOut(&'static str),
    /// Other changes are in the way.
    Conflict(&'static str),
}

/// Decides about the files of one run.
pub struct Decider<'a> {
    git: &'a Git,
    before: Versions,
    after: Versions,
    scratch: &'a Path,
    receipt: Option<Receipt>,
    /// The files of the commits that the run began and ended on.
    committed: OnceCell<(Listing, Listing)>,
}

impl<'a> Decider<'a> {
    /// For these files of the run of this folder, by path of the repository; `scratch` is a directory for files.
    pub fn new(
        (git, blobs, scratch): (&'a Git, &Blobs, &'a Path),
        folder: &Path,
        files: &[(&ChangedFile<'_>, Vec<u8>)],
    ) -> Result<Decider<'a>, GitError> {
        let receipt = std::fs::read(folder.join("receipt.json")).ok();
        let receipt = receipt.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let content = |entry: &&Entry<'_>| entry.kind != Kind::Special;
        let before = files.iter().filter_map(|(file, path)| Some((path.as_slice(), file.before()?)));
        let after = files.iter().filter_map(|(file, path)| Some((path.as_slice(), file.after()?)));
        let before = before.filter(|(_, entry)| content(entry));
        let after = after.filter(|(_, entry)| content(entry));
        let before = versions((git, blobs, &scratch.join("before")), before)?;
        let after = versions((git, blobs, &scratch.join("after")), after)?;
        Ok(Decider { git, before, after, scratch, receipt, committed: OnceCell::new() })
    }

    /// Decides about a file at this path of the repository, of which the commit that is checked out has `head`.
    pub fn decide(&self, path: &[u8], head: Option<&GitEntry>) -> Result<Act, GitError> {
        let none = Version::Is(None);
        let Version::Is(after) = self.after.get(path).unwrap_or(&none) else {
            return Ok(Act::LeaveOut("its content was not saved, because it is too large or was pruned"));
        };
        if after.as_ref() == head {
            return Ok(Act::Nothing);
        }
        let Version::Is(before) = self.before.get(path).unwrap_or(&none) else {
            return Ok(Act::Conflict("its content before the run was not saved"));
        };
        if before.as_ref() == head || self.is_of_the_run(path, before.as_ref(), head)? {
            return Ok(Act::Put(after.clone()));
        }
        match (head, before, after) {
            (Some(head), Some(before), Some(after)) => self.merge(head, before, after),
            (None, Some(_), _) => Ok(Act::Conflict("it was not committed when the run changed it")),
            (Some(_), None, _) => {
                Ok(Act::Conflict("the run created it, and another version is committed now"))
            }
            _ => Ok(Act::Conflict("the run deleted it, and another version is committed")),
        }
    }

    /// The run's change as a change of the committed version.
    fn merge(&self, head: &GitEntry, before: &GitEntry, after: &GitEntry) -> Result<Act, GitError> {
        const MIXED: &str = "it also has changes that are not the run's, too close to tell apart";
        if [head, before, after].iter().any(|entry| !entry.mode.starts_with("100")) {
            return Ok(Act::Conflict(MIXED));
        }
        let mode = if before.mode == after.mode { &head.mode } else { &after.mode };
        let merged = self.git.merged(self.scratch, &head.object, &before.object, &after.object)?;
        let Some(merged) = merged else { return Ok(Act::Conflict(MIXED)) };
        let entry = GitEntry { mode: mode.clone(), object: self.git.object(None, &merged)? };
        Ok(if entry == *head { Act::Nothing } else { Act::Put(Some(entry)) })
    }

    /// Whether the committed version is one that the run itself committed: it was as committed before the run, and
    /// nobody committed another one since.
    fn is_of_the_run(
        &self,
        path: &[u8],
        before: Option<&GitEntry>,
        head: Option<&GitEntry>,
    ) -> Result<bool, GitError> {
        let Some(receipt) = &self.receipt else { return Ok(false) };
        if self.committed.get().is_none() {
            let files =
                |commit: &Option<String>| commit.as_ref().map(|commit| self.git.files_of(commit)).transpose();
            // A commit that is gone says nothing.
            let (Ok(base), Ok(end)) = (files(&receipt.base), files(&receipt.head)) else { return Ok(false) };
            let _ = self.committed.set((base.unwrap_or_default(), end.unwrap_or_default()));
        }
        let Some((base, end)) = self.committed.get() else { return Ok(false) };
        Ok(base.get(path) == before && end.get(path) == head)
    }
}
