//! What a restore is about to change, on disk from before its first change until it is complete. If it is cut short, the
//! next command knows which paths may be half-way (a file's place is empty, a directory has the wrong permissions) and
//! which drafts may be left in the workspace. Without it, what the restore itself did would look like the user's change.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ralph_os::{Draft, NoFollowDir};
use ralph_tree::{Entry, Kind};

use crate::restore::RestoreAction;

/// One change: the directory it is in, the path, and the draft's number if it writes one.
type Change = (PathBuf, Vec<u8>, Option<u128>);

/// A restore that is under way, or was cut short.
#[derive(Debug, Default)]
pub struct PendingRestore {
    file: PathBuf,
    changes: Vec<Change>,
}

/// Paths of one directory that a restore may have left half-way.
#[derive(Debug, Default)]
pub struct HalfRestored(BTreeSet<Vec<u8>>);

impl HalfRestored {
    /// Whether what is at a path now may be the restore's own doing. Files are replaced as a whole, so that one which
    /// is there is either the old or the new one, or somebody else's.
    #[must_use]
    pub fn has(&self, path: &[u8], is: Option<&Entry<'_>>) -> bool {
        is.is_none_or(|is| is.kind == Kind::Directory) && self.0.contains(path)
    }
}

impl PendingRestore {
    /// Reads what was cut short, if anything was, and removes the drafts it left.
    #[must_use]
    pub fn load(file: &Path) -> PendingRestore {
        let pending = PendingRestore::read(file);
        pending.remove_drafts();
        pending
    }

    /// Adds what was cut short by another file's account, in directories that are now where `there` says, durably. The
    /// drafts it left there are removed.
    pub fn take_over(&mut self, file: &Path, there: impl Fn(&Path) -> PathBuf) -> io::Result<()> {
        let mut other = PendingRestore::read(file);
        other.changes.iter_mut().for_each(|(root, ..)| *root = there(root));
        other.changes.retain(|change| !self.changes.contains(change));
        other.remove_drafts();
        self.add(other.changes)
    }

    fn read(file: &Path) -> PendingRestore {
        let mut pending = PendingRestore { file: file.to_owned(), changes: Vec::new() };
        let bytes = fs::read(file).unwrap_or_default();
        let mut fields = bytes.split(|byte| *byte == 0);
        while let (Some(root), Some(path), Some(draft)) = (fields.next(), fields.next(), fields.next()) {
            let draft = std::str::from_utf8(draft).ok().and_then(|hex| u128::from_str_radix(hex, 16).ok());
            pending.changes.push((PathBuf::from(OsStr::from_bytes(root)), path.to_vec(), draft));
        }
        pending
    }

    /// What is half-way in a directory.
    #[must_use]
    pub fn half_restored(&self, root: &Path) -> HalfRestored {
        let here = self.changes.iter().filter(|(of, ..)| of == root);
        let with_parents = |path: &[u8]| -> Vec<Vec<u8>> {
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            ends.chain([path.len()]).map(|end| path.get(..end).unwrap_or_default().to_vec()).collect()
        };
        HalfRestored(here.flat_map(|(_, path, _)| with_parents(path)).collect())
    }

    /// Adds the changes that now begin, durably.
    pub fn begin<'a>(
        &mut self,
        changes: impl IntoIterator<Item = (&'a Path, &'a RestoreAction)>,
    ) -> io::Result<()> {
        let change = |(root, act): (&Path, &RestoreAction)| {
            (root.to_owned(), act.path().as_bytes().to_vec(), act.draft())
        };
        self.add(changes.into_iter().map(change))
    }

    /// Adds files that are about to be written, each with its directory and the number of its draft, durably.
    pub fn begin_files(
        &mut self,
        files: impl IntoIterator<Item = (PathBuf, Vec<u8>, u128)>,
    ) -> io::Result<()> {
        self.add(files.into_iter().map(|(root, path, draft)| (root, path, Some(draft))))
    }

    fn add(&mut self, changes: impl IntoIterator<Item = Change>) -> io::Result<()> {
        let known = self.changes.len();
        self.changes.extend(changes);
        if self.changes.len() == known {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (root, path, draft) in &self.changes {
            let draft = draft.map(|number| format!("{number:x}")).unwrap_or_default();
            for field in [root.as_os_str().as_bytes(), path.as_slice(), draft.as_bytes()] {
                bytes.extend_from_slice(field);
                bytes.push(0);
            }
        }
        let (dir, temporary) =
            (self.file.parent().unwrap_or(Path::new(".")), self.file.with_extension("tmp"));
        fs::create_dir_all(dir)?;
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(temporary, &self.file)?;
        File::open(dir)?.sync_all()
    }

    /// Everything is as it should be: nothing is pending any more.
    pub fn done(self) {
        // What stays is read by the next command, which finds nothing to do.
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(self.file.with_extension("tmp"));
    }

    fn remove_drafts(&self) {
        for (root, path, draft) in &self.changes {
            let (Some(number), Ok(root)) = (draft, NoFollowDir::open(root)) else { continue };
            let dir = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            let name = Draft::Named(*number).name();
            let draft = [path.get(..dir).unwrap_or_default(), name.as_bytes()].concat();
            // One that cannot be removed is named by the next walk as what it is, a new file.
            let _ = root.remove_file(&draft);
        }
    }
}
