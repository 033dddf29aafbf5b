//! The workspace as seen in this run: which states of the files were there already, what the last call
//! changed, and which protected paths were touched.

use crate::record::{Inspected, Restored, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// How many names are kept for prompt and receipt.
const NAMES: usize = 500;

/// The workspace as seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trees {
    /// Every state so far, and the iteration that brought it; 0 is before the first.
    seen: BTreeMap<u128, u32>,
    /// The tree now.
    pub now: u128,
    /// The tree right before the latest call.
    pub before: u128,
    /// The latest call reached a state not seen before in this run.
    pub progress: bool,
    /// It went back to the state that this iteration had left.
    pub seen_at: Option<u32>,
    /// Some call of this run did.
    progressed: bool,
    /// Files the latest call changed.
    pub files: u32,
    /// Their names.
    pub changed: Vec<String>,
    /// Only test files changed.
    pub test_only: bool,
    /// Every file any call changed.
    pub all: BTreeSet<String>,
    /// Subjects of the latest commits.
    pub commits: Vec<String>,
    /// Protected paths touched and not put back.
    pub violations: Vec<Violation>,
    /// Every one touched since the latest call began, put back or not.
    pub touched: Vec<Violation>,
    /// Oracle files that differ from the baseline's.
    pub oracle: Vec<String>,
    /// Some of them could not be put back.
    pub unrestorable: bool,
    /// How often protected paths were put back.
    pub restores: u32,
    /// Where the latest offending content was put aside.
    pub quarantine: Option<String>,
    /// The agent wrote the marker file.
    pub marker: bool,
}

impl Trees {
    pub(crate) fn began(&mut self, tree: u128) {
        self.is_now(tree, 0);
    }

    /// What differs from the last tree seen is not the agent's, and no progress later on.
    pub(crate) fn before_call(&mut self, tree: u128, iteration: u32) {
        self.is_now(tree, iteration.saturating_sub(1));
        self.before = tree;
        self.touched.clear();
    }

    pub(crate) fn inspected(&mut self, seen: &Inspected, iteration: u32) {
        let known = self.seen.get(&seen.tree).copied();
        self.progress = seen.tree != self.before && known.is_none();
        self.seen_at = known.filter(|_| seen.tree != self.before);
        self.progressed |= self.progress;
        self.is_now(seen.tree, iteration);
        self.files = seen.files;
        self.changed.clone_from(&seen.changed);
        self.test_only = seen.test_only;
        self.commits.clone_from(&seen.commits);
        self.violations.clone_from(&seen.violations);
        self.touched.extend_from_slice(&seen.violations);
        self.oracle.clone_from(&seen.oracle);
        self.marker = seen.marker;
        for path in &seen.changed {
            if self.all.len() < NAMES {
                self.all.insert(path.clone());
            }
        }
    }

    pub(crate) fn restored(&mut self, restored: &Restored, iteration: u32) {
        // Counted when it is done: a restore that a crash cut short is not one more.
        self.restores += 1;
        self.unrestorable |= !restored.left.is_empty();
        // Work beside the offending paths is progress; the offence itself is not.
        self.progress = restored.tree != self.before && !self.seen.contains_key(&restored.tree);
        self.quarantine.clone_from(&restored.quarantine);
        let left: BTreeSet<&String> = restored.left.iter().collect();
        self.violations.retain(|v| left.contains(&v.path));
        self.is_now(restored.tree, iteration);
    }

    /// Verification closed: what it changed is not the agent's.
    pub(crate) fn settled(&mut self, tree: u128, violations: &[Violation], iteration: u32) {
        self.violations.extend_from_slice(violations);
        self.touched.extend_from_slice(violations);
        self.is_now(tree, iteration);
    }

    /// Some call of this run changed the files; what verification or the user changed is not the agent's.
    pub fn changed_in_run(&self) -> bool {
        self.progressed
    }

    fn is_now(&mut self, tree: u128, iteration: u32) {
        self.now = tree;
        self.seen.entry(tree).or_insert(iteration);
    }
}
