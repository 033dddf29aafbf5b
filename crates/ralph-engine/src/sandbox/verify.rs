//! The sandbox of verify commands and analyzers.

use super::{Contained, Program, SandboxDeps, WorkspacePlaces};
use ralph_rules::record::SandboxSeen;
use ralph_supervisor::{Exit, Launch};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Contains the commands of verifications, and remembers what it refused them.
#[derive(Debug)]
pub struct VerifySandbox {
    deps: SandboxDeps,
    workspace: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    places: WorkspacePlaces,
    seen: SandboxSeen,
}

impl VerifySandbox {
    /// For verifications of this workspace.
    pub fn new(deps: SandboxDeps, workspace: &Path, places: WorkspacePlaces) -> VerifySandbox {
        let known = Mutex::new(Known { places, seen: SandboxSeen::default() });
        VerifySandbox { deps, workspace: workspace.to_path_buf(), known }
    }

    /// The workspace was walked again: these of its places must not be written.
    pub fn set_places(&self, places: WorkspacePlaces) {
        self.known().places = places;
    }

    /// Whether the commands run in an image.
    pub fn is_container(&self) -> bool {
        self.deps.is_container()
    }

    /// Makes a launch start its command contained. `writes` is a directory outside of the one that it works in.
    ///
    /// # Errors
    /// If the plan or its directories cannot be made: the command must not be started then.
    pub fn contain(&self, launch: &mut Launch, writes: &Path) -> io::Result<Contained> {
        let (places, works_in) = (self.known().places.clone(), launch.cwd.clone());
        let program = Program {
            workspace: &self.workspace,
            works_in: &works_in,
            places: &places,
            writes: Some(writes),
            agent: None,
        };
        self.deps.contain(launch, &program)
    }

    /// A command has ended.
    pub fn ended(&self, contained: Contained, exit: &Exit) {
        let seen = contained.ended(exit);
        self.known().seen.add(&seen);
    }

    /// What was refused since this was last asked.
    pub fn take_seen(&self) -> Option<Box<SandboxSeen>> {
        std::mem::take(&mut self.known().seen).if_any()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
