//! The agent of a run: which one, where its program is, and what the engine needs to run it.

use super::{Here, notify, sandbox};
use crate::config::Settings;
use crate::env::Env;
use crate::problem::{Code, Problem};
use ralph_agents::registry::{self, UnknownAgent};
use ralph_agents::{ModelSources, configured_model};
use ralph_engine::metrics::MetricsPaths;
use ralph_engine::proof::Places;
use ralph_engine::provider;
use ralph_engine::redact::Redactor;
use ralph_engine::run_deps::{AgentBinding, RunDeps};
use ralph_engine::sandbox::SandboxRequest;
use ralph_os::{Links, read_regular};
use ralph_rules::record::{AgentChoice, ReviewGiven};
use ralph_sandbox::policy::Mode;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A larger file is not the settings of an agent.
pub(super) const SETTINGS_FILE: u64 = 1 << 20;

/// The agent that was chosen, found on this machine. `typed` are the arguments after `--`.
pub fn choose(typed: &[String], settings: &Settings, here: &Here) -> Result<AgentChoice, Problem> {
    let own = settings.agents.get(&settings.agent);
    let mut rest = own.map(|own| own.args.clone()).unwrap_or_default();
    rest.extend(typed.iter().cloned());
    let command = own.and_then(|own| own.command.clone());
    let found = found(&settings.agent, settings.model.clone(), rest, command, (settings, here))?;
    Ok(with_account(found, settings))
}

/// Adds the account that its variables name. The scripted agent has none; of `command` only the program is known.
pub fn with_account(agent: AgentChoice, settings: &Settings) -> AgentChoice {
    if agent.name == "sim" {
        return agent;
    }
    let program = (agent.name == "command").then_some(agent.program.as_str());
    let variables = Env::all().into_iter().chain(settings.agent_env(&agent.name));
    AgentChoice { account: provider::account(program, variables), ..agent }
}

/// An agent by name, found on this machine; in a container's image it is looked for when that is tried.
pub fn found(
    name: &str,
    model: Option<String>,
    mut rest: Vec<String>,
    command: Option<String>,
    (settings, here): (&Settings, &Here),
) -> Result<AgentChoice, Problem> {
    let info = registry::find(name).map_err(|e| unknown(&e))?;
    let program = match (name, command) {
        (_, Some(command)) => command,
        ("sim", None) => own_program()?.display().to_string(),
        ("command", None) if rest.is_empty() => {
            return Err(Problem::new(Code::Usage, "--agent command needs a program")
                .hint("name it after --: ralph run --agent command … -- ./my-agent --flag"));
        }
        ("command", None) => rest.remove(0),
        (_, None) => info.program.unwrap_or(name).to_string(),
    };
    let program = match settings.sandbox.mode {
        Mode::Container if program.contains('/') => here.workspace.join(program).display().to_string(),
        Mode::Container => program,
        _ => {
            let found = here.env.which(&program, &here.workspace);
            found.ok_or_else(|| missing(name, &program))?.display().to_string()
        }
    };
    Ok(AgentChoice {
        name: name.into(),
        program,
        model,
        args: rest,
        live_usage: info.abilities.live_usage,
        shows_tool_start: info.abilities.shows_tool_start,
        system_prompt: info.abilities.system_prompt,
        timeout: None,
        allow: info.allow_setting(),
        account: String::new(),
    })
}

/// The problem of a name that no agent has.
pub fn unknown(error: &UnknownAgent) -> Problem {
    let problem = Problem::new(Code::Usage, error.to_string());
    match error {
        UnknownAgent::Unknown { .. } => problem.hint("any program can be one: --agent command … -- PROGRAM"),
        UnknownAgent::NotYet { .. } => problem,
    }
}

/// The problem of a program that is not installed, and how to install it.
pub fn missing(name: &str, program: &str) -> Problem {
    let message = format!("the agent's program `{program}` is not installed or not executable");
    let problem = Problem::new(Code::Unavailable, message);
    let problem = match registry::find(name).ok().filter(|info| info.program == Some(program)) {
        Some(info) => problem.hint(format!("install {}: {}", info.title, info.install())),
        None => problem.hint("check its name and that it is on your PATH"),
    };
    problem.hint("or use another agent: `ralph agents` shows what is installed")
}

