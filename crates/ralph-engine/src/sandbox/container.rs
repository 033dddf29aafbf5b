//! The container of a run: its engine and image are checked before the run starts, its labels tell whose it is, and what a
//! killed process left of one is removed.

use super::call_dirs::{self, CallDirs};
use super::{CalledAgent, Program, SandboxRequest};
use crate::leftovers::TAG;
use ralph_diagnostics::Discard;
use ralph_rules::record::SandboxGiven;
use ralph_sandbox::container::{
    DIRECTORY_LABEL, RUN_LABEL, Unusable, WORKSPACE_LABEL, check, labelled, passed_variables, remove_left,
    try_out,
};
use ralph_sandbox::policy::{ContainerEngine, NetworkRule, Settings};
use ralph_sandbox::{Container, Held, Plan, promised};
use ralph_supervisor::Launch;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The container that the settings name, if it can be had.
pub(super) fn set(request: &SandboxRequest, workspace: &Path) -> Result<Container, Unusable> {
    let (engine, image) = (request.settings.container.engine, &request.settings.container.image);
    let path = std::env::join_paths(&request.surroundings.path).unwrap_or_default();
    usable(engine, image, &path, (&request.settings, workspace))
}

/// The container that a run began with: the same engine and image, whatever is set now.
pub(super) fn kept(
    request: &SandboxRequest,
    given: &SandboxGiven,
    workspace: &Path,
) -> Result<Container, Unusable> {
    let program = PathBuf::from(given.program.clone().unwrap_or_default());
    let docker = program.file_name() == Some(OsStr::new(ContainerEngine::Docker.program()));
    let engine = if docker { ContainerEngine::Docker } else { ContainerEngine::Podman };
    let directory = program.parent().map(Path::as_os_str).unwrap_or_default();
    let image = given.image.as_deref().unwrap_or_default();
    usable(engine, image, directory, (&request.settings, workspace))
}

fn usable(
    engine: ContainerEngine,
    image: &str,
    path: &OsStr,
    (settings, workspace): (&Settings, &Path),
) -> Result<Container, Unusable> {
    if [settings.agent_network(), settings.verification_network()].contains(&NetworkRule::Hosts) {
        return Err(Unusable::Hosts);
    }
    let container = check(engine, image, path, workspace)?;
    remove_unused(&container.program, workspace);
    Ok(container)
}

/// Runs a container of this plan once; the agent's program must be in it.
pub(super) fn tried(
    plan: &Plan,
    container: &Container,
    agent: Option<&CalledAgent<'_>>,
) -> Result<Held, String> {
    let programs: Vec<&OsStr> = agent.map(|agent| OsStr::new(agent.program)).into_iter().collect();
    let notes = try_out(plan, container, &programs).map_err(|why| why.to_string())?;
    Ok(Held { promises: promised(plan), notes })
}

/// Labels a container with the workspace and the directory of its call.
pub(super) fn label(container: &mut Container, program: &Program<'_>, dirs: &CallDirs) {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    container.labels.push((WORKSPACE_LABEL.into(), text(program.workspace)));
    container.labels.push((DIRECTORY_LABEL.into(), text(dirs.base())));
}

/// Passes on what this call gives its program besides what the policy does, and labels the container with its run.
pub(super) fn complete(container: &mut Container, launch: &Launch, settings: &Settings) {
    let names = launch.env.iter().filter_map(|(name, _)| name.to_str());
    for name in passed_variables(names, &settings.env) {
        if !container.env.contains(&name) {
            container.env.push(name);
        }
    }
    let run = launch.env.iter().find(|(name, _)| name == TAG).map(|(_, run): &(OsString, OsString)| run);
    container.labels.extend(run.map(|run| (RUN_LABEL.into(), run.to_string_lossy().into_owned())));
}

/// Removes the containers of this workspace whose owner was killed.
fn remove_unused(program: &Path, workspace: &Path) {
    let of_workspace = (WORKSPACE_LABEL, &*workspace.to_string_lossy());
    let directories = labelled(program, of_workspace, DIRECTORY_LABEL).unwrap_or_default();
    for directory in directories.iter().filter(|directory| !call_dirs::is_used(Path::new(directory))) {
        remove_of_call(program, Path::new(directory));
    }
}

/// Removes what is left of the container of a call that is over.
pub(super) fn remove_of_call(program: &Path, directory: &Path) {
    let removed = remove_left(program, DIRECTORY_LABEL, &directory.to_string_lossy());
    removed.map_err(std::io::Error::other).discard("remove a container that was left behind");
}
