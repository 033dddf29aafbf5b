//! The closing receipt: outcome, reason, iterations, cost, files, verification, and the commands that come next.

use crate::fact_text::{clock_words, money, seconds};
use crate::next_steps::next_steps;
use crate::plain::plain;
use crate::protected_rows::protected_rows;
use crate::refused_hosts::refused_hosts;
use crate::run_state::short_id;
use crate::style::Style;
use ralph_engine::outcome::Outcome;
use ralph_engine::receipt::ReceiptSkill;
use ralph_engine::receipt::{session_of, session_words};
use ralph_rules::ending::{Reason, Status};
use ralph_rules::grade::Grade;
use ralph_rules::record::{Check, CheckOutcome, SignSeen, Verified};
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
    let word = ending(outcome, style);
    let why = outcome.details.get("why").and_then(|w| w.as_str()).unwrap_or_default();
    let short = short_id(outcome.run_id.as_deref().unwrap_or_default());
    let _ = writeln!(text, "{word}");
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11} {}", plain(value));
    };
    row("why", why);
    row("iterations", &iterations(state));
    for (name, value) in stories(state) {
        row(name, &value);
    }
    if let Some(rungs) = rungs(state) {
        row("agents", &rungs);
    }
    row("cost", &cost(outcome, state));
    row("time", &seconds(state.ran));
    row("files", &files(state));
    for (name, value) in protected_rows(state) {
        row(name, &value);
    }
    row("verified", &verified(state));
    if let Some(grade) = outcome.proof {
        row("proof", &format!("{grade}: {}", grade.meaning()));
    }
    for (name, value) in ReceiptSkill::of(state).iter().flat_map(ReceiptSkill::rows) {
        row(name, &value);
    }
    for sign in &signs(state) {
        row("look at", sign);
    }
    if let Some(oracle) = oracle(state) {
        row("tests", &oracle);
    }
    if let Some(behind) = state.clock_behind {
        row("clock", &clock_words(behind));
    }
    if let Some(undo) = undo(state) {
        row("undo", &undo);
    }
    row("sandbox", &sandbox(outcome, state));
    for hosts in refused_hosts(&state.sandbox.hosts_refused) {
        row("refused", &hosts);
    }
    for note in state.start.iter().filter_map(|start| start.contained.as_ref()).flat_map(|it| &it.notes) {
        row("not held", note);
    }
    if let Some(client) = session_of(state) {
        row("session", &session_words(&client));
    }
    row("run", short);
    unrecorded(outcome).into_iter().for_each(|words| row("recorded", words));
    text.push('\n');
    let revised = outcome.proof == Some(Grade::Revised) && outcome.status != Status::Completed;
    if revised || outcome.reason == Reason::OracleChanged.name() {
        text.push_str(&changes(state));
    }
    text.push_str(&next_steps(outcome, state, short, style));
    text
}

/// The ending in a word or two.
fn ending(outcome: &Outcome, style: Style) -> String {
    match outcome.status {
        Status::Completed => completed(outcome, style),
        Status::Interrupted => style.warn("INTERRUPTED"),
        Status::Aborted if outcome.reason == Reason::NeedsReview.name() => {
            let grade = outcome.proof.map(|grade| format!(", {grade}")).unwrap_or_default();
            style.warn(format!("NEEDS_REVIEW{grade}"))
        }
        Status::Aborted | Status::Error => style.bad(format!("STOPPED: {}", outcome.reason)),
    }
}

/// What contained the run; that nothing did is a warning.
fn sandbox(outcome: &Outcome, state: &State) -> String {
    let given = state.start.as_ref().and_then(|start| start.contained.as_ref());
    match given.is_some_and(|given| !given.contains()) {
        true => format!("{}: the agent could do anything you can", outcome.sandbox),
        false => outcome.sandbox.clone(),
    }
}

/// What a run without a record cannot be used for.
fn unrecorded(outcome: &Outcome) -> Option<&'static str> {
    (!outcome.recorded).then_some("no: it cannot be resumed, explained or undone")
}

/// A completed run always says what was shown.
fn completed(outcome: &Outcome, style: Style) -> String {
    match outcome.proof {
        Some(grade) if grade.shows_work() => style.good(format!("COMPLETED, {grade}")),
        Some(Grade::Unbroken) => style.warn("COMPLETED, unbroken only"),
        Some(grade) => style.warn(format!("COMPLETED, {grade}")),
        // Journals of older rules have no grades.
        None if outcome.verification_passed => style.good("COMPLETED, verified"),
        None => style.warn("COMPLETED, unverified"),
    }
}

/// Lines of the work that deal with the check instead of the task.
fn signs(state: &State) -> Vec<String> {
    let signs = state.proof.latest().map_or(&[][..], |compared| compared.signs.as_slice());
    let line = |s: &SignSeen| format!("{}:{}: the work {}: {}", s.path, s.line, s.what, s.text);
    signs.iter().take(NAMES).map(line).collect()
}

