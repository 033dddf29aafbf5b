//! Which backend contains a run: the first that proves itself in the run's own plan.

use super::bare::Bare;
use super::contain::Prepared;
use super::{
    CalledAgent, NoSandbox, Program, SandboxDeps, Surroundings, WorkspacePlaces, call_dirs, container,
};
use ralph_rules::record::{CONTAINER, NO_BACKEND, NotHeld, SandboxGiven};
use ralph_sandbox::policy::{Mode, NetworkRule, Settings, VerifyNetwork};
use ralph_sandbox::{Backend, Held, Promise, probe};
use std::path::Path;
use std::sync::Arc;

const BWRAP: &str = "bwrap";
/// What `require` promises.
const REQUIRED: [Promise; 3] = [Promise::Files, Promise::ProtectedPaths, Promise::Processes];

/// The sandbox that the command line asks for.
#[derive(Clone, Debug)]
pub struct SandboxRequest {
    /// What the user set.
    pub settings: Settings,
    /// Where ralph runs.
    pub surroundings: Arc<Surroundings>,
    /// Chosen by a flag of this command: a resumed run then does not keep the sandbox that it had.
    pub anew: bool,
}

/// What contains a run.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What is needed to contain its programs; none if nothing contains them.
    pub deps: Option<SandboxDeps>,
    /// The same for the journal.
    pub given: SandboxGiven,
}

impl Choice {
    fn of(deps: SandboxDeps, given: SandboxGiven) -> Choice {
        Choice { deps: Some(SandboxDeps { said: given.notes.clone(), ..deps }), given }
    }
}

/// What became of trying a backend.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its name.
    pub backend: &'static str,
    /// What it holds, in words; or why it cannot be used.
    pub result: Result<SandboxGiven, String>,
}

/// Where a sandbox is tried: a workspace and the agent that works in it.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// What of it is read-only.
    pub places: &'a WorkspacePlaces,
    /// The agent of the run; none where only a verification runs.
    pub agent: Option<CalledAgent<'a>>,
}

/// Chooses by trying.
///
/// # Errors
/// If the mode needs more than any backend holds here, or a backend that works here fails in this workspace and no other holds
/// as much.
pub fn choose(request: &SandboxRequest, site: &Site<'_>) -> Result<Choice, NoSandbox> {
    let mode = request.settings.mode;
    let refused = |why: String| NoSandbox::Machine { mode: mode_name(mode), why };
    match mode {
        Mode::Off => return Ok(Choice { deps: None, given: SandboxGiven::none("") }),
        Mode::Require | Mode::Strict | Mode::Container if site.places.left_out > 0 => {
            return Err(NoSandbox::TooMany { mode: mode_name(mode), more: site.places.left_out });
        }
        Mode::Container => return in_container(request, site).map_err(refused),
        Mode::Auto | Mode::Require | Mode::Strict => {}
    }
    call_dirs::remove_left(&request.surroundings.home);
    let bare = Bare::new(request);
    let bare = bare.map_err(|error| refused(format!("a directory to try it in cannot be made: {error}")))?;
    let holds_when_bare = |backend: &Backend| {
        let held = if is_installed(backend) { bare.holds(backend, request, site) } else { Ok(false) };
        held.map_err(|why| refused(why.to_string()))
    };
    let (mut whys, mut fails_here_alone) = (Vec::new(), None);
    for backend in backends() {
        match tried(request, backend.clone(), site) {
            Ok((deps, held, withheld)) => {
                let given = given(&deps, &held, withheld, site);
                let lacks = REQUIRED.iter().find(|promise| !held.promises.contains(promise));
                let takes_less = mode == Mode::Auto && fails_here_alone.is_none();
                if takes_less || lacks.is_none() {
                    return Ok(Choice::of(deps, given));
                }
                whys.push(format!(
                    "{} does not hold {}",
                    name(&backend),
                    lacks.map_or(String::new(), ToString::to_string)
                ));
            }
            // Another may hold as much, but nothing less takes its place: an agent could have made what it fails with.
            Err(why) if holds_when_bare(&backend)? => {
                fails_here_alone.get_or_insert(NoSandbox::Workspace { backend: name(&backend), why });
            }
            // A program says its own name first.
            Err(why) => {
                let said = format!("{}: ", name(&backend));
                whys.push(format!("{said}{}", why.strip_prefix(&said).unwrap_or(&why)));
            }
        }
    }
    if let Some(why) = fails_here_alone {
        return Err(why);
    }
    let why = whys.join("; ");
    if mode == Mode::Auto {
        return Ok(Choice { deps: None, given: SandboxGiven::none(&why) });
    }
    Err(refused(why))
}

/// The container that is set, or why it cannot be used. There is no other to fall back to: the user chose it.
fn in_container(request: &SandboxRequest, site: &Site<'_>) -> Result<Choice, String> {
    // Containers first: they use the directories.
    let found = container::set(request, site.workspace).map_err(|why| why.to_string())?;
    call_dirs::remove_left(&request.surroundings.home);
    let (deps, held, withheld) = tried(request, Backend::Container(found), site)?;
    let given = given(&deps, &held, withheld, site);
    Ok(Choice::of(deps, given))
}

