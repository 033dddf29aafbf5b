//! The configs and branches of the repositories when the run began. An agent could otherwise remove a remote in one step
//! and add it with another address in the next. Kept in the run's folder for all its processes.

use super::git_changes::CONFIG;
use super::repositories::Repositories;
use ralph_diagnostics::Discard;
use ralph_os::{Links, read_regular, write_durably};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FILE: &str = "first.configs.json";

/// One for each repository.
#[derive(Debug, Default)]
pub struct FirstConfigs(Vec<FirstConfig>);

/// What a repository began with.
#[derive(Debug, Serialize, Deserialize)]
pub struct FirstConfig {
    /// Its own directory, as bytes.
    dir: Vec<u8>,
    pub config: Vec<u8>,
    /// None if they are not known.
    pub branches: Option<BTreeSet<String>>,
}

impl FirstConfigs {
    /// Reads them; none where they were not kept.
    pub fn load(folder: &Path) -> FirstConfigs {
        let list = fs::read(folder.join(FILE)).unwrap_or_default();
        FirstConfigs(serde_json::from_slice(&list).unwrap_or_default())
    }

    /// What the repository in one directory began with.
    pub fn of(self, dir: &Path) -> Option<FirstConfig> {
        let dir = dir.as_os_str().as_encoded_bytes();
        self.0.into_iter().find(|known| known.dir == dir)
    }

    /// Adds the repositories that are not known yet: what was made during the run begins with its first step.
    pub fn begins(mut self, now: &Repositories, folder: &Path) {
        let was = self.0.len();
        for git_dir in now.git_dirs.iter().filter(|git_dir| git_dir.is_of_git()) {
            let dir = git_dir.dir.as_os_str().as_encoded_bytes();
            let known = self.0.iter().any(|known| known.dir == dir);
            let config = read_regular(&git_dir.dir.join("config"), CONFIG, Links::Refuse);
            if let (false, Ok(config)) = (known, config) {
                let history = now.histories.iter().find(|history| history.repository.common == git_dir.dir);
                let branches = history.map(|history| history.refs.branches.keys().cloned().collect());
                self.0.push(FirstConfig { dir: dir.to_vec(), config, branches });
            }
        }
        if self.0.len() != was {
            let list = serde_json::to_vec(&self.0).unwrap_or_default();
            write_durably(&folder.join(FILE), &list).discard("save the first configs");
        }
    }
}