fn iterations(state: &State) -> String {
    let max = state.start.as_ref().map_or(0, |s| s.policy.max_iterations);
    format!("{} of {max}", state.calls.done)
}

/// What became of the stories of the plan.
fn stories(state: &State) -> Vec<(&'static str, String)> {
    let stories = &state.stories;
    let done = stories.granted.iter().map(|story| format!("{}: {}", story.grant.grade, story.grant.title));
    let mut rows: Vec<(&str, String)> = done.map(|done| ("story done", done)).collect();
    let current = stories.current.iter().filter(|story| !stories.aside.contains_key(&story.key));
    rows.extend(current.map(|story| ("story open", story.title.clone())));
    rows.extend(stories.aside.iter().map(|(key, n)| ("set aside", format!("{key}, after {n} iterations"))));
    rows
}

/// How often each agent worked, where there is a ladder.
fn rungs(state: &State) -> Option<String> {
    let start = state.start.as_ref().filter(|s| !s.ladder.is_empty())?;
    let line = |(rung, times): (&u32, &u32)| match rung {
        0 => format!("{} {times}×", start.agent.title()),
        n if start.rotate => format!("{} {times}×", start.rung(*n).title()),
        n => format!("rung {n}, {} {times}×", start.rung(*n).title()),
    };
    Some(state.ladder.used.iter().map(line).collect::<Vec<_>>().join("; "))
}

/// Names the agents that worked and report their cost only at the end of a call.
fn late_cost(state: &State) -> String {
    let Some(start) = &state.start else { return String::new() };
    let used = state.ladder.used.keys().map(|rung| start.rung(*rung)).filter(|agent| !agent.live_usage);
    let names = used.map(|agent| agent.name.as_str()).collect::<BTreeSet<_>>();
    match names.is_empty() {
        true => String::new(),
        false => {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            format!("; {names} reports cost only at the end, so one call may exceed the limit")
        }
    }
}

fn cost(outcome: &Outcome, state: &State) -> String {
    let cap = state.start.as_ref().map(|s| s.policy.max_cost).unwrap_or_default();
    let unknown = match state.budget.unpriced {
        0 => String::new(),
        1 => "; the cost of 1 call is not known exactly".into(),
        n => format!("; the cost of {n} calls is not known exactly"),
    };
    let spent = money(state.budget.spent.0, outcome.cost_is_complete);
    format!("{spent} of {cap}{unknown}{}", late_cost(state))
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

/// States that `ralph undo` cannot return to.
fn undo(state: &State) -> Option<String> {
    let missing = &state.trees.no_snapshot;
    let (last, why) = missing.last_key_value()?;
    Some(match missing.len() {
        1 => format!("no snapshot before iteration {last}: {why}"),
        n => format!("no snapshot before {n} iterations, the last one {last}: {why}"),
    })
}

fn verified(state: &State) -> String {
    if !state.verifies() && state.stories.is_on() {
        return "each story by its own commands, and by those of the stories before it".into();
    }
    if !state.verifies() {
        return "no verify command: completion cannot be verified (add --verify)".into();
    }
    let Some(verified) = state.checks.shown() else { return "not run".into() };
    let words = verified.results.iter().map(|r| {
        let how = match r.how {
            CheckOutcome::Passed => "passed",
            CheckOutcome::Failed => "failed",
            CheckOutcome::TimedOut => "timed out",
            CheckOutcome::NotRun => "could not be run",
            CheckOutcome::Interrupted => "was interrupted",
        };
        format!("`{}` {how}", r.command)
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match verified.check {
        Check::Baseline => format!("only before the agent worked: {words}"),
        _ => words,
    }
}

/// Whether tests changed, and whether the original ones pass.
fn oracle(state: &State) -> Option<String> {
    let changed = state.proof.latest().map_or(0, |compared| compared.oracle.files);
    let counts = state.checks.last.as_ref().and_then(Verified::counts);
    let counts = counts.map(|c| format!("{} passed, {} failed, {} skipped", c.passed, c.failed, c.skipped));
    let changed = (changed > 0).then(|| match changed {
        1 => "1 test or configuration file changed".to_owned(),
        n => format!("{n} test or configuration files changed"),
    });
    let flaky = state.checks.flaky.then(|| "flaky".to_owned());
    let words: Vec<String> = [counts, changed, flaky].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// What was changed in the tests, line by line.
fn changes(state: &State) -> String {
    let diff = state.proof.latest().map_or("", |compared| compared.oracle_diff.as_str());
    let lines = diff.lines().take(DIFF).map(|line| format!("  {}\n", plain(line)));
    let more = diff.lines().count().saturating_sub(DIFF);
    let tail = if more > 0 { format!("  … and {more} more lines\n") } else { String::new() };
    lines.collect::<String>() + &tail + "\n"
}
