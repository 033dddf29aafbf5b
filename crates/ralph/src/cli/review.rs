//! The reviewer of a run: found on this machine before the run starts.

use super::{Here, agent};
use crate::config::Config;
use crate::problem::Problem;
use ralph_rules::record::{AgentChoice, ReviewGiven};

/// Who reviews finished work, if `review.agent` is set. What was typed after `--` is meant for the agent that works.
pub fn reviewer(config: &Config, here: &Here) -> Result<Option<ReviewGiven>, Problem> {
    let settings = &config.settings;
    let Some(name) = &settings.review.agent else { return Ok(None) };
    let own = settings.agents.get(name).cloned().unwrap_or_default();
    let model = settings.review.model.clone().or(own.model);
    let found = agent::found(name, model, own.args, own.command, (settings, here))
        .map_err(|problem| Problem { message: format!("review.agent: {}", problem.message), ..problem })?;
    let found = agent::with_account(found, settings);
    let timeout = own.timeout.filter(|_| !config.is_typed("run.timeout"));
    Ok(Some(ReviewGiven { agent: AgentChoice { timeout, ..found }, rounds: settings.review.rounds }))
}
