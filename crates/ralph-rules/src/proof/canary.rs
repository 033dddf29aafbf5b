//! The canary: tests that must fail, in the room that decides. It runs only if nothing else shows that a failing test
//! would be noticed: the output has no counts, or the work has signs of dealing with the check.

use super::Answer;
use super::order::Order;
use crate::objection::Objection;
use crate::record::RoomSets;
use crate::state::RoomRun;
use std::collections::BTreeSet;

/// Why the verification in this room is void; none if failing tests are noticed there, or nothing can be tried.
pub(super) fn check(order: &Order<'_>, sets: RoomSets) -> Answer<Option<Objection>> {
    let counted = order.room(sets)?.counts.is_some_and(|counts| counts.ran() > 0);
    if !order.compared.canary || (counted && order.compared.signs.is_empty()) {
        return Ok(None);
    }
    let now = order.room(RoomSets { canary: true, ..sets })?;
    let Some(canary) = &now.canary else { return Ok(None) };
    if !now.passed && canary.failed.len() == canary.tried.len() {
        return Ok(None);
    }
    // Whether it fits the runner at all shows without the work.
    let before = order.room(RoomSets { canary: true, work: false, ..sets })?;
    let missed = missed(before, now);
    Ok((!missed.is_empty()).then_some(Objection::CanarySurvived { kinds: missed }))
}

/// The kinds that fail without the work and not with it.
fn missed(before: &RoomRun, now: &RoomRun) -> Vec<String> {
    let failed = |run: &RoomRun| -> BTreeSet<String> {
        run.canary.as_ref().map(|seen| seen.failed.iter().cloned().collect()).unwrap_or_default()
    };
    let (was, is) = (failed(before), if now.passed { BTreeSet::new() } else { failed(now) });
    was.difference(&is).cloned().collect()
}
