//! An error that earlier runs in the same workspace had: which runs, and what was changed when it went away.

use crate::iteration_parts::changed_names;
use crate::run_state::short_id;
use ralph_engine::journal;
use ralph_rules::fingerprint::Fingerprint;
use ralph_store::{IterationRow, Store, StoreError};
use serde::Serialize;
use std::collections::BTreeSet;

/// How many earlier runs are named.
const MOST: usize = 3;
/// How many iterations are looked through for them.
const LOOKED_AT: u32 = 200;
/// How many files are named.
const NAMES: usize = 8;

/// An earlier run that had the same error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenBefore {
    /// The run.
    pub run: String,
    /// The last characters of its id.
    pub short: String,
    /// The last iteration that ended with the error.
    pub iteration: u32,
    /// The iteration after which the error was gone, if it went.
    pub gone_after: Option<u32>,
    /// Files that iteration changed.
    pub changed: Vec<String>,
    /// All of it in a sentence.
    pub text: String,
}

/// The error of the latest iteration that ended. One that is under way, and an attempt that failed, say nothing about it.
pub fn latest_error(rows: &[IterationRow]) -> Option<&str> {
    rows.iter().rev().find(|row| was_judged(row))?.error.as_deref()
}

/// Runs in a workspace that were started before `run` and had this error, newest first.
pub fn seen_before(
    store: &dyn Store,
    workspace: &str,
    error: &str,
    run: &str,
) -> Result<Vec<SeenBefore>, StoreError> {
    // Rows of an earlier ralph do not say which check failed without a word: nothing is known to be the same.
    if error == Fingerprint::SILENT {
        return Ok(Vec::new());
    }
    let rows = store.iterations_with_error(workspace, error, run, LOOKED_AT)?;
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for row in rows {
        // Newest first: the first row of a run is the last attempt that ended so.
        if found.len() < MOST && told.insert(row.run.clone()) {
            found.push(SeenBefore::of(store, &row, error)?);
        }
    }
    Ok(found)
}

impl SeenBefore {
    fn of(store: &dyn Store, row: &IterationRow, error: &str) -> Result<SeenBefore, StoreError> {
        let later = store.iterations(&row.run)?.into_iter();
        let mut later = later.filter(|later| (later.n, later.attempt) > (row.n, row.attempt));
        // An attempt that failed says nothing about the error; the one that was made for it instead does.
        let gone_after = later.find(|later| is_gone(later, error)).map(|later| later.n);
        let changed = match (gone_after, journal::read(store, &row.run)) {
            (Some(n), Ok(records)) => changed_names(&records, n),
            _ => Vec::new(),
        };
        let changed: Vec<String> = changed.into_iter().take(NAMES).collect();
        let short = short_id(&row.run).to_owned();
        let text = words(&short, row.n, gone_after, &changed);
        Ok(SeenBefore { run: row.run.clone(), short, iteration: row.n, gone_after, changed, text })
    }
}

/// The iteration was judged and did not end with the error.
fn is_gone(row: &IterationRow, error: &str) -> bool {
    was_judged(row) && row.error.as_deref() != Some(error)
}

/// The iteration ended, and its call did not fail.
fn was_judged(row: &IterationRow) -> bool {
    !row.decision.is_empty() && row.failure.is_none()
}

fn words(short: &str, iteration: u32, gone_after: Option<u32>, changed: &[String]) -> String {
    match (gone_after, changed.is_empty()) {
        (None, _) => format!("run {short} had this error and did not get past it (iteration {iteration})"),
        (Some(n), true) => format!("run {short} had this error; it was gone after iteration {n}"),
        (Some(n), false) => {
            format!(
                "run {short} had this error; it was gone after iteration {n} changed {}",
                changed.join(", ")
            )
        }
    }
}
