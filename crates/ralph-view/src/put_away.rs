//! Runs that a person put away: they no longer ask for attention until something new is written of them.

use ralph_store::{Batch, CommitError, RunRow, Store, StoreError};
use std::collections::BTreeMap;

/// How the memos of runs that were put away begin; their value is the newest record then.
const PREFIX: &str = "away/";

/// Runs that were put away, each with the newest record that was known then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutAway(BTreeMap<String, u64>);

impl PutAway {
    /// As the store has them.
    pub fn read(store: &dyn Store) -> Result<PutAway, StoreError> {
        let memos = store.memos(PREFIX)?.into_iter();
        let known = |(key, value): (String, String)| {
            Some((key.strip_prefix(PREFIX)?.to_owned(), value.parse().ok()?))
        };
        Ok(PutAway(memos.filter_map(known).collect()))
    }

    /// Whether a run was put away and has not changed since.
    pub fn holds(&self, row: &RunRow) -> bool {
        self.0.get(&row.id).is_some_and(|head| *head >= row.head)
    }

    /// The runs for which this and another answer differ.
    pub fn differences<'a>(&'a self, other: &'a PutAway) -> impl Iterator<Item = &'a String> {
        let gone = other.0.keys().filter(|run| !self.0.contains_key(*run));
        self.0.iter().filter(|(run, head)| other.0.get(*run) != Some(head)).map(|(run, _)| run).chain(gone)
    }
}

/// Puts a run away, or takes it back.
pub fn put_away(store: &dyn Store, row: &RunRow, away: bool) -> Result<(), CommitError> {
    let memo = (format!("{PREFIX}{}", row.id), away.then(|| row.head.to_string()));
    store.commit(&Batch { memo: vec![memo], ..Batch::default() }).map(drop)
}
