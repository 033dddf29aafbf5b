//! What `--dry-run` shows of the agent: its whole command line, what it may do, its limits in time, and what a run is
//! expected to cost.

use super::resolve::Resolved;
use crate::init::found::quoted;
use ralph_agents::{Call, PromptVia};
use ralph_rules::counting::counted;
use ralph_rules::estimate::{DEFAULT, Estimate};
use ralph_rules::money::Micro;
use ralph_rules::objection::span;

/// Stand for texts that are made for each call.
const PROMPT: &str = "PROMPT";
const INSTRUCTIONS: &str = "REPORTING_INSTRUCTIONS";
const SCRATCH: &str = "SCRATCH_DIR";

/// The first call, with placeholders for what is made for each.
fn first_call(resolved: &Resolved, contained: bool) -> Call {
    let agent = &resolved.plan.agent;
    Call {
        prompt: PROMPT.into(),
        system: INSTRUCTIONS.into(),
        model: agent.model.clone(),
        program: Some(agent.program.clone()),
        args: agent.args.clone(),
        budget: Some(resolved.plan.policy.max_cost),
        scratch: SCRATCH.into(),
        prices: resolved.deps.prices.clone(),
        read_only: false,
        contained,
    }
}

/// The program and its arguments; the user's own variables are left out, because they may be keys.
pub fn command(resolved: &Resolved, contained: bool) -> Vec<String> {
    let launch = resolved.deps.agent.agent.launch(&first_call(resolved, contained));
    std::iter::once(launch.program).chain(launch.args).collect()
}

/// The same as a person would type it.
pub fn command_line(resolved: &Resolved, contained: bool) -> String {
    let info = resolved.deps.agent.agent;
    let variables = info.launch(&first_call(resolved, contained)).env;
    let variables = variables.into_iter().map(|(name, value)| format!("{name}={}", quoted(&value)));
    let words = variables.chain(command(resolved, contained).into_iter().map(|word| quoted(&word)));
    let line = words.collect::<Vec<_>>().join(" ");
    if info.prompt == PromptVia::Stdin { format!("{line} < {PROMPT}") } else { line }
}

/// What the agent may do without asking.
pub fn permissions(resolved: &Resolved, contained: bool) -> String {
    let info = resolved.deps.agent.agent;
    let (allowed, call) = (&info.permissions, first_call(resolved, contained));
    if contained && !info.contained.args.is_empty() && !call.sets(info.contained.unless) {
        return "whatever the sandbox allows".into();
    }
    match allowed.defaults.iter().any(|permission| call.sets(permission.unless)) {
        true => "as your own arguments say".into(),
        false => allowed.summary.into(),
    }
}

/// The limits in time.
pub fn times(resolved: &Resolved) -> String {
    let policy = &resolved.plan.policy;
    let run =
        policy.max_time.map_or_else(|| "no limit per run".to_owned(), |max| format!("{} per run", span(max)));
    let (call, idle) =
        (span(resolved.plan.agent.timeout.unwrap_or(policy.timeout)), span(policy.idle_timeout));
    format!(
        "{run}, {call} per call, {idle} without output, {} per verify command",
        span(policy.verify_timeout)
    )
}

/// What a whole run is expected to cost: in dollars, half of the runs and nine in ten.
pub fn expected(resolved: &Resolved) -> Option<[Micro; 2]> {
    let policy = &resolved.plan.policy;
    let Estimate { cost_p50, cost_p90, iterations_p50, iterations_p90, .. } =
        resolved.plan.history.as_ref()?;
    let run = |cost: &Micro, iterations: &u32| {
        let iterations = i64::from((*iterations).min(policy.max_iterations));
        Micro(cost.0.saturating_mul(iterations)).min(policy.max_cost)
    };
    Some([run(cost_p50, iterations_p50), run(cost_p90, iterations_p90)])
}

/// The same in words.
pub fn estimate(resolved: &Resolved) -> String {
    let policy = &resolved.plan.policy;
    match (expected(resolved), &resolved.plan.history) {
        (Some([half, most]), Some(history)) => {
            format!("about {half} for this run, p90 {most} (from {})", counted(history.runs, "run"))
        }
        _ => format!(
            "unknown (no earlier run here); {DEFAULT} is reserved per call, {} is the most this run can cost",
            policy.max_cost
        ),
    }
}
