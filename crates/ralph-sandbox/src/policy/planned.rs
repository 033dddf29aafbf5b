//! Facts and settings → the plan of one program, and what its caller does around it.

use super::container::with_variables;
use super::environment::{EnvChanges, environment};
use super::facts::{AgentNeeds, Facts};
use super::git_settings::git_file;
use super::home::{Home, layer};
use super::network::network;
use super::settings::{Mode, Settings};
use super::sight::Sight;
use super::sockets::hidden_sockets;
use super::{temporary, workspace};
use crate::{Backend, Ids, LayerFallback, Mount, Plan};
use std::path::{Path, PathBuf};

/// The plan of one program.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it sees and may do.
    pub plan: Plan,
    /// How its environment differs from ralph's own.
    pub env: EnvChanges,
    /// What to write to [`GIT_FILE`](super::GIT_FILE) in its directory for temporary files before it starts.
    pub git_file: Option<String>,
    /// Variables that it does not get.
    pub withheld: Vec<String>,
    /// Hosts that the gate allows; empty where there is no gate.
    pub hosts: Vec<String>,
    /// Directories to make before the program starts, for its user alone.
    pub directories: Vec<PathBuf>,
    /// Directories whose small files are copied before the program starts, because no layer shows them.
    pub seeds: Vec<Copied>,
    /// Files to copy after the program ended, if they exist; then to delete where they were, so that they do not cover a
    /// newer login of the user.
    pub brought_back: Vec<BroughtBack>,
    /// What is less than was asked for, in words for the user.
    pub notes: Vec<String>,
}

/// From where to where something is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// From here.
    pub from: PathBuf,
    /// To here.
    pub to: PathBuf,
}

/// A file of an agent's state that is copied out of its layer. Links in it are not the user's: the agent writes the layer, and
/// without a layer the directory itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtBack {
    /// What the agent wrote to the directory.
    pub layer: PathBuf,
    /// The real directory.
    pub directory: PathBuf,
    /// The file, relative to both.
    pub file: PathBuf,
}

/// The plan of a call of an agent.
pub fn plan_for_agent(facts: &Facts, settings: &Settings, needs: &AgentNeeds) -> Planned {
    planned(facts, settings, Some(needs))
}

/// The plan of a verification: without any agent's state, variables and hosts.
pub fn plan_for_verification(facts: &Facts, settings: &Settings) -> Planned {
    planned(facts, settings, None)
}

fn planned(facts: &Facts, settings: &Settings, needs: Option<&AgentNeeds>) -> Planned {
    let mut notes = Vec::new();
    let mut mounts = temporary::mounts(facts);
    mounts.extend(Home::new(facts, settings, needs).mounts());
    let state = needs.map(|needs| State::of(facts, needs)).unwrap_or_default();
    mounts.extend(state.mounts);
    mounts.extend(workspace::git_elsewhere(facts));
    mounts.extend(needs.into_iter().flat_map(|needs| credential_files(facts, needs)));
    mounts.extend(workspace::mounts(facts));
    // After what is read-only: shown again, what is hidden in it would be seen.
    mounts.extend(hidden_sockets(facts, settings, &mounts));
    mounts.extend(hidden(facts, settings, &mut notes));
    mounts.extend(facts.call_directory.iter().cloned().map(Mount::Write));
    notes.extend(without_layers(facts));
    let (network, hosts) = network(facts, settings, needs);
    let git_file = git_file(facts, &Sight::of(facts, &mounts));
    let (mut env, withheld) = environment(facts, settings, needs, git_file.is_some());
    let backend = match &facts.backend {
        Backend::Container(it) => Backend::Container(with_variables(it, facts, settings, &mounts, &mut env)),
        other => other.clone(),
    };
    let directories =
        std::iter::once(facts.tmp.clone()).chain(mounts.iter().flat_map(own_directories)).collect();
    let plan = Plan {
        backend,
        workspace: facts.workspace.clone(),
        tmp: facts.tmp.clone(),
        mounts,
        network,
        processes: settings.processes,
        memory: settings.memory,
        nested: settings.mode != Mode::Strict,
        ids: if facts.root && !facts.owns_workspace { Ids::All } else { Ids::Own },
    };
    let (seeds, brought_back) = (state.seeds, state.brought_back);
    Planned { plan, env, git_file, withheld, hosts, directories, seeds, brought_back, notes }
}

