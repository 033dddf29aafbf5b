//! The sandbox of a command: where ralph runs, what was set, and what to do where none can be had.

use super::resolve::Resolved;
use super::{Here, agent};
use crate::config::{Config, Flags, Setting, Settings};
use crate::env::Env;
use crate::problem::{Code, Problem};
use ralph_agents::{AgentInfo, NamedProviders, registry};
use ralph_engine::sandbox::{
    self, CalledAgent, NoSandbox, SandboxRequest, Site, Surroundings, VerifySandbox, WorkspacePlaces,
};
use ralph_engine::verification::ProgramSearch;
use ralph_os::{Links, read_regular};
use ralph_rules::record::{CONTAINER, SandboxGiven};
use ralph_sandbox::policy::{Mode, NetworkRule};
use ralph_tree::{Protect, Tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the home directory is if nobody says: nothing lies there.
const NO_HOME: &str = "/nonexistent";

/// What to do where a sandbox works on this machine and fails in a workspace.
pub const REPAIR: &str = "rename, move or remove what is named; if nothing in the workspace is, look at sandbox.hide and the other \
    settings (`ralph config show`)";

/// The sandbox that the settings ask for; `anew` if a flag of this command chose it.
pub fn request(settings: &Settings, anew: bool, here: &Here) -> Result<SandboxRequest, Problem> {
    let home = here.env.home.clone().unwrap_or_else(|| NO_HOME.into());
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let surroundings = Surroundings {
        own_program: real(agent::own_program()?),
        home: real(home.clone()),
        account_home: ralph_os::account_home(),
        named: Vec::new(),
        path: here.env.path.iter().flat_map(std::env::split_paths).filter(|dir| dir.is_absolute()).collect(),
        env: Env::all().into_iter().collect(),
        providers: providers(&home, here),
        state: here.home()?,
        config: here.env.config_home.as_ref().map(|dir| dir.join("ralph")),
    };
    let surroundings = Arc::new(surroundings);
    let mut request = SandboxRequest { settings: settings.sandbox.clone(), surroundings, anew };
    request.add_commands(settings.verify.iter().chain(&settings.verify_setup).map(String::as_str));
    Ok(request)
}

/// What the user's own settings of each agent name. A file in the workspace is the project's, and an agent's to write.
fn providers(home: &Path, here: &Here) -> BTreeMap<&'static str, NamedProviders> {
    let file = |name: &Path| {
        let path = home.join(name).canonicalize().ok().filter(|path| !path.starts_with(&here.workspace))?;
        String::from_utf8(read_regular(&path, agent::SETTINGS_FILE, Links::Follow).ok()?).ok()
    };
    let named = |info: &&'static AgentInfo| (info.name, info.named_providers(&Env::variable, &file));
    registry::AGENTS.iter().map(named).collect()
}

/// An error where nothing is contained and the network was to be limited all the same.
pub fn network_has_effect(flags: &Flags, contained: bool) -> Result<(), Problem> {
    if contained || flags.text("sandbox.network").is_none_or(|rule| rule == "open") {
        return Ok(());
    }
    let problem = Problem::new(Code::Usage, "--network has no effect without a sandbox");
    Err(problem.hint("leave it out, or choose a sandbox that limits the network: --sandbox require"))
}

/// An error where a flag would open more of the network than the run began with: a resumed run keeps its sandbox.
pub fn network_is_kept(flags: &Flags, begun: &SandboxGiven) -> Result<(), Problem> {
    let rank = |rule: &str| ["off", "hosts", "open"].iter().position(|it| *it == rule);
    let (Some(asked), false) = (flags.text("sandbox.network"), begun.network.is_empty()) else {
        return Ok(());
    };
    if rank(asked) <= rank(&begun.network) {
        return Ok(());
    }
    let began = &begun.network;
    let problem =
        Problem::new(Code::Usage, format!("--network {asked} opens more than the run began with: {began}"));
    Err(problem
        .hint(format!("to give the run another sandbox, choose it too: --sandbox auto --network {asked}")))
}

/// Both checks of the network, for a command that chooses its sandbox.
pub fn network_is_possible(flags: &Flags, config: &Config) -> Result<(), Problem> {
    network_has_effect(flags, config.settings.sandbox.mode != Mode::Off)?;
    network_fits_mode(config)
}

/// An error where a flag or a variable opens the network and the mode limits it: neither may win silently.
pub fn network_fits_mode(config: &Config) -> Result<(), Problem> {
    let (Some(network), Some(mode)) = (config.setting("sandbox.network"), config.setting("sandbox.mode"))
    else {
        return Ok(());
    };
    if config.settings.sandbox.mode != Mode::Strict
        || config.settings.sandbox.network != NetworkRule::Open
        || !network.typed
    {
        return Ok(());
    }
    let (network, mode) = (typed(&network, "open"), typed(&mode, "strict"));
    let problem = Problem::new(
        Code::Usage,
        format!("{network} contradicts {mode}: that mode limits the network to hosts"),
    );
    Err(problem.hint(format!("leave out {network}, or choose another mode: --sandbox require")))
}

/// A setting as it was written: `--network open`, `RALPH_NETWORK=open`, `sandbox.mode = "strict" (ralph.toml:3)`.
fn typed(setting: &Setting, value: &str) -> String {
    match (setting.typed, setting.from.starts_with("--")) {
        (true, true) => format!("{} {value}", setting.from),
        (true, false) => format!("{}={value}", setting.from),
        (false, _) => format!("{} = \"{value}\" ({})", setting.name, setting.from),
    }
}

