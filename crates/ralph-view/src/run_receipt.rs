//! The closing receipt: outcome, why, iterations, cost, files, verification, what to do with the work, how to go on.

use crate::fact_text::{money, seconds};
use crate::plain::plain;
use crate::style::Style;
use ralph_engine::outcome::Outcome;
use ralph_rules::ending::Status;
use ralph_rules::record::{Check, CheckOutcome, Verified};
use ralph_rules::state::State;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Names shown.
const NAMES: usize = 8;
/// Lines of changed tests shown.
const DIFF: usize = 40;

/// The receipt of a run that ended so.
pub fn receipt(outcome: &Outcome, state: &State, style: Style) -> String {
    let mut text = String::new();
    let word = match outcome.status {
        Status::Completed if outcome.verification_passed => style.good("COMPLETED, proven"),
        Status::Completed => style.warn("COMPLETED, unverified"),
        Status::Interrupted => style.warn("INTERRUPTED"),
        Status::Aborted | Status::Error => style.bad(format!("STOPPED: {}", outcome.reason)),
    };
    let why = outcome.details.get("why").and_then(|w| w.as_str()).unwrap_or_default();
    let id = outcome.run_id.as_deref().unwrap_or_default();
    let short = id.get(id.len().saturating_sub(8)..).unwrap_or(id);
    let _ = writeln!(text, "{word}");
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11} {}", plain(value));
    };
    row("why", why);
    row("iterations", &iterations(state));
    if let Some(rungs) = rungs(state) {
        row("agents", &rungs);
    }
    row("cost", &cost(outcome, state));
    row("time", &seconds(state.ran));
    row("files", &files(state));
    row("verified", &verified(state));
    if let Some(oracle) = oracle(state) {
        row("tests", &oracle);
    }
    row("contained", "no (sandbox: none)");
    row("run", short);
    text.push('\n');
    if outcome.reason == "ORACLE_CHANGED" {
        text.push_str(&changes(state));
    }
    text.push_str(&next_steps(outcome, state, short, style));
    text
}

fn iterations(state: &State) -> String {
    let max = state.start.as_ref().map_or(0, |s| s.policy.max_iterations);
    format!("{} of at most {max}", state.calls.done)
}

/// Who worked how often, where there is a ladder.
fn rungs(state: &State) -> Option<String> {
    let start = state.start.as_ref().filter(|s| !s.ladder.is_empty())?;
    let line = |(rung, times): (&u32, &u32)| match rung {
        0 => format!("{} {times}×", start.agent.title()),
        n => format!("rung {n}, {} {times}×", start.rung(*n).title()),
    };
    Some(state.ladder.used.iter().map(line).collect::<Vec<_>>().join("; "))
}

/// Agents that worked and show their cost only at the end of a call.
fn blind(state: &State) -> String {
    let Some(start) = &state.start else { return String::new() };
    let used = state.ladder.used.keys().map(|rung| start.rung(*rung)).filter(|agent| !agent.live_usage);
    let names = used.map(|agent| agent.name.as_str()).collect::<BTreeSet<_>>();
    match names.is_empty() {
        true => String::new(),
        false => {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            format!("; {names} cannot be ended by cost: one call may pass the limit")
        }
    }
}

fn cost(outcome: &Outcome, state: &State) -> String {
    let cap = state.start.as_ref().map(|s| s.policy.max_cost).unwrap_or_default();
    let unknown = match state.budget.unpriced {
        0 => String::new(),
        1 => "; one call's cost is unknown and booked at its reservation".into(),
        n => format!("; the cost of {n} calls is unknown and booked at their reservations"),
    };
    let spent = money(state.budget.spent.0, outcome.cost_is_complete);
    format!("{spent} of at most {cap}{unknown}{}", blind(state))
}

fn files(state: &State) -> String {
    let all = &state.trees.all;
    if all.is_empty() {
        return "none changed".into();
    }
    let names: Vec<&str> = all.iter().take(NAMES).map(String::as_str).collect();
    let more = all.len().saturating_sub(NAMES);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} changed: {}{tail}", all.len(), names.join(", "))
}

