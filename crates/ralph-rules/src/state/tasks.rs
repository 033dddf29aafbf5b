//! The plan file of the run: how many items are ticked and which are open. A ticked item is only a claim of the agent.
//! Without a plan this part stays empty and has no effect.

use crate::record::{PlanGiven, PlanSeen};

/// The state of the plan file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// As the user named it.
    pub file: String,
    /// Its content when it was last read; none without a plan.
    pub latest: Option<PlanSeen>,
    /// Open items when it last had any items.
    open: u32,
    /// Ticked items when the latest call began.
    done_before: u32,
}

impl Tasks {
    pub(crate) fn began(&mut self, given: Option<&PlanGiven>) {
        self.file = given.map(|plan| plan.file.clone()).unwrap_or_default();
        self.inspected(given.map(|plan| &plan.seen));
    }

    pub(crate) fn inspected(&mut self, seen: Option<&PlanSeen>) {
        let Some(seen) = seen else { return };
        if seen.has_items() {
            self.open = seen.pending;
        }
        self.latest = Some(seen.clone());
    }

    /// A call begins.
    pub(crate) fn call_begins(&mut self) {
        self.done_before = self.latest.as_ref().map_or(0, |seen| seen.done);
    }

    /// Items that were ticked since the latest call began, and those that are open; none without a plan that has items.
    pub fn ticked_and_open(&self) -> Option<(u64, u64)> {
        let seen = self.latest.as_ref().filter(|seen| seen.has_items())?;
        Some((seen.done.saturating_sub(self.done_before).into(), seen.pending.into()))
    }

    /// Open items; none without a plan or if it has no items.
    pub fn pending(&self) -> Option<u32> {
        self.latest.as_ref().filter(|seen| seen.has_items()).map(|seen| seen.pending)
    }

    /// The next open items' texts.
    pub fn remaining(&self) -> &[String] {
        self.latest.as_ref().map_or(&[], |seen| seen.next.as_slice())
    }

    /// Why the plan contradicts a claim to be done. The text is part of decisions in journals, so it must not change.
    pub fn contradiction(&self) -> Option<String> {
        let seen = self.latest.as_ref()?;
        let file = &self.file;
        match &seen.problem {
            Some(problem) => Some(format!("the plan {file} cannot be read: {problem}")),
            // They were removed, not done.
            None if !seen.has_items() && self.open > 0 => {
                Some(format!("the plan {file} had open items and now has none at all"))
            }
            None if seen.pending == 0 => None,
            None if seen.pending == 1 => Some(format!("the plan {file} has 1 open item")),
            None => Some(format!("the plan {file} has {} open items", seen.pending)),
        }
    }
}
