//! Closes an iteration: passes what happened in it to every guard and to the gate, once.

use super::{FirstError, Phase, State, first_error};
use crate::claim::{WorkType, signature};
use crate::claim_check::{Observed, claim_check};
use crate::failure::Reaction;
use crate::fingerprint::Fingerprint;
use crate::gate::signal;
use crate::guard::Closed;
use crate::prompt::tail;

impl State {
    /// The iteration is complete.
    pub(super) fn close_iteration(&mut self) {
        let closed = self.closed_iteration();
        self.calls.closed = self.now();
        self.proof.under_way = false;
        let again = std::mem::replace(&mut self.calls.judged, true);
        if !again {
            self.stories.iteration_closed();
            self.stall.closed(&closed);
            self.repeat.closed(&closed);
            self.note_first_error();
            self.saturation.closed(&closed);
            self.decline.closed(&closed);
            self.denials.closed(&closed);
            let policy = self.start.as_ref().map(|start| &start.policy);
            let stuck = policy.is_some_and(|policy| self.repeat.stuck(policy).is_some());
            self.ladder.closed(&closed, stuck);
            let said = self.claim.block.as_ref().map_or("", |b| b.recommendation.as_str());
            let changed = (self.trees.files, self.trees.changed.as_slice());
            let error = closed.error.as_ref().or(closed.agent_error.as_ref());
            self.recent.closed(self.calls.done, changed, error, said);
        }
        self.claim_check = claim_check(&self.claim, &self.observed());
        self.signals.closed(signal(self), again);
        if !self.verifies() {
            self.phase = Phase::Judging;
        }
    }

    /// Keeps what was printed when the error of this iteration was new: by verification, or by the agent itself.
    fn note_first_error(&mut self) {
        let output = || {
            let verified = self.checks.failing().map_or("", |result| result.tail.as_str());
            format!("{verified}\n{}", tail(&self.calls.text, FirstError::MESSAGE_BYTES))
        };
        let before = self.first_error.take();
        let error = self.repeat.longest().error.as_ref();
        self.first_error = first_error::since(before, error, output);
    }

    fn closed_iteration(&self) -> Closed {
        let testing = self.claim.block.as_ref().is_some_and(|b| b.work_type == Some(WorkType::Testing));
        Closed {
            iteration: self.calls.done,
            progress: self.trees.progress,
            failed: self.faults.last.is_some(),
            cut_short: self.cut_short(),
            files: self.trees.files,
            test_only: self.trees.test_only || (self.trees.files == 0 && testing),
            denials: self.calls.denials.clone(),
            text_bytes: self.calls.text_bytes,
            error: self.checks.error(),
            error_count: self.checks.error_count(),
            agent_error: self.agent_error(),
            agent_error_count: self.claim.error_count,
        }
    }

    /// The error of the call, otherwise those that its message reports and a passing verification does not refute.
    fn agent_error(&self) -> Option<Fingerprint> {
        match &self.faults.last {
            Some(fault) => Some(Fingerprint::of(&fault.message)),
            None if self.checks.passed() => None,
            None => signature(&self.claim.errors).or_else(|| self.failing_exit()),
        }
    }

    /// The agent reported success and exited as programs do that failed.
    fn failing_exit(&self) -> Option<Fingerprint> {
        let code = self.calls.exit.filter(|code| *code != 0)?;
        let name = format!("exit code {code}");
        Some(Fingerprint { hash: name.clone(), head: format!("the agent ended with {name}") })
    }

    /// The call ended at a limit, its own or ralph's, while it changed files, or it was lost when ralph was killed: that
    /// it did not finish is not an error that repeats.
    fn cut_short(&self) -> bool {
        let Some(fault) = &self.faults.last else { return false };
        let limit = fault.class.reaction() == Reaction::Continue || self.calls.ended_by.is_some();
        self.faults.lost || (limit && self.trees.progress)
    }

    fn observed(&self) -> Observed {
        Observed {
            tests: self.checks.tests(),
            files: self.trees.files.into(),
            plan_changed: self.trees.changed.contains(&self.tasks.file),
            tasks: self.tasks.ticked_and_open(),
        }
    }
}
