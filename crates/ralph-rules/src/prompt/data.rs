//! The data templates can use: facts of a run, each with its own size limit, so that no prompt grows with the work. Users
//! write these names in their templates, so they must not change.

use super::review::ReviewFacts;
use super::{head, tail};
use crate::breaker::{Breaker, breaker};
use crate::failure::Class;
use crate::objection::Objection;
use crate::record::{CheckOutcome, RunStarted, Verified};
use crate::state::IterationSummary;
use crate::state::State;
use serde::Serialize;

/// Maximum evidence in one prompt, in bytes.
pub const EVIDENCE_BYTES: usize = 6 * 1024;
/// File names shown.
const NAMES: usize = 12;
/// Commits shown.
const COMMITS: usize = 5;
/// Open tasks shown.
const TASKS: usize = 10;
/// Length of one shown line.
pub(super) const LINE: usize = 200;

/// Everything a template may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, clippy::struct_excessive_bools)] // names and meaning are those of the documentation of templates
pub struct Data {
    pub iteration: u32,
    pub max_iterations: u32,
    pub attempt: u32,
    pub files: Files,
    pub verification: Option<Verification>,
    pub last_error: Option<LastError>,
    pub commits: Vec<String>,
    pub remaining: Remaining,
    pub objections: Vec<Said>,
    pub asks: bool,
    pub breaker: &'static str,
    pub half_open: bool,
    pub stuck: bool,
    pub tried: Vec<IterationSummary>,
    pub rung: u32,
    pub agent: String,
    pub model: Option<String>,
    pub short: bool,
    pub promise: String,
    pub review: ReviewFacts,
}

/// Files that the last call changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Files {
    pub count: u32,
    pub names: Vec<String>,
    pub more: bool,
}

/// The latest verification.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Verification {
    pub passed: bool,
    pub failing: Vec<Failing>,
}

/// A command that did not pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Failing {
    pub command: String,
    pub said: String,
    pub tail: String,
    pub fence: String,
}

/// The error the last iteration ended with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct LastError {
    pub text: String,
    pub times: u32,
}

/// Open tasks of the bound plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Remaining {
    pub file: String,
    pub count: u32,
    pub tasks: Vec<String>,
}

/// An objection in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Said {
    pub code: String,
    pub text: String,
}

/// The facts of a run before its next call.
pub fn data(state: &State, start: &RunStarted) -> Data {
    let agent = start.rung(state.ladder.rung);
    let breaker = breaker(state, &start.policy);
    // The last call's context was too long: keep only what is essential.
    let short = state.faults.last.as_ref().is_some_and(|f| f.class == Class::ContextTooLong);
    let trees = &state.trees;
    Data {
        iteration: state.calls.done + 1,
        max_iterations: start.policy.max_iterations,
        attempt: state.calls.grants + 1,
        files: Files {
            count: trees.files,
            names: cut(&trees.changed, NAMES),
            more: trees.changed.len() > NAMES || trees.files as usize > trees.changed.len(),
        },
        verification: state.checks.shown().map(|verified| verification(verified, short)),
        last_error: last_error(state),
        commits: if short { Vec::new() } else { cut(&trees.commits, COMMITS) },
        remaining: Remaining {
            file: head(&state.tasks.file, LINE),
            count: state.tasks.pending().unwrap_or(0),
            tasks: cut(state.tasks.remaining(), if short { 1 } else { TASKS }),
        },
        objections: objections(state),
        asks: state.claim.asks,
        breaker: breaker.name(),
        half_open: breaker == Breaker::HalfOpen && !short,
        stuck: state.repeat.stuck(&start.policy).is_some() && !short,
        tried: state.recent.last.clone(),
        rung: state.ladder.rung,
        agent: agent.name.clone(),
        model: agent.model.clone(),
        short,
        promise: start.policy.gate.promise.clone(),
        review: ReviewFacts::default(),
    }
}

fn cut(items: &[String], most: usize) -> Vec<String> {
    items.iter().take(most).map(|item| head(item, LINE)).collect()
}

fn verification(verified: &Verified, short: bool) -> Verification {
    let failing: Vec<_> = verified.results.iter().filter(|r| r.how != CheckOutcome::Passed).collect();
    let room = if short { 0 } else { EVIDENCE_BYTES / failing.len().max(1) };
    let failing = failing.into_iter().map(|result| {
        let objection = Objection::VerificationFailed {
            command: result.command.clone(),
            how: result.how,
            exit: result.exit,
            claimed: false,
        };
        let end = tail(&result.tail, room).trim_end();
        Failing {
            command: result.command.clone(),
            said: objection.say(),
            tail: if end.trim().is_empty() { String::new() } else { end.into() },
            fence: fence(end),
        }
    });
    let failing: Vec<Failing> = failing.collect();
    Verification { passed: failing.is_empty(), failing }
}

/// A fence longer than any in the text, so that output cannot break out of it.
pub(super) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn last_error(state: &State) -> Option<LastError> {
    if let Some(fault) = &state.faults.last {
        return Some(LastError { text: head(&fault.message, LINE), times: state.faults.running });
    }
    let streak = state.repeat.longest();
    let error = streak.error.as_ref()?;
    Some(LastError { text: head(&error.head, LINE), times: streak.running })
}

/// Verification is shown with its output instead; cost and escalation do not concern the agent.
fn objections(state: &State) -> Vec<Said> {
    let shown = state.objections.iter().filter(|o| {
        !matches!(
            o,
            Objection::VerificationFailed { .. }
                | Objection::CostNearly { .. }
                | Objection::Escalated { .. }
                | Objection::Deescalated { .. }
        )
    });
    shown.flat_map(said).collect()
}

/// An objection in one line; a reviewer's findings are one line each.
fn said(objection: &Objection) -> Vec<Said> {
    let line = |text: &str| Said { code: objection.code(), text: head(text, LINE * 2) };
    match objection {
        Objection::ReviewObjects { agent, findings, .. } => {
            let first = format!("a reviewer ({agent}) read the change and asks for changes");
            std::iter::once(line(&first))
                .chain(findings.iter().map(|f| line(&format!("the reviewer: {f}"))))
                .collect()
        }
        other => vec![line(&other.say())],
    }
}
