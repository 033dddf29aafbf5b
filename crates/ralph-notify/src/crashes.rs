//! Runs whose process is gone and wrote no ending: nobody else can note that. Whoever sees one first does; the row's id
//! keeps others from repeating it, and a crash that anybody was told about is not told to others later.

use crate::rows::Notes;
use ralph_engine::home::Home;
use ralph_rules::notice::Event;
use ralph_rules::record::Ms;
use ralph_store::{Batch, CommitError, OutboxFilter, RunFilter, RunRow, Store, StoreError};
use ralph_view::listed_run::ListedRun;
use ralph_view::run_state::{RunState, state_of_row};
use std::collections::BTreeSet;

/// An older crash is no news.
const NEWS: Ms = 7 * 24 * 60 * 60 * 1_000;

/// Notes crashes that nobody has noted yet, of the latest run in each workspace. How many runs have crashed.
pub fn note_crashes(store: &dyn Store, home: &Home, notes: &Notes, now: Ms) -> Result<usize, StoreError> {
    let open = store.runs(&RunFilter { open: Some(true), ..RunFilter::default() })?;
    let (mut seen, mut crashed, mut rows) = (BTreeSet::new(), 0, Vec::new());
    for row in open.iter().filter(|row| seen.insert(row.workspace.clone())) {
        if has_crashed(store, home, row)? && is_latest(store, row)? && now.saturating_sub(row.updated) < NEWS
        {
            crashed += 1;
            let filter = OutboxFilter { run: Some(row.id.clone()), ..OutboxFilter::default() };
            let known = store.outbox(&filter)?;
            let has = |event: &str| known.iter().any(|e| e.row.seq == row.head && e.row.event == event);
            // All rows of a crash are written at once: a target that is added later gets none of it.
            if !has(Event::Crashed.name()) {
                let row = with_reservation(store, row);
                rows.extend(notes.of_crash(&row, now).into_iter().filter(|new| !has(&new.event)));
            }
        }
    }
    if !rows.is_empty() {
        match store.commit(&Batch { outbox: rows, ..Batch::default() }) {
            Err(CommitError::Store(error)) => return Err(error),
            Ok(_) | Err(CommitError::Conflict { .. } | CommitError::Refused(_)) => {}
        }
    }
    Ok(crashed)
}

/// A run writes how it ended before it lets go of its lock. So a row that is read after the lock was seen free, and is
/// still open, is a crash.
fn has_crashed(store: &dyn Store, home: &Home, row: &RunRow) -> Result<bool, StoreError> {
    if state_of_row(row, home) != RunState::Crashed {
        return Ok(false);
    }
    let again = store.run(&row.id)?;
    Ok(again.is_some_and(|again| again.head == row.head && again.exit_code.is_none()))
}

/// Nobody knows what a call cost that was under way: it counts as its reservation, and is not called complete.
fn with_reservation(store: &dyn Store, row: &RunRow) -> RunRow {
    let ListedRun { row, reserved_micro } = ListedRun::of(row.clone(), store);
    RunRow { cost_micro: row.cost_micro.saturating_add(reserved_micro), ..row }
}

fn is_latest(store: &dyn Store, row: &RunRow) -> Result<bool, StoreError> {
    let filter = RunFilter { workspace: Some(row.workspace.clone()), limit: Some(1), ..RunFilter::default() };
    Ok(store.runs(&filter)?.first().is_some_and(|latest| latest.id == row.id))
}
