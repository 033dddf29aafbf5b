//! The outbox after the configuration was changed: notes that wait for quiet hours follow them, and notes of targets that
//! were removed are closed. Whoever looks at the outbox does it. Notes that were closed long ago are deleted.

use crate::config::Config;
use crate::deliver::Delivery;
use ralph_rules::record::Ms;
use ralph_store::{OutboxFilter, OutboxState, Store, StoreError};
use std::collections::BTreeSet;

/// What is said of a note whose target was removed.
pub(crate) const REMOVED: &str = "target removed";

/// How long notes are kept that were delivered or closed. Longer than a crash is news: its note says that it was noted.
const KEPT: Ms = 30 * 24 * 60 * 60 * 1_000;

/// Deletes notes that were closed long ago. How many.
pub fn prune(store: &dyn Store, now: Ms) -> Result<usize, StoreError> {
    store.outbox_prune(now.saturating_sub(KEPT))
}

/// Applies a configuration that was read at `read_at` to notes that were written before it.
pub fn apply(config: &Config, read_at: Ms, delivery: &Delivery) -> Result<(), StoreError> {
    follow_quiet_hours(config, read_at, &*delivery.store)?;
    for id in removed(config, &*delivery.store)? {
        delivery.drop_target(&id, read_at)?;
    }
    Ok(())
}

/// Notes that wait for the end of quiet hours wait for the end that is configured now, or are due if it is none.
pub(crate) fn follow_quiet_hours(config: &Config, now: Ms, store: &dyn Store) -> Result<(), StoreError> {
    let ends = config.quiet.and_then(|quiet| quiet.ends(now, &config.zone));
    store.outbox_keep_until(now, ends).map(drop)
}

/// The targets of waiting notes that the configuration does not list.
pub(crate) fn removed(config: &Config, store: &dyn Store) -> Result<BTreeSet<String>, StoreError> {
    let filter = OutboxFilter { state: Some(OutboxState::Pending), ..OutboxFilter::default() };
    let pending = store.outbox(&filter)?.into_iter().map(|entry| entry.row.target);
    Ok(pending.filter(|id| config.target(id).is_none()).collect())
}
