//! Grades: what a completed run shows. Always said, never rounded up.

use serde::{Deserialize, Serialize};

/// What the verifications of a run show about its work, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// There is no verify command.
    Unverified,
    /// The checks pass, but the work may not be the reason: files that may belong to the check changed, or configuration
    /// outside the workspace, or the checks are flaky.
    Unclear,
    /// Earlier tests fail with the new work and were changed.
    Revised,
    /// The checks pass with and without the change: nothing shows the work.
    Unbroken,
    /// New tests fail without the work and pass with it; what passed before still passes.
    Tested,
    /// A check that failed passes because of the work, with the oracle unchanged.
    Proven,
}

impl Grade {
    /// Every grade, from most to least.
    pub const ALL: [Grade; 6] =
        [Grade::Proven, Grade::Tested, Grade::Unbroken, Grade::Revised, Grade::Unclear, Grade::Unverified];

    /// The name in results, receipts and settings.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Unverified => "unverified",
            Grade::Unclear => "unclear",
            Grade::Revised => "revised",
            Grade::Unbroken => "unbroken",
            Grade::Tested => "tested",
            Grade::Proven => "proven",
        }
    }

    /// The grade of this name.
    pub fn of(name: &str) -> Option<Grade> {
        Grade::ALL.into_iter().find(|grade| grade.name() == name)
    }

    /// An experiment showed that the passing verification needs the work: "cost per verified task" counts these.
    pub fn shows_work(self) -> bool {
        self >= Grade::Tested
    }

    /// One sentence about what it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Grade::Proven => "a check failed before and passes because of the work; the checks are unchanged",
            Grade::Tested => "new tests fail without the work and pass with it; earlier checks still pass",
            Grade::Unbroken => "the checks pass with and without the change, so they do not show it",
            Grade::Revised => "earlier tests fail with the new work and were changed",
            Grade::Unclear => "the checks pass, but something other than the work may be the reason",
            Grade::Unverified => "there is no verify command",
        }
    }
}

impl std::fmt::Display for Grade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
