//! Completion indicators. Distinct kinds are counted, never repetitions. Reading a message sets only what is claimed;
//! `no_pending` and `verified` are ralph's own observations and are added by the gate.

use super::phrases;
use super::prose;
use super::status::{Progress, Status, Tests};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One kind of completion indicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The block says STATUS COMPLETE.
    StatusComplete,
    /// The block says TESTS_STATUS PASSING.
    TestsPassing,
    /// ralph counted no pending item in the plan. Never set by reading.
    NoPending,
    /// ralph's own verification passed. Never set by reading.
    Verified,
    /// "all tests pass", "everything passes".
    TestsPass,
    /// "all stories complete".
    StoriesComplete,
    /// "project complete", "project ready".
    ProjectComplete,
    /// "implementation complete".
    ImplementationComplete,
    /// "nothing left to do", "no remaining work".
    NothingLeft,
    /// "all tasks complete", "all done"; also from RECOMMENDATION.
    TasksDone,
    /// "100 % complete".
    HundredPercent,
    /// "already implemented", "no changes needed".
    AlreadyImplemented,
    /// COMPLETE in upper case.
    BareComplete,
    /// A phrase of a `[[pattern]]` that means done; all of them together are one kind.
    UserPattern,
}

impl Evidence {
    /// Whether it says that all of the work is done.
    pub(super) fn says_done(self) -> bool {
        matches!(
            self,
            Evidence::StoriesComplete
                | Evidence::ProjectComplete
                | Evidence::NothingLeft
                | Evidence::TasksDone
                | Evidence::HundredPercent
        )
    }

    /// Its name in records and on screen.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::StatusComplete => "status_complete",
            Evidence::TestsPassing => "tests_passing",
            Evidence::NoPending => "no_pending",
            Evidence::Verified => "verified",
            Evidence::TestsPass => "tests_pass",
            Evidence::StoriesComplete => "stories_complete",
            Evidence::ProjectComplete => "project_complete",
            Evidence::ImplementationComplete => "implementation_complete",
            Evidence::NothingLeft => "nothing_left",
            Evidence::TasksDone => "tasks_done",
            Evidence::HundredPercent => "hundred_percent",
            Evidence::AlreadyImplemented => "already_implemented",
            Evidence::BareComplete => "bare_complete",
            Evidence::UserPattern => "user_pattern",
        }
    }
}

/// What a block and the sentences around it claim, and what of it only the block claims.
pub(super) fn claimed(block: Option<&Status>, sentences: &str) -> (BTreeSet<Evidence>, BTreeSet<Evidence>) {
    let spoken = phrases::families(sentences);
    let of_block: BTreeSet<Evidence> = block.map(of_block).unwrap_or_default();
    let only_block = of_block.difference(&spoken).copied().collect();
    (spoken.union(&of_block).copied().collect(), only_block)
}

fn of_block(block: &Status) -> BTreeSet<Evidence> {
    let mut found = BTreeSet::new();
    if block.status == Some(Progress::Complete) {
        found.insert(Evidence::StatusComplete);
    }
    if block.tests == Some(Tests::Passing) {
        found.insert(Evidence::TestsPassing);
    }
    if phrases::families(&prose::of(&block.recommendation)).contains(&Evidence::TasksDone) {
        found.insert(Evidence::TasksDone);
    }
    found
}
