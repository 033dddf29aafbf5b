//! What the policy is told about this machine, the workspace and the agent. The caller collects it once per run; nothing in
//! the workspace is looked at again between calls, because an agent could have written it.

use crate::Backend;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Facts about this machine and the workspace. All paths are absolute.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What builds the plan.
    pub backend: Backend,
    /// Whether it can make layers here.
    pub overlay: bool,
    /// The user's home directory.
    pub home: PathBuf,
    /// The home directory of the account, where `HOME` names another one: it is one of the others, and its keys are this user's.
    pub account_home: Option<PathBuf>,
    /// Home directories of others that can be read.
    pub other_homes: Vec<PathBuf>,
    /// What is in the directories that [`Facts::to_list`](crate::policy::Facts::to_list) names.
    pub listings: BTreeMap<PathBuf, Vec<Entry>>,
    /// Links that lead into home directories: dot entries, settings, programs of `PATH`, and what is secret.
    pub links: Vec<Link>,
    /// The user's own configurations of git that exist, in the order in which git reads them.
    pub git_configs: Vec<GitConfig>,
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
    /// The environment; the caller drops variables that are not text.
    pub env: BTreeMap<String, String>,
    /// Names of the variables in whose value a key was found by its shape, such as `ghp_…`.
    pub variables_with_keys: Vec<String>,
    /// The workspace.
    pub workspace: PathBuf,
    /// The names in the workspace's own directory.
    pub workspace_entries: Vec<String>,
    /// Protected paths that exist, inside the workspace.
    pub protected: Vec<PathBuf>,
    /// The plan that the agent is asked to tick, inside the workspace.
    pub plan_file: Option<PathBuf>,
    /// Git directories of every repository in the workspace, and of the workspace itself where it lies elsewhere.
    pub git_directories: Vec<PathBuf>,
    /// `.git` files, as submodules and worktrees have.
    pub git_files: Vec<PathBuf>,
    /// State of every agent that ralph knows.
    pub agent_states: Vec<PathBuf>,
    /// Variables of every agent that ralph knows: credentials and addresses.
    pub agent_variables: Vec<String>,
    /// Of the files that may hold credentials among other settings, those that do.
    pub with_credentials: Vec<PathBuf>,
    /// Socket files that could be seen.
    pub sockets: Vec<PathBuf>,
    /// Where ralph keeps its state and its configuration.
    pub own_directories: Vec<PathBuf>,
    /// The directory of this call, in which the program finds and leaves files for ralph.
    pub call_directory: Option<PathBuf>,
    /// Further paths that programs need: where the agent's program and ralph's own really are, and what the user's own
    /// commands name.
    pub needed: Vec<PathBuf>,
    /// Whether ralph runs as root.
    pub root: bool,
    /// Whether the workspace belongs to the user that ralph runs as.
    pub owns_workspace: bool,
    /// Shown as `/tmp`; made for this call.
    pub tmp: PathBuf,
    /// For what is written to the home directory; made for this call. It must not lie in the home directory: a layer cannot
    /// be kept below what it covers.
    pub home_layer: PathBuf,
    /// For the package caches of this workspace; kept.
    pub cache_layers: PathBuf,
    /// For the agent's state in this workspace; kept.
    pub state_layers: PathBuf,
}

/// A path that is a link, or has one in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The path.
    pub at: PathBuf,
    /// What it leads to in the end, a path without links.
    pub to: PathBuf,
    /// Where the links on the way lie.
    pub through: Vec<PathBuf>,
}

/// A configuration of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitConfig {
    /// The file.
    pub file: PathBuf,
    /// Those of its settings that are [passed on](crate::policy::PASSED_GIT_SETTINGS) where it is hidden, without those that the
    /// workspace's repository has itself.
    pub settings: Vec<(String, String)>,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is, without following a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A file, or anything else.
    File,
}

/// What an agent needs in its sandbox.
#[derive(Clone, Debug, Default)]
pub struct AgentNeeds {
    /// Directories it keeps its state in.
    pub state_directories: Vec<PathBuf>,
    /// Files it keeps its state in, outside of those directories.
    pub state_files: Vec<PathBuf>,
    /// Files of its state that are copied back after a call.
    pub brought_back: Vec<PathBuf>,
    /// Variables that it needs although they look secret.
    pub env: Vec<String>,
    /// How the names of its own variables begin; such a variable that does not look secret is passed on.
    pub env_prefixes: Vec<String>,
    /// Variables with the address of its model's service.
    pub base_url_env: Vec<String>,
    /// Addresses of its model's service in its settings.
    pub addresses: Vec<String>,
    /// Hosts of its model's service.
    pub hosts: Vec<String>,
}

impl Facts {
    /// The path that a setting means: `~/` stands for the home directory.
    pub(super) fn expand(&self, path: &str) -> PathBuf {
        path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| self.home.join(below))
    }

    /// Whether the home directory can be shown in another way than the rest of the disk: not where it is the whole disk, or
    /// the workspace itself, or in it.
    pub(super) fn home_is_apart(&self) -> bool {
        self.home.parent().is_some() && !self.home.starts_with(&self.workspace)
    }

    /// The home directories of this user.
    pub(super) fn own_homes(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.home).chain(&self.account_home)
    }

    /// Whether the home directory has an entry that this path, relative to it, lies in.
    pub(super) fn home_has(&self, relative: &str) -> bool {
        self.has(&self.home, relative)
    }

    /// The same of another directory; what was not listed may have it.
    pub(super) fn has(&self, dir: &Path, relative: &str) -> bool {
        let first = Path::new(relative).iter().next().unwrap_or_default();
        self.listings.get(dir).is_none_or(|entries| entries.iter().any(|entry| *entry.name == *first))
    }

    /// A variable that is set to one absolute path. One that would stand for a whole home directory names nothing in it.
    pub(super) fn path_variable(&self, name: &str) -> Option<PathBuf> {
        self.not_a_home(self.env.get(name).filter(|value| !value.contains(':'))?)
    }

    /// The same for one that may be set to several, as `KUBECONFIG`.
    pub(super) fn path_variables(&self, name: &str) -> Vec<PathBuf> {
        let values = self.env.get(name).into_iter().flat_map(|value| value.split(':'));
        values.filter_map(|value| self.not_a_home(value)).collect()
    }

    fn not_a_home(&self, value: &str) -> Option<PathBuf> {
        let path = PathBuf::from(value);
        let whole = std::iter::once(&self.home).chain(&self.other_homes).any(|home| home.starts_with(&path));
        (path.is_absolute() && !whole).then_some(path)
    }
}