fn verified(state: &State) -> String {
    if !state.verifies() {
        return "nothing to verify with (add --verify)".into();
    }
    let Some(verified) = state.checks.shown() else { return "not yet".into() };
    let words = verified.results.iter().map(|r| {
        let how = match r.how {
            CheckOutcome::Passed => "passed",
            CheckOutcome::Failed => "failed",
            CheckOutcome::TimedOut => "did not end in time",
            CheckOutcome::NotRun => "could not be run",
            CheckOutcome::Interrupted => "was interrupted",
        };
        format!("`{}` {how}", r.command)
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match verified.check {
        Check::Baseline => format!("not since the agent worked; before: {words}"),
        _ => words,
    }
}

/// Whether tests changed, and what came of it.
fn oracle(state: &State) -> Option<String> {
    let changed = state.trees.oracle.len();
    let counts = state.checks.last.as_ref().and_then(Verified::counts);
    let counts = counts.map(|c| format!("{} passed, {} failed, {} skipped", c.passed, c.failed, c.skipped));
    let held = match (changed, state.checks.oracle_holds()) {
        (0, _) => None,
        (n, Some(true)) => Some(format!("{n} changed; those of before hold too")),
        (n, Some(false)) => Some(format!("{n} changed; those of before do not hold")),
        (n, None) => Some(format!("{n} changed; those of before were not tried")),
    };
    let flaky = state.checks.flaky.then(|| "flaky".to_owned());
    let words: Vec<String> = [counts, held, flaky].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// What was changed in the tests, line by line.
fn changes(state: &State) -> String {
    let put_back = state.checks.oracle.as_ref().and_then(|verified| verified.oracle.as_ref());
    let diff = put_back.map_or("", |put_back| put_back.diff.as_str());
    let lines = diff.lines().take(DIFF).map(|line| format!("  {}\n", plain(line)));
    let more = diff.lines().count().saturating_sub(DIFF);
    let tail = if more > 0 { format!("  … and {more} lines more\n") } else { String::new() };
    lines.collect::<String>() + &tail + "\n"
}

fn next_steps(outcome: &Outcome, state: &State, short: &str, style: Style) -> String {
    let mut text = String::new();
    let mut line = |command: &str, what: &str| {
        let _ = writeln!(text, "  {}  {what}", style.note(format!("{command:<31}")));
    };
    let base = state.start.as_ref().and_then(|s| s.base.as_deref()).map(|b| b.get(..12).unwrap_or(b));
    if let Some(base) = base.filter(|_| !state.trees.all.is_empty()) {
        line(&format!("git diff {base}"), "see the work, committed or not; new files: git status");
        if outcome.reason != "PROHIBITED_PATH" {
            line("git add -A && git commit", "keep it");
        }
        line("git stash -u", "or put it aside, with all else that is uncommitted");
    }
    match outcome.reason.as_str() {
        "PROHIBITED_PATH" => {
            line(
                "git status --ignored",
                "the protected paths are as the agent left them: this version only detects",
            );
        }
        "ORACLE_CHANGED" => {
            line("ralph undo", "bring the files back as they were before the run");
            line("verify.oracle = \"flag\"", "in your own config.toml, if the task is to change tests");
        }
        "STALL" | "SAME_ERROR_5X" | "PERMISSION_DENIED" | "OUTPUT_DECLINE" => {
            line("ralph circuit reset", "allow new runs here, once the cause is mended");
        }
        "MAX_ITERATIONS" => line("ralph resume --max-iterations N", "go on with a higher limit"),
        "COST_LIMIT" => line("ralph resume --max-cost USD", "go on with a higher limit"),
        "TIME_LIMIT" => line("ralph resume --max-time DUR", "go on with a higher limit"),
        "INTERRUPTED" | "RATE_LIMIT" | "AGENT_UNAVAILABLE" | "DAILY_BUDGET" | "STORE_UNSAFE"
        | "BASELINE_TIMED_OUT" => {
            line(&format!("ralph resume {short}"), "go on from here");
        }
        _ => {}
    }
    line(&format!("ralph explain {short}"), "every decision with its facts");
    text
}
