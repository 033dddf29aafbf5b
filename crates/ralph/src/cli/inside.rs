//! Whether a command was typed inside a run: by its agent, by a verify command, or in a session that worked on one. Some commands are for people only; an
//! agent that could stop, steer, undo or accept its own run would decide about it.

use super::hook::known_process;
use super::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_store::{RunFilter, RunRow, Store};

/// Refuses a command that is for people only.
pub fn for_people_only(command: &str, here: &Here) -> Result<(), Problem> {
    if let Some(run) = run_around(here) {
        let message = format!(
            "`ralph {command}` cannot be used inside a run (this is inside run {}): an agent must not control runs; ask a person to type it in another terminal",
            runs::short(&run)
        );
        return Err(Problem::new(Code::Usage, message));
    }
    let Some(run) = run_of_session(here) else { return Ok(()) };
    let message = format!(
        "`ralph {command}` cannot be used inside a session that works or worked on a run (here {}): an agent must not control runs; type it in another terminal",
        runs::short(&run)
    );
    Err(Problem::new(Code::Usage, message))
}

/// The run that the session around this process works or worked on. Whether the agent or the user typed a command in the
/// client cannot be told apart, so neither may.
fn run_of_session(here: &Here) -> Option<String> {
    let mark = here.env.inside_session.clone();
    mark.or_else(|| known_process::run_of_ancestor(&here.home().ok()?))
}

/// The run that this process belongs to: by the mark in its environment, or by an ancestor that drives a run. An agent
/// can drop the mark, but not its ancestors: where its supervisor is killed, the process that drives the run adopts it.
fn run_around(here: &Here) -> Option<String> {
    if let Some(mark) = &here.env.inside_run {
        return Some(mark.clone());
    }
    let home = here.home().ok()?;
    let store = home.store_if_any().ok()??;
    let open = store.runs(&RunFilter { resumable: Some(true), ..RunFilter::default() }).ok()?;
    let ancestors = ralph_os::with_ancestors(rustix::process::getpid());
    let drives = |row: &RunRow| {
        let by = |pid: u32| ancestors.iter().any(|above| above.as_raw_pid().unsigned_abs() == pid);
        row.pid.is_some_and(by) && runs::is_running(row, &home)
    };
    open.into_iter().find(drives).map(|row| row.id)
}
