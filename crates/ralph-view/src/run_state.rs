//! The state of a run that lies in the store, with its process looked at. A row says what was written last; only the
//! workspace's lock knows whether a process still works on it.

use crate::style::Style;
use ralph_engine::home::Home;
use ralph_engine::open::drives;
pub use ralph_engine::run_state::RunState;
use ralph_engine::session::Binding;
use ralph_rules::ending::{Status, outside_signal};
use ralph_store::RunRow;
use ralph_tree::WorkspaceLock;
use std::path::Path;

/// What an exit code adds to the number of a signal.
const EXIT_BY_SIGNAL: i32 = 128;

/// Whether a process works on the run now.
pub fn is_running(row: &RunRow, home: &Home) -> bool {
    let holder = WorkspaceLock::holder(&home.locks(), Path::new(&row.workspace));
    holder.is_some_and(|who| drives(&who, &row.id))
}

/// The session that works on the run, if its process is alive.
pub fn session_of(row: &RunRow, home: &Home) -> Option<Binding> {
    row.resumable.then(|| Binding::alive(home, &row.id)).flatten()
}

/// Whether a process or a session works on the run now.
pub fn is_alive(row: &RunRow, home: &Home) -> bool {
    is_running(row, home) || session_of(row, home).is_some()
}

/// The state of a run now. A status this version does not know counts as running for as long as a process is there.
pub fn state_of_row(row: &RunRow, home: &Home) -> RunState {
    let written = RunState::named(&row.status).unwrap_or(RunState::Running);
    let running = is_running(row, home);
    if !running && session_of(row, home).is_some() {
        return RunState::InSession;
    }
    written.alive(!written.is_open() || running)
}

/// The row as it is now: a run whose process is gone is called crashed, or interrupted if a person ended it by force.
pub fn row_now(row: RunRow, home: &Home) -> RunRow {
    match state_of_row(&row, home) {
        gone if was_cut_off(gone, &row) => RunRow { status: gone.name().into(), pid: None, ..row },
        RunState::InSession => {
            let pid = session_of(&row, home).map(|session| session.process.pid);
            RunRow { status: RunState::InSession.name().into(), reason: None, pid, ..row }
        }
        _ => row,
    }
}

/// Whether a run in this state never wrote how it ended: its last work was not inspected, its last call not settled.
pub fn was_cut_off(state: RunState, row: &RunRow) -> bool {
    !state.is_open() && row.exit_code.is_none()
}

/// The signal that ended a run without a person's stop.
pub fn ended_by_signal(row: &RunRow) -> Option<&'static str> {
    let interrupted = row.status == Status::Interrupted.name();
    row.exit_code.filter(|_| interrupted).and_then(|code| outside_signal(code - EXIT_BY_SIGNAL))
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
