//! Analyzes responses outside of a run, for `ralph analyze`: the same claim reader, guards and thresholds as in a run, but
//! without verification. No run depends on it. `analysis/shape.rs`
//! has the public shapes.

pub mod shape;

use crate::breaker::Breaker;
use crate::claim::{self, Claim, Exit, Means, Progress, ReportedStatus, WorkType, signature};
use crate::fingerprint::Fingerprint;
use crate::gate::{Signal, block_contradiction, indicators};
use crate::guard::Closed;
use crate::guard::decline::Decline;
use crate::guard::denials::Denials;
use crate::guard::repeat::Repeat;
use crate::guard::saturation::Saturation;
use crate::guard::stall::Stall;
use crate::objection::Objection;
use crate::policy::{GatePolicy, Policy, Until};
use serde::{Deserialize, Serialize};

/// One response, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// What it claims; nothing where the call failed.
    pub claim: Claim,
    /// Length of the final message.
    pub text_bytes: u64,
    /// The failure's error, otherwise the errors its message reports.
    pub errors: Vec<Fingerprint>,
    /// The tools it was refused.
    pub denials: Vec<String>,
    /// The call failed.
    pub failed: bool,
}

impl Response {
    /// Reads a final message. `failure` is the agent's own error where the call failed: such a message claims nothing.
    pub fn read(text: &str, promise: &str, failure: Option<&str>) -> Response {
        Response::read_reply(text, None, promise, failure)
    }

    /// The same with the status fields of a JSON reply.
    pub fn read_reply(
        text: &str,
        reported: Option<&ReportedStatus>,
        promise: &str,
        failure: Option<&str>,
    ) -> Response {
        let gate = GatePolicy { promise: promise.into(), ..GatePolicy::default() };
        Response::read_for(text, reported, &gate, failure)
    }

    /// The same with the promise and the user's own patterns of a run.
    pub fn read_for(
        text: &str,
        reported: Option<&ReportedStatus>,
        gate: &GatePolicy,
        failure: Option<&str>,
    ) -> Response {
        let (claim, errors) = match failure {
            Some(message) => (Claim::default(), vec![Fingerprint::of(message)]),
            None => {
                let claim = claim::read_with_patterns(text, reported, &gate.promise, &gate.patterns);
                let errors = claim.errors.clone();
                (claim, errors)
            }
        };
        let text_bytes = text.len() as u64;
        Response { claim, text_bytes, errors, denials: Vec::new(), failed: failure.is_some() }
    }

    /// Whether it reports testing only.
    pub fn is_test_only(&self) -> bool {
        self.claim.work == Some(WorkType::Testing)
    }
}

/// What a response means for the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitDecision {
    /// Go on.
    #[default]
    Continue,
    /// Done: an explicit claim with evidence.
    ProjectComplete,
    /// Done: enough evidence in response after response, without an explicit word.
    CompletionSignals,
    /// A person is needed.
    Blocked,
    /// The run ended by a guard, a limit or a person. The analyzer of single responses never says it.
    Exit,
}

/// Responses one after the other.
#[derive(Clone, Debug, Default)]
pub struct Trend {
    /// How many.
    pub iteration: u32,
    stall: Stall,
    repeat: Repeat,
    saturation: Saturation,
    decline: Decline,
    denials: Denials,
    /// Responses in a row whose signal counts.
    signals: u32,
    last: Option<Signal>,
    blocked: bool,
}

impl Trend {
    /// The next response.
    pub fn add(&mut self, response: &Response, policy: &Policy) {
        let claim = &response.claim;
        let idle = claim.block.as_ref().is_some_and(|block| block.files_modified == Some(0));
        let closed = Closed {
            progress: !idle && !response.failed,
            failed: response.failed,
            test_only: response.is_test_only(),
            denials: response.denials.clone(),
            text_bytes: response.text_bytes,
            agent_error: signature(&response.errors),
            agent_error_count: claim.error_count,
            ..Closed::default()
        };
        self.closed(&closed);
        self.note_claim(claim, response.failed, policy);
    }