/// Tries every backend, for `ralph doctor`; a container only if the user set one.
pub fn trials(request: &SandboxRequest, site: &Site<'_>) -> Vec<Trial> {
    let one = |backend: Backend| Trial {
        backend: name(&backend),
        result: tried(request, backend, site)
            .map(|(deps, held, withheld)| given(&deps, &held, withheld, site)),
    };
    let all = backends().into_iter().map(one);
    let is_set = request.settings.mode == Mode::Container || !request.settings.container.image.is_empty();
    let container = is_set.then(|| Trial {
        backend: CONTAINER,
        result: in_container(request, site).map(|choice| choice.given),
    });
    all.chain(container).collect()
}

/// The sandbox that a run began with, for its next process; not tried.
///
/// # Errors
/// If its program, or its container's engine or image, is missing.
pub fn kept(
    request: &SandboxRequest,
    given: &SandboxGiven,
    site: &Site<'_>,
) -> Result<Option<SandboxDeps>, NoSandbox> {
    let gone = |why: String| NoSandbox::Gone { backend: given.backend.clone(), why };
    let unknown = || gone("this version of ralph does not know it".to_owned());
    let backend = match (given.backend.as_str(), &given.program) {
        (NO_BACKEND, _) => return Ok(None),
        ("namespaces", _) => Backend::Namespaces,
        (BWRAP, Some(program)) if Path::new(program).exists() => Backend::Bwrap(program.into()),
        (BWRAP, Some(program)) => return Err(gone(format!("{program} is missing"))),
        ("landlock", _) => Backend::Landlock,
        (CONTAINER, _) => {
            let found = container::kept(request, given, site.workspace);
            Backend::Container(found.map_err(|why| gone(why.to_string()))?)
        }
        _ => return Err(unknown()),
    };
    // What the killed process left; after the containers, which use the directories.
    call_dirs::remove_left(&request.surroundings.home);
    let deps = deps(request, backend);
    let settings = as_begun(deps.settings, given);
    Ok(Some(SandboxDeps { layers: !given.no_layers, said: given.notes.clone(), settings, ..deps }))
}

/// The settings, but no wider than the run began: flags of its first command are not among them, and its screens say what held
/// then.
fn as_begun(now: Settings, given: &SandboxGiven) -> Settings {
    let mode = if given.strict { Mode::Strict } else { now.mode };
    let begun = |name: &str| match name {
        "off" => NetworkRule::Off,
        "hosts" => NetworkRule::Hosts,
        _ => NetworkRule::Open,
    };
    let narrower = |one, other| match (one, other) {
        (NetworkRule::Off, _) | (_, NetworkRule::Off) => NetworkRule::Off,
        (NetworkRule::Hosts, _) | (_, NetworkRule::Hosts) => NetworkRule::Hosts,
        _ => NetworkRule::Open,
    };
    let verified = if given.verify_network.is_empty() { &given.network } else { &given.verify_network };
    let verify_network = VerifyNetwork::Is(narrower(now.verification_network(), begun(verified)));
    Settings { mode, network: narrower(now.network, begun(&given.network)), verify_network, ..now }
}

impl SandboxDeps {
    /// Tries a sandbox that a run kept: the machine may have changed since.
    ///
    /// # Errors
    /// If it cannot be built now. Nothing else takes its place: the run's programs would not be contained as it was said.
    pub fn still_holds(&self, given: &SandboxGiven, site: &Site<'_>) -> Result<(), NoSandbox> {
        // A container was checked already, and its trial takes seconds.
        let tried = if self.is_container() { Ok(()) } else { probed(self, site).map(drop) };
        tried.map_err(|why| NoSandbox::Gone { backend: given.backend.clone(), why })
    }
}

/// In their order of preference.
fn backends() -> Vec<Backend> {
    let bwrap = ralph_sandbox::system_bwrap().unwrap_or_else(|| BWRAP.into());
    vec![Backend::Namespaces, Backend::Bwrap(bwrap), Backend::Landlock]
}

fn is_installed(backend: &Backend) -> bool {
    *backend != Backend::Bwrap(BWRAP.into())
}

fn name(backend: &Backend) -> &'static str {
    match backend {
        Backend::Namespaces => "namespaces",
        Backend::Bwrap(_) => BWRAP,
        Backend::Landlock => "landlock",
        Backend::Container(_) => CONTAINER,
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "auto",
        Mode::Require => "require",
        Mode::Strict => "strict",
        Mode::Container => CONTAINER,
        Mode::Off => "off",
    }
}

fn deps(request: &SandboxRequest, backend: Backend) -> SandboxDeps {
    let mut settings = request.settings.clone();
    if backend == Backend::Landlock {
        // It cannot tell hosts apart: what it does not hold is said, and the network stays open.
        let open = |rule: NetworkRule| if rule == NetworkRule::Hosts { NetworkRule::Open } else { rule };
        settings.network = open(settings.network);
        if let VerifyNetwork::Is(rule) = settings.verify_network {
            settings.verify_network = VerifyNetwork::Is(open(rule));
        }
    }
    if matches!(backend, Backend::Container(_)) {
        // A run that is resumed stays in its container, whatever mode is set now.
        settings.mode = Mode::Container;
    }
    let surroundings = Arc::clone(&request.surroundings);
    SandboxDeps { backend, layers: true, settings, surroundings, said: Vec::new() }
}