/// What the engine needs to run the chosen agent, those on its ladder and the reviewer.
pub fn deps(
    (agent, ladder, review): (&AgentChoice, &[AgentChoice], Option<&ReviewGiven>),
    settings: &Settings,
    redactor: Redactor,
    here: &Here,
) -> Result<RunDeps, Problem> {
    Ok(RunDeps {
        supervisor: own_program()?,
        supervisor_args: vec!["__supervise".into()],
        agent: binding(agent, settings, here)?,
        rungs: ladder.iter().map(|agent| binding(agent, settings, here)).collect::<Result<_, _>>()?,
        reviewer: review.map(|review| binding(&review.agent, settings, here)).transpose()?,
        git: git(here),
        prices: settings.prices(),
        redactor: Arc::new(redactor),
        places: places(here),
        metrics: MetricsPaths::default(),
        notes: notify::maker(settings, here),
        env_remove: Vec::new(),
        end_grace: Duration::from_secs(5),
        final_grace: Duration::from_secs(10),
        version: env!("CARGO_PKG_VERSION").into(),
        sandbox: sandbox_request((agent, ladder, review), settings, here)?,
        session: None,
    })
}

/// The sandbox that is asked for. Without a state directory there can be none, which matters only to those who want one.
fn sandbox_request(
    (agent, ladder, review): (&AgentChoice, &[AgentChoice], Option<&ReviewGiven>),
    settings: &Settings,
    here: &Here,
) -> Result<Option<SandboxRequest>, Problem> {
    let mut request = match (sandbox::request(settings, false, here), settings.sandbox.mode) {
        (Err(_), Mode::Off) => return Ok(None),
        (request, _) => request?,
    };
    let reviewer = review.map(|review| &review.agent);
    for agent in std::iter::once(agent).chain(ladder).chain(reviewer) {
        request.add_commands(std::iter::once(&agent.program).chain(&agent.args).map(String::as_str));
    }
    Ok(Some(request))
}

/// Where runner configuration and Python packages may lie outside the workspace.
pub fn places(here: &Here) -> Places {
    Places {
        home: here.env.home.clone(),
        config_home: here.env.config_home.clone(),
        virtual_env: here.env.virtual_env.clone(),
        path: here.env.path.clone(),
    }
}

/// Git from the path; never one that lies in the workspace, where an agent could put it.
pub fn git(here: &Here) -> Option<PathBuf> {
    let workspace = here.workspace.canonicalize().unwrap_or_else(|_| here.workspace.clone());
    here.env
        .all_of("git")
        .filter_map(|found| found.canonicalize().ok())
        .find(|found| !found.starts_with(&workspace))
}

fn binding(agent: &AgentChoice, settings: &Settings, here: &Here) -> Result<AgentBinding, Problem> {
    let info = registry::find(&agent.name).map_err(|e| unknown(&e))?;
    let own = settings.agent_env(&agent.name);
    let variable = |name: &str| {
        let set = own.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        set.or_else(|| Env::variable(name))
    };
    let home = here.env.home.as_deref();
    let file = |name: &str| {
        let path = home.map_or_else(|| PathBuf::from(name), |home| home.join(name));
        String::from_utf8(read_regular(&path, SETTINGS_FILE, Links::Follow).ok()?).ok()
    };
    let sources = ModelSources { args: &agent.args, variable: &variable, file: &file };
    let records = info.model.session_log.and_then(|log| {
        let moved = variable(log.variable).map(PathBuf::from);
        Some(moved.or_else(|| Some(home?.join(log.directory)))?.join(log.below))
    });
    let configured_model = configured_model(info, &sources);
    let env = own.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Ok(AgentBinding { agent: info, env, configured_model, records })
}

/// ralph's own program, which supervises what it runs.
pub fn own_program() -> Result<PathBuf, Problem> {
    std::env::current_exe()
        .map_err(|e| Problem::new(Code::Bug, "ralph cannot find its own program").cause(&e))
}
