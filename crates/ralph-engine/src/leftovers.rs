//! Processes that outlived the call they belong to, because their supervisor was killed, alone or together with ralph.
//! They are found by what they cannot all shed: their parent, their session, the run's tag.
//!
//! Whoever did that may have left somebody who is not found. From then on nothing that changes between two steps of the
//! run counts as the user's: protected paths are compared with their state before the loss, and the baseline stays.

use crate::home::Home;
use crate::session::has_session;
use ralph_diagnostics::Discard;
use ralph_supervisor::Exit;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable that marks a run's processes.
pub const TAG: &str = "RALPH_RUN";
/// The note that a supervisor keeps about itself, in the run's folder.
pub const SUPERVISOR: &str = "supervisor";
/// In the folder of a run that lost a supervisor.
const LOST: &str = "lost";

/// Whether a supervisor of the run was lost, in this process or in an earlier one.
#[derive(Clone, Debug, Default)]
pub struct Loss {
    seen: Arc<AtomicBool>,
    folder: Option<PathBuf>,
}

impl Loss {
    /// That of the run with this folder.
    pub fn of_run(folder: &Path) -> Loss {
        let seen = Arc::new(AtomicBool::new(folder.join(LOST).exists()));
        Loss { seen, folder: Some(folder.to_owned()) }
    }

    /// True once a supervisor was lost.
    pub fn happened(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    fn remember(&self) {
        self.seen.store(true, Ordering::Relaxed);
        if let Some(folder) = &self.folder {
            std::fs::write(folder.join(LOST), "").discard("note that a supervisor was lost");
        }
    }
}

/// Ends the processes of a run that its supervisor could not, and returns how many were found: it died, or they
/// withstood it.
pub fn end_after(exit: &Exit, run: &str, loss: &Loss) -> u32 {
    if !exit.supervisor_lost && exit.left == 0 {
        return 0;
    }
    loss.remember();
    if loss.folder.as_deref().is_some_and(has_session) {
        return 0;
    }
    u32::try_from(ralph_supervisor::sweep(TAG, run)).unwrap_or(u32::MAX)
}

/// Ends what an earlier process of the run left behind, and returns how many were found.
pub fn end_of_earlier_process(home: &Home, run: &str, workspace: &Path) -> usize {
    let folder = home.run(run);
    // The session is not ralph's to end, and may carry the run's tag.
    if has_session(&folder) {
        return 0;
    }
    let lost = ralph_supervisor::lost_supervisor(&folder.join(SUPERVISOR));
    let tagged = ralph_supervisor::sweep(TAG, run);
    let Some(lost) = lost else { return tagged };
    Loss::of_run(&folder).remember();
    tagged + lost.end_session(workspace)
}