/// The user's own hidden paths, and those that a project adds: late, so that they hold against everything else.
fn hidden(facts: &Facts, settings: &Settings, notes: &mut Vec<String>) -> Vec<Mount> {
    let paths = settings.hide.iter().map(|path| (path, facts.expand(path)));
    let (around, apart): (Vec<_>, Vec<_>) = paths.partition(|(_, path)| facts.workspace.starts_with(path));
    let note = |(path, _): (&String, PathBuf)| {
        format!("sandbox.hide: {path} is not hidden, because the workspace is in it")
    };
    notes.extend(around.into_iter().map(note));
    apart.into_iter().map(|(_, path)| Mount::Hide(path)).collect()
}

/// A file that a needed variable names, as the key file of a cloud account.
fn credential_files(facts: &Facts, needs: &AgentNeeds) -> Vec<Mount> {
    needs.env.iter().filter_map(|name| facts.path_variable(name)).map(Mount::Show).collect()
}

fn without_layers(facts: &Facts) -> Option<String> {
    match (&facts.backend, facts.overlay) {
        (Backend::Landlock, _) => Some(
            "no layers with Landlock: package caches and the agent's own files are written for real, apart from caches with \
             programs in them"
                .into(),
        ),
        (_, false) => Some(
            "no layers here: package caches begin empty and are kept for this workspace, and of the agent's own files it \
             gets copies"
                .into(),
        ),
        _ => None,
    }
}

/// Directories that a layer needs.
fn own_directories(mount: &Mount) -> Vec<PathBuf> {
    match mount {
        Mount::Layer { upper, work, .. } => vec![upper.clone(), work.clone()],
        _ => Vec::new(),
    }
}

/// The state of an agent behind layers that are kept for the workspace.
#[derive(Default)]
struct State {
    mounts: Vec<Mount>,
    seeds: Vec<Copied>,
    brought_back: Vec<BroughtBack>,
}

impl State {
    fn of(facts: &Facts, needs: &AgentNeeds) -> State {
        if facts.backend == Backend::Landlock {
            let all = needs.state_directories.iter().chain(&needs.state_files);
            return State { mounts: all.cloned().map(Mount::Write).collect(), ..State::default() };
        }
        let places: Vec<(&PathBuf, PathBuf)> = needs
            .state_directories
            .iter()
            .map(|dir| (dir, facts.state_layers.join(layer_name(dir, &facts.home))))
            .collect();
        let mounts = places.iter().map(|(dir, base)| layer(dir, base, LayerFallback::Upper)).collect();
        let seed =
            |(dir, base): &(&PathBuf, PathBuf)| Copied { from: dir.to_path_buf(), to: base.join("upper") };
        let seeds = places.iter().filter(|_| !facts.overlay).map(seed).collect();
        let back = |file: &PathBuf| {
            let (dir, base) = places.iter().find(|(dir, _)| file.starts_with(dir))?;
            let (layer, directory) = (base.join("upper"), dir.to_path_buf());
            Some(BroughtBack { layer, directory, file: file.strip_prefix(dir).ok()?.to_path_buf() })
        };
        State { mounts, seeds, brought_back: needs.brought_back.iter().filter_map(back).collect() }
    }
}

/// The name of the layer of a directory: its path below home, in one part.
fn layer_name(dir: &Path, home: &Path) -> String {
    let below = dir.strip_prefix(home).unwrap_or(dir).to_string_lossy();
    below.trim_matches('/').replace('/', "-")
}
