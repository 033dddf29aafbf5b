//! The advice for a person: the verdict and why, the four conditions, what to type next.

use super::conditions::{Advice, Limits, Scoped, Verifiable};
use crate::cli::runs;
use crate::plain::plain;
use crate::style::Style;
use ralph_rules::advice::{Level, Risk, Verdict};
use ralph_rules::counting::counted;
use std::fmt::Write;

/// As text.
pub fn text(advice: &Advice, style: Style) -> String {
    let word = match advice.verdict {
        Verdict::Loop => style.good("loop"),
        Verdict::Once => style.warn("once"),
        Verdict::Person => style.bad("person"),
    };
    let mut text = format!("{word}: {}\n\n", plain(&advice.why.join("; ")));
    let mut row = |met: Option<bool>, name: &str, value: &str| {
        let mark = match met {
            Some(true) => style.good("✓"),
            Some(false) => style.warn("✗"),
            None => style.faint("-"),
        };
        let _ = writeln!(text, "  {mark} {name:<11} {}", plain(value));
    };
    row(Some(advice.verifiable.met), "verifiable", &verifiable(&advice.verifiable));
    row(Some(advice.scoped.met), "scoped", &scoped(&advice.scoped));
    row(Some(advice.risk.met), "risk", &risk(&advice.risk.risk));
    let skill = advice.skill.name.as_deref().map_or_else(|| "none".into(), |n| format!("{n} (--skill {n})"));
    row(advice.skill.met.then_some(true), "skill", &skill);
    let _ = write!(text, "\n{}", next(advice, style));
    text
}

fn verifiable(found: &Verifiable) -> String {
    if let Some(detected) = found.detected.first().filter(|_| !found.met) {
        return format!("no verify command; `{detected}` was detected: add --verify '{detected}'");
    }
    let commands: Vec<String> = found.commands.iter().map(|command| format!("`{command}`")).collect();
    let state = match (found.state, &found.seen_in) {
        (Some(state), Some(run)) => format!(" ({state} in run {})", runs::short(run)),
        (Some(state), None) => format!(" ({state} now)"),
        (None, _) => String::new(),
    };
    match commands.is_empty() {
        true => "no verify command; add --verify 'your test command'".into(),
        false => format!("{}{state}", commands.join(" && ")),
    }
}

fn scoped(found: &Scoped) -> String {
    let said =
        |words: &[String]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let mut text = found.kind.name().to_owned();
    if !found.kind_words.is_empty() {
        let _ = write!(text, " ({})", said(&found.kind_words));
    }
    if !found.targets.is_empty() {
        let _ = write!(text, ", about {}", found.targets.join(", "));
    }
    if !found.vague.is_empty() {
        let _ = write!(text, ", vague: {}", said(&found.vague));
    }
    text
}

fn risk(risk: &Risk) -> String {
    let words = risk.words.iter().map(|word| format!("\"{word}\""));
    let decided: Vec<String> = words.chain(risk.paths.iter().cloned()).collect();
    match decided.is_empty() {
        true => risk.level.name().into(),
        false => format!("{} ({})", risk.level.name(), decided.join(", ")),
    }
}

/// What to do with it.
fn next(advice: &Advice, style: Style) -> String {
    let line = |command: &str, what: &str| format!("  {}  {what}\n", style.note(command));
    let flags = |limits: &Limits| {
        format!("ralph run --max-iterations {} --max-cost {:.2}", limits.max_iterations, limits.max_cost)
    };
    let from = |limits: &Limits| match limits.from {
        "history" => format!("p95 of {} here", counted(limits.runs, "completed run")),
        "config" => "the limits that are set".into(),
        _ => "limits for a first run".into(),
    };
    match (advice.verdict, &advice.limits) {
        (Verdict::Loop, Some(limits)) => line(&flags(limits), &from(limits)),
        (Verdict::Once, Some(limits)) => {
            let how = match (advice.verifiable.met, advice.scoped.vague.is_empty()) {
                (_, false) => "  To loop, name the files and say what a command can measure.\n",
                (false, true) => "  To loop, add a verify command.\n",
                _ => "",
            };
            line(&flags(limits), "one iteration") + how
        }
        _ if advice.risk.risk.level == Level::Critical => {
            "  Do it yourself, or reword the task to ask only for changes in the repository.\n".into()
        }
        _ => "  Work with the agent interactively, or run it and review every change (ralph diff).\n".into(),
    }
}
