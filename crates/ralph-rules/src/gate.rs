//! The gate: claim + evidence + verification → done, or go on and why. Only what ralph observed can grant an
//! end; what the agent says can only ask for one, or take it back.

use crate::claim::{Claim, Evidence, Exit, Progress, Tests};
use crate::ending::Reason;
use crate::objection::Objection;
use crate::policy::{GatePolicy, Until};
use crate::state::State;
use std::collections::BTreeSet;

/// How many iterations are remembered.
const WINDOW: usize = 5;

/// One iteration's signs of completion.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The explicit signal, where there was one.
    pub exit: Exit,
    /// Distinct indicators, claimed and observed.
    pub indicators: u32,
    /// Verification passed.
    pub passed: bool,
    /// The files had changed in this run by then.
    pub changed: bool,
}

/// The last iterations' signs, newest last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// At most the last five.
    pub last: Vec<Signal>,
}

impl Signals {
    /// An iteration closed, or (`again`) the latest one was verified once more.
    pub(crate) fn closed(&mut self, claim: &Claim, passed: bool, changed: bool, again: bool) {
        if again {
            self.last.pop();
        } else if self.last.len() >= WINDOW {
            self.last.remove(0);
        }
        let indicators = indicators(claim, passed, None);
        self.last.push(Signal { exit: claim.exit, indicators, passed, changed });
    }

    fn running(&self, holds: impl Fn(&Signal) -> bool) -> u32 {
        u32::try_from(self.last.iter().rev().take_while(|s| holds(s)).count()).unwrap_or(u32::MAX)
    }
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Done.
    Done {
        /// Why.
        reason: Reason,
        /// With a passing verification.
        verified: bool,
        /// The facts.
        because: Objection,
    },
    /// Not yet, because of this.
    GoOn(Objection),
}

/// Distinct indicators: claimed ones, and what ralph observed itself.
pub fn indicators(claim: &Claim, passed: bool, pending: Option<u32>) -> u32 {
    u32::try_from(kinds(claim, passed, pending).len()).unwrap_or(u32::MAX)
}

/// The same, by name.
pub fn kinds(claim: &Claim, passed: bool, pending: Option<u32>) -> BTreeSet<Evidence> {
    let mut kinds = claim.evidence.clone();
    if passed {
        kinds.insert(Evidence::Verified);
    }
    if pending == Some(0) {
        kinds.insert(Evidence::NoPending);
    }
    kinds
}

/// Judges the iteration that just closed.
pub fn gate(state: &State, policy: &GatePolicy) -> Answer {
    let passed = state.checks.passed();
    if policy.until == Until::Verified {
        return until_verified(state, passed);
    }
    if let Some(no) = refusal(state) {
        return Answer::GoOn(no);
    }
    let count = indicators(&state.claim, passed, state.calls.pending);
    match explicit(state) {
        Exit::False => Answer::GoOn(match state.claim.lints.first() {
            Some(lint) if state.claim.attempted => Objection::UnreadableBlock { lint: lint.code },
            _ => Objection::ExplicitContinue,
        }),
        Exit::True => match contradiction(state) {
            Some(what) => Answer::GoOn(Objection::ContradictoryClaim { what: what.into() }),
            None => claimed(state, policy, passed, count),
        },
        Exit::Absent => signals(state, policy, passed),
    }
}

/// A failed verification or a failed call is never talked round.
fn refusal(state: &State) -> Option<Objection> {
    if let Some(fault) = &state.faults.last {
        let (class, message) = (fault.class, fault.message.clone());
        return Some(Objection::CallFailed { class, message, running: state.faults.running });
    }
    let wants = explicit(state) != Exit::False;
    state.checks.failing().filter(|_| wants).map(|failing| Objection::VerificationFailed {
        command: failing.command.clone(),
        how: failing.how,
        exit: failing.exit,
        claimed: explicit(state) == Exit::True,
    })
}

/// The marker file counts as an explicit signal where the message has none.
pub fn explicit(state: &State) -> Exit {
    if state.claim.exit == Exit::Absent && state.trees.marker { Exit::True } else { state.claim.exit }
}

fn contradiction(state: &State) -> Option<&'static str> {
    if state.calls.pending.is_some_and(|open| open > 0) {
        return Some("the plan has open items");
    }
    let block = state.claim.block.as_ref()?;
    if block.tests == Tests::Failing {
        return Some("TESTS_STATUS is FAILING");
    }
    (block.status == Progress::InProgress).then_some("STATUS is IN_PROGRESS")
}

fn claimed(state: &State, policy: &GatePolicy, passed: bool, count: u32) -> Answer {
    if passed {
        return proven(state, count);
    }
    if state.verifies() {
        return Answer::GoOn(Objection::NoClaim);
    }
    if count >= policy.indicators || policy.explicit_alone {
        let because = Objection::ClaimUnverified { indicators: count };
        return Answer::Done { reason: Reason::GatePassed, verified: false, because };
    }
    Answer::GoOn(Objection::ClaimWithoutEvidence { indicators: count, needed: policy.indicators })
}

/// Green before and nothing changed: a claim is believed only on the second such iteration running.
fn proven(state: &State, count: u32) -> Answer {
    let verified = true;
    if !state.checks.baseline_green() || state.trees.changed_in_run() {
        let because = Objection::ClaimAndProof { indicators: count };
        return Answer::Done { reason: Reason::GatePassed, verified, because };
    }
    if state.signals.running(|s| s.exit == Exit::True && s.passed && !s.changed) >= 2 {
        return Answer::Done { reason: Reason::AlreadyComplete, verified, because: Objection::NothingToDo };
    }
    Answer::GoOn(Objection::SeeItTwice)
}

fn signals(state: &State, policy: &GatePolicy, passed: bool) -> Answer {
    let running = state
        .signals
        .running(|s| s.exit == Exit::Absent && s.indicators >= policy.indicators && s.passed == passed);
    if running >= policy.done_signals.max(1) && (passed || !state.verifies()) {
        let because = Objection::SignalsRunning { iterations: running, verified: passed };
        return Answer::Done { reason: Reason::CompletionSignals, verified: passed, because };
    }
    Answer::GoOn(Objection::NoClaim)
}

fn until_verified(state: &State, passed: bool) -> Answer {
    if passed && (state.trees.changed_in_run() || !state.checks.baseline_green()) {
        return Answer::Done { reason: Reason::GatePassed, verified: true, because: Objection::ProofAlone };
    }
    if passed {
        return Answer::GoOn(Objection::SeeItTwice);
    }
    Answer::GoOn(refusal(state).unwrap_or(Objection::NoClaim))
}
