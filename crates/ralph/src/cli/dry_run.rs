//! `ralph run --dry-run`: the resolved settings and the first prompt.

use super::dry_run_agent::{command, command_line, estimate as estimate_words, expected, permissions, times};
use super::resolve::Resolved;
use crate::plain::{plain, plain_lines};
use ralph_rules::counting::counted;
use ralph_rules::estimate::{DEFAULT, Estimate};
use ralph_rules::prompt::{Data, skill_text, template};
use ralph_rules::record::{AgentChoice, SandboxGiven};
use serde_json::{Value, json};
use std::fmt::Write;

/// As text.
pub fn text(resolved: &Resolved, sandbox: &SandboxGiven) -> String {
    let plan = &resolved.plan;
    let policy = &plan.policy;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<15} {}", plain(value));
    };
    row("workspace", &plan.workspace.display().to_string());
    let model = plan.agent.model.as_deref().map(|m| format!(", {m}")).unwrap_or_default();
    row("agent", &format!("{} ({}{model})", plan.agent.name, plan.agent.program));
    for (n, rung) in plan.ladder.iter().enumerate() {
        let model = rung.model.as_deref().map(|m| format!(", {m}")).unwrap_or_default();
        let who = format!("{} ({}{model})", rung.name, rung.program);
        match plan.rotate {
            true => row("then", &who),
            false => row("ladder", &format!("rung {}: {who}", n + 1)),
        }
    }
    if let Some(review) = &plan.review {
        row("review", &format!("{}, at most {} in this run", review.agent.title(), review.rounds));
    }
    if let Some(skill) = &plan.skill {
        let sets = match resolved.from_skill.is_empty() {
            true => String::new(),
            false => format!("; sets {}", resolved.from_skill.join(", ")),
        };
        row("skill", &format!("{} ({}){sets}", skill.name, skill.from));
    }
    row("command", &command_line(resolved, sandbox.contains()));
    row("permissions", &permissions(resolved, sandbox.contains()));
    row("sandbox", &sandbox.words());
    row(
        "limits",
        &format!(
            "{}, {} per run, {} per day over all runs",
            counted(policy.max_iterations, "iteration"),
            policy.max_cost,
            policy.daily_cost
        ),
    );
    row("time limits", &times(resolved));
    if let Some(calls) = policy.calls_per_hour {
        row("rate limit", &format!("{} per hour over all runs", counted(calls, "call")));
    }
    row("estimate", &estimate_words(resolved));
    for (name, value) in usual(resolved) {
        row(name, &value);
    }
    row("reserved", &format!("{} for the first call", policy.estimate.min(policy.max_cost)));
    row("verify", &if plan.verify.is_empty() { "none".into() } else { plan.verify.join(" && ") });
    row("promise", &policy.gate.promise);
    row("preset", resolved.preset.name());
    if let Some(bound) = &resolved.bound {
        row("plan", &bound.words());
    }
    row("protected", &plan.protect.join(" "));
    for warning in &resolved.warnings {
        row("warning", warning);
    }
    text + &prompts(resolved)
}

/// What the agent is told.
fn prompts(resolved: &Resolved) -> String {
    let plan = &resolved.plan;
    let mut text = String::new();
    let _ =
        writeln!(text, "\nFirst prompt ({}):\n\n{}", plan.prompt_from, plain_lines(plan.prompt.trim_end()));
    let place = if plan.agent.system_prompt { "in the system prompt" } else { "at the end of each prompt" };
    let _ = writeln!(
        text,
        "\nReporting instructions, {place}:\n\n{}",
        plain_lines(protocol(resolved).trim_end())
    );
    if plan.prompting.context {
        let _ = writeln!(
            text,
            "\nAppended from the second iteration on (example of a run without progress):\n\n{}",
            plain_lines(example(resolved).trim_end())
        );
    }
    text
}

/// What earlier runs cost, and how many there were.
fn usual(resolved: &Resolved) -> Vec<(&'static str, String)> {
    let Some(found) = &resolved.plan.history else { return Vec::new() };
    let Estimate { runs, cost_p50, cost_p90, iterations_p50, iterations_p90, .. } = found;
    let (length, from) = (counted(*iterations_p50, "iteration"), counted(*runs, "run"));
    vec![
        ("typical cost", format!("{cost_p50} per iteration, p90 {cost_p90} (from {from})")),
        ("typical length", format!("{length}, p90 {iterations_p90}")),
    ]
}

/// How the agent is told to report.
fn protocol(resolved: &Resolved) -> String {
    let plan = &resolved.plan;
    let data = Data { promise: plan.policy.gate.promise.clone(), ..Data::default() };
    let text = template::render(template::PROTOCOL, &plan.prompting.templates, &data).unwrap_or_default();
    text + &plan.skill.as_ref().map(skill_text).unwrap_or_default()
}

/// The context section of a made-up run.
fn example(resolved: &Resolved) -> String {
    let [busy, _] = template::examples();
    // The templates were checked with the very same example.
    template::render(template::CONTEXT, &resolved.plan.prompting.templates, &busy).unwrap_or_default()
}

/// Estimates from earlier runs, for scripts; `runs` is 0 where the default is used.
fn estimate(resolved: &Resolved) -> Value {
    let reserved = resolved.plan.policy.estimate.min(resolved.plan.policy.max_cost).usd();
    match &resolved.plan.history {
        None => json!({ "runs": 0, "iterations": 0, "reservedUSD": reserved, "defaultUSD": DEFAULT.usd() }),
        Some(found) => json!({
            "runs": found.runs, "iterations": found.iterations, "reservedUSD": reserved,
            "costPerIterationUSD": { "p50": found.cost_p50.usd(), "p90": found.cost_p90.usd() },
            "iterationsPerRun": { "p50": found.iterations_p50, "p90": found.iterations_p90 },
            "costPerRunUSD": expected(resolved).map(|[p50, p90]| json!({ "p50": p50.usd(), "p90": p90.usd() })),
        }),
    }
}

/// As JSON.
pub fn value(resolved: &Resolved, sandbox: &SandboxGiven) -> Value {
    let plan = &resolved.plan;
    let shown = |agent: &AgentChoice| AgentChoice { account: String::new(), ..agent.clone() };
    let ladder: Vec<AgentChoice> = plan.ladder.iter().map(shown).collect();
    json!({
        "v": 1, "type": "dry_run", "workspace": plan.workspace, "agent": shown(&plan.agent), "policy": plan.policy,
        "command": command(resolved, sandbox.contains()), "permissions": permissions(resolved, sandbox.contains()), "sandbox": sandbox.words(),
        "ladder": ladder, "reviewer": plan.review.as_ref().map(|review| shown(&review.agent)), "protocol": protocol(resolved),
        "context": plan.prompting.context.then(|| example(resolved)),
        "templates": plan.prompting.templates, "verify": plan.verify, "protect": plan.protect,
        "prompt": plan.prompt, "promptFrom": plan.prompt_from,
        "warnings": resolved.warnings, "preset": resolved.preset.name(),
        "estimate": estimate(resolved),
        "plan": resolved.bound.as_ref().map(|bound| json!({
            "file": bound.file, "done": bound.plan.done, "pending": bound.plan.pending,
            "optional": bound.plan.optional, "next": bound.plan.next,
        })),
        "skill": plan.skill.as_ref().map(|skill| json!({
            "name": skill.name, "hash": skill.hash, "from": skill.from, "criteria": skill.criteria,
            "sets": resolved.from_skill,
        })),
    })
}
