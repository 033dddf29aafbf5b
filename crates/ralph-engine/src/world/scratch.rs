//! Temporary files of one call: the prompt of an agent that does not read stdin, a report that an agent writes, what
//! `ralph block emit` measures against. They are in the run's folder, outside the workspace, and removed when the call ends.

use crate::call_directory;
use crate::home::Home;
use crate::redact::Redactor;
use crate::step_context::StepContext;
use crate::verification::tree_copy;
use ralph_agents::{Launch, Reader};
use ralph_diagnostics::Discard;
use ralph_os::{Links, read_start};
use std::io;
use std::path::{Path, PathBuf};

/// Most bytes read of a report.
const REPORT: u64 = 16 << 20;

/// The directory of one call. Calls never overlap, so all calls of a run use the same one.
pub(super) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// The directory of this run's calls; nothing is created yet.
    pub(super) fn of(ctx: &StepContext) -> Scratch {
        Scratch { dir: ctx.folder.join("call") }
    }

    /// Its path, as an adapter writes it into a command line.
    pub(super) fn path(&self) -> String {
        self.dir.to_string_lossy().into_owned()
    }

    /// Where the agent's Python keeps its byte code: not where a verification does, which must not run the agent's.
    pub(super) fn byte_code(&self) -> PathBuf {
        self.dir.join("bytecode")
    }

    /// Writes what the agent's own `ralph block emit` measures against. Without it that command says so; the call itself
    /// does not depend on it.
    pub(super) fn describe(&self, ctx: &StepContext) {
        let described = Home::create_private_dir(&self.dir)
            .and_then(|()| call_directory::write(ctx, &self.dir, &ctx.index()));
        described.discard("describe the workspace for the call");
    }

    /// Creates the files a launch needs. What a crashed call left is removed first.
    pub(super) fn fill(&self, launch: &Launch) -> io::Result<()> {
        // The agent wrote there: what is left could be links.
        tree_copy::remove(&self.dir)?;
        if launch.files.is_empty() && launch.reports.is_empty() {
            return Ok(());
        }
        Home::create_private_dir(&self.dir)?;
        launch
            .files
            .iter()
            .try_for_each(|(name, bytes)| call_directory::write_new(&self.dir.join(name), bytes))
    }

    /// Gives the reports to the reader, redacted.
    pub(super) fn report(&self, names: &[String], redactor: &Redactor, reader: &mut dyn Reader) {
        for name in names {
            // An agent that ended early wrote none; its reader knows how to handle that.
            if let Ok(bytes) = read(&self.dir.join(name)) {
                reader.read_report(name, &redactor.redact_bytes(&bytes));
            }
        }
    }

    /// Removes the directory: the prompt in it is not redacted.
    pub(super) fn clear(&self) {
        tree_copy::remove(&self.dir).discard("remove the call's scratch directory");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Reads regular files only: a pipe put there by the agent would never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    Ok(read_start(path, REPORT, Links::Refuse)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_written_through_a_link_that_an_agent_left() {
        let temp = tempfile::tempdir().unwrap();
        let (mine, scratch) = (temp.path().join("mine"), Scratch { dir: temp.path().join("call") });
        fs::create_dir(&scratch.dir).unwrap();
        fs::write(&mine, "kept").unwrap();
        symlink(&mine, scratch.dir.join("prompt")).unwrap();
        assert!(call_directory::write_new(&scratch.dir.join("prompt"), b"x").is_err());
        let launch = Launch { files: vec![("prompt".into(), b"x".to_vec())], ..Launch::default() };
        scratch.fill(&launch).unwrap();
        assert_eq!(fs::read_to_string(scratch.dir.join("prompt")).unwrap(), "x");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "kept");
    }
}
