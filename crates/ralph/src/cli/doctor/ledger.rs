//! Whether the ledger agrees with the journals: each difference is a row.

use super::Row;
use crate::cli::{Here, runs};
use crate::problem::Code;
use ralph_engine::audit::audit;
use ralph_store::{Database, Store};

/// Differences that are listed; the last row counts the others.
const MOST: usize = 20;

/// One row if everything agrees, otherwise one for each difference.
pub fn rows(store: &Database, here: &Here) -> Vec<Row> {
    let home = here.home();
    let is_active = |run: &str| {
        let row = store.run(run).ok().flatten();
        row.zip(home.as_ref().ok()).is_some_and(|(row, home)| runs::is_running(&row, home))
    };
    let audit = match audit(store, &is_active) {
        Ok(audit) => audit,
        Err(error) => return vec![Row::of("ledger", &runs::broken(&error))],
    };
    if audit.differences.is_empty() {
        let fact = format!("{} calls agree with the journals of {} runs", audit.calls, audit.runs);
        return vec![Row::ok("ledger", fact)];
    }
    let remedy = "if the database was damaged, `ralph doctor --restore` returns to its newest copy";
    let bad = |fact: &String| Row::bad("ledger", Code::Journal, fact.clone(), remedy);
    let mut rows: Vec<Row> = audit.differences.iter().take(MOST).map(bad).collect();
    if let Some(more) = audit.differences.len().checked_sub(MOST).filter(|more| *more > 0) {
        rows.push(bad(&format!("{more} more differences")));
    }
    rows
}
