//! `next`: from the state of a run to what happens next. A table of phases that asks the parts in a fixed order. It takes
//! no clock and no policy: both are in the state, put there by records. It is called after every record, also while a
//! call runs. `verdict.rs` decides after an iteration, `admission.rs` whether another begins.

use crate::admission::admission;
use crate::ending::{Ending, Reason};
use crate::guard::alerts;
use crate::guard::budget::Headroom;
use crate::guard::time;
use crate::objection::Objection;
use crate::policy::{OnViolation, Policy};
use crate::record::{Check, Decision, Limits, Ms, RunStarted, Unusable, WorkspaceUnusable};
use crate::state::{Phase, State};
use crate::step::Step;
use crate::verdict::verdict;
use serde::{Deserialize, Serialize};

/// How often protected paths are restored before the run stops.
const RESTORES: u32 = 3;

/// What happens next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "next", content = "what", rename_all = "snake_case")]
pub enum Next {
    /// Begin this step.
    Do(Step),
    /// Stop the step under way, and read its remaining output.
    #[serde(rename = "end")]
    Interrupt(Why),
    /// Wait for the next event or for the clock.
    #[serde(rename = "keep")]
    Wait {
        /// When to wake up at the latest.
        wake: Wake,
    },
    /// This process is done with the run.
    #[serde(rename = "leave")]
    Exit(Ending),
}

/// Why a step under way is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A person asked.
    Person,
    /// The call's timeout.
    Deadline,
    /// The run's time limit.
    Time,
    /// No output and no running tool.
    Silence,
    /// The money is used up.
    Budget,
}

/// When to wake up: at a time of day or after some active time, whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {
    /// UTC.
    pub at: Option<Ms>,
    /// Active time of the run.
    pub ran: Option<Ms>,
}

impl Wake {
    /// Wait for an event only.
    pub const NEVER: Wake = Wake { at: None, ran: None };
}

/// Decides what happens next.
pub fn next(state: &State) -> Decision {
    let Some(start) = state.start.as_deref() else { return wait(Wake::NEVER) };
    if let Some(unusable) = state.unusable.as_ref().filter(|_| state.ending.is_none()) {
        return no_workspace(unusable);
    }
    match &state.phase {
        Phase::NotStarted | Phase::Over => wait(Wake::NEVER),
        _ if state.ending.is_some() => wait(Wake::NEVER),
        Phase::Ready => admission(state, start, Vec::new()),
        Phase::Admitting { interrupted } => admitting(state, *interrupted),
        Phase::Admitted => admitted(state, start),
        Phase::Refused(refused) => crate::admission::refused(state, start, refused),
        Phase::Calling { since, extending } => calling(state, start, *since, *extending),
        Phase::Lost => {
            act(Step::Recover { id: state.calls.id, reserved: state.budget.reserved }, vec![was_open(state)])
        }
        Phase::Answered => {
            let mut reasons = vec![Objection::CallClosed { iteration: state.calls.id.iteration }];
            reasons.extend(alerts::due(state, &start.policy));
            act(Step::Inspect { before: state.trees.before }, reasons)
        }
        Phase::Inspected => inspected(state, start),
        Phase::Verifying(_) | Phase::Mapping => verifying(state, start),
        Phase::Judging => violated(state, &start.policy)
            .or_else(|| analysis(state, start))
            .unwrap_or_else(|| verdict(state, start)),
        Phase::Ending
        | Phase::Recovering
        | Phase::Inspecting
        | Phase::Restoring { .. }
        | Phase::Comparing
        | Phase::Planning => wait(Wake::NEVER),
    }
}

/// Why the open call has to be closed.
fn was_open(state: &State) -> Objection {
    let attempt = state.calls.id.to_string();
    match (state.calls.in_session && !state.reviews.under_way(), state.in_session) {
        (true, true) => Objection::SessionStopped { attempt },
        (true, false) => Objection::SessionGone { attempt },
        _ => Objection::CallWasOpen { attempt },
    }
}

