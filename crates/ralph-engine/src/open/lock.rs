//! The lock of a workspace: taking it, and what it says about its holder.

use super::error::{OpenError, system};
use crate::home::Home;
use crate::leftovers;
use crate::session::Binding;
use crate::snapshots::Snapshots;
use ralph_snapshots::PendingRestore;
use ralph_store::{RunFilter, Store};
use ralph_tree::{LockError, WorkspaceLock};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a run waits for old files to be deleted in its workspace.
const PRUNE_TAKES: Duration = Duration::from_secs(10);

/// Takes the workspace's lock. A run that ended just now may still be deleting the files of old ones.
fn take_after_prune(locks: &Path, workspace: &Path, who: &str) -> Result<WorkspaceLock, LockError> {
    let until = Instant::now() + PRUNE_TAKES;
    loop {
        match WorkspaceLock::take(locks, workspace, who) {
            Err(LockError::Held { who, .. }) if who.starts_with(PRUNE) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(20));
            }
            taken => return taken,
        }
    }
}

/// How a lock names a process that deletes the files of old runs.
pub const PRUNE: &str = "prune, process";

/// Whether a lock is held by the process that drives this run. Other commands name the run that they concern, too.
pub fn drives(who: &str, run: &str) -> bool {
    who.strip_prefix("run ").and_then(|rest| rest.strip_prefix(run)).is_some_and(|rest| rest.starts_with(','))
}

/// The run that the holder of a lock drives, and its process; none if it is another command.
pub fn driver(who: &str) -> Option<(&str, u32)> {
    let (run, pid) = who.strip_prefix("run ")?.split_once(", process ")?;
    Some((run, pid.parse().ok()?))
}

/// Takes the locks and ends processes that an earlier run in this workspace left behind.
pub(super) fn take_lock(
    home: &Home,
    store: &dyn Store,
    workspace: &Path,
    id: &str,
) -> Result<Arc<WorkspaceLock>, OpenError> {
    let locks = home.locks();
    Home::create_private_dir(&locks).map_err(system("cannot create the folder for locks"))?;
    Home::create_private_dir(&home.dir().join("trees"))
        .map_err(system("cannot create the folder for indexes"))?;
    let who = format!("run {id}, process {}", std::process::id());
    let lock = take_after_prune(&locks, workspace, &who)?.and_in_workspace()?;
    let filter = RunFilter {
        workspace: Some(workspace.to_string_lossy().into_owned()),
        resumable: Some(true),
        ..RunFilter::default()
    };
    let open_runs = store.runs(&filter)?;
    let others = open_runs.iter().filter(|run| run.id != id);
    if let Some(binding) = others.into_iter().find_map(|run| Binding::alive(home, &run.id)) {
        return Err(OpenError::InSession(Box::new(binding)));
    }
    for run in open_runs.iter().filter(|run| run.pid.is_some()) {
        let _ = leftovers::end_of_earlier_process(home, &run.id, workspace);
    }
    let open_runs: Vec<String> = open_runs.into_iter().map(|run| run.id).collect();
    Snapshots::of(home, workspace, id).remove_leftovers(home, &open_runs);
    // Removes the drafts of a restore that was cut short; the step itself continues it.
    let _ = PendingRestore::load(&home.pending_restore(workspace));
    Ok(Arc::new(lock))
}
