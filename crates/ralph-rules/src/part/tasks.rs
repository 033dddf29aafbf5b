//! The bound plan as it stands: how many items are ticked, which are open. What an agent ticks is a claim; the counts
//! are ralph's own. Without a named plan this part stays empty and nothing follows from it.

use crate::record::{PlanGiven, PlanSeen};

/// The bound plan as it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// As the user named it.
    pub file: String,
    /// How it stood when it was read last; none where no plan is bound.
    pub latest: Option<PlanSeen>,
    /// Open items when it last held any.
    open: u32,
}

impl Tasks {
    pub(crate) fn began(&mut self, given: Option<&PlanGiven>) {
        self.file = given.map(|plan| plan.file.clone()).unwrap_or_default();
        self.inspected(given.map(|plan| &plan.seen));
    }

    pub(crate) fn inspected(&mut self, seen: Option<&PlanSeen>) {
        let Some(seen) = seen else { return };
        if seen.speaks() {
            self.open = seen.pending;
        }
        self.latest = Some(seen.clone());
    }

    /// Open items; none where no plan is bound or it holds no item.
    pub fn pending(&self) -> Option<u32> {
        self.latest.as_ref().filter(|seen| seen.speaks()).map(|seen| seen.pending)
    }

    /// The next open items' texts.
    pub fn remaining(&self) -> &[String] {
        self.latest.as_ref().map_or(&[], |seen| seen.next.as_slice())
    }

    /// What in the plan speaks against a claim to be done.
    pub fn against(&self) -> Option<String> {
        let seen = self.latest.as_ref()?;
        let file = &self.file;
        match &seen.problem {
            Some(problem) => Some(format!("the plan {file} cannot be read: {problem}")),
            // They were taken away, not done.
            None if !seen.speaks() && self.open > 0 => {
                Some(format!("the plan {file} had open items and now has none at all"))
            }
            None if seen.pending == 0 => None,
            None if seen.pending == 1 => Some(format!("the plan {file} has 1 open item")),
            None => Some(format!("the plan {file} has {} open items", seen.pending)),
        }
    }
}