/// The snapshot before the first call may take long. It is given up for a request to stop: nothing is reserved yet.
fn admitting(state: &State, interrupted: bool) -> Decision {
    match state.person.stop.or(state.person.stop_after) {
        Some(_) if !interrupted => interrupt(Why::Person, person("stop")),
        _ => wait(Wake::NEVER),
    }
}

/// Whatever the step under way found is not worth anything, and neither would another call be.
fn no_workspace(unusable: &WorkspaceUnusable) -> Decision {
    let what = unusable.what.clone();
    let objection = match unusable.how {
        Unusable::Lost => Objection::WorkspaceLost { what },
        Unusable::Unwritable => Objection::WorkspaceUnwritable { what },
    };
    exit(Ending::new(unusable.how.reason(), false), vec![objection])
}

fn admitted(state: &State, start: &RunStarted) -> Decision {
    if let Some(signal) = state.person.stop.or(state.person.stop_after) {
        return exit(interrupted(signal), vec![person("stop")]);
    }
    let step = Step::Call {
        id: state.calls.id,
        prompt: state.calls.prompt.clone(),
        hints: state.calls.hints,
        rung: state.ladder.rung,
        tell_spend_from: state.budget.reserved,
        tell_silence_after: start.policy.idle_timeout,
        review: state.reviews.under_way(),
    };
    act(step, Vec::new())
}

/// Rules that apply while the agent works: requests of the user, timeouts and cost.
fn calling(state: &State, start: &RunStarted, since: Ms, extending: bool) -> Decision {
    let policy = &start.policy;
    let limit = state.caller(start).timeout.unwrap_or(policy.timeout);
    if state.person.stop.is_some() {
        return interrupt(Why::Person, person("stop"));
    }
    if let Some(late) = time::over(state.ran, 0, policy) {
        return interrupt(Why::Time, late);
    }
    let ms = state.ran - since;
    if ms >= limit {
        return interrupt(Why::Deadline, Objection::CallTooLong { ms, limit });
    }
    if let Some(ms) = state.calls.silent {
        return interrupt(Why::Silence, Objection::TooSilent { ms, limit: policy.idle_timeout });
    }
    let budget = &state.budget;
    let reached = Objection::CostReached { spent: budget.spent.plus(budget.live), cap: policy.max_cost };
    match budget.headroom(policy) {
        _ if state.calls.extension_refused => return interrupt(Why::Budget, reached),
        Headroom::Exhausted => return interrupt(Why::Budget, reached),
        Headroom::Raise(to) if !extending => {
            let (seen, dearest, reserved) = (budget.live, budget.dearest, budget.reserved);
            let mut reasons = vec![Objection::UsageAhead { seen, dearest, reserved }];
            reasons.extend(alerts::due(state, policy));
            // The two turns beyond the cap are reserved too, so that real spending never exceeds the reservation.
            let limits = Limits { run: policy.max_cost.plus(dearest.times(2)), ..limits(policy) };
            return act(Step::Extend { id: state.calls.id, to, limits }, reasons);
        }
        _ => {}
    }
    let deadline = since.saturating_add(limit);
    wait(Wake { at: None, ran: Some(policy.max_time.map_or(deadline, |max| max.min(deadline))) })
}

/// The user or the time limit may stop a verification, which has no result then, or a map, which has a part of one.
fn verifying(state: &State, start: &RunStarted) -> Decision {
    if state.checks.interrupted_by.is_some() {
        return wait(Wake::NEVER);
    }
    if state.person.stop.is_some() {
        return interrupt(Why::Person, person("stop"));
    }
    let Some(ends) = time::ends_verification(state.checks.began, &start.policy) else {
        return wait(Wake::NEVER);
    };
    match time::over(state.ran, 0, &start.policy) {
        Some(late) if state.ran >= ends => interrupt(Why::Time, late),
        _ => wait(Wake { at: None, ran: Some(ends) }),
    }
}

