//! The ladder: who works where the run is stuck. Every rung is found on this machine before the run begins; what a rung
//! leaves out is as it was: the run's agent, that agent's model and arguments.

use super::run::Args;
use super::{Here, agent};
use crate::config::{Layers, Rung};
use crate::problem::{Code, Problem};
use ralph_rules::record::AgentChoice;

/// A ladder longer than this is a mistake: no run gets so far.
const MOST: usize = 10;

/// The rungs above the run's agent.
pub fn ladder(
    base: &AgentChoice,
    args: &Args,
    layers: &Layers,
    here: &Here,
) -> Result<Vec<AgentChoice>, Problem> {
    let rungs = layers.ladder();
    if rungs.len() > MOST {
        return Err(Problem::new(Code::Config, format!("the ladder has {} rungs", rungs.len())).hint(
            format!("leave at most {MOST} [[ladder]] entries: each costs an iteration when it is tried"),
        ));
    }
    let found = rungs.iter().enumerate().map(|(n, rung)| {
        climb(rung, base, args, layers, here).map_err(|problem| Problem {
            message: format!("rung {} of the ladder: {}", n + 1, problem.message),
            ..problem
        })
    });
    found.collect()
}

fn climb(
    rung: &Rung,
    base: &AgentChoice,
    args: &Args,
    layers: &Layers,
    here: &Here,
) -> Result<AgentChoice, Problem> {
    let name = rung.agent.as_deref().unwrap_or(&base.name);
    let same = name == base.name;
    let over = layers.agent(name);
    let model = match rung.model.clone() {
        None if same => base.model.clone(),
        None => over.and_then(|o| o.model.clone()),
        chosen => chosen,
    };
    // What was typed after -- is meant for the run's agent, another one would not know it.
    let typed = if same { args.rest.as_slice() } else { &[] };
    let mut rest = over.and_then(|o| o.args.clone()).unwrap_or_default();
    rest.extend(typed.iter().chain(&rung.args).cloned());
    let found = agent::found(name, model, rest, over.and_then(|o| o.command.clone()), here)?;
    let found = agent::with_account(found, layers);
    let own = over.and_then(|o| o.timeout).map(|limit| limit.0);
    Ok(AgentChoice { timeout: own.filter(|_| !same && args.timeout.is_none()), ..found })
}
