//! The gate: decides from claim, evidence and verification whether the work is done, and why not. Only what ralph
//! observed can complete a run; what the agent says can only request completion or withdraw the request.

use crate::claim::{Claim, Evidence, Exit, MisplacedPromise, Progress, Status, Tests};
use crate::ending::Reason;
use crate::objection::Objection;
use crate::policy::{GatePolicy, Until};
use crate::record::CheckOutcome;
use crate::state::State;
use std::collections::BTreeSet;

/// The completion signal of one iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The explicit signal, from the message or the marker file.
    pub exit: Exit,
    /// No explicit signal, but a promise in the wrong form.
    pub misplaced_promise: bool,
    /// Distinct indicators, claimed and observed.
    pub indicators: u32,
    /// Verification passed.
    pub passed: bool,
    /// Files had changed in this run by then.
    pub changed: bool,
    /// The claim contradicted itself, or the call failed.
    pub contradicted: bool,
}

impl Signal {
    /// Whether it counts towards the signals in a row that the policy asks for.
    pub(crate) fn counts(&self, policy: &GatePolicy) -> bool {
        let enough = match self.exit {
            Exit::True => policy.exit_signals > 1,
            Exit::Absent => self.indicators >= policy.indicators,
            Exit::False => false,
        };
        enough && !self.contradicted
    }
}

/// The completion signals of this run, newest last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// One per iteration.
    pub last: Vec<Signal>,
}

impl Signals {
    /// An iteration closed; with `again`, the latest one was verified a second time.
    pub(crate) fn closed(&mut self, signal: Signal, again: bool) {
        if again {
            self.last.pop();
        }
        self.last.push(signal);
    }

    fn in_a_row(&self, holds: impl Fn(&Signal) -> bool) -> u32 {
        u32::try_from(self.last.iter().rev().take_while(|s| holds(s)).count()).unwrap_or(u32::MAX)
    }
}

/// The signal of the iteration that just closed.
pub(crate) fn signal(state: &State) -> Signal {
    Signal {
        exit: explicit(state),
        misplaced_promise: explicit(state) == Exit::Absent
            && state.claim.misplaced_promise.is_some_and(MisplacedPromise::is_promise),
        indicators: count(state),
        passed: state.checks.passed(),
        changed: state.trees.changed_in_run(),
        contradicted: state.faults.last.is_some() || contradiction(state).is_some(),
    }
}

/// What the gate decided.
#[derive(Clone, Debug, PartialEq)]
pub enum GateResult {
    /// Done.
    Done {
        /// The reason in the run's result.
        reason: Reason,
        /// Whether verification passed.
        verified: bool,
        /// The facts behind it.
        reasons: Objection,
    },
    /// Not done, for this reason.
    Continue(Objection),
}

/// The number of distinct indicators, claimed by the agent or observed by ralph. With `block_as_one`, everything that only
/// the status block claims is one of them.
pub fn indicators(claim: &Claim, passed: bool, pending: Option<u32>, block_as_one: bool) -> u32 {
    let kinds = kinds(claim, passed, pending);
    let of_block = claim.evidence_of_block.len();
    let once = if block_as_one { of_block.saturating_sub(1) } else { 0 };
    u32::try_from(kinds.len().saturating_sub(once)).unwrap_or(u32::MAX)
}

/// The distinct indicators.
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

/// The indicators of the iteration that just closed.
pub fn count(state: &State) -> u32 {
    let policy = state.start.as_ref().map(|start| &start.policy.gate);
    let block_as_one = !state.verifies() && policy.is_some_and(|policy| policy.block_as_one);
    indicators(&state.claim, state.checks.passed(), state.tasks.pending(), block_as_one)
}

/// Judges the iteration that just closed.
pub fn gate(state: &State, policy: &GatePolicy) -> GateResult {
    if policy.until == Until::Verified {
        return until_verified(state);
    }
    if let Some(no) = failed_call(state) {
        return GateResult::Continue(no);
    }
    match explicit(state) {
        Exit::False => GateResult::Continue(match state.claim.lints.first() {
            Some(lint) if state.claim.attempted => Objection::UnreadableBlock { lint: lint.code },
            _ => Objection::ExplicitContinue,
        }),
        exit => match (contradiction(state), exit, state.claim.misplaced_promise) {
            (Some(what), ..) => GateResult::Continue(Objection::ContradictoryClaim { what }),
            (None, Exit::True, _) => claimed(state, policy),
            (None, _, Some(form)) => misplaced_promise(state, policy, form),
            (None, _, None) => signals(state, policy),
        },
    }
}

/// A failed call cannot complete a run.
fn failed_call(state: &State) -> Option<Objection> {
    let fault = state.faults.last.as_ref()?;
    let (class, message) = (fault.class, fault.message.clone());
    Some(Objection::CallFailed { class, message, running: state.faults.running })
}

/// Verification is configured and did not pass: it failed, timed out or was inconclusive. No claim overrides that.
fn unproven(state: &State, claimed: bool) -> Option<Objection> {
    if state.checks.passed() || !state.verifies() {
        return None;
    }
    let first = || state.commands().next().cloned();
    let (command, how, exit) = match state.checks.failing() {
        Some(failing) => (failing.command.clone(), failing.how, failing.exit),
        None => (first().unwrap_or_default(), CheckOutcome::NotRun, None),
    };
    Some(Objection::VerificationFailed { command, how, exit, claimed })
}

/// The explicit signal. The marker file counts as one if the message has none.
pub fn explicit(state: &State) -> Exit {
    if state.claim.exit == Exit::Absent && state.trees.marker { Exit::True } else { state.claim.exit }
}

