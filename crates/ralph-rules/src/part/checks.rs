//! Verification results: the baseline before the run, and the latest one.

use crate::fingerprint::Fingerprint;
use crate::next::Why;
use crate::objection::Objection;
use crate::record::{Check, CheckOutcome, CheckResult, Ms, Verified};
use crate::suite::Counts;

/// Verification results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// What was red before iteration 1.
    pub baseline: Option<Verified>,
    /// The latest verification of the workspace as it is, after the latest call.
    pub last: Option<Verified>,
    /// The latest verification with the baseline's oracle.
    pub oracle: Option<Verified>,
    /// The baseline, where its output told of tests; later ones must not be fewer.
    counts: Option<Counts>,
    /// The tree passed after it had failed unchanged.
    pub flaky: bool,
    /// Active time when the one under way began.
    pub began: Ms,
    /// Why the one under way was told to end.
    pub told: Option<Why>,
    /// The latest result may be shown in a prompt, but proves nothing about the tree any more.
    stale: bool,
}

impl Checks {
    /// A call begins: what was verified before it proves nothing any more.
    pub(crate) fn stale(&mut self) {
        self.stale = true;
        self.oracle = None;
    }

    /// A verification begins at this active time.
    pub(crate) fn begun(&mut self, ran: Ms) {
        self.began = ran;
        self.told = None;
    }

    pub(crate) fn closed(&mut self, verified: &Verified) {
        if verified.interrupted {
            return;
        }
        match verified.check {
            Check::Baseline => {
                self.counts = verified.counts();
                self.baseline = Some(verified.clone());
            }
            Check::WithBaselineOracle => self.oracle = Some(verified.clone()),
            Check::AsIs => {
                self.stale = false;
                self.flaky = self.flaky_now(verified);
                self.last = Some(verified.clone());
            }
        }
    }

    /// A pass of a tree that did not pass before is luck on one side or the other.
    fn flaky_now(&self, now: &Verified) -> bool {
        let before = self.last.as_ref().or(self.baseline.as_ref()).filter(|before| before.tree == now.tree);
        now.passed() && before.is_some_and(|before| self.flaky || !before.passed())
    }

    /// Fewer tests ran than before the run, or more were skipped. One that does not tell any more ran none.
    pub fn fewer(&self, verified: &Verified) -> Option<Objection> {
        let before = self.counts.filter(|counts| counts.total > 0)?;
        let now = verified.counts();
        let held = now.is_some_and(|now| now.total >= before.total && now.skipped <= before.skipped);
        (!held).then_some(Objection::FewerTests { before, now })
    }

    /// The same of the latest verification of the workspace as it is.
    pub fn fewer_tests(&self) -> Option<Objection> {
        self.last.as_ref().filter(|_| !self.stale).and_then(|last| self.fewer(last))
    }

    /// The baseline's tests hold: all that passed as it is passes with them too, and none is missing.
    pub fn oracle_holds(&self) -> Option<bool> {
        self.oracle.as_ref().map(|verified| verified.passed() && self.fewer(verified).is_none())
    }

    /// A person resumed the run: a baseline that did not end, or that must be `anew`, is tried once more.
    pub(crate) fn resumed(&mut self, anew: bool) {
        self.told = None;
        if anew || self.baseline_timed_out().is_some() {
            self.baseline = None;
        }
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

    /// What the latest verification shows, also while it is stale: for prompts.
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

    /// The command that ran past its deadline before the agent had done anything.
    pub fn baseline_timed_out(&self) -> Option<&str> {
        let results = &self.baseline.as_ref()?.results;
        results.iter().find(|r| r.how == CheckOutcome::TimedOut).map(|r| r.command.as_str())
    }
}