    /// The next iteration of a loop, for the guards.
    pub(crate) fn closed(&mut self, closed: &Closed) {
        self.iteration = self.iteration.saturating_add(1);
        self.stall.closed(closed);
        self.saturation.closed(closed);
        self.decline.closed(closed);
        self.denials.closed(closed);
        self.repeat.closed(closed);
    }

    /// Iterations in a row without progress, and with the same error.
    pub(crate) fn running(&self) -> (u32, u32) {
        (self.stall.running, self.repeat.longest().running)
    }

    /// Notes the signal that a run without a verify command would see.
    fn note_claim(&mut self, claim: &Claim, failed: bool, policy: &Policy) {
        let signal = Signal {
            exit: claim.exit,
            misplaced_promise: claim.misplaced_promise.is_some(),
            indicators: indicators(claim, false, None, policy.gate.block_as_one),
            passed: false,
            changed: false,
            contradicted: failed
                || (claim.exit == Exit::True && contradicts(claim))
                || claim.said(Means::Object).next().is_some(),
        };
        self.signals = if signal.counts(&policy.gate) { self.signals.saturating_add(1) } else { 0 };
        self.blocked = claim.block.as_ref().is_some_and(|block| block.status == Some(Progress::Blocked));
        self.last = Some(signal);
    }

    /// What the latest response means: the gate's table without a verify command.
    pub fn decision(&self, policy: &Policy) -> ExitDecision {
        let gate = &policy.gate;
        // Only a verification ends such a run, whatever the agent says.
        let by_claim = gate.until == Until::Claimed;
        let enough = |count: u32| gate.explicit_alone || count >= gate.indicators;
        let phrases = gate.done_signals > 0 && self.signals >= gate.done_signals;
        let again = gate.exit_signals <= 1 || self.signals >= gate.exit_signals;
        match self.last.as_ref().filter(|last| by_claim && !last.contradicted) {
            _ if self.blocked => ExitDecision::Blocked,
            Some(last) if last.exit == Exit::True && enough(last.indicators) && again => {
                ExitDecision::ProjectComplete
            }
            Some(last) if last.exit == Exit::Absent && phrases => ExitDecision::CompletionSignals,
            _ => ExitDecision::Continue,
        }
    }

    /// The same errors often enough to be called stuck.
    pub fn stuck(&self, policy: &Policy) -> bool {
        self.repeat.stuck(policy).is_some()
    }

    /// The breaker, as the responses alone have it.
    pub fn breaker(&self, policy: &Policy) -> Breaker {
        let half = policy.breaker.half_open_after;
        let open = half.saturating_add(policy.breaker.open_after);
        let stalled = |limit: u32| half > 0 && self.stall.running >= limit;
        let denied = self.denials.verdict(policy).is_some();
        let shrunk =
            self.decline.verdict(policy).is_some() && policy.breaker.decline == crate::policy::Decline::Open;
        if stalled(open) || self.repeat.verdict(policy).is_some() || denied || shrunk {
            Breaker::Open
        } else if stalled(half) {
            Breaker::HalfOpen
        } else {
            Breaker::Closed
        }
    }

    /// What the guards would say.
    pub fn objections(&self, policy: &Policy) -> Vec<Objection> {
        let half = policy.breaker.half_open_after;
        let stalled = (half > 0 && self.stall.running >= half)
            .then_some(Objection::NoProgress { running: self.stall.running, limit: half });
        [
            stalled,
            self.repeat.stuck(policy),
            self.saturation.verdict(policy),
            self.decline.verdict(policy),
            self.denials.verdict(policy),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Whether the block's values take back the end it asks for.
fn contradicts(claim: &Claim) -> bool {
    let block = claim.block.as_ref();
    claim.has_errors || block.is_some_and(|block| block_contradiction(block, false).is_some())
}
