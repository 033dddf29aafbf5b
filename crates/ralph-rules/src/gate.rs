//! The gate: claim + evidence + verification → done, or go on and why. Only what ralph observed can grant an
//! end; what the agent says can only ask for one, or take it back.

use crate::claim::{Claim, Evidence, Exit, Progress, Tests};
use crate::ending::Reason;
use crate::objection::Objection;
use crate::policy::{GatePolicy, Until};
use crate::record::CheckOutcome;
use crate::state::State;
use std::collections::BTreeSet;

/// One iteration's signs of completion.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The explicit signal, where there was one: in the message, or by the marker file.
    pub exit: Exit,
    /// Distinct indicators, claimed and observed.
    pub indicators: u32,
    /// Verification passed.
    pub passed: bool,
    /// The files had changed in this run by then.
    pub changed: bool,
    /// Something spoke against it: the claim contradicted itself, or the call failed.
    pub against: bool,
}

impl Signal {
    /// A sign of completion that counts towards several running.
    fn counts(&self, policy: &GatePolicy) -> bool {
        let enough = match self.exit {
            Exit::True => policy.exit_signals > 1,
            Exit::Absent => self.indicators >= policy.indicators,
            Exit::False => false,
        };
        enough && !self.against
    }
}

/// Every iteration's signs in this run, newest last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// One an iteration.
    pub last: Vec<Signal>,
}

impl Signals {
    /// An iteration closed, or (`again`) the latest one was verified once more.
    pub(crate) fn closed(&mut self, signal: Signal, again: bool) {
        if again {
            self.last.pop();
        }
        self.last.push(signal);
    }

    fn running(&self, holds: impl Fn(&Signal) -> bool) -> u32 {
        u32::try_from(self.last.iter().rev().take_while(|s| holds(s)).count()).unwrap_or(u32::MAX)
    }
}

/// The signs of the iteration that just closed.
pub(crate) fn signal(state: &State) -> Signal {
    Signal {
        exit: explicit(state),
        indicators: count(state),
        passed: state.checks.passed(),
        changed: state.trees.changed_in_run(),
        against: state.faults.last.is_some() || contradiction(state).is_some(),
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
        reasons: Objection,
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

fn count(state: &State) -> u32 {
    indicators(&state.claim, state.checks.passed(), state.tasks.pending())
}

/// Judges the iteration that just closed.
pub fn gate(state: &State, policy: &GatePolicy) -> Answer {
    if policy.until == Until::Verified {
        return until_verified(state);
    }
    if let Some(no) = failed_call(state) {
        return Answer::GoOn(no);
    }
    match explicit(state) {
        Exit::False => Answer::GoOn(match state.claim.lints.first() {
            Some(lint) if state.claim.attempted => Objection::UnreadableBlock { lint: lint.code },
            _ => Objection::ExplicitContinue,
        }),
        Exit::True => match contradiction(state) {
            Some(what) => Answer::GoOn(Objection::ContradictoryClaim { what }),
            None => claimed(state, policy),
        },
        Exit::Absent => signals(state, policy),
    }
}

/// A failed call claims nothing.
fn failed_call(state: &State) -> Option<Objection> {
    let fault = state.faults.last.as_ref()?;
    let (class, message) = (fault.class, fault.message.clone());
    Some(Objection::CallFailed { class, message, running: state.faults.running })
}

/// There is something to verify with, and it did not pass: failed, hung or inconclusive. Never talked round.
fn unproven(state: &State, claimed: bool) -> Option<Objection> {
    if state.checks.passed() || !state.verifies() {
        return None;
    }
    let first = || state.start.as_ref().and_then(|start| start.verify.first().cloned());
    let (command, how, exit) = match state.checks.failing() {
        Some(failing) => (failing.command.clone(), failing.how, failing.exit),
        None => (first().unwrap_or_default(), CheckOutcome::NotRun, None),
    };
    Some(Objection::VerificationFailed { command, how, exit, claimed })
}

/// The marker file counts as an explicit signal where the message has none.
pub fn explicit(state: &State) -> Exit {
    if state.claim.exit == Exit::Absent && state.trees.marker { Exit::True } else { state.claim.exit }
}

/// What lowers a claim before it is weighed.
fn contradiction(state: &State) -> Option<String> {
    if explicit(state) != Exit::True {
        return None;
    }
    let block = state.claim.block.as_ref();
    state
        .tasks
        .against()
        .or_else(|| block.filter(|b| b.tests == Tests::Failing).map(|_| "TESTS_STATUS is FAILING".into()))
        .or_else(|| {
            block.filter(|b| b.status == Progress::InProgress).map(|_| "STATUS is IN_PROGRESS".into())
        })
}

fn claimed(state: &State, policy: &GatePolicy) -> Answer {
    if let Some(no) = unproven(state, true) {
        return Answer::GoOn(no);
    }
    let (passed, indicators, needed) = (state.checks.passed(), count(state), policy.indicators);
    if !passed && !policy.explicit_alone && indicators < needed {
        return Answer::GoOn(Objection::ClaimWithoutEvidence { indicators, needed });
    }
    let running = state.signals.running(|s| s.counts(policy));
    if policy.exit_signals > 1 && running < policy.exit_signals {
        return Answer::GoOn(Objection::SignalAgain { running, needed: policy.exit_signals });
    }
    if passed {
        return proven(state, indicators);
    }
    let reasons = Objection::ClaimUnverified { indicators };
    Answer::Done { reason: Reason::GatePassed, verified: false, reasons }
}

/// Green before and nothing changed: a claim is believed only on the second such iteration running.
fn proven(state: &State, indicators: u32) -> Answer {
    let verified = true;
    if !state.checks.baseline_green() || state.trees.changed_in_run() {
        let reasons = Objection::ClaimAndProof { indicators };
        return Answer::Done { reason: Reason::GatePassed, verified, reasons };
    }
    if state.signals.running(|s| s.exit == Exit::True && s.passed && !s.changed && !s.against) >= 2 {
        return Answer::Done { reason: Reason::AlreadyComplete, verified, reasons: Objection::NothingToDo };
    }
    Answer::GoOn(Objection::SeeItTwice)
}

/// No explicit signal: enough signs in enough iterations running, never against the verification or the plan.
fn signals(state: &State, policy: &GatePolicy) -> Answer {
    if let Some(no) = unproven(state, false) {
        return Answer::GoOn(no);
    }
    let passed = state.checks.passed();
    let running = state.signals.running(|s| s.counts(policy) && s.passed == passed);
    if running < policy.done_signals.max(1) {
        return Answer::GoOn(Objection::NoClaim);
    }
    if let Some(what) = state.tasks.against() {
        return Answer::GoOn(Objection::ContradictoryClaim { what });
    }
    let reasons = Objection::SignalsRunning { iterations: running, verified: passed };
    Answer::Done { reason: Reason::CompletionSignals, verified: passed, reasons }
}

/// A passing verification alone ends the run, provided it proves something.
fn until_verified(state: &State) -> Answer {
    if !state.checks.passed() {
        let no = failed_call(state).or_else(|| unproven(state, explicit(state) == Exit::True));
        return Answer::GoOn(no.unwrap_or(Objection::NoClaim));
    }
    if state.trees.changed_in_run() || !state.checks.baseline_green() {
        return Answer::Done { reason: Reason::GatePassed, verified: true, reasons: Objection::ProofAlone };
    }
    Answer::GoOn(Objection::GreenBefore)
}