/// A warning where a file limits the network and the sandbox is off. A flag that does is an error.
pub fn unenforced(config: &Config) -> Option<String> {
    let (network, mode) = (config.setting("sandbox.network")?, config.setting("sandbox.mode")?);
    let value = network.value.as_ref()?.as_str()?;
    let is_limited = config.settings.sandbox.network != NetworkRule::Open;
    (config.settings.sandbox.mode == Mode::Off && is_limited).then(|| {
        let (network, mode) = (typed(&network, value), typed(&mode, "off"));
        format!("{network} has no effect: the sandbox is off ({mode}), so everything is reached")
    })
}

/// Where the programs of verify commands are looked for: not here if they are an image's.
pub fn programs<'a>(settings: &Settings, here: &'a Here) -> ProgramSearch<'a> {
    let path = here.env.path.as_deref().filter(|_| settings.sandbox.mode != Mode::Container);
    ProgramSearch { directory: &here.workspace, path }
}

/// What contains a verification without a run, and what was chosen.
pub fn of_verification(
    request: &SandboxRequest,
    protect: &[String],
    here: &Here,
) -> Result<(Option<Arc<VerifySandbox>>, SandboxGiven), Problem> {
    let places = places(protect, here);
    let site = Site { workspace: &here.workspace, places: &places, agent: None };
    let choice = sandbox::choose(request, &site).map_err(|why| refused(&why, here))?;
    let contained = choice.deps.map(|deps| Arc::new(VerifySandbox::new(deps, &here.workspace, places)));
    Ok((contained, choice.given))
}

/// What would contain a run, as it is resolved.
pub fn of_run(resolved: &Resolved, here: &Here) -> Result<SandboxGiven, Problem> {
    let (plan, deps) = (&resolved.plan, &resolved.deps);
    let Some(request) = &deps.sandbox else { return Ok(SandboxGiven::none("")) };
    let places = places(&plan.protect, here);
    let agent = CalledAgent { info: deps.agent.agent, program: &plan.agent.program };
    let site = Site { workspace: &here.workspace, places: &places, agent: Some(agent) };
    Ok(sandbox::choose(request, &site).map_err(|why| refused(&why, here))?.given)
}

/// What of the workspace must not be written; nothing where it cannot be read.
pub fn places(protect: &[String], here: &Here) -> WorkspacePlaces {
    let protect = Protect::new(protect).ok();
    let index = protect.and_then(|protect| Tree::new(&here.workspace, protect).walk(None).ok());
    index.map(|index| WorkspacePlaces::of(&here.workspace, &index, None)).unwrap_or_default()
}

/// The problem of a sandbox that cannot be had, with what to do.
pub fn refused(why: &NoSandbox, here: &Here) -> Problem {
    let problem = Problem::new(Code::Config, why.to_string());
    match why {
        NoSandbox::Machine { mode, .. } => {
            // What is wrong with a container says itself what to do.
            let remedies = if *mode == CONTAINER { Vec::new() } else { remedies() };
            let problem = remedies.into_iter().fold(problem, Problem::hint);
            let problem = problem.hint("`ralph doctor` tries every sandbox and says what is missing");
            match here.env.settings.contains_key("RALPH_SANDBOX") {
                _ if *mode == "auto" => problem.hint("or run without a sandbox on purpose: --sandbox off"),
                true => problem.hint("or choose another mode: RALPH_SANDBOX=auto uses what works here"),
                false => problem.hint("or choose another mode: --sandbox auto uses what works here"),
            }
        }
        NoSandbox::TooMany { .. } => problem
            .hint("protect a whole directory instead of many files in it, which counts as one (`protect` in ralph.toml)")
            .hint("or use --sandbox auto, which says what is not held"),
        NoSandbox::Workspace { .. } => {
            problem.hint(REPAIR).hint("or run without a sandbox on purpose: --sandbox off")
        }
        NoSandbox::Gone { .. } => problem
            .hint("repair it and resume again; `ralph doctor` tries every sandbox and says what is missing")
            .hint("or continue in another one: ralph resume --sandbox auto")
            .hint("or without one: ralph resume --sandbox off"),
    }
}

/// Whether this machine is a container. A virtual machine made of an image has its marks too, but no processes of its own.
fn in_container() -> bool {
    let marked = ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists());
    marked && ralph_os::has_own_processes()
}

/// What would make a stronger sandbox possible here, the easiest first.
pub fn remedies() -> Vec<String> {
    let mut found = Vec::new();
    let is = |name: &str, value: &str| ralph_os::kernel_setting(name).as_deref() == Some(value);
    if in_container() {
        found.push(
            "in a container, allow namespaces and an unmasked process directory: docker run --security-opt \
             seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined (podman: \
             --security-opt seccomp=unconfined --security-opt unmask=ALL)"
                .to_owned(),
        );
    }
    if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        found.push(
            "AppArmor refuses namespaces to programs without a profile: install bubblewrap, which has one, or add a \
             profile for ralph (docs/sandbox.md)"
                .to_owned(),
        );
    }
    if is("user/max_user_namespaces", "0") {
        found.push("user namespaces are switched off: sysctl user.max_user_namespaces=15000".to_owned());
    }
    if is("kernel/unprivileged_userns_clone", "0") {
        found.push("user namespaces are for root only: sysctl kernel.unprivileged_userns_clone=1".to_owned());
    }
    if ralph_sandbox::system_bwrap().is_none() {
        found.push("install bubblewrap (apt install bubblewrap, dnf install bubblewrap)".to_owned());
    }
    found
}
