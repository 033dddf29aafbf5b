//! The commits that a user's refs name, as far as no step of this run made them: their objects must stay, also when an agent
//! moves or deletes a ref. What an agent commits it may throw away again, so what refs gain during a step is not among
//! them, and what the user throws away between two steps is taken out. Kept in the run's folder for all its processes.

use super::repositories::Repositories;
use ralph_diagnostics::Discard;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FILE: &str = "user.commits";

/// Commits by their names.
#[derive(Debug, Default)]
pub struct UserCommits {
    /// What the user's refs named.
    pub named: BTreeSet<String>,
    /// What refs named when the latest step ended.
    ended: Option<BTreeSet<String>>,
}

impl UserCommits {
    /// Reads the lists of this run.
    pub fn load(folder: &Path) -> UserCommits {
        let mut all = UserCommits::default();
        for line in fs::read_to_string(folder.join(FILE)).unwrap_or_default().lines() {
            match line.split_once(' ') {
                Some(("user", id)) => drop(all.named.insert(id.to_owned())),
                Some(("ended", id)) => drop(all.ended.get_or_insert_default().insert(id.to_owned())),
                _ => drop(all.ended.get_or_insert_default()),
            }
        }
        all
    }

    /// A step begins: what refs gained and lost since the latest one is the user's doing.
    pub fn begins(mut self, now: &Repositories, folder: &Path) {
        let now = current(now);
        match &self.ended {
            Some(ended) => {
                self.named.retain(|id| now.contains(id) || !ended.contains(id));
                self.named.extend(now.difference(ended).cloned());
            }
            None => self.named = now,
        }
        self.write(folder);
    }

    /// A step ended: what refs gained is not the user's.
    pub fn ended(mut self, is: &Repositories, folder: &Path) {
        self.ended = Some(current(is));
        self.write(folder);
    }

    /// A power cut may take it away: then what the agent committed until then counts as the user's.
    fn write(&self, folder: &Path) {
        let mut text: String = self.named.iter().map(|id| format!("user {id}\n")).collect();
        if let Some(ended) = &self.ended {
            text.push_str("ended\n");
            text.extend(ended.iter().map(|id| format!("ended {id}\n")));
        }
        let draft = folder.join(format!("{FILE}.{}.tmp", std::process::id()));
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, folder.join(FILE)));
        written.discard("save the user's commits");
    }
}

/// What the user's own refs name. Those of remotes follow a server, which may delete some.
fn current(repositories: &Repositories) -> BTreeSet<String> {
    repositories.histories.iter().flat_map(|history| history.refs.current_local().cloned()).collect()
}
