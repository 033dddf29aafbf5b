//! How runs end: every reason, its status, its exit code, and whether the run can be resumed.

use crate::grade::Grade;
use crate::objection::Objection;
use serde::{Deserialize, Serialize};

/// Why a run, or this process's part of it, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Claimed and verified (or, without a verify command, claimed with evidence).
    GatePassed,
    /// No explicit signal, but enough indicators in enough iterations in a row.
    CompletionSignals,
    /// There was nothing to do.
    AlreadyComplete,
    /// A person accepted work that needed a review.
    Accepted,
    /// Iteration limit reached.
    MaxIterations,
    /// Cost limit of the run reached.
    CostLimit,
    /// Daily budget reached.
    DailyBudget,
    /// Time limit reached.
    TimeLimit,
    /// No progress.
    Stall,
    /// The same error again and again.
    SameError5x,
    /// Several iterations in a row changed only tests.
    TestSaturation,
    /// Final messages shrank.
    OutputDecline,
    /// The workspace's breaker was open before the run.
    CircuitOpen,
    /// Tools were denied again and again.
    PermissionDenied,
    /// A person is needed.
    Blocked,
    /// A protected path was changed.
    ProhibitedPath,
    /// The work passes only with changed tests.
    OracleChanged,
    /// A person has to decide whether the work is right.
    NeedsReview,
    /// The provider's limit lasts longer than `max_wait`.
    RateLimit,
    /// The agent cannot be used.
    AgentUnavailable,
    /// A signal or `ralph stop`.
    Interrupted,
    /// The baseline verification timed out.
    BaselineTimedOut,
    /// A verify command cannot run: its program is missing.
    VerifyCannotRun,
    /// The disk is nearly full, or the database is gone.
    StoreUnsafe,
    /// The workspace was moved, unmounted or deleted.
    WorkspaceLost,
    /// The workspace cannot be written.
    WorkspaceUnwritable,
    /// The plan that is taken story by story cannot be read or written.
    PlanUnusable,
}

/// Status in the run's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Done.
    Completed,
    /// Stopped by a rule.
    Aborted,
    /// Something failed outside of the agent's work.
    Error,
    /// Stopped by a person.
    Interrupted,
}

/// The name of a signal that comes from a shutdown, a logout or a closed terminal. Any other is a person's own stop:
/// Ctrl-C, `ralph stop` and the keys are SIGINT.
pub fn outside_signal(signal: i32) -> Option<&'static str> {
    match signal {
        1 => Some("SIGHUP"),
        15 => Some("SIGTERM"),
        _ => None,
    }
}

impl Status {
    /// The name scripts match.
    pub fn name(self) -> &'static str {
        match self {
            Status::Completed => "COMPLETED",
            Status::Aborted => "ABORTED",
            Status::Error => "ERROR",
            Status::Interrupted => "INTERRUPTED",
        }
    }
}

/// How a run, or this process's part of it, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The reason.
    pub reason: Reason,
    /// Verification passed on the final tree.
    pub verified: bool,
    /// The signal behind an interruption (2, 15, 1), otherwise 0.
    pub signal: i32,
    /// What the verifications show; none for runs that did not come to a proof, and in journals of older rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
}

impl Ending {
    /// An ending without a signal.
    pub fn new(reason: Reason, verified: bool) -> Ending {
        Ending { reason, verified, signal: 0, grade: None }
    }

