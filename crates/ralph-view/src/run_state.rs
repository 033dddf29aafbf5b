//! The state of a run that lies in the store, with its process looked at. A row says what was written last; only the
//! workspace's lock knows whether a process still works on it.

use crate::style::Style;
use ralph_engine::home::Home;
use ralph_engine::open::drives;
pub use ralph_engine::run_state::RunState;
use ralph_rules::ending::Status;
use ralph_store::RunRow;
use ralph_tree::WorkspaceLock;
use std::path::Path;

/// Whether a process works on the run now.
pub fn is_running(row: &RunRow, home: &Home) -> bool {
    let holder = WorkspaceLock::holder(&home.locks(), Path::new(&row.workspace));
    holder.is_some_and(|who| drives(&who, &row.id))
}

/// The state of a run now. A status this version does not know counts as running for as long as a process is there.
pub fn state_of_row(row: &RunRow, home: &Home) -> RunState {
    let written = RunState::named(&row.status).unwrap_or(RunState::Running);
    written.alive(!written.is_open() || is_running(row, home))
}

/// The row as it is now: a run whose process is gone is called crashed, or interrupted if a person ended it by force.
pub fn row_now(row: RunRow, home: &Home) -> RunRow {
    match state_of_row(&row, home) {
        gone if was_cut_off(gone, &row) => RunRow { status: gone.name().into(), pid: None, ..row },
        _ => row,
    }
}

/// Whether a run in this state never wrote how it ended: its last work was not inspected, its last call not settled.
pub fn was_cut_off(state: RunState, row: &RunRow) -> bool {
    !state.is_open() && row.exit_code.is_none()
}

/// A state's name in its colour, padded to `width`.
pub fn painted(state: RunState, style: Style, width: usize) -> String {
    let name = format!("{:<width$}", state.name());
    match state {
        RunState::Ended(Status::Completed) => style.good(name),
        RunState::Ended(Status::Aborted | Status::Error) | RunState::Crashed => style.bad(name),
        _ => style.warn(name),
    }
}

/// The last eight characters of a run's id: the first of a UUIDv7 repeat.
pub fn short_id(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
