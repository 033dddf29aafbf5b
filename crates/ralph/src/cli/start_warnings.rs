//! What a person should know of a run before it starts and cannot see in its settings.

use super::Here;
use crate::config::Settings;
use crate::init::ignore::repository;
use ralph_engine::protection::odd_in_repository;
use ralph_engine::run_deps::{AgentBinding, RunDeps};
use ralph_rules::estimate::DEFAULT;
use ralph_rules::record::{AgentChoice, ReviewGiven};
use std::collections::BTreeSet;
use std::path::Path;

/// What is odd about the environment and the repository.
pub fn surroundings(here: &Here) -> Vec<String> {
    let odd = odd_in_repository(&here.workspace);
    let odd = odd.iter().map(|odd| format!("git cannot read this repository: {odd}"));
    here.env.strange().into_iter().chain(odd).collect()
}

/// A warning for each agent that cannot be stopped in mid-call by its cost.
pub fn blind(chosen: &AgentChoice, ladder: &[AgentChoice], review: Option<&ReviewGiven>) -> Vec<String> {
    let reviewer = review.map(|review| &review.agent);
    let blind = std::iter::once(chosen)
        .chain(ladder)
        .chain(reviewer)
        .filter(|a| !a.live_usage)
        .map(|a| a.name.as_str());
    let words = |name| {
        format!(
            "`{name}` reports its cost only at the end of a call, if at all: a single call can exceed the limit"
        )
    };
    blind.collect::<BTreeSet<&str>>().into_iter().map(words).collect()
}

/// A warning for each agent whose calls have a cost that nothing will tell.
pub fn unpriced(deps: &RunDeps, chosen: (&AgentChoice, &[AgentChoice], Option<&ReviewGiven>)) -> Vec<String> {
    let (first, ladder, review) = chosen;
    let choices = std::iter::once(first).chain(ladder).chain(review.map(|review| &review.agent));
    let bindings = std::iter::once(&deps.agent).chain(&deps.rungs).chain(&deps.reviewer);
    let warnings = choices.zip(bindings).filter_map(|(choice, binding)| unpriced_one(choice, binding, deps));
    warnings.collect::<BTreeSet<String>>().into_iter().collect()
}

/// The agent reports neither its cost nor its model, or a model whose price nobody knows.
fn unpriced_one(chosen: &AgentChoice, binding: &AgentBinding, deps: &RunDeps) -> Option<String> {
    let (info, name) = (binding.agent, &chosen.name);
    if info.abilities.cost || info.model.configured.is_none() {
        return None;
    }
    let counted = format!("each call counts as the {DEFAULT} estimate");
    match chosen.model.as_ref().or(binding.configured_model.as_ref()) {
        Some(model) if deps.prices.find(model).is_some() => None,
        Some(model) => Some(format!(
            "the price of `{model}` is not known, so {counted} (set it in your config.toml: [prices.\"{model}\"])"
        )),
        // It is read after the first call.
        None if info.model.session_log.is_some() => None,
        None => Some(format!("the model of `{name}` is not known, so {counted} (name it: --model MODEL)")),
    }
}

/// A warning if the workspace is only a part of its repository.
pub fn part_of_repository(workspace: &Path) -> Option<String> {
    let root = repository(workspace).filter(|root| *root != workspace)?;
    let root = root.display();
    Some(format!(
        "this is a part of the repository {root}: changes elsewhere in it are compared, but `ralph undo` does not restore \
         them (-C {root} works on all of it)"
    ))
}

/// Warnings if nothing verifies the work.
pub fn unverified(settings: &Settings, reviewed: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if settings.verify.is_empty() {
        warnings.push(
            "no verify command: completion cannot be verified (add --verify 'your test command')".to_owned(),
        );
    }
    if settings.verify.is_empty() && reviewed {
        warnings.push("no verify command: the reviewer is not asked (review.agent)".into());
    }
    warnings
}