    /// The signal that ended the run, if no person asked for it.
    pub fn outside_signal(&self) -> Option<&'static str> {
        (self.reason == Reason::Interrupted).then(|| outside_signal(self.signal)).flatten()
    }

    /// Why a run ended so, as screens say it.
    pub fn why(&self, reasons: &[Objection]) -> String {
        match self.outside_signal() {
            Some(signal) => format!("{signal} ended it"),
            None => reasons.iter().map(Objection::say).collect::<Vec<_>>().join("; "),
        }
    }

    /// The same ending with a grade.
    pub fn graded(self, grade: Grade) -> Ending {
        Ending { grade: Some(grade), ..self }
    }

    /// Status in the run's result.
    pub fn status(&self) -> Status {
        match self.reason {
            Reason::GatePassed | Reason::CompletionSignals | Reason::AlreadyComplete | Reason::Accepted => {
                Status::Completed
            }
            Reason::Interrupted => Status::Interrupted,
            Reason::BaselineTimedOut
            | Reason::VerifyCannotRun
            | Reason::StoreUnsafe
            | Reason::WorkspaceLost
            | Reason::WorkspaceUnwritable
            | Reason::PlanUnusable => Status::Error,
            _ => Status::Aborted,
        }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self.reason {
            Reason::GatePassed | Reason::CompletionSignals | Reason::AlreadyComplete | Reason::Accepted => 0,
            Reason::Stall
            | Reason::SameError5x
            | Reason::TestSaturation
            | Reason::OutputDecline
            | Reason::CircuitOpen
            | Reason::PermissionDenied => 1,
            Reason::Blocked | Reason::NeedsReview => 2,
            Reason::MaxIterations | Reason::CostLimit | Reason::DailyBudget | Reason::TimeLimit => 3,
            Reason::ProhibitedPath | Reason::OracleChanged => 4,
            Reason::PlanUnusable => 65,
            Reason::AgentUnavailable => 69,
            Reason::StoreUnsafe | Reason::WorkspaceLost | Reason::WorkspaceUnwritable => 74,
            Reason::RateLimit => 75,
            Reason::BaselineTimedOut | Reason::VerifyCannotRun => 78,
            Reason::Interrupted => match self.signal {
                15 => 143,
                1 => 129,
                _ => 130,
            },
        }
    }

    /// Whether `resume` can continue the run.
    pub fn resumable(&self) -> bool {
        matches!(
            self.reason,
            Reason::MaxIterations
                | Reason::CostLimit
                | Reason::DailyBudget
                | Reason::TimeLimit
                | Reason::RateLimit
                | Reason::AgentUnavailable
                | Reason::Interrupted
                | Reason::BaselineTimedOut
                | Reason::VerifyCannotRun
                | Reason::StoreUnsafe
                | Reason::WorkspaceLost
                | Reason::WorkspaceUnwritable
                | Reason::NeedsReview
                | Reason::PlanUnusable
        ) || self.needs_answer()
    }

    /// Whether the run continues only with a hint: the agent asked for a person, or made no progress by itself.
    pub fn needs_answer(&self) -> bool {
        matches!(
            self.reason,
            Reason::Blocked
                | Reason::Stall
                | Reason::SameError5x
                | Reason::TestSaturation
                | Reason::OutputDecline
                | Reason::PermissionDenied
        )
    }

    /// The provider or agent was unavailable for longer than ralph waits.
    pub fn gave_up(&self) -> bool {
        matches!(self.reason, Reason::RateLimit | Reason::AgentUnavailable)
    }

    /// Whether the workspace's breaker stays open, so that the next run refuses to start.
    pub fn opens_breaker(&self) -> bool {
        matches!(
            self.reason,
            Reason::Stall | Reason::SameError5x | Reason::OutputDecline | Reason::PermissionDenied
        )
    }

    /// The name scripts match.
    pub fn name(&self) -> &'static str {
        self.reason.name()
    }
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 27] = [
        Reason::GatePassed,
        Reason::CompletionSignals,
        Reason::AlreadyComplete,
        Reason::Accepted,
        Reason::MaxIterations,
        Reason::CostLimit,
        Reason::DailyBudget,
        Reason::TimeLimit,
        Reason::Stall,
        Reason::SameError5x,
        Reason::TestSaturation,
        Reason::OutputDecline,
        Reason::CircuitOpen,
        Reason::PermissionDenied,
        Reason::Blocked,
        Reason::ProhibitedPath,
        Reason::OracleChanged,
        Reason::NeedsReview,
        Reason::RateLimit,
        Reason::AgentUnavailable,
        Reason::Interrupted,
        Reason::BaselineTimedOut,
        Reason::VerifyCannotRun,
        Reason::StoreUnsafe,
        Reason::WorkspaceLost,
        Reason::WorkspaceUnwritable,
        Reason::PlanUnusable,
    ];

    /// The reason of this name.
    pub fn named(name: &str) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// The name scripts match: lower case for completed runs, upper case otherwise.
    pub fn name(self) -> &'static str {
        match self {
            Reason::GatePassed => "gate_passed",
            Reason::CompletionSignals => "completion_signals",
            Reason::AlreadyComplete => "already_complete",
            Reason::Accepted => "accepted",
            Reason::MaxIterations => "MAX_ITERATIONS",
            Reason::CostLimit => "COST_LIMIT",
            Reason::DailyBudget => "DAILY_BUDGET",
            Reason::TimeLimit => "TIME_LIMIT",
            Reason::Stall => "STALL",
            Reason::SameError5x => "SAME_ERROR_5X",
            Reason::TestSaturation => "TEST_SATURATION",
            Reason::OutputDecline => "OUTPUT_DECLINE",
            Reason::CircuitOpen => "CIRCUIT_OPEN",
            Reason::PermissionDenied => "PERMISSION_DENIED",
            Reason::Blocked => "BLOCKED",
            Reason::ProhibitedPath => "PROHIBITED_PATH",
            Reason::OracleChanged => "ORACLE_CHANGED",
            Reason::NeedsReview => "NEEDS_REVIEW",
            Reason::RateLimit => "RATE_LIMIT",
            Reason::AgentUnavailable => "AGENT_UNAVAILABLE",
            Reason::Interrupted => "INTERRUPTED",
            Reason::BaselineTimedOut => "BASELINE_TIMED_OUT",
            Reason::VerifyCannotRun => "VERIFY_CANNOT_RUN",
            Reason::StoreUnsafe => "STORE_UNSAFE",
            Reason::WorkspaceLost => "WORKSPACE_LOST",
            Reason::WorkspaceUnwritable => "WORKSPACE_UNWRITABLE",
            Reason::PlanUnusable => "PLAN_UNUSABLE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_name() {
        for (nth, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!((reason as usize, Reason::named(reason.name())), (nth, Some(reason)));
        }
        assert_eq!(Reason::named("STALLED"), None);
        // A reason that is added comes last.
        assert_eq!(Reason::PlanUnusable as usize + 1, Reason::ALL.len());
    }
}
