//! One run's `debug.log`. It is created by its first line, so a run without anything to report leaves no file, and it
//! stays bounded: when it is full it becomes `debug.log.old`, which replaces an earlier one. The newest lines are the
//! ones that explain how a run ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The file's name in a run's folder.
pub const FILE_NAME: &str = "debug.log";
/// The file becomes the old one at this size, so a run keeps at most twice as much.
pub const MAX_BYTES: u64 = 1 << 20;
/// Lines from before the run's folder exists are held back up to this size.
const EARLY_BYTES: usize = 64 << 10;

/// Removes secrets from a line before it is kept.
pub type Clean = Box<dyn Fn(&str) -> String + Send + Sync>;

/// One run's log file.
pub struct DebugLog {
    path: PathBuf,
    clean: Clean,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    bytes: u64,
    early: Vec<u8>,
}

impl DebugLog {
    /// The log in this folder, which need not exist yet.
    pub fn new(folder: &Path, clean: Clean) -> DebugLog {
        DebugLog { path: folder.join(FILE_NAME), clean, state: Mutex::default() }
    }

    /// Adds a line. A log that cannot be written is not a reason to stop, and there is nowhere left to report it.
    pub(crate) fn write(&self, line: &str) {
        let line = (self.clean)(line);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.append(&mut state, line.as_bytes()).is_err() && state.early.len() + line.len() <= EARLY_BYTES
        {
            state.early.extend_from_slice(line.as_bytes());
        }
    }

    fn append(&self, state: &mut State, line: &[u8]) -> io::Result<()> {
        if state.file.is_none() {
            self.open(state)?;
        }
        if state.bytes + line.len() as u64 > MAX_BYTES {
            std::fs::rename(&self.path, self.path.with_extension("log.old"))?;
            self.open(state)?;
        }
        let Some(file) = &mut state.file else { return Ok(()) };
        file.write_all(line)?;
        state.bytes += line.len() as u64;
        Ok(())
    }

    fn open(&self, state: &mut State) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        state.bytes = file.metadata()?.len();
        let early = std::mem::take(&mut state.early);
        file.write_all(&early)?;
        state.bytes += early.len() as u64;
        state.file = Some(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_is() -> Clean {
        Box::new(str::to_owned)
    }

    #[test]
    fn early_lines_wait_for_the_folder_and_nothing_to_say_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("run");
        let log = DebugLog::new(&folder, as_is());
        log.write("first\n");
        std::fs::create_dir(&folder).unwrap();
        assert!(!folder.join(FILE_NAME).exists());
        log.write("second\n");
        assert_eq!(std::fs::read_to_string(folder.join(FILE_NAME)).unwrap(), "first\nsecond\n");
    }

    #[test]
    fn a_full_log_keeps_the_newest_lines_and_at_most_two_files() {
        let dir = tempfile::tempdir().unwrap();
        let log = DebugLog::new(dir.path(), as_is());
        let line = "x".repeat(1023) + "\n";
        for _ in 0..3 * MAX_BYTES / 1024 {
            log.write(&line);
        }
        log.write("the last line\n");
        let text = std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap();
        assert!(text.ends_with("the last line\n"));
        let sizes =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        let sizes: Vec<u64> = sizes.collect();
        assert!(sizes.len() == 2 && sizes.iter().all(|size| *size <= MAX_BYTES), "{sizes:?}");
    }

    #[test]
    fn lines_are_cleaned_before_they_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let log = DebugLog::new(dir.path(), Box::new(|line| line.replace("hunter2", "[redacted]")));
        log.write("password hunter2\n");
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap(), "password [redacted]\n");
    }
}
