//! The ladder: agents to switch to while the run makes no progress. Every rung is found on this machine before the run
//! starts; what a rung omits stays as it was: the run's agent, that agent's model and arguments. Agents that take turns
//! (agent.rotate) are found the same way.

use super::run::Args;
use super::{Here, agent};
use crate::config::{Config, Rung, Setting};
use crate::problem::{Code, Problem};
use ralph_rules::record::AgentChoice;

/// The agents that take turns; none if one agent works.
pub fn rotation(config: &Config) -> Result<&[String], Problem> {
    let names = config.settings.rotate.as_slice();
    if names.is_empty() || config.is_typed("agent.name") {
        return Ok(&[]);
    }
    let is_rung = |row: &&Setting| row.name.starts_with("ladder.") && !row.said.is_empty();
    if let Some(rung) = config.rows.iter().find(is_rung) {
        let rotate = config.setting("agent.rotate").map(|setting| setting.from).unwrap_or_default();
        let message =
            format!("agent.rotate ({rotate}) and [[ladder]] ({}) cannot be used together", rung.from);
        return Err(Problem::new(Code::Config, message)
            .hint("remove one of them: agents take turns, or a stuck run climbs to another agent"));
    }
    Ok(names)
}

/// The agent that works first.
pub fn first(args: &Args, config: &Config, here: &Here) -> Result<AgentChoice, Problem> {
    let settings = &config.settings;
    let Some(name) = rotation(config)?.first() else { return agent::choose(&args.rest, settings, here) };
    let own = settings.agents.get(name).cloned().unwrap_or_default();
    let model = own.model.or_else(|| settings.model.clone().filter(|_| *name == settings.agent));
    let mut chosen = settings.clone();
    (chosen.agent, chosen.model) = (name.clone(), model);
    let found = agent::choose(&args.rest, &chosen, here).map_err(|problem| in_rotation(name, problem))?;
    let timeout = own.timeout.filter(|_| !config.is_typed("run.timeout"));
    Ok(AgentChoice { timeout, ..found })
}

fn in_rotation(name: &str, problem: Problem) -> Problem {
    Problem { message: format!("{name} in agent.rotate: {}", problem.message), ..problem }
}

/// The rungs above the run's agent, or those that take turns with it.
pub fn ladder(
    base: &AgentChoice,
    args: &Args,
    config: &Config,
    here: &Here,
) -> Result<Vec<AgentChoice>, Problem> {
    let turns = rotation(config)?;
    if !turns.is_empty() {
        let next = |name: &String| {
            let rung = Rung { agent: Some(name.clone()), ..Rung::default() };
            climb(&rung, base, args, config, here).map_err(|problem| in_rotation(name, problem))
        };
        return turns.iter().skip(1).map(next).collect();
    }
    let found = config.settings.ladder.iter().map(|(n, rung)| {
        climb(rung, base, args, config, here).map_err(|problem| Problem {
            message: format!("rung {n} of the ladder: {}", problem.message),
            ..problem
        })
    });
    found.collect()
}

fn climb(
    rung: &Rung,
    base: &AgentChoice,
    args: &Args,
    config: &Config,
    here: &Here,
) -> Result<AgentChoice, Problem> {
    let name = rung.agent.as_deref().unwrap_or(&base.name);
    let same = name == base.name;
    let own = config.settings.agents.get(name).cloned().unwrap_or_default();
    let model = match rung.model.clone() {
        None if same => base.model.clone(),
        None => own.model,
        chosen => chosen,
    };
    // What was typed after -- is meant for the run's agent; another one would not know it.
    let typed = if same { args.rest.as_slice() } else { &[] };
    let rest = own.args.iter().chain(typed).chain(&rung.args).cloned().collect();
    let found = agent::found(name, model, rest, own.command, (&config.settings, here))?;
    let found = agent::with_account(found, &config.settings);
    let timeout = own.timeout.filter(|_| !same && !config.is_typed("run.timeout"));
    Ok(AgentChoice { timeout, ..found })
}
