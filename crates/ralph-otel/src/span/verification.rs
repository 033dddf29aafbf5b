//! The span of a verification. One that found a failing check did what it is for: that is not an error.

use super::{Begun, CRASHED, Kind, Span};
use crate::attributes::{Attributes, word_of};
use ralph_rules::record::{Check, CheckOutcome, Ms, RoomSets, Verified, WorkspaceUnusable};

/// A verification under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenVerification {
    /// The record that began it.
    pub begun: Begun,
    /// Which one.
    pub check: Check,
    /// The span around it.
    pub parent: (Kind, u64),
    /// The iteration whose work it checks, if there is one.
    pub iteration: Option<u32>,
}

impl OpenVerification {
    /// The span of a verification that closed with `verified`.
    pub fn ended(self, verified: &Verified, run_id: &str, at: Ms) -> Span {
        let failing = verified.results.iter().filter(|result| result.how != CheckOutcome::Passed);
        let counts = verified.counts();
        let attributes = self
            .attributes(run_id)
            .maybe_flag("ralph.verification.passed", verdict(verified))
            .count("ralph.verification.commands", verified.results.len())
            .count("ralph.verification.commands_failed", failing.count())
            .maybe_count("ralph.verification.tests", counts.map(|counts| counts.total))
            .maybe_count("ralph.verification.tests_failed", counts.map(|counts| counts.failed))
            .maybe_count("ralph.verification.tests_skipped", counts.map(|counts| counts.skipped))
            .mark("ralph.verification.interrupted", verified.interrupted);
        self.close(attributes, at, error(verified))
    }

    /// The span of a verification that could not be finished in this workspace.
    pub fn without_workspace(self, unusable: &WorkspaceUnusable, run_id: &str, at: Ms) -> Span {
        let why = word_of(&unusable.how).map(|how| format!("workspace_{how}"));
        self.close(self.attributes(run_id), at, why)
    }

    /// The span of a verification whose process was killed; it is begun again.
    pub fn lost(self, run_id: &str, at: Ms) -> Span {
        self.close(self.attributes(run_id), at, Some("lost".into()))
    }

    /// The span of a verification that the journal does not close.
    pub fn unfinished(self, run_id: &str, at: Ms, crashed: bool) -> Span {
        let attributes = self.attributes(run_id).flag("ralph.unfinished", true);
        self.close(attributes, at, crashed.then(|| CRASHED.into()))
    }

    fn attributes(&self, run_id: &str) -> Attributes {
        let attributes = Attributes::default()
            .name("ralph.run.id", Some(run_id))
            .maybe_count("ralph.iteration.number", self.iteration);
        match self.check {
            Check::Baseline => attributes.word("ralph.verification.check", "baseline"),
            Check::AsIs => attributes.word("ralph.verification.check", "as_is"),
            Check::WithBaselineOracle => attributes.word("ralph.verification.check", "with_baseline_oracle"),
            Check::InRoom(sets) => attributes
                .word("ralph.verification.check", "in_room")
                .words("ralph.verification.room", &names(sets)),
        }
    }

    fn close(self, attributes: Attributes, at: Ms, error: Option<String>) -> Span {
        Span {
            kind: Kind::Verification,
            name: "verification".into(),
            begun: self.begun,
            end: at,
            parent: Some(self.parent),
            attributes,
            error,
        }
    }
}

/// Whether it passed; none if it was interrupted or could not run.
pub fn verdict(verified: &Verified) -> Option<bool> {
    (!verified.interrupted && error(verified).is_none()).then(|| verified.passed())
}

/// What kept a verification from answering.
fn error(verified: &Verified) -> Option<String> {
    if verified.room.as_ref().is_some_and(|room| room.problem.is_some()) {
        return Some("room_unusable".into());
    }
    let stuck = [CheckOutcome::NotRun, CheckOutcome::TimedOut];
    let mut outcomes = verified.results.iter().map(|result| result.how);
    let stuck = outcomes.find(|how| stuck.contains(how)).filter(|_| !verified.interrupted);
    stuck.as_ref().and_then(word_of)
}

/// The sets of changes in a room; none for the files before the run.
fn names(sets: RoomSets) -> Vec<String> {
    let all = [
        (sets.work, "work"),
        (sets.ambiguous, "ambiguous"),
        (sets.oracle, "oracle"),
        (sets.canary, "canary"),
    ];
    all.into_iter().filter(|(taken, _)| *taken).map(|(_, name)| name.into()).collect()
}
