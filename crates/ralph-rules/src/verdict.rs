//! The verdict on a closed iteration, always in this order: a blocked agent, the gate, the guards (permissions, the same
//! error, only tests, shrinking answers, no progress), then the limits. Protected paths were checked before. The gate
//! comes before the limits so that work proven done in the last allowed iteration counts as done.

use crate::admission::admission;
use crate::breaker::{Breaker, breaker, idle_limit};
use crate::claim::{Code, Progress};
use crate::completion::completion;
use crate::ending::{Ending, Reason};
use crate::failure::Reaction;
use crate::gate::{GateResult, gate};
use crate::map::map_first;
use crate::next::{Next, exit};
use crate::objection::{Objection, of_analyzers, of_patterns};
use crate::policy::{Decline, Policy};
use crate::record::{Decision, RunStarted};
use crate::state::State;
use crate::stories;

/// Refusals, or contexts too long, in a row before a person is needed.
const TWICE: u32 = 2;
/// Lints about the block's form reported per iteration, at most.
const LINTS: usize = 3;
/// Crashed calls in a row without file changes before the agent counts as unusable.
const CRASHES: u32 = 3;

/// Judges the iteration that just closed.
pub fn verdict(state: &State, start: &RunStarted) -> Decision {
    let policy = &start.policy;
    if let Some(decision) = blocked(state) {
        return decision;
    }
    let mut reasons = touched(state);
    reasons.extend(held_back(state));
    match gate(state, &policy.gate) {
        GateResult::Done { reason, verified, reasons: proof } if reasons.is_empty() => {
            match completion(state, policy, Ending::new(reason, verified), proof) {
                Ok(decision) => {
                    let decision = stories::granted(state, with_notes(decision, state));
                    return map_first(state, policy, decision);
                }
                Err(no) => reasons.extend(no),
            }
        }
        GateResult::Done { .. } => {}
        GateResult::Continue(objection) => reasons.push(objection),
    }
    if state.person.accepted {
        return exit(Ending::new(Reason::NeedsReview, false), reasons);
    }
    if let Some(decision) = stories::set_aside(state, &reasons) {
        return decision;
    }
    let verified = state.checks.passed();
    if let Some((reason, guard)) = crashed(state).or_else(|| guards(state, policy)) {
        reasons
            .retain(|o| !matches!((o, &guard), (Objection::CallFailed { .. }, Objection::CallFailed { .. })));
        reasons.insert(0, guard);
        return exit(Ending::new(reason, verified), reasons);
    }
    reasons.extend(promise_form(state, policy, &reasons));
    reasons.extend(notes(state, policy));
    admission(state, start, reasons)
}

/// The agent says a person is needed. EXIT_SIGNAL does not matter then.
fn blocked(state: &State) -> Option<Decision> {
    let block = state.claim.block.as_ref().filter(|b| b.status == Some(Progress::Blocked))?;
    let reasons = Objection::Blocked { recommendation: block.recommendation.clone() };
    Some(exit(Ending::new(Reason::Blocked, false), vec![reasons]))
}

/// An iteration that changed a protected path can never succeed, even if the path was restored.
fn touched(state: &State) -> Vec<Objection> {
    let paths = &state.trees.touched;
    if paths.is_empty() { Vec::new() } else { vec![Objection::ProhibitedPath { paths: paths.clone() }] }
}

/// What the user's own patterns and analyzers object to: it delays an end, unless a person has accepted the work.
fn held_back(state: &State) -> Vec<Objection> {
    let all = users_own(state).filter(|_| !state.person.accepted);
    all.filter(Objection::holds_back).collect()
}

/// The end of a run names what changed nothing about it, such as an analyzer that failed.
fn with_notes(mut decision: Decision, state: &State) -> Decision {
    if matches!(decision.next, Next::Exit(_)) {
        decision.reasons.extend(users_own(state).filter(Objection::is_user_note));
    }
    decision
}

fn users_own(state: &State) -> impl Iterator<Item = Objection> {
    of_patterns(&state.claim).into_iter().chain(of_analyzers(state))
}

