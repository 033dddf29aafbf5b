//! Where verification commands run.

use super::replacements::Replacements;
use super::tree_copy;
use ralph_diagnostics::Discard;
use ralph_supervisor::{Launch, Overlay};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the directory for Python's bytecode. Bytecode found in the workspace could be anybody's, so a
/// verification never reads it there.
pub(crate) const BYTECODE: &str = "bytecode";

/// The directory a command sees as its own.
#[derive(Debug)]
pub enum Place {
    /// A directory as it is.
    Directory(PathBuf),
    /// A directory at its own path, under an overlay that only the command sees.
    Overlay(Overlay),
    /// A changed copy of a directory, at another path.
    Copy(PathBuf),
}

/// A place that has been prepared, with its own directory for bytecode. Dropping it removes what was prepared.
#[derive(Debug)]
pub struct Room<'a> {
    place: Place,
    bytecode: PathBuf,
    prepared: Option<Prepared<'a>>,
}

/// What a room was prepared from, to prepare it again as a copy.
#[derive(Debug)]
struct Prepared<'a> {
    workspace: &'a Path,
    replacements: &'a Replacements,
    dir: &'a Path,
}

impl<'a> Room<'a> {
    /// A directory as it is. `bytecode` may be kept between verifications.
    pub fn unchanged(dir: &Path, bytecode: PathBuf) -> Room<'static> {
        Room { place: Place::Directory(dir.to_owned()), bytecode, prepared: None }
    }

    /// `workspace` with some of its files replaced: an overlay, or a copy where the overlay's files cannot be
    /// prepared. `dir` holds everything that is made for it, must be outside the workspace, and is emptied first.
    pub fn with_replacements(
        workspace: &'a Path,
        replacements: &'a Replacements,
        dir: &'a Path,
    ) -> io::Result<Room<'a>> {
        let prepared = Prepared { workspace, replacements, dir };
        let place = match replacements.overlay(workspace, dir) {
            Ok(overlay) => Place::Overlay(overlay),
            Err(_) => prepared.copy()?,
        };
        Ok(Room { place, bytecode: dir.join(BYTECODE), prepared: Some(prepared) })
    }

    /// How the room is made, as receipts and records name it.
    pub fn kind(&self) -> &'static str {
        match self.place {
            Place::Directory(_) => "workspace",
            Place::Overlay(_) => "layer",
            Place::Copy(_) => "copy",
        }
    }

    /// Points a launch at this room.
    pub(super) fn enter(&self, launch: &mut Launch) {
        match &self.place {
            Place::Directory(dir) | Place::Copy(dir) => launch.cwd.clone_from(dir),
            Place::Overlay(overlay) => {
                launch.cwd.clone_from(&overlay.over);
                launch.overlay = Some(overlay.clone());
            }
        }
        launch.env.push(("PYTHONPYCACHEPREFIX".into(), self.bytecode.clone().into()));
    }

    /// The system refused the overlay to this user: use a copy from now on.
    pub(super) fn overlay_refused(&mut self) -> io::Result<()> {
        match &self.prepared {
            Some(prepared) => self.place = prepared.copy()?,
            None => {
                return Err(io::Error::other(
                    "cannot switch to a copy: this verification does not use an overlay (a bug in ralph)",
                ));
            }
        }
        Ok(())
    }
}

impl Prepared<'_> {
    fn copy(&self) -> io::Result<Place> {
        self.replacements.copy(self.workspace, self.dir).map(Place::Copy)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Some(prepared) = &self.prepared {
            // What cannot be removed now, such as a file a test still writes, is removed before the next room is made.
            tree_copy::remove(prepared.dir).discard("remove a verification room");
        }
    }
}
