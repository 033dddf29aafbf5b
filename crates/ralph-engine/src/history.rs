//! Estimates a run from earlier ones of the same agent, model and skill in the same workspace.

use crate::rows::accounts;
use ralph_rules::account::RunAccount;
use ralph_rules::estimate::Estimate;
use ralph_rules::record::AgentChoice;
use ralph_store::{AccountFilter, Store};

/// Only the latest runs: what a repository was like long ago says little.
const RUNS: u32 = 50;

/// What earlier runs took; `None` if there were none, or they cannot be read.
pub fn estimate(
    store: &dyn Store,
    workspace: &str,
    agent: &AgentChoice,
    skill: Option<&str>,
) -> Option<Estimate> {
    let filter = AccountFilter {
        workspace: Some(workspace.into()),
        key: Some(RunAccount::key(&agent.name, agent.model.as_deref(), skill)),
        limit: Some(RUNS),
        ..AccountFilter::default()
    };
    Estimate::of(&accounts(store, &filter).ok()?)
}
