//! Whether the ledger agrees with the journals: each difference is a row, and so is each run without a journal.

use super::Row;
use crate::cli::{Here, runs};
use crate::problem::Code;
use ralph_engine::audit::audit;
use ralph_store::{Database, Store};

/// Differences that are listed; the last row counts the others.
const MOST: usize = 20;

/// One row if everything agrees, otherwise one for each difference; and one for each run that lost its journal.
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
    let mut rows = match audit.differences.is_empty() {
        true => {
            let fact = format!("{} calls agree with the journals of {} runs", audit.calls, audit.runs);
            vec![Row::ok("ledger", fact)]
        }
        false => {
            let remedy = "if the database was damaged, `ralph doctor --restore` returns to its newest copy";
            listed(&audit.differences, "differences", |fact| Row::bad("ledger", Code::Journal, fact, remedy))
        }
    };
    let counted = "its cost is counted; it cannot be resumed";
    rows.extend(listed(&audit.without_journal, "runs without a journal", |fact| {
        Row::warn("ledger", fact, counted)
    }));
    rows
}

/// A row for each fact, up to the limit.
fn listed(facts: &[String], what: &str, row: impl Fn(String) -> Row) -> Vec<Row> {
    let more = facts.len().checked_sub(MOST).filter(|more| *more > 0);
    let more = more.map(|more| format!("{more} more {what}"));
    facts.iter().take(MOST).cloned().chain(more).map(row).collect()
}
