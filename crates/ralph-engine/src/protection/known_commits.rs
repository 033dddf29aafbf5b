//! Commits that no step of this run made: those that a ref named before the step began. What remote-tracking refs gain
//! during a step is kept apart, because an agent can write those refs as well as a fetch can; such a commit becomes known
//! when a ref of the user's names it, after it was inspected. Kept in the run's folder for all its processes.

use super::repositories::Repositories;
use ralph_diagnostics::Discard;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const KNOWN: &str = "known.refs";
const UNPROVEN: &str = "unproven.refs";

/// Commits by their names.
#[derive(Debug, Default)]
pub struct KnownCommits {
    /// Named by a ref before a step of this run.
    pub known: BTreeSet<String>,
    unproven: BTreeSet<String>,
}

impl KnownCommits {
    /// Reads the lists of this run.
    pub fn load(folder: &Path) -> KnownCommits {
        let read = |name: &str| -> BTreeSet<String> {
            let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
            text.lines().map(ToOwned::to_owned).collect()
        };
        KnownCommits { known: read(KNOWN), unproven: read(UNPROVEN) }
    }

    /// A step begins: adds the commits that refs name now.
    pub fn begins(mut self, now: &Repositories, folder: &Path) {
        let was = self.known.len();
        for history in &now.histories {
            let remote = history.refs.remote.iter().filter(|id| !self.unproven.contains(*id));
            self.known.extend(history.refs.local.iter().chain(remote).cloned());
        }
        if self.known.len() != was {
            write(folder, KNOWN, &self.known);
        }
    }

    /// A step ended: remembers what remote-tracking refs gained during it.
    pub fn ended(mut self, was: &Repositories, is: &Repositories, folder: &Path) {
        let before = was.remote();
        let gained: Vec<String> = is.remote().into_iter().filter(|id| !before.contains(id)).collect();
        if !gained.is_empty() {
            self.unproven.extend(gained);
            write(folder, UNPROVEN, &self.unproven);
        }
    }
}

/// If a list cannot be written, a later process inspects more commits, not fewer.
fn write(folder: &Path, name: &str, ids: &BTreeSet<String>) {
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    ralph_os::write_durably(&folder.join(name), text.as_bytes()).discard("save known commits");
}
