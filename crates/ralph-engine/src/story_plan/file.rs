//! The plan's file: read without following links and up to a size limit; written as a whole, and only if it is still as
//! it was read.

use crate::bound_files;
use ralph_diagnostics::Discard;
use ralph_os::{Draft, Links, NoFollowDir, read_regular};
use ralph_rules::plan::{Document, TickEdit};
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The plan as it last counted, in the run's folder.
const LAST: &str = "plan.last";
/// What stood in its place and could not be read, in the run's folder.
const BROKEN: &str = "plan.broken";
/// The most that is kept of that.
const MOST_BROKEN: u64 = 16 << 20;
/// How often ticks are written while somebody else writes the file, too.
const TRIES: u32 = 20;

/// The file of a plan.
pub(super) struct PlanFile {
    path: PathBuf,
    folder: PathBuf,
}

impl PlanFile {
    pub fn new(path: &Path, folder: &Path) -> PlanFile {
        PlanFile { path: path.to_owned(), folder: folder.to_owned() }
    }

    /// Its bytes and items; `Err` says why it cannot be used.
    pub fn read(&self) -> Result<(Vec<u8>, Document), String> {
        let (bytes, document) = bound_files::document(&self.path)?;
        document.checked().map_err(|why| why.to_string())?;
        Ok((bytes, document))
    }

    /// Writes ticks. `edits` is asked again if somebody else writes the file meanwhile, so that no edit is lost.
    pub fn write_ticks(&self, edits: impl Fn(&Document) -> Vec<TickEdit>) -> Result<(), String> {
        for _ in 0..TRIES {
            let (bytes, document) = self.read()?;
            let edits = edits(&document);
            if edits.is_empty() {
                return Ok(());
            }
            let new = TickEdit::apply(edits, &bytes);
            match self.replace(&new, Some(&bytes)) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => return Err(format!("it cannot be written: {error}")),
            }
        }
        Err("it changes all the time".into())
    }

    /// Lets new bytes take the place of the file; false if it is not as expected any more.
    fn replace(&self, new: &[u8], expected: Option<&[u8]>) -> io::Result<bool> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let name = self.path.file_name().unwrap_or_default().as_bytes();
        let dir = NoFollowDir::open(parent)?;
        let mode = dir.metadata(name).filter(|found| found.is_file()).map_or(0o644, |found| found.mode());
        let mode = u16::try_from(mode & 0o7777).unwrap_or(0o644);
        let as_expected = |bytes: &[u8]| bound_files::bytes(&self.path).is_ok_and(|now| now == bytes);
        let mut changed = false;
        let placed = dir.replace_file(name, Draft::Unique, mode, |file| {
            file.write_all(new)?;
            file.set_permissions(Permissions::from_mode(mode.into()))?;
            file.sync_data()?;
            changed = !expected.is_none_or(as_expected);
            if changed { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        if changed {
            return Ok(false);
        }
        placed?;
        File::open(parent)?.sync_all()?;
        Ok(true)
    }

    /// The plan as it counts from now on.
    pub fn remember(&self, bytes: &[u8]) {
        ralph_os::write_durably(&self.folder.join(LAST), bytes).discard("keep a copy of the plan");
    }

    /// Something that cannot be read is in the plan's place since a command ran: it is kept in the run's folder, and the
    /// plan is put back. Returns what to say about it.
    pub fn put_back_whole(&self, why: &str) -> Option<String> {
        let last = std::fs::read(self.folder.join(LAST)).ok()?;
        let broken = read_regular(&self.path, MOST_BROKEN, Links::Refuse).ok();
        // Each has a name of its own: an earlier one may be a person's work.
        let free = |n: &u32| !self.folder.join(format!("{BROKEN}.{n}")).exists();
        let copy = self.folder.join(format!("{BROKEN}.{}", (1..).find(free).unwrap_or(u32::MAX)));
        let kept = broken.is_some_and(|bytes| ralph_os::write_durably(&copy, &bytes).is_ok());
        self.replace(&last, None).ok().filter(|done| *done)?;
        let copy = if kept { format!("; what was there is in {}", copy.display()) } else { String::new() };
        Some(format!("the file could not be used ({why}) and was put back as it was{copy}"))
    }
}
