//! What now, phase by phase: the order of judgement, money and time in flight, people, protected paths, resuming.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

mod next_table {
    mod limits;
    mod money;
    mod order;
    mod paths;
    mod people;
    mod places;
    mod resume;
    mod time;
}

use ralph_rules::ending::{Ending, Reason, Status};

/// Every reason with its word, its exit code, whether `resume` may go on, and whether the workspace remembers it.
const ENDINGS: [(Reason, Status, u8, bool, bool); 26] = [
    (Reason::GatePassed, Status::Completed, 0, false, false),
    (Reason::CompletionSignals, Status::Completed, 0, false, false),
    (Reason::AlreadyComplete, Status::Completed, 0, false, false),
    (Reason::Accepted, Status::Completed, 0, false, false),
    (Reason::NeedsReview, Status::Aborted, 2, true, false),
    (Reason::MaxIterations, Status::Aborted, 3, true, false),
    (Reason::CostLimit, Status::Aborted, 3, true, false),
    (Reason::DailyBudget, Status::Aborted, 3, true, false),
    (Reason::TimeLimit, Status::Aborted, 3, true, false),
    (Reason::Stall, Status::Aborted, 1, true, true),
    (Reason::SameError5x, Status::Aborted, 1, true, true),
    (Reason::TestSaturation, Status::Aborted, 1, true, false),
    (Reason::OutputDecline, Status::Aborted, 1, true, true),
    (Reason::CircuitOpen, Status::Aborted, 1, false, false),
    (Reason::PermissionDenied, Status::Aborted, 1, true, true),
    (Reason::Blocked, Status::Aborted, 2, true, false),
    (Reason::ProhibitedPath, Status::Aborted, 4, false, false),
    (Reason::OracleChanged, Status::Aborted, 4, false, false),
    (Reason::RateLimit, Status::Aborted, 75, true, false),
    (Reason::AgentUnavailable, Status::Aborted, 69, true, false),
    (Reason::Interrupted, Status::Interrupted, 130, true, false),
    (Reason::BaselineTimedOut, Status::Error, 78, true, false),
    (Reason::VerifyCannotRun, Status::Error, 78, true, false),
    (Reason::StoreUnsafe, Status::Error, 74, true, false),
    (Reason::WorkspaceLost, Status::Error, 74, true, false),
    (Reason::WorkspaceUnwritable, Status::Error, 74, true, false),
];

#[test]
fn every_ending_has_its_word_and_exit_code() {
    for (reason, status, code, resumable, opens) in ENDINGS {
        let ending = Ending::new(reason, false);
        let got = (ending.status(), ending.exit_code(), ending.resumable(), ending.opens_breaker());
        assert_eq!(got, (status, code, resumable, opens), "{reason:?}");
        let lower = ending.name().chars().all(|c| !c.is_ascii_uppercase());
        assert_eq!(lower, status == Status::Completed, "{}", ending.name());
    }
    for (signal, code) in [(2, 130), (15, 143), (1, 129), (0, 130)] {
        let ending = Ending { signal, ..Ending::new(Reason::Interrupted, false) };
        assert_eq!(ending.exit_code(), code);
    }
}
