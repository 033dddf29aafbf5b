//! Whether a command was typed inside a run: by its agent, by a verify command, or in a session that worked on one. Some commands are for people only; an
//! agent that could stop, steer, undo or accept its own run would decide about it.

use super::hook::known_process;
use super::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_engine::open::driver;
use ralph_tree::WorkspaceLock;

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
/// Who drives a run holds the lock of its workspace: the database is not asked, which may be locked by anybody.
fn run_around(here: &Here) -> Option<String> {
    if let Some(mark) = &here.env.inside_run {
        return Some(mark.clone());
    }
    let holders = WorkspaceLock::holders(&here.home().ok()?.locks());
    let ancestors = ralph_os::with_ancestors(rustix::process::getpid());
    let is_above = |pid: u32| ancestors.iter().any(|above| above.as_raw_pid().unsigned_abs() == pid);
    let driven = holders.iter().filter_map(|who| driver(who));
    driven.filter(|(_, pid)| is_above(*pid)).map(|(run, _)| run.to_owned()).next()
}
