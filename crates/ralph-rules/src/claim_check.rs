//! Compares what the agent says about an iteration with what ralph observed in it: TESTS_STATUS with the verification,
//! FILES_MODIFIED with the tree, the tasks with the bound plan, and the claim to be done with the verification. What ralph
//! did not observe is not compared.

use crate::claim::{Claim, Code, Exit, Facts, Lint, Progress, Tests};
use crate::record::{CheckOutcome, Verified};
use serde::Serialize;

/// How the claims of an iteration compare with what ralph observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClaimCheck {
    /// Claims that could be compared.
    pub made: u32,
    /// Those that were true.
    pub held: u32,
    /// What the status block says and ralph saw otherwise.
    pub lints: Vec<Lint>,
    /// The agent says that the work is done, and the verification failed.
    pub not_done: bool,
}

/// The name under which claims to be done are counted whose verification failed.
pub const DONE_NOT_VERIFIED: &str = "done_not_verified";

impl ClaimCheck {
    /// What was claimed wrongly, by its name in statistics.
    pub fn kinds(&self) -> impl Iterator<Item = String> {
        let done = self.not_done.then(|| DONE_NOT_VERIFIED.to_owned());
        self.lints.iter().map(|lint| lint.code.name()).chain(done)
    }
}

/// What ralph observed in an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// How the verify commands ended; none if they did not run to an end.
    pub tests: Option<Tests>,
    /// Files that the call changed.
    pub files: u64,
    /// The bound plan is one of them: ticking it may be counted or not.
    pub plan_changed: bool,
    /// Items of the bound plan that were ticked during the call, and those that are open.
    pub tasks: Option<(u64, u64)>,
}

impl Observed {
    /// The number of files, by the way of counting that `said` may follow.
    fn files_as(&self, said: u64) -> u64 {
        let without_plan = self.files.saturating_sub(u64::from(self.plan_changed));
        if said == without_plan { said } else { self.files }
    }
}

/// Compares a claim with the facts.
pub fn claim_check(claim: &Claim, observed: &Observed) -> ClaimCheck {
    let mut check = ClaimCheck::default();
    let line = claim.block_lines.map_or(0, |(first, _)| first);
    if let Some(block) = &claim.block {
        // An agent that did not run the tests does not claim anything about them.
        let tests = observed.tests.filter(|_| matches!(block.tests, Some(Tests::Passing | Tests::Failing)));
        let pending =
            observed.tasks.map(|(_, open)| open).filter(|_| block.status == Some(Progress::Complete));
        let facts = Facts {
            tests,
            files_modified: block.files_modified.map(|said| observed.files_as(said)),
            tasks_remaining: pending,
            ..Facts::default()
        };
        check.made += [tests.is_some(), facts.files_modified.is_some(), pending.is_some()]
            .into_iter()
            .map(u32::from)
            .sum::<u32>();
        check.lints = facts.against(block, line);
        if let (Some(said), Some((ticked, _))) = (block.tasks_completed, observed.tasks) {
            check.made += 1;
            if said != ticked {
                let why = format!("TASKS_COMPLETED_THIS_LOOP says {said}, but the plan counts {ticked}");
                check.lints.push(Lint::new(Code::TasksCompletedNotAsCounted, line, &why));
            }
        }
    }
    let broken = u32::try_from(check.lints.len()).unwrap_or(u32::MAX);
    check.held = check.made.saturating_sub(broken);
    if let (Exit::True, Some(tests)) = (claim.exit, observed.tests) {
        check.made += 1;
        check.held += u32::from(tests == Tests::Passing);
        check.not_done = tests != Tests::Passing;
    }
    check
}

/// What a verification says about the tests; nothing if a command timed out or could not run.
pub fn tests_of(verified: &Verified) -> Option<Tests> {
    if verified.passed() {
        return Some(Tests::Passing);
    }
    let failed = verified.results.iter().any(|result| result.how == CheckOutcome::Failed);
    (failed && !verified.interrupted).then_some(Tests::Failing)
}
