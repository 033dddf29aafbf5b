//! The workspace in this run: which states of the files have occurred, what the last call changed, and which protected
//! paths were changed.

use crate::record::{Admitted, Inspected, Restored, Violation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many names are kept for prompt and receipt.
const NAMES: usize = 500;

/// The workspace as observed in this run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trees {
    /// Every state so far and the iteration it first occurred in; 0 is before the first. Shared, because the loop copies
    /// the state before each reservation, and this grows with every iteration.
    seen: Arc<BTreeMap<u128, u32>>,
    /// The tree now.
    pub now: u128,
    /// The tree right before the latest call.
    pub before: u128,
    /// The latest call reached a state not seen before in this run.
    pub progress: bool,
    /// It returned to the state after this iteration.
    pub seen_at: Option<u32>,
    /// Some call of this run changed files to a new state.
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
    /// Protected paths changed and not restored.
    pub violations: Vec<Violation>,
    /// Every one changed since the latest call began, restored or not.
    pub touched: Vec<Violation>,
    /// Some protected paths could not be restored.
    pub unrestorable: bool,
    /// How often protected paths were restored.
    pub restores: u32,
    /// How often one of them was more than a tool's own change.
    pub offences: u32,
    /// What tools changed by themselves and was restored, in the whole run.
    pub by_tools: Vec<Violation>,
    /// Settings by which other programs run something, as calls made or changed them.
    pub obeyed: BTreeSet<String>,
    /// Where the latest offending content was quarantined.
    pub quarantine: Option<String>,
    /// The agent wrote the marker file.
    pub marker: bool,
    /// Iterations before which no snapshot could be taken, and why.
    pub no_snapshot: BTreeMap<u32, String>,
}

impl Trees {
    pub(crate) fn began(&mut self, tree: u128) {
        self.record_tree(tree, 0);
    }

    /// What differs from the last tree was not changed by the agent, so it is not progress later on.
    pub(crate) fn before_call(&mut self, admitted: &Admitted, called_before: bool) {
        let (tree, iteration) = (admitted.tree, admitted.id.iteration);
        self.record_tree(tree, iteration.saturating_sub(1));
        self.before = tree;
        self.touched.clear();
        // The one before the first call of an iteration counts: later ones have that call's work in them.
        if !called_before {
            self.no_snapshot.remove(&iteration);
            self.no_snapshot.extend(admitted.no_snapshot.clone().map(|why| (iteration, why)));
        }
    }

    pub(crate) fn inspected(&mut self, seen: &Inspected, iteration: u32) {
        let known = self.seen.get(&seen.tree).copied();
        self.progress = seen.tree != self.before && known.is_none();
        self.seen_at = known.filter(|_| seen.tree != self.before);
        self.progressed |= self.progress;
        self.record_tree(seen.tree, iteration);
        self.files = seen.files;
        self.changed.clone_from(&seen.changed);
        self.test_only = seen.test_only;
        self.commits.clone_from(&seen.commits);
        self.violations.clear();
        self.violated(&seen.violations);
        self.marker = seen.marker;
        for change in &seen.obeyed {
            match change.gone {
                true => drop(self.obeyed.remove(&change.path)),
                false if self.obeyed.len() < NAMES => drop(self.obeyed.insert(change.path.clone())),
                false => {}
            }
        }
        for path in &seen.changed {
            if self.all.len() < NAMES {
                self.all.insert(path.clone());
            }
        }
    }

    pub(crate) fn restored(&mut self, restored: &Restored, iteration: u32) {
        // Counted when done: a restore that was cut short by a crash does not count.
        self.restores += 1;
        self.offences += u32::from(!self.only_tools());
        self.unrestorable |= !restored.left.is_empty();
        // Work outside the protected paths is progress; the change to those paths is not. A tree that stayed as it was
        // inspected has been judged already.
        if restored.tree != self.now {
            self.progress = restored.tree != self.before && !self.seen.contains_key(&restored.tree);
        }
        self.quarantine.clone_from(&restored.quarantine);
        let left: BTreeSet<&String> = restored.left.iter().collect();
        for gone in self.violations.iter().filter(|v| v.tool.is_some() && !left.contains(&v.path)) {
            if self.by_tools.len() < NAMES && !self.by_tools.contains(gone) {
                self.by_tools.push(gone.clone());
            }
        }
        self.violations.retain(|v| left.contains(&v.path));
        // What stays in place counts, whoever changed it.
        self.touched.extend(self.violations.iter().filter(|v| v.tool.is_some()).cloned());
        self.record_tree(restored.tree, iteration);
    }

    /// Verification closed. What it changed was not changed by the agent.
    pub(crate) fn settled(&mut self, tree: u128, violations: &[Violation], iteration: u32) {
        self.violated(violations);
        self.record_tree(tree, iteration);
    }

    /// What a tool changes by itself is restored, but does not count against the iteration.
    fn violated(&mut self, violations: &[Violation]) {
        self.violations.extend_from_slice(violations);
        self.touched.extend(violations.iter().filter(|v| v.tool.is_none()).cloned());
    }

    /// Everything that has to be restored was changed by tools.
    pub(crate) fn only_tools(&self) -> bool {
        self.violations.iter().all(|v| v.tool.is_some())
    }

    /// Some call of this run changed files. Changes by verification or by the user do not count.
    pub fn changed_in_run(&self) -> bool {
        self.progressed
    }

    /// Work on something else begins. Returns whether files had changed until now.
    pub(crate) fn begin_anew(&mut self, progressed: bool) -> bool {
        self.marker = false;
        std::mem::replace(&mut self.progressed, progressed)
    }

    fn record_tree(&mut self, tree: u128, iteration: u32) {
        self.now = tree;
        if !self.seen.contains_key(&tree) {
            Arc::make_mut(&mut self.seen).insert(tree, iteration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_the_states_seen_until_a_new_one_occurs() {
        let mut trees = Trees::default();
        trees.began(1);
        let copy = trees.clone();
        trees.settled(1, &[], 1);
        assert!(Arc::ptr_eq(&trees.seen, &copy.seen), "a known state copies nothing");
        trees.settled(2, &[], 1);
        assert_eq!((trees.seen.len(), copy.seen.len()), (2, 1));
    }
}