/// After the inspection: protected paths first, then a request to stop, then a failed call.
fn inspected(state: &State, start: &RunStarted) -> Decision {
    if let Some(decision) = violated(state, &start.policy) {
        return decision;
    }
    if let Some(signal) = state.person.stop {
        return exit(interrupted(signal), vec![person("stop")]);
    }
    if !state.calls.counted {
        return admission(state, start, Vec::new());
    }
    if !state.verifies() && !analysis_due(state, start) {
        return verdict(state, start);
    }
    if state.checks.interrupted_by == Some(Why::Time)
        && let Some(late) = time::over(state.ran, 0, &start.policy)
    {
        return exit(Ending::new(Reason::TimeLimit, false), vec![late]);
    }
    let trees = &state.trees;
    let clean =
        Objection::InspectionClean { files: trees.files, progress: trees.progress, seen_at: trees.seen_at };
    verify(Check::AsIs, &start.policy, clean)
}

/// Analyzers are part of a verification. Without a verify command they are asked alone, once an iteration.
fn analysis_due(state: &State, start: &RunStarted) -> bool {
    !start.analyzers.is_empty()
        && !state.verifies()
        && state.calls.counted
        && state.checks.analyzed().is_none_or(<[_]>::is_empty)
}

fn analysis(state: &State, start: &RunStarted) -> Option<Decision> {
    let analyzers = u32::try_from(start.analyzers.len()).unwrap_or(u32::MAX);
    analysis_due(state, start)
        .then(|| verify(Check::AsIs, &start.policy, Objection::AnalysisWanted { analyzers }))
}

/// An iteration that changed a protected path can never succeed, whatever it claims. The paths are restored first;
/// whether the run may continue then depends on the policy, and only a few times. What tools change by themselves is
/// restored too, but nobody is blamed for it.
fn violated(state: &State, policy: &Policy) -> Option<Decision> {
    let trees = &state.trees;
    if !trees.violations.is_empty() && !trees.unrestorable {
        let paths = trees.violations.clone();
        let reasons = match trees.only_tools() {
            true => Objection::ToolChanged { paths: paths.clone() },
            false => Objection::ProhibitedPath { paths: paths.clone() },
        };
        return Some(act(Step::Restore { paths }, vec![reasons]));
    }
    if trees.touched.is_empty() {
        return None;
    }
    let limit = policy.on_violation == OnViolation::Restore && trees.offences > RESTORES;
    if policy.on_violation == OnViolation::Restore && trees.violations.is_empty() && !limit {
        return None;
    }
    let mut reasons = vec![Objection::ProhibitedPath { paths: trees.touched.clone() }];
    reasons.extend(limit.then_some(Objection::RestoreLimit { times: trees.offences }));
    Some(exit(Ending::new(Reason::ProhibitedPath, false), reasons))
}

pub(crate) fn verify(check: Check, policy: &Policy, reasons: Objection) -> Decision {
    act(Step::Verify { check, deadline: policy.verify_timeout }, vec![reasons])
}

pub(crate) fn limits(policy: &Policy) -> Limits {
    Limits {
        run: policy.max_cost,
        day: policy.daily_cost,
        calls_per_hour: policy.calls_per_hour,
        tokens_per_hour: policy.tokens_per_hour,
    }
}

pub(crate) fn interrupted(signal: i32) -> Ending {
    Ending { signal, ..Ending::new(Reason::Interrupted, false) }
}

pub(crate) fn person(request: &str) -> Objection {
    Objection::PersonAsked { request: request.into() }
}

pub(crate) fn act(step: Step, reasons: Vec<Objection>) -> Decision {
    Decision { next: Next::Do(step), reasons }
}

pub(crate) fn wait(wake: Wake) -> Decision {
    Decision { next: Next::Wait { wake }, reasons: Vec::new() }
}

pub(crate) fn exit(ending: Ending, reasons: Vec<Objection>) -> Decision {
    Decision { next: Next::Exit(ending), reasons }
}

fn interrupt(why: Why, reasons: Objection) -> Decision {
    Decision { next: Next::Interrupt(why), reasons: vec![reasons] }
}
