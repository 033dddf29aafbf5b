//! What `ralph quarantine restore` does to one path. Nothing is written through a symbolic link.

use super::Kept;
use ralph_engine::quarantine::Found;
use ralph_os::{Draft, Links, NoFollowDir, read_regular};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A file or link is written.
    Write,
    /// It is deleted again; a directory only if it is empty.
    Remove,
    /// A directory is made, or gets its permissions.
    Make,
}

/// One path and what will happen to it.
pub struct Act<'a> {
    /// What the case has of it.
    pub found: &'a Found,
    /// The directory that it is in.
    pub root: PathBuf,
    /// What is done.
    pub what: What,
    /// Something else is at the path now.
    pub replaces: bool,
    /// That is a directory.
    pub is_dir: bool,
}

impl Act<'_> {
    /// What has to be done for a path of a case, if anything.
    pub fn of<'a>(kept: &'a Kept, found: &'a Found) -> Option<Act<'a>> {
        let root = PathBuf::from(found.root.as_deref().unwrap_or(&kept.case.workspace));
        let now = NoFollowDir::open(&root).ok().and_then(|root| root.metadata(found.path().as_bytes()));
        let is_dir = now.as_ref().is_some_and(Metadata::is_dir);
        let (what, is_right) = match &found.file {
            _ if found.commit.is_some() => return None,
            _ if found.gone => (What::Remove, now.is_none()),
            _ if found.directory => {
                (What::Make, is_dir && now.as_ref().is_some_and(|now| has_mode(now, found)))
            }
            Some(file) => {
                let from = kept.folder.join(file);
                (What::Write, is_same(&from, &root.join(found.path().as_path()), now.as_ref(), found))
            }
            None => return None,
        };
        let needed = what == What::Write || !is_right;
        needed.then_some(Act { found, root, what, replaces: now.is_some() && !is_right, is_dir })
    }

    /// The number of its draft: the same each time, so that one that was left is known.
    pub fn draft(&self) -> u128 {
        ralph_tree::hash_bytes(self.found.path().as_bytes())
    }

    /// As it is shown.
    pub fn line(&self) -> String {
        format!("{} {}", self.word(), self.found.path)
    }

    /// `write`, `replace`, `remove` or `make`.
    pub fn word(&self) -> &'static str {
        match self.what {
            What::Write if self.replaces => "replace",
            What::Write => "write",
            What::Remove => "remove",
            What::Make => "make",
        }
    }

    /// Does it; false if a directory had to stay because something is in it. An unwritable directory is made writable
    /// for as long as it takes.
    pub fn apply(&self, folder: &Path) -> io::Result<bool> {
        let (root, path) = (NoFollowDir::open(&self.root)?, self.found.path());
        match self.apply_once(folder, &root) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let parent = root.make_parent_writable(path.as_bytes())?;
                let done = self.apply_once(folder, &root);
                parent.restore()?;
                done
            }
            other => other,
        }
    }

    fn apply_once(&self, folder: &Path, root: &NoFollowDir) -> io::Result<bool> {
        let path = self.found.path();
        let is_dir = root.metadata(path.as_bytes()).map(|meta| meta.is_dir());
        match (self.what, is_dir) {
            (What::Remove, Some(true)) => match root.remove_dir(path.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => return Ok(false),
                other => other?,
            },
            (What::Remove, _) => root.remove_file(path.as_bytes())?,
            (What::Make, Some(true)) => {}
            (What::Make, _) => {
                // What is there is in quarantine.
                root.remove_file(path.as_bytes())?;
                let mode = self.found.mode;
                root.make_dir(path.as_bytes(), if mode == 0 { 0 } else { mode | 0o700 })?;
            }
            (What::Write, _) => self.write(folder, root)?,
        }
        Ok(true)
    }

    /// Gives a directory its permissions, when everything in it is done.
    pub fn set_mode(&self) -> io::Result<()> {
        match self.found.mode {
            // Not known.
            0 => Ok(()),
            mode => NoFollowDir::open(&self.root)?.set_mode(self.found.path().as_bytes(), mode),
        }
    }

    fn write(&self, folder: &Path, root: &NoFollowDir) -> io::Result<()> {
        let from = folder.join(self.found.file.as_deref().unwrap_or_default());
        if from.is_dir() {
            return Err(io::Error::other(format!(
                "it was a directory; copy it yourself from {}",
                from.display()
            )));
        }
        let path = self.found.path();
        if root.metadata(path.as_bytes()).is_some_and(|meta| meta.is_dir()) {
            // It is in quarantine, with everything in it.
            root.remove_all(path.as_bytes())?;
        }
        if self.found.link {
            return root.replace_link(path.as_bytes(), Draft::Named(self.draft()), &fs::read(&from)?);
        }
        root.replace_file(path.as_bytes(), Draft::Named(self.draft()), 0o600, |file| {
            io::copy(&mut fs::File::open(&from)?, file)?;
            file.set_permissions(fs::Permissions::from_mode(u32::from(self.found.mode)))?;
            file.sync_data()
        })
    }
}

fn has_mode(now: &Metadata, found: &Found) -> bool {
    found.mode == 0 || now.permissions().mode() & 0o7777 == u32::from(found.mode)
}

/// Whether the content of a case is at its path already, with its permissions.
fn is_same(from: &Path, to: &Path, now: Option<&Metadata>, found: &Found) -> bool {
    let Some(now) = now else { return false };
    let Ok(kept) = fs::read(from) else { return false };
    if found.link {
        return fs::read_link(to).is_ok_and(|at| kept == at.as_os_str().as_bytes());
    }
    let content = || read_regular(to, kept.len() as u64, Links::RefuseLast);
    now.is_file() && has_mode(now, found) && content().is_ok_and(|now| kept == now)
}
