//! The ladder: agents to switch to while the run makes no progress. Every rung is found on this machine before the run
//! starts; what a rung omits stays as it was: the run's agent, that agent's model and arguments.

use super::run::Args;
use super::{Here, agent};
use crate::config::{Config, Rung};
use crate::problem::Problem;
use ralph_rules::record::AgentChoice;

/// The rungs above the run's agent.
pub fn ladder(
    base: &AgentChoice,
    args: &Args,
    config: &Config,
    here: &Here,
) -> Result<Vec<AgentChoice>, Problem> {
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
    let found = agent::found(name, model, rest, own.command, here)?;
    let found = agent::with_account(found, &config.settings);
    let timeout = own.timeout.filter(|_| !same && !config.is_typed("run.timeout"));
    Ok(AgentChoice { timeout, ..found })
}
