//! The sandbox of a run: every program that the run starts, agent or verify command, is contained by it.
//!
//! `choose` finds the backend once, by trying it; `facts` collects what the policy of `ralph-sandbox` decides by, `contain`
//! prepares one program and clears up after it, `container` does what only containers need. `bring_back` returns renewed logins to the agent's real state.

mod bare;
mod bring_back;
mod call_dirs;
mod choose;
mod contain;
mod container;
mod facts;
mod git_configs;
mod git_places;
mod layers;
mod links;
mod named;
mod no_sandbox;
mod socket_files;
mod verify;
mod worth_saying;

pub use choose::{Choice, SandboxRequest, Site, Trial, choose, kept, trials};
pub use contain::Contained;
pub use no_sandbox::NoSandbox;
pub use verify::VerifySandbox;

use crate::home::Home;
use ralph_agents::{AgentInfo, NamedProviders};
use ralph_sandbox::Backend;
use ralph_sandbox::policy::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What contains the programs of a run.
#[derive(Clone, Debug)]
pub struct SandboxDeps {
    /// What builds it.
    pub backend: Backend,
    /// Whether it can show directories behind layers.
    pub layers: bool,
    /// What the user set.
    pub settings: Settings,
    /// Where ralph runs.
    pub surroundings: Arc<Surroundings>,
    /// What was said about it at the start of the run.
    pub said: Vec<String>,
}

/// Where ralph runs: read once by the command line, because the engine itself never reads the environment.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// ralph's own program, which builds sandboxes.
    pub own_program: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// The one that the system knows for the account, if it has one of its own.
    pub account_home: Option<PathBuf>,
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
    /// What the user's own commands name.
    pub named: Vec<PathBuf>,
    /// The environment, without variables that are not text.
    pub env: BTreeMap<String, String>,
    /// What the user's own settings of each agent name, by the agent's name. Read before the first call: with Landlock an agent
    /// writes its settings for real, and must not name further variables for its next call.
    pub providers: BTreeMap<&'static str, NamedProviders>,
    /// ralph's state directory.
    pub state: Home,
    /// ralph's configuration directory.
    pub config: Option<PathBuf>,
}

/// A program that is to be contained.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The workspace of the run, for which caches and the agent's state are kept.
    pub workspace: &'a Path,
    /// The directory that the program works in: the workspace, or a copy of it at another path.
    pub works_in: &'a Path,
    /// Protected paths and repositories of the workspace.
    pub places: &'a WorkspacePlaces,
    /// A directory besides the workspace that the program writes: that of its call.
    pub writes: Option<&'a Path>,
    /// The agent, if it is one; otherwise it is a verification.
    pub agent: Option<CalledAgent<'a>>,
}

/// The agent of a call.
#[derive(Clone, Copy, Debug)]
pub struct CalledAgent<'a> {
    /// Its adapter.
    pub info: &'static AgentInfo,
    /// Its program, as it is started.
    pub program: &'a str,
}

/// What in a workspace must not be written: relative to it, so that it also holds for a copy.
#[derive(Clone, Debug, Default)]
pub struct WorkspacePlaces {
    /// Protected paths.
    pub protected: Vec<PathBuf>,
    /// The plan that the agent ticks.
    pub plan_file: Option<PathBuf>,
    /// Git directories in the workspace.
    pub git_directories: Vec<PathBuf>,
    /// `.git` files in the workspace.
    pub git_files: Vec<PathBuf>,
    /// The directory of the workspace's own repository where it lies elsewhere; absolute.
    pub git_elsewhere: Vec<PathBuf>,
    /// The names in the workspace's own directory, of which those that other programs obey are read-only.
    pub entries: Vec<String>,
    /// How many more there are than can be mounted.
    pub left_out: usize,
}
