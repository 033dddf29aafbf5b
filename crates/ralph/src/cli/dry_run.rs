//! `ralph run --dry-run`: what would be run, and the first prompt.

use super::resolve::Resolved;
use crate::plain::{plain, plain_lines};
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
    text
}

/// For a script.
pub fn value(resolved: &Resolved) -> Value {
    let plan = &resolved.plan;
    json!({
        "v": 1, "type": "dry_run", "workspace": plan.workspace, "agent": plan.agent, "policy": plan.policy,
        "verify": plan.verify, "protect": plan.protect, "prompt": plan.prompt, "promptFrom": plan.prompt_from,
        "warnings": resolved.warnings, "preset": resolved.preset.name(),
        "plan": resolved.bound.as_ref().map(|bound| json!({
            "file": bound.file, "done": bound.plan.done, "pending": bound.plan.pending,
            "optional": bound.plan.optional, "next": bound.plan.next,
        })),
    })
}