/// Why the claim cannot be true, if it contradicts the plan or itself.
fn contradiction(state: &State) -> Option<String> {
    let block = state.claim.block.as_ref();
    let of_block = || block_contradiction(block?, state.verifies());
    let of_errors = || state.claim.has_errors.then(|| "has_errors is true".into());
    match explicit(state) {
        Exit::False => None,
        Exit::True => state.tasks.contradiction().or_else(of_block).or_else(of_errors),
        // The status fields of a JSON reply that has no exit signal; the plan is compared when signals suffice.
        Exit::Absent => of_block().or_else(of_errors),
    }
}

/// What in a status block takes back its own EXIT_SIGNAL true. That the tests were not run matters only where ralph does
/// not run them either.
pub(crate) fn block_contradiction(block: &Status, verifies: bool) -> Option<String> {
    match (block.tests, block.status) {
        (Some(Tests::Failing), _) => Some("TESTS_STATUS is FAILING".into()),
        (_, Some(Progress::InProgress)) => Some("STATUS is IN_PROGRESS".into()),
        (Some(Tests::NotRun), _) if !verifies => {
            Some("TESTS_STATUS is NOT_RUN, and there is no verify command".into())
        }
        _ => None,
    }
}

fn claimed(state: &State, policy: &GatePolicy) -> GateResult {
    if let Some(no) = unproven(state, true) {
        return GateResult::Continue(no);
    }
    let (passed, indicators, needed) = (state.checks.passed(), count(state), policy.indicators);
    if !passed && !policy.explicit_alone && indicators < needed {
        let block_as_one = Some(policy.block_as_one);
        return GateResult::Continue(Objection::ClaimWithoutEvidence { indicators, needed, block_as_one });
    }
    let running = state.signals.in_a_row(|s| s.counts(policy));
    if policy.exit_signals > 1 && running < policy.exit_signals {
        return GateResult::Continue(Objection::SignalAgain { running, needed: policy.exit_signals });
    }
    if passed {
        return proven(state, indicators);
    }
    let reasons = Objection::ClaimUnverified { indicators };
    GateResult::Done { reason: Reason::GatePassed, verified: false, reasons }
}

/// Verification passed. If it also passed before the run and nothing changed, the claim must be repeated once.
fn proven(state: &State, indicators: u32) -> GateResult {
    let verified = true;
    if !state.checks.baseline_green() || state.trees.changed_in_run() {
        let reasons = Objection::ClaimAndProof { indicators };
        return GateResult::Done { reason: Reason::GatePassed, verified, reasons };
    }
    let said = |s: &Signal| s.exit == Exit::True || s.misplaced_promise;
    if state.signals.in_a_row(|s| said(s) && s.passed && !s.changed && !s.contradicted) >= 2 {
        return GateResult::Done {
            reason: Reason::AlreadyComplete,
            verified,
            reasons: Objection::NothingToDo,
        };
    }
    GateResult::Continue(Objection::SeeItTwice)
}

/// A promise in the wrong form. It does not count, but work that is proven twice must not be lost over it.
fn misplaced_promise(state: &State, policy: &GatePolicy, form: MisplacedPromise) -> GateResult {
    let objection = |accepted| Objection::PromiseNotAlone { form, promise: policy.promise.clone(), accepted };
    let said = |s: &Signal| s.exit == Exit::True || s.misplaced_promise;
    let running = state.signals.in_a_row(|s| said(s) && s.passed && !s.contradicted);
    if form.is_promise() && state.checks.passed() && running >= policy.exit_signals.max(2) {
        if let Some(what) = state.tasks.contradiction() {
            return GateResult::Continue(Objection::ContradictoryClaim { what });
        }
        let changed = !state.checks.baseline_green() || state.trees.changed_in_run();
        let reason = if changed { Reason::GatePassed } else { Reason::AlreadyComplete };
        return GateResult::Done { reason, verified: true, reasons: objection(true) };
    }
    match signals(state, policy) {
        GateResult::Continue(Objection::NoClaim) => GateResult::Continue(objection(false)),
        result => result,
    }
}

/// Iterations in a row with enough indicators that complete a verified run if the policy has no number of its own.
const VERIFIED_SIGNALS: u32 = 2;

/// No explicit signal: enough indicators in enough iterations in a row, unless verification or the plan disagrees. If
/// nothing is verified, the policy has to allow it.
fn signals(state: &State, policy: &GatePolicy) -> GateResult {
    if let Some(no) = unproven(state, false) {
        return GateResult::Continue(no);
    }
    let passed = state.checks.passed();
    let running = state.signals.in_a_row(|s| s.counts(policy) && s.passed == passed);
    let needed = match policy.done_signals {
        0 if passed => VERIFIED_SIGNALS,
        needed => needed,
    };
    if needed == 0 || running < needed {
        return GateResult::Continue(Objection::NoClaim);
    }
    if let Some(what) = state.tasks.contradiction() {
        return GateResult::Continue(Objection::ContradictoryClaim { what });
    }
    let reasons = Objection::SignalsRunning { iterations: running, verified: passed };
    GateResult::Done { reason: Reason::CompletionSignals, verified: passed, reasons }
}

/// A passing verification completes the run unless it passed before the run and nothing changed.
fn until_verified(state: &State) -> GateResult {
    if !state.checks.passed() {
        let no = failed_call(state).or_else(|| unproven(state, explicit(state) == Exit::True));
        return GateResult::Continue(no.unwrap_or(Objection::NoClaim));
    }
    if state.trees.changed_in_run() || !state.checks.baseline_green() {
        return GateResult::Done {
            reason: Reason::GatePassed,
            verified: true,
            reasons: Objection::ProofAlone,
        };
    }
    GateResult::Continue(Objection::GreenBefore)
}
