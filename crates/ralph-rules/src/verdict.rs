//! The judgement of a closed iteration, always in this order: a blocked agent, the gate, then the guards
//! (permissions, the same error, only tests, shrinking answers, no progress), then the limits. Protected paths
//! were judged before. Work proven done in the last allowed iteration is done.

use crate::admission::admission;
use crate::breaker::{Breaker, breaker, idle_limit};
use crate::claim::{Code, Progress};
use crate::ending::{Ending, Reason};
use crate::failure::Then;
use crate::gate::{Answer, gate};
use crate::next::{leave, verify};
use crate::objection::Objection;
use crate::policy::{Decline, Oracle, Policy};
use crate::record::{Check, Decision, RunStarted};
use crate::state::State;

/// Refusals, or contexts too long, running before a person is needed.
const TWICE: u32 = 2;
/// Lints that one judgement names.
const LINTS: usize = 3;
/// Crashed calls running without a new tree before the agent counts as unusable.
const CRASHES: u32 = 3;

/// Judges the iteration that just closed.
pub fn verdict(state: &State, start: &RunStarted) -> Decision {
    let policy = &start.policy;
    if let Some(decision) = blocked(state) {
        return decision;
    }
    let mut because = touched(state);
    match gate(state, &policy.gate) {
        Answer::Done { reason, verified, because: proof } if because.is_empty() => {
            match done(state, policy, reason, verified, proof) {
                Ok(decision) => return decision,
                Err(no) => because.push(no),
            }
        }
        Answer::Done { .. } => {}
        Answer::GoOn(objection) => because.push(objection),
    }
    let verified = state.checks.passed();
    if let Some((reason, guard)) = crashed(state).or_else(|| guards(state, policy)) {
        because
            .retain(|o| !matches!((o, &guard), (Objection::CallFailed { .. }, Objection::CallFailed { .. })));
        because.insert(0, guard);
        return leave(Ending::new(reason, verified), because);
    }
    because.extend(notes(state, policy));
    admission(state, start, because)
}

/// The agent says a person is needed; whatever EXIT_SIGNAL says.
fn blocked(state: &State) -> Option<Decision> {
    let block = state.claim.block.as_ref().filter(|b| b.status == Progress::Blocked)?;
    let because = Objection::Blocked { recommendation: block.recommendation.clone() };
    Some(leave(Ending::new(Reason::Blocked, false), vec![because]))
}

/// An iteration that touched a protected path can never succeed, also when the path was put back.
fn touched(state: &State) -> Vec<Objection> {
    let paths = &state.trees.touched;
    if paths.is_empty() { Vec::new() } else { vec![Objection::ProhibitedPath { paths: paths.clone() }] }
}

/// Done, unless the proof stands on changed tests or on fewer of them. Luck is named.
fn done(
    state: &State,
    policy: &Policy,
    reason: Reason,
    verified: bool,
    because: Objection,
) -> Result<Decision, Objection> {
    let (changed, fewer) = (&state.trees.oracle, state.checks.fewer_tests());
    let mut because = vec![because];
    if verified && policy.oracle == Oracle::Guard {
        let files = changed.clone();
        match (state.checks.oracle_holds(), fewer.clone()) {
            (None, Some(fewer)) if changed.is_empty() => return Err(fewer),
            (None, _) if !changed.is_empty() => {
                return Ok(verify(Check::WithBaselineOracle, policy, Objection::OracleFlagged { files }));
            }
            (Some(false), _) => {
                let because = [Some(Objection::OracleChanged { files }), missing(state)];
                let because = because.into_iter().flatten().collect();
                return Ok(leave(Ending::new(Reason::OracleChanged, false), because));
            }
            _ => {}
        }
    } else if verified && policy.oracle == Oracle::Flag && !changed.is_empty() {
        because.push(Objection::OracleFlagged { files: changed.clone() });
    }
    because.extend(fewer.filter(|_| verified));
    because.extend((verified && state.checks.flaky).then_some(Objection::Flaky));
    Ok(leave(Ending::new(reason, verified), because))
}

/// With the baseline's tests put back some did not run.
fn missing(state: &State) -> Option<Objection> {
    state.checks.oracle.as_ref().and_then(|verified| state.checks.fewer(verified))
}

/// Failures that count as iterations but not without end.
fn crashed(state: &State) -> Option<(Reason, Objection)> {
    let fault = state.faults.last.as_ref()?;
    let because =
        |running| Objection::CallFailed { class: fault.class, message: fault.message.clone(), running };
    match fault.class.then() {
        Then::GoOnTwice => {
            let (_, running) = state.faults.iterations.filter(|(_, n)| *n >= TWICE)?;
            Some((Reason::Blocked, because(running)))
        }
        Then::Pause if state.faults.crashes >= CRASHES => {
            Some((Reason::AgentUnavailable, because(state.faults.crashes)))
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

/// What the next prompt and `explain` should say besides: nothing of it stops the run.
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
    .chain(lints(state))
    .collect()
}

/// Broken rules of the status block, as far as the gate has not named them already: the agent should mend them.
fn lints(state: &State) -> impl Iterator<Item = Objection> {
    let lints = state.claim.lints.iter().filter(|lint| lint.code != Code::NoBlock);
    lints.skip(usize::from(state.claim.attempted)).take(LINTS).map(Objection::from)
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
