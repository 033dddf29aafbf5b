//! The workspace and what is protected in it.
//!
//! A read-only mount on `src/auth` alone is got round by renaming `src`. A directory that is a mount point cannot be
//! renamed, but one that is a visible mount would break every rename across it. So the workspace is mounted twice: in the
//! lower one every directory above a protected path is a mount point, the upper one covers it and is what is seen. The
//! kernel refuses to rename a directory that is a mount point anywhere in the namespace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::failure::Step as _;
use super::mount_tree::Tree;
use super::paths::{open, open_below, open_link, open_or_make};
use super::steps::{Blank, Step, copy};
use super::sys::READ_ONLY;
use crate::report::Failure;

/// The workspace, held before anything is changed.
#[derive(Debug)]
pub(super) struct Workspace {
    at: PathBuf,
    lower: Tree,
    upper: Tree,
}

impl Workspace {
    /// Holds it.
    pub fn hold(at: &Path) -> Result<Workspace, Failure> {
        let hold = || copy(open(at)?, 0);
        Ok(Workspace {
            at: at.to_owned(),
            lower: hold().at("workspace", at)?,
            upper: hold().at("workspace", at)?,
        })
    }

    /// Mounts it, with the directories above protected paths pinned.
    pub fn show(self, inside: &[Step], blank: &Blank) -> Result<(), Failure> {
        let place = open_or_make(&self.at, true).at("workspace", &self.at)?;
        let pins = self.pins(inside);
        if pins.is_empty() {
            return self.upper.attach(place).at("workspace", &self.at);
        }
        self.lower.attach(place).at("workspace", &self.at)?;
        // All are opened before the first is covered.
        let open_pin = |pin: &PathBuf| open_below(&self.lower, pin);
        let opened: Result<Vec<_>, Errno> = pins.iter().map(open_pin).collect();
        for pin in opened.at("pin below", &self.at)? {
            Tree::copy_of(&blank.dir).and_then(|tree| tree.attach(pin)).at("pin below", &self.at)?;
        }
        self.upper.attach(&self.lower).at("workspace", &self.at)
    }

    /// Every directory between the workspace and a protected path, relative to the workspace.
    fn pins(&self, inside: &[Step]) -> BTreeSet<PathBuf> {
        let protected = inside.iter().filter(|step| matches!(step, Step::Protect { .. }));
        let relative = protected.filter_map(|step| step.at().strip_prefix(&self.at).ok());
        let above = relative.flat_map(|path| path.ancestors().skip(1));
        above.filter(|dir| !dir.as_os_str().is_empty()).map(Path::to_owned).collect()
    }
}

/// Makes what is at a path read-only, with all that is mounted below it. Of a link only the link itself is held.
pub(super) fn protect(at: &Path) -> Result<(), Failure> {
    let protected = open_link(at).map_err(Into::into).and_then(|fd| copy(&fd, READ_ONLY)?.attach(&fd));
    protected.at("protect", at)
}
