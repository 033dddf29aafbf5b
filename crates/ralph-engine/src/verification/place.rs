//! Where verification commands run.

use super::kept_room::KeptRoom;
use super::replacements::Replacements;
use super::tree_copy;
use crate::room::{DependencyFolder, RoomFolder};
use ralph_diagnostics::Discard;
use ralph_supervisor::{Launch, Overlay, RoomMount};
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
    /// A kept room, which only the command sees at the workspace's path.
    Mounted(RoomMount),
    /// A changed copy of a directory, or a kept room, at another path.
    Copy(PathBuf),
}

/// A place that has been prepared, with its own directory for bytecode. Dropping it removes what was prepared, except
/// for a kept room's folder.
#[derive(Debug)]
pub struct Room<'a> {
    place: Place,
    bytecode: PathBuf,
    prepared: Prepared<'a>,
}

/// What a room was prepared from, to prepare it again as a copy.
#[derive(Debug)]
enum Prepared<'a> {
    Nothing,
    Replacements(Replaced<'a>),
    Kept(KeptRoom<'a>),
}

#[derive(Debug)]
struct Replaced<'a> {
    workspace: &'a Path,
    replacements: &'a Replacements,
    dir: &'a Path,
}

impl<'a> Room<'a> {
    /// A directory as it is. `bytecode` may be kept between verifications.
    pub fn unchanged(dir: &Path, bytecode: PathBuf) -> Room<'static> {
        Room { place: Place::Directory(dir.to_owned()), bytecode, prepared: Prepared::Nothing }
    }

    /// `workspace` with some of its files replaced: an overlay, or a copy where the overlay's files cannot be
    /// prepared. `dir` holds everything that is made for it, must be outside the workspace, and is emptied first.
    pub fn with_replacements(
        workspace: &'a Path,
        replacements: &'a Replacements,
        dir: &'a Path,
    ) -> io::Result<Room<'a>> {
        let replaced = Replaced { workspace, replacements, dir };
        let place = match replacements.overlay(workspace, dir) {
            Ok(overlay) => Place::Overlay(overlay),
            Err(_) => replaced.copy()?,
        };
        Ok(Room { place, bytecode: dir.join(BYTECODE), prepared: Prepared::Replacements(replaced) })
    }

    /// A kept folder that has been filled, shown at the workspace's own path together with these dependency folders of
    /// the workspace; used at its own path where the system refuses mounts.
    pub fn kept(
        folder: &'a RoomFolder,
        workspace: &'a Path,
        dependencies: &'a [DependencyFolder],
    ) -> io::Result<Room<'a>> {
        let kept = KeptRoom::new(folder, workspace, dependencies);
        let place = match kept.mount() {
            Ok(mount) => Place::Mounted(mount),
            Err(_) => Place::Copy(kept.at_its_own_path()?),
        };
        Ok(Room { place, bytecode: folder.bytecode(), prepared: Prepared::Kept(kept) })
    }

    /// How the room is made, as receipts and records name it.
    pub fn kind(&self) -> &'static str {
        match self.place {
            Place::Directory(_) => "workspace",
            Place::Overlay(_) => "layer",
            Place::Mounted(_) => "room",
            Place::Copy(_) => "copy",
        }
    }

    /// The directory for Python's bytecode.
    pub(crate) fn bytecode(&self) -> &Path {
        &self.bytecode
    }

    /// Points a launch at this room.
    pub(crate) fn enter(&self, launch: &mut Launch) {
        match &self.place {
            Place::Directory(dir) | Place::Copy(dir) => launch.cwd.clone_from(dir),
            Place::Overlay(overlay) => {
                launch.cwd.clone_from(&overlay.over);
                launch.overlay = Some(overlay.clone());
            }
            Place::Mounted(room) => {
                launch.cwd.clone_from(&room.over);
                launch.room = Some(room.clone());
            }
        }
        launch.env.push(("PYTHONPYCACHEPREFIX".into(), self.bytecode.clone().into()));
    }

    /// Uses a copy instead of mounts from now on: a container does not show what is mounted here.
    pub(crate) fn without_mounts(&mut self) -> io::Result<()> {
        match self.place {
            Place::Directory(_) | Place::Copy(_) => Ok(()),
            Place::Overlay(_) | Place::Mounted(_) => self.mount_refused(),
        }
    }

    /// The system refused the mounts to this user: use a copy from now on.
    pub(crate) fn mount_refused(&mut self) -> io::Result<()> {
        self.place = match &self.prepared {
            Prepared::Replacements(replaced) => replaced.copy()?,
            Prepared::Kept(kept) => Place::Copy(kept.at_its_own_path()?),
            Prepared::Nothing => {
                return Err(io::Error::other(
                    "cannot switch to a copy: this verification does not use mounts (a bug in ralph)",
                ));
            }
        };
        Ok(())
    }
}

impl Replaced<'_> {
    fn copy(&self) -> io::Result<Place> {
        self.replacements.copy(self.workspace, self.dir).map(Place::Copy)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        match &self.prepared {
            Prepared::Nothing => {}
            // What cannot be removed now, such as a file a test still writes, is removed before the next room is made.
            Prepared::Replacements(replaced) => {
                tree_copy::remove(replaced.dir).discard("remove a verification room");
            }
            Prepared::Kept(kept) => kept.remove_layers(),
        }
    }
}
