//! The judgement of a closed iteration, always in this order: a blocked agent, the gate, then the guards
//! (permissions, the same error, only tests, shrinking answers, no progress), then the limits. Protected paths
//! were judged before. Work proven done in the last allowed iteration is done.

use crate::admission::admission;
use crate::breaker::{Breaker, breaker, idle_limit};
use crate::claim::{Code, Progress};
use crate::ending::{Ending, Reason};
use crate::failure::Then;
use crate::gate::{Answer, gate};
use crate::next::{exit, verify};
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
    let mut reasons = touched(state);
    match gate(state, &policy.gate) {
        Answer::Done { reason, verified, reasons: proof } if reasons.is_empty() => {
            match done(state, policy, reason, verified, proof) {
                Ok(decision) => return decision,
                Err(no) => reasons.push(no),
            }
        }
        Answer::Done { .. } => {}
        Answer::GoOn(objection) => reasons.push(objection),
    }
    let verified = state.checks.passed();
    if let Some((reason, guard)) = crashed(state).or_else(|| guards(state, policy)) {
        reasons
            .retain(|o| !matches!((o, &guard), (Objection::CallFailed { .. }, Objection::CallFailed { .. })));
        reasons.insert(0, guard);
        return exit(Ending::new(reason, verified), reasons);
    }
    reasons.extend(notes(state, policy));
    admission(state, start, reasons)
}

/// The agent says a person is needed; whatever EXIT_SIGNAL says.
fn blocked(state: &State) -> Option<Decision> {
    let block = state.claim.block.as_ref().filter(|b| b.status == Progress::Blocked)?;
    let reasons = Objection::Blocked { recommendation: block.recommendation.clone() };
    Some(exit(Ending::new(Reason::Blocked, false), vec![reasons]))
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
    reasons: Objection,
) -> Result<Decision, Objection> {
    let (changed, fewer) = (&state.trees.oracle, state.checks.fewer_tests());
    let mut reasons = vec![reasons];
    if verified && policy.oracle == Oracle::Guard {
        let files = changed.clone();
        match (state.checks.oracle_holds(), fewer.clone()) {
            (None, Some(fewer)) if changed.is_empty() => return Err(fewer),
            (None, _) if !changed.is_empty() => {
                return Ok(verify(Check::WithBaselineOracle, policy, Objection::OracleFlagged { files }));
            }
            (Some(false), _) => {
                let reasons = [Some(Objection::OracleChanged { files }), missing(state)];
                let reasons = reasons.into_iter().flatten().collect();
                return Ok(exit(Ending::new(Reason::OracleChanged, false), reasons));
            }
            _ => {}
        }
    } else if verified && policy.oracle == Oracle::Flag && !changed.is_empty() {
        reasons.push(Objection::OracleFlagged { files: changed.clone() });
    }
    reasons.extend(fewer.filter(|_| verified));
    reasons.extend((verified && state.checks.flaky).then_some(Objection::Flaky));
    Ok(exit(Ending::new(reason, verified), reasons))
}

/// With the baseline's tests put back some did not run.
fn missing(state: &State) -> Option<Objection> {
    state.checks.oracle.as_ref().and_then(|verified| state.checks.fewer(verified))
}

/// Failures that count as iterations but not without end.
fn crashed(state: &State) -> Option<(Reason, Objection)> {
    let fault = state.faults.last.as_ref()?;
    let reasons =
        |running| Objection::CallFailed { class: fault.class, message: fault.message.clone(), running };
    match fault.class.then() {
        Then::GoOnTwice => {
            let (_, running) = state.faults.iterations.filter(|(_, n)| *n >= TWICE)?;
            Some((Reason::Blocked, reasons(running)))
        }
        Then::Pause if state.faults.crashes >= CRASHES => {
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
