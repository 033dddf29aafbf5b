//! A path as it was at some time, kept in a case: what a snapshot has of it, whatever is there now.

use super::{Case, Folder, Found, Item};
use ralph_snapshots::{Blobs, QuarantineCopy};
use ralph_tree::{Entry, Kind, hash_bytes};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A path as it was at some time.
#[derive(Clone, Debug)]
pub struct PathState<'a> {
    /// The path.
    pub path: &'a [u8],
    /// What was there; none where it was deleted.
    pub entry: Option<Entry<'a>>,
    /// That is there now as well.
    pub is_there: bool,
    /// What happened to it.
    pub how: &'static str,
}

impl Folder {
    /// Keeps a path of a workspace as it was. A content that was not saved is copied from the workspace, if it is still
    /// there; otherwise the path is listed without it.
    pub fn put_state(&mut self, state: &PathState<'_>, blobs: &Blobs, root: &Path) -> io::Result<()> {
        let item = Item { root, name: "", path: state.path.into(), how: state.how.to_owned() };
        let Some(entry) = state.entry else {
            self.gone(&item);
            if let Some(found) = self.case.found.last_mut() {
                found.gone = true;
            }
            return Ok(());
        };
        let mode = u32::from(entry.mode);
        let kind = match entry.kind {
            Kind::Directory => {
                self.directory(&item, mode);
                return Ok(());
            }
            Kind::Special => "special",
            Kind::Symlink => "link",
            Kind::File => "file",
        };
        let name = (self.count + 1).to_string();
        if kind == "special" || !copy(blobs, entry.hash, &self.path.join(&name))? {
            if state.is_there {
                return self.put(&item);
            }
            self.note(&item, &QuarantineCopy { mode, kind, kept: false }, None);
            return Ok(());
        }
        self.count += 1;
        self.note(&item, &QuarantineCopy { mode, kind, kept: true }, Some(name));
        Ok(())
    }
}

/// Copies a saved content to disk; false if it was not saved, or is damaged.
fn copy(blobs: &Blobs, hash: u128, to: &Path) -> io::Result<bool> {
    let mut file = File::create(to)?;
    match blobs.copy_to(hash, &mut file) {
        Ok(()) => file.sync_all().map(|()| true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
            fs::remove_file(to)?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

impl Case {
    /// Whether this case, in this folder, has all these states.
    pub fn has(&self, folder: &Path, states: &[PathState<'_>]) -> bool {
        let own: BTreeMap<_, &Found> =
            self.found.iter().map(|found| (found.path().as_bytes().to_vec(), found)).collect();
        let has = |state: &PathState<'_>| own.get(state.path).is_some_and(|found| found.is(folder, state));
        states.iter().all(has)
    }
}

impl Found {
    fn is(&self, folder: &Path, state: &PathState<'_>) -> bool {
        if self.root.is_some() || self.commit.is_some() {
            return false;
        }
        let Some(entry) = state.entry else { return self.gone };
        let has_content = || match &self.file {
            Some(file) => fs::read(folder.join(file)).is_ok_and(|kept| hash_bytes(&kept) == entry.hash),
            // Nothing more of it can be had.
            None => !self.gone && !state.is_there,
        };
        match entry.kind {
            Kind::Directory => self.directory && self.mode == entry.mode,
            Kind::Symlink => self.link && has_content(),
            Kind::Special => self.file.is_none() && !self.gone && !self.directory,
            Kind::File => !self.link && !self.directory && self.mode == entry.mode && has_content(),
        }
    }
}
