//! Verification results: the baseline from before the run, and the latest one.

use crate::claim::Tests;
use crate::claim_check::tests_of;
use crate::fingerprint::{ErrorCount, Fingerprint};
use crate::next::Why;
use crate::objection::Objection;
use crate::record::{AnalyzerResult, Check, CheckOutcome, CheckResult, MissingProgram, Ms, Verified};
use crate::suite::Counts;

/// Verification results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// The verification before iteration 1.
    pub baseline: Option<Verified>,
    /// The latest verification of the workspace as it is, after the latest call.
    pub last: Option<Verified>,
    /// The latest verification with the baseline's oracle.
    pub oracle: Option<Verified>,
    /// Test counts of the baseline, if its output had any; later runs must not have fewer tests.
    counts: Option<Counts>,
    /// The same tree failed before it passed.
    pub flaky: bool,
    /// Active time when the one under way began.
    pub began: Ms,
    /// Why the one under way was interrupted.
    pub interrupted_by: Option<Why>,
    /// How long all verifications took so far.
    pub spent: Ms,
    /// The latest result is from before the latest call: good for a prompt, but it proves nothing any more.
    stale: bool,
}

impl Checks {
    /// A call begins: earlier results prove nothing any more.
    pub(crate) fn stale(&mut self) {
        self.stale = true;
        self.oracle = None;
    }

    /// Work on something else begins, to be compared with this verification from before it, if there was one.
    pub(crate) fn compare_with(&mut self, baseline: Option<Verified>) {
        self.stale();
        self.flaky = false;
        self.last = None;
        self.counts = baseline.as_ref().and_then(Verified::counts);
        self.baseline = baseline;
    }

    /// A verification begins at this active time.
    pub(crate) fn begun(&mut self, ran: Ms) {
        self.began = ran;
        self.interrupted_by = None;
    }

    /// A verification closed. An interrupted one says nothing.
    pub fn closed(&mut self, verified: &Verified) {
        let took = verified.results.iter().map(|result| result.ms).fold(0, Ms::saturating_add);
        self.spent = self.spent.saturating_add(took);
        if verified.interrupted {
            return;
        }
        match verified.check {
            Check::Baseline => {
                self.counts = verified.counts();
                self.baseline = Some(verified.clone());
            }
            Check::WithBaselineOracle => self.oracle = Some(verified.clone()),
            // Kept with the proof.
            Check::InRoom(_) => {}
            Check::AsIs => {
                self.stale = false;
                self.flaky = self.flaky_now(verified);
                self.last = Some(verified.clone());
            }
        }
    }

    /// What the user's own checks answered about the workspace as it is.
    pub fn analyzed(&self) -> Option<&[AnalyzerResult]> {
        self.last.as_ref().filter(|_| !self.stale).map(|last| last.analyzers.as_slice())
    }

    /// The same tree failed before and passes now.
    fn flaky_now(&self, now: &Verified) -> bool {
        let before = self.last.as_ref().or(self.baseline.as_ref()).filter(|before| before.tree == now.tree);
        now.passed() && before.is_some_and(|before| self.flaky || !before.passed())
    }

    /// Fewer tests ran than before the run, or more were skipped. Output without test counts means that none ran.
    pub fn fewer(&self, verified: &Verified) -> Option<Objection> {
        self.fewer_than_baseline(verified.counts())
    }

    /// The same for these counts.
    pub fn fewer_than_baseline(&self, now: Option<Counts>) -> Option<Objection> {
        let before = self.counts.filter(|counts| counts.total > 0)?;
        let held = now.is_some_and(|now| now.total >= before.total && now.skipped <= before.skipped);
        (!held).then_some(Objection::FewerTests { before, now })
    }

    /// How many tests there were before the run, if its output had counts.
    pub fn baseline_counts(&self) -> Option<u32> {
        self.counts.map(|counts| counts.total)
    }

    /// Fewer tests ran than before the run in the latest verification of the workspace as it is; new ones that are
    /// skipped do not matter.
    pub fn fewer_ran(&self) -> Option<Objection> {
        let now = self.last.as_ref().filter(|_| !self.stale)?.counts();
        let before = self.counts.filter(|before| now.is_none_or(|now| now.ran() < before.ran()))?;
        Some(Objection::FewerTests { before, now })
    }

    /// Fewer tests than before the run in the latest verification of the workspace as it is.
    pub fn fewer_tests(&self) -> Option<Objection> {
        self.last.as_ref().filter(|_| !self.stale).and_then(|last| self.fewer(last))
    }

    /// Verification also passes with the baseline's tests restored, and no test is missing.
    pub fn oracle_holds(&self) -> Option<bool> {
        self.oracle.as_ref().map(|verified| verified.passed() && self.fewer(verified).is_none())
    }

    /// The run was resumed: a baseline that timed out or could not run, or that must be run `anew`, is discarded.
    pub(crate) fn resumed(&mut self, anew: bool) {
        self.interrupted_by = None;
        if anew || self.baseline_timed_out().is_some() || self.baseline_cannot_run().is_some() {
            self.baseline = None;
        }
    }

    /// What the latest verification of the workspace as it is says about the tests, if it ran to an end.
    pub fn tests(&self) -> Option<Tests> {
        self.last.as_ref().filter(|_| !self.stale).and_then(tests_of)
    }

    /// The workspace as it is now was verified, and every command passed.
    pub fn passed(&self) -> bool {
        !self.stale && self.last.as_ref().is_some_and(Verified::passed)
    }

    /// Every command passed before the run.
    pub fn baseline_green(&self) -> bool {
        self.baseline.as_ref().is_some_and(Verified::passed)
    }

    /// The first command that did not pass, latest verification.
    pub fn failing(&self) -> Option<&CheckResult> {
        if self.stale {
            return None;
        }
        self.last.as_ref()?.results.iter().find(|r| r.how != CheckOutcome::Passed)
    }

    /// The latest result for prompts, even if it is stale.
    pub fn shown(&self) -> Option<&Verified> {
        self.last.as_ref().or(self.baseline.as_ref())
    }

    /// The error the latest verification ended with.
    pub fn error(&self) -> Option<Fingerprint> {
        let failing = self.failing()?;
        Some(match failing.how {
            CheckOutcome::TimedOut => {
                let name = format!("timeout:{}", failing.command);
                Fingerprint { hash: name.clone(), head: name }
            }
            _ => Fingerprint::of(&failing.tail),
        })
    }

    /// How much the latest verification found wrong.
    pub fn error_count(&self) -> ErrorCount {
        let Some(failing) = self.failing() else { return ErrorCount::default() };
        match failing.counts {
            Some(counts) => ErrorCount { failed: counts.failed, passed: counts.passed },
            None => ErrorCount::of(&failing.tail),
        }
    }

    /// The command that ran past its deadline before the agent had done anything.
    pub fn baseline_timed_out(&self) -> Option<&str> {
        let results = &self.baseline.as_ref()?.results;
        results.iter().find(|r| r.how == CheckOutcome::TimedOut).map(|r| r.command.as_str())
    }

    /// The command that could not run before the agent had done anything, and what it lacks.
    pub fn baseline_cannot_run(&self) -> Option<(&str, &MissingProgram)> {
        let results = &self.baseline.as_ref()?.results;
        results.iter().find_map(|r| Some((r.command.as_str(), r.missing.as_ref()?)))
    }
}
