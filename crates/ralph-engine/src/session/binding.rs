//! Which session belongs to which run. A file in the state directory named after the session's id leads to the run, so
//! that a hook of any other session ends at once, without opening the database; a file in the run's folder leads back.

use super::SessionProcess;
use crate::home::Home;
use ralph_os::write_durably;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// In a run's folder.
const FILE: &str = "session.json";
/// A longer file is not a run's id.
const LONGEST_ID: u64 = 256;

/// A session and its run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Binding {
    /// The run.
    pub run: String,
    /// The client, by the name of its agent.
    pub client: String,
    /// The session's id.
    pub session: String,
    /// Where its transcript is.
    pub transcript: String,
    /// Its process, as of the latest hook.
    pub process: SessionProcess,
}

/// The run that a session is bound to, if it is.
pub fn bound_run(state: &Path, session: &str) -> Option<String> {
    let path = index(state, session);
    if path.metadata().ok()?.len() > LONGEST_ID {
        return None;
    }
    let run = std::fs::read_to_string(path).ok()?;
    (!run.is_empty()).then_some(run)
}

/// Whether a session works on the run with this folder.
pub(crate) fn has_session(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

impl Binding {
    /// The session of a run, if it is bound to one.
    pub fn of_run(home: &Home, run: &str) -> Option<Binding> {
        let text = std::fs::read(home.run(run).join(FILE)).ok()?;
        let binding: Binding = serde_json::from_slice(&text).ok()?;
        (bound_run(home.dir(), &binding.session)? == run).then_some(binding)
    }

    /// The session of a run, if its process is alive.
    pub fn alive(home: &Home, run: &str) -> Option<Binding> {
        Binding::of_run(home, run).filter(|binding| binding.process.is_alive())
    }

    /// Binds the session to the run, or remembers that its process is another one now.
    pub fn keep(&self, home: &Home) -> io::Result<()> {
        let folder = home.run(&self.run);
        Home::create_private_dir(&folder)?;
        Home::create_private_dir(&home.dir().join(INDEX))?;
        write_durably(&folder.join(FILE), &serde_json::to_vec(self).unwrap_or_default())?;
        write_durably(&index(home.dir(), &self.session), self.run.as_bytes())
    }

    /// Releases the session: its hooks do nothing from now on. The run's file goes first: if this is cut short, leftovers
    /// of the run are ended again, and the next hook finds that the run is over.
    pub fn release(&self, home: &Home) {
        for path in [home.run(&self.run).join(FILE), index(home.dir(), &self.session)] {
            let _ = std::fs::remove_file(path);
        }
    }
}

const INDEX: &str = "sessions";

/// An id may hold anything, so the file is named after its hash.
fn index(state: &Path, session: &str) -> PathBuf {
    let hash = blake3::hash(session.as_bytes()).to_hex();
    state.join(INDEX).join(hash.get(..32).unwrap_or_default())
}
