//! Targets that answered 410: they get nothing more until a person revives them. Remembered in the store, so that every
//! process knows.

use ralph_rules::record::Ms;
use ralph_store::{Batch, CommitError, Store, StoreError};

fn key(target: &str) -> String {
    format!("notify/ended/{target}")
}

/// Since when a target wants nothing more.
pub fn ended(store: &dyn Store, target: &str) -> Result<Option<Ms>, StoreError> {
    Ok(store.memo(&key(target))?.map(|at| at.parse().unwrap_or(0)))
}

/// The target wants nothing more.
pub(crate) fn end(store: &dyn Store, target: &str, now: Ms) -> Result<(), StoreError> {
    remember(store, target, Some(now.to_string()))
}

/// The target gets notes again.
pub fn revive(store: &dyn Store, target: &str) -> Result<(), StoreError> {
    remember(store, target, None)
}

fn remember(store: &dyn Store, target: &str, value: Option<String>) -> Result<(), StoreError> {
    match store.commit(&Batch { memo: vec![(key(target), value)], ..Batch::default() }) {
        Err(CommitError::Store(error)) => Err(error),
        // Neither a record nor money is in it.
        Ok(_) | Err(CommitError::Conflict { .. } | CommitError::Refused(_)) => Ok(()),
    }
}
