//! `ralph run --dry-run`: what would be run, and the first prompt.

use super::resolve::Resolved;
use crate::plain::{plain, plain_lines};
use ralph_rules::prompt::{Data, template};
use ralph_rules::record::AgentChoice;
use serde_json::{Value, json};
use std::fmt::Write;

/// For a person.
pub fn text(resolved: &Resolved) -> String {
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
        row("if stuck", &format!("rung {}: {} ({}{model})", n + 1, rung.name, rung.program));
    }
    row(
        "limits",
        &format!(
            "{} iterations, {}, {} a day over all runs",
            policy.max_iterations, policy.max_cost, policy.daily_cost
        ),
    );
    row(
        "reserved a call",
        &format!("{} at first (no history is used yet)", policy.estimate.min(policy.max_cost)),
    );
    row("verified by", &if plan.verify.is_empty() { "nothing".into() } else { plan.verify.join(" && ") });
    row("promise", &policy.gate.promise);
    row("preset", resolved.preset.name());
    if let Some(bound) = &resolved.bound {
        row("plan", &bound.words());
    }
    row("protected", &plan.protect.join(" "));
    for warning in &resolved.warnings {
        row("warning", warning);
    }
    let _ =
        writeln!(text, "\nFirst prompt ({}):\n\n{}", plan.prompt_from, plain_lines(plan.prompt.trim_end()));
    let place = if plan.agent.system_prompt { "as a system prompt" } else { "at the end of each prompt" };
    let _ = writeln!(text, "\nHow to report, {place}:\n\n{}", plain_lines(protocol(resolved).trim_end()));
    if plan.prompting.context {
        let _ = writeln!(
            text,
            "\nFrom the second iteration on this follows (an example, of a run that is stuck):\n\n{}",
            plain_lines(example(resolved).trim_end())
        );
    }
    text
}

/// How the agent is told to report.
fn protocol(resolved: &Resolved) -> String {
    let plan = &resolved.plan;
    let data = Data { promise: plan.policy.gate.promise.clone(), ..Data::default() };
    template::render(template::PROTOCOL, &plan.prompting.templates, &data).unwrap_or_default()
}

/// The context section of a made-up run.
fn example(resolved: &Resolved) -> String {
    let [busy, _] = template::examples();
    // The templates were checked with the very same example.
    template::render(template::CONTEXT, &resolved.plan.prompting.templates, &busy).unwrap_or_default()
}

/// For a script.
pub fn value(resolved: &Resolved) -> Value {
    let plan = &resolved.plan;
    let shown = |agent: &AgentChoice| AgentChoice { account: String::new(), ..agent.clone() };
    let ladder: Vec<AgentChoice> = plan.ladder.iter().map(shown).collect();
    json!({
        "v": 1, "type": "dry_run", "workspace": plan.workspace, "agent": shown(&plan.agent), "policy": plan.policy,
        "ladder": ladder, "protocol": protocol(resolved),
        "context": plan.prompting.context.then(|| example(resolved)),
        "templates": plan.prompting.templates, "verify": plan.verify, "protect": plan.protect,
        "prompt": plan.prompt, "promptFrom": plan.prompt_from,
        "warnings": resolved.warnings, "preset": resolved.preset.name(),
        "plan": resolved.bound.as_ref().map(|bound| json!({
            "file": bound.file, "done": bound.plan.done, "pending": bound.plan.pending,
            "optional": bound.plan.optional, "next": bound.plan.next,
        })),
    })
}