/// Failures that count as iterations stop the run after a few in a row.
fn crashed(state: &State) -> Option<(Reason, Objection)> {
    let fault = state.faults.last.as_ref()?;
    let reasons =
        |running| Objection::CallFailed { class: fault.class, message: fault.message.clone(), running };
    match fault.class.reaction() {
        Reaction::ContinueOnce => {
            let (_, running) = state.faults.iterations.filter(|(_, n)| *n >= TWICE)?;
            Some((Reason::Blocked, reasons(running)))
        }
        Reaction::Pause if state.faults.crashes >= CRASHES => {
            Some((Reason::AgentUnavailable, reasons(state.faults.crashes)))
        }
        _ => None,
    }
}

/// The guards, in their order.
fn guards(state: &State, policy: &Policy) -> Option<(Reason, Objection)> {
    let idle = state.stall.running;
    let limit = idle_limit(state, policy);
    let stalled = policy.breaker.half_open_after > 0 && idle >= limit;
    let declined = state.decline.verdict(policy).filter(|_| policy.breaker.decline == Decline::Open);
    let denied = state.denials.verdict(policy).map(|o| allowed_by(o, state));
    None.or_else(|| denied.map(|o| (Reason::PermissionDenied, o)))
        .or_else(|| state.repeat.verdict(policy).map(|o| (Reason::SameError5x, o)))
        .or_else(|| state.saturation.verdict(policy).map(|o| (Reason::TestSaturation, o)))
        .or_else(|| declined.map(|o| (Reason::OutputDecline, o)))
        .or_else(|| stalled.then_some((Reason::Stall, Objection::NoProgress { running: idle, limit })))
}

/// Warnings for the next prompt and `explain`. They do not stop the run.
fn notes(state: &State, policy: &Policy) -> Vec<Objection> {
    let running = state.stall.running;
    let half_open = breaker(state, policy) == Breaker::HalfOpen;
    [
        half_open.then_some(Objection::HalfOpen { running, limit: Some(idle_limit(state, policy)) }),
        state.repeat.stuck(policy),
        state.trees.seen_at.map(|iteration| Objection::SeenBefore { iteration }),
        state.denials.note(policy).map(|o| allowed_by(o, state)),
        state.decline.verdict(policy),
        state.claim.asks.then_some(Objection::AsksPerson),
    ]
    .into_iter()
    .flatten()
    .chain(state.alerts.of(state.calls.id.iteration))
    .chain(users_own(state).filter(Objection::is_user_note))
    .chain(lints(state))
    .collect()
}

/// What the status block says wrongly, then its lints that the gate has not reported already, for the agent to fix.
fn lints(state: &State) -> impl Iterator<Item = Objection> {
    let lints = state.claim.lints.iter().filter(|l| !matches!(l.code, Code::NoBlock | Code::PromiseNotAlone));
    let lints = lints.skip(usize::from(state.claim.attempted)).take(LINTS);
    state.claim_check.lints.iter().chain(lints).map(Objection::from)
}

/// The right form of the promise, unless the gate has shown it.
fn promise_form(state: &State, policy: &Policy, said: &[Objection]) -> Option<Objection> {
    let form = state.claim.misplaced_promise?;
    let shown = said.iter().any(|o| matches!(o, Objection::PromiseNotAlone { .. }));
    let promise = policy.gate.promise.clone();
    (!shown).then_some(Objection::PromiseNotAlone { form, promise, accepted: false })
}

/// Names the setting that would allow the refused tools.
fn allowed_by(objection: Objection, state: &State) -> Objection {
    match objection {
        Objection::Denied { running, limit, tools, .. } => {
            let setting = state.start.as_ref().map_or("", |s| s.rung(state.ladder.rung).allow.as_str());
            let allow = (!setting.is_empty()).then(|| setting.replace("{tools}", &tools.join(",")));
            Objection::Denied { running, limit, tools, allow }
        }
        other => other,
    }
}
