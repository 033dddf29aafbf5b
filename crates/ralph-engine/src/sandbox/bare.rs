//! Tells whether a backend fails because of this machine, or because of what is in a workspace, the home directory and the settings.

use super::call_dirs::CallDirs;
use super::facts::owns;
use super::{SandboxRequest, Site};
use crate::home::Home;
use ralph_sandbox::{Backend, Ids, NotHeld, Plan, probe};
use std::io;
use std::path::PathBuf;

/// An empty workspace.
pub(super) struct Bare {
    dirs: CallDirs,
}

impl Bare {
    /// Makes it. It fails where the disk is full, which says nothing about any backend.
    pub(super) fn new(request: &SandboxRequest) -> io::Result<Bare> {
        let bare = Bare { dirs: CallDirs::make(&request.surroundings.home)? };
        Home::create_private_dir(&bare.workspace())?;
        Home::create_private_dir(&bare.dirs.tmp())?;
        Ok(bare)
    }

    /// Whether a backend holds here what it promises, with nothing protected, hidden or kept; or why that cannot be told.
    pub(super) fn holds(
        &self,
        backend: &Backend,
        request: &SandboxRequest,
        site: &Site<'_>,
    ) -> Result<bool, NotHeld> {
        let mut plan = Plan::bare(backend.clone(), self.workspace(), self.dirs.tmp());
        if rustix::process::geteuid().is_root() && owns(site.workspace).is_ok_and(|owns| !owns) {
            plan.ids = Ids::All;
        }
        match probe(&request.surroundings.own_program, &plan) {
            Ok(_) => Ok(true),
            Err(why @ NotHeld::NotMade(_)) => Err(why),
            Err(_) => Ok(false),
        }
    }

    fn workspace(&self) -> PathBuf {
        self.dirs.base().join("workspace")
    }
}
