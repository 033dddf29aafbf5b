//! The files of one call: a prompt for an agent that takes none on stdin, a report that an agent writes. They lie beside
//! the run's other files, outside the workspace, and are gone when the call is over.

use crate::home::Home;
use crate::redact::Redactor;
use crate::step_context::StepContext;
use ralph_agents::{Launch, Reader};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What is read of a report at most; an agent that writes more has something else in mind.
const REPORT: u64 = 16 << 20;

/// One call's directory. Steps never overlap, so all calls of a run use the same.
pub(super) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// The place; nothing is made yet.
    pub(super) fn of(ctx: &StepContext) -> Scratch {
        Scratch { dir: ctx.folder.join("call") }
    }

    /// Its path, as an adapter writes it into a command line.
    pub(super) fn path(&self) -> String {
        self.dir.to_string_lossy().into_owned()
    }

    /// Makes what the launch asks for. What a crashed call left is removed first.
    pub(super) fn fill(&self, launch: &Launch) -> io::Result<()> {
        self.clear();
        if launch.files.is_empty() && launch.reports.is_empty() {
            return Ok(());
        }
        Home::create_private_dir(&self.dir)?;
        launch.files.iter().try_for_each(|(name, bytes)| fs::write(self.dir.join(name), bytes))
    }

    /// LiveWorld the reports over, without secrets.
    pub(super) fn report(&self, names: &[String], redactor: &Redactor, reader: &mut dyn Reader) {
        for name in names {
            // An agent that ended early wrote none; its reader knows what that means.
            if let Ok(bytes) = read(&self.dir.join(name)) {
                reader.read_report(name, &redactor.redact_bytes(&bytes));
            }
        }
    }

    /// Removes it: the prompt in it is not redacted.
    pub(super) fn clear(&self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A plain file only: the agent could have put a pipe there, which would never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(REPORT).read_to_end(&mut bytes)?;
    Ok(bytes)
}
