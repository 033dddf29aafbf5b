//! The data templates can use: facts of a run, each with its own size limit, so that no prompt grows with the work. Users
//! write these names in their templates, so they must not change.

use super::head;
use super::last_error::{LastError, last_error};
use super::review::ReviewFacts;
use super::told_back::told_back;
use super::verification::{Verification, verification};
use crate::breaker::{Breaker, breaker};
use crate::claim::Exit;
use crate::claim_check::DONE_NOT_VERIFIED;
use crate::failure::Class;
use crate::objection::Objection;
use crate::record::RunStarted;
use crate::state::IterationSummary;
use crate::state::State;
use serde::Serialize;

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
        // Analyzers alone verify nothing.
        verification: state
            .checks
            .shown()
            .filter(|verified| !verified.results.is_empty())
            .map(|verified| verification(verified, short)),
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

/// Verification is shown with its output instead, except where the agent claimed otherwise; cost and escalation do not
/// concern it.
fn objections(state: &State) -> Vec<Said> {
    let shown = state.objections.iter().filter(|o| {
        !o.is_user_note()
            && !matches!(
                o,
                Objection::VerificationFailed { claimed: false, .. }
                    | Objection::CostNearly { .. }
                    | Objection::Escalated { .. }
                    | Objection::Deescalated { .. }
            )
    });
    let said = shown.flat_map(|objection| said(objection, state));
    said.chain(done_not_verified(state)).collect()
}

/// The claim to be done that verification refuted, where another objection came before it.
fn done_not_verified(state: &State) -> Option<Said> {
    let told = |o: &Objection| matches!(o, Objection::VerificationFailed { claimed: true, .. });
    let refuted = state.claim_check.not_done && state.claim.exit == Exit::True;
    let failing = state.checks.failing().filter(|_| refuted && !state.objections.iter().any(told))?;
    let objection = Objection::VerificationFailed {
        command: failing.command.clone(),
        how: failing.how,
        exit: failing.exit,
        claimed: true,
    };
    Some(Said { code: DONE_NOT_VERIFIED.into(), text: head(&told_back(&objection, state)?, LINE * 2) })
}

/// An objection in one line; a reviewer's findings are one line each.
fn said(objection: &Objection, state: &State) -> Vec<Said> {
    let line = |text: &str| Said { code: objection.code(), text: head(text, LINE * 2) };
    match objection {
        Objection::ReviewObjects { agent, findings, .. } => {
            let first = format!("a reviewer ({agent}) read the change and asks for changes");
            std::iter::once(line(&first))
                .chain(findings.iter().map(|f| line(&format!("the reviewer: {f}"))))
                .collect()
        }
        other => vec![line(&told_back(other, state).unwrap_or_else(|| other.say()))],
    }
}