type Tried = (SandboxDeps, Held, Vec<String>);

fn tried(request: &SandboxRequest, backend: Backend, site: &Site<'_>) -> Result<Tried, String> {
    if !is_installed(&backend) {
        return Err("not installed".into());
    }
    let with_layers = deps(request, backend);
    let found = probed(&with_layers, site)?;
    if !found.0.notes.iter().any(|note| note.starts_with("layer ")) {
        return Ok((with_layers, found.0, found.1));
    }
    let without = SandboxDeps { layers: false, ..with_layers };
    let (held, withheld) = probed(&without, site)?;
    Ok((without, held, withheld))
}

fn probed(deps: &SandboxDeps, site: &Site<'_>) -> Result<(Held, Vec<String>), String> {
    let program = Program {
        workspace: site.workspace,
        works_in: site.workspace,
        places: site.places,
        writes: None,
        agent: site.agent,
    };
    let Prepared { planned, dirs, .. } = deps.prepare(&program).map_err(|error| error.to_string())?;
    let held = match &planned.plan.backend {
        Backend::Container(it) => container::tried(&planned.plan, it, site.agent.as_ref()),
        _ => probe(&deps.surroundings.own_program, &planned.plan).map_err(|why| why.to_string()),
    };
    drop(dirs);
    let mut held = held?;
    if site.places.left_out > 0 {
        held.promises.retain(|promise| *promise != Promise::ProtectedPaths);
    }
    held.notes.extend(planned.notes);
    Ok((held, planned.withheld))
}

fn network_name(rule: NetworkRule) -> &'static str {
    match rule {
        NetworkRule::Open => "open",
        NetworkRule::Hosts => "hosts",
        NetworkRule::Off => "off",
    }
}

fn given(deps: &SandboxDeps, held: &Held, withheld: Vec<String>, site: &Site<'_>) -> SandboxGiven {
    let landlock = deps.backend == Backend::Landlock;
    let holds = |promise: &Promise| held.promises.contains(promise);
    let words = |promises: &mut dyn Iterator<Item = Promise>| promises.map(|it| it.to_string()).collect();
    let mut missing: Vec<Promise> = REQUIRED.into_iter().filter(|promise| !holds(promise)).collect();
    let verification = deps.settings.verification_network();
    let agent = site.agent.map(|_| deps.settings.agent_network());
    let network = network_name(agent.unwrap_or(verification));
    let differs = agent.is_some_and(|agent| agent != verification);
    let limited = !landlock || holds(&Promise::Network);
    if !limited {
        missing.push(Promise::Network);
    }
    let why = if landlock { "Landlock cannot" } else { "it did not hold when it was tried" };
    let reason = |what: &Promise| {
        let too_many = site.places.too_many().filter(|_| *what == Promise::ProtectedPaths && !landlock);
        too_many.unwrap_or_else(|| why.into())
    };
    let (program, image) = match &deps.backend {
        Backend::Bwrap(program) => (Some(program), None),
        Backend::Container(it) => (Some(&it.program), Some(it.image.clone())),
        Backend::Namespaces | Backend::Landlock => (None, None),
    };
    let program = program.map(|program| program.to_string_lossy().into_owned());
    SandboxGiven {
        backend: name(&deps.backend).into(),
        program,
        image,
        held: words(&mut REQUIRED.into_iter().filter(|promise| holds(promise))),
        missing: missing.iter().map(|what| NotHeld { what: what.to_string(), why: reason(what) }).collect(),
        network: if limited { network.into() } else { String::new() },
        verify_network: if limited && differs { network_name(verification).into() } else { String::new() },
        withheld,
        strict: deps.settings.mode == Mode::Strict,
        no_layers: !deps.layers,
        notes: deps.worth_saying(&held.notes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_run_is_no_wider_than_it_began() {
        use NetworkRule::{Hosts, Off, Open};
        let given = |network: &str, verify: &str| SandboxGiven {
            network: network.into(),
            verify_network: verify.into(),
            ..SandboxGiven::default()
        };
        for (begun, now, expected) in [
            (given("off", ""), Open, (Off, Off)),
            (given("hosts", "off"), Open, (Hosts, Off)),
            (given("open", "off"), Open, (Open, Off)),
            (given("open", ""), Open, (Open, Open)),
            (given("open", ""), Off, (Off, Off)),
            (given("", ""), Hosts, (Hosts, Hosts)),
        ] {
            let settings = as_begun(Settings { network: now, ..Settings::default() }, &begun);
            let found = (settings.agent_network(), settings.verification_network());
            assert_eq!(found, expected, "{begun:?} {now:?}");
            assert_eq!(settings.mode, Mode::Auto);
        }
        let strict = SandboxGiven { strict: true, ..given("hosts", "off") };
        assert_eq!(as_begun(Settings::default(), &strict).mode, Mode::Strict);
    }
}
