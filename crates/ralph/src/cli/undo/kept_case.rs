//! The quarantine case that `ralph reject` and `ralph undo --newer-too` make of what they take away.

use super::plan::UndoPlan;
use crate::cli::runs;
use ralph_engine::clock::utc;
use ralph_engine::quarantine::{self, Case, Folder, PathState};
use ralph_store::RunRow;
use std::io;
use std::path::{Path, PathBuf};

/// Keeps these states in a new case, whose name has this letter. An earlier case of the run that has just them is enough:
/// a command that was cut short is repeated. Returns the case; none where there is nothing to keep.
pub fn keep(plan: &UndoPlan, letter: char, states: &[PathState<'_>]) -> io::Result<Option<PathBuf>> {
    let run = plan.snapshots.quarantine();
    if states.is_empty() {
        return Ok(None);
    }
    let earlier = quarantine::of_run(run).into_iter().rfind(|(folder, case)| case.has(folder, states));
    if let Some((folder, _)) = earlier {
        return Ok(Some(folder));
    }
    let case = Case {
        run: plan.row.id.clone(),
        iteration: plan.row.iterations,
        at: utc(),
        workspace: plan.row.workspace.clone(),
        ..Case::default()
    };
    let free = quarantine::free_folder(run, plan.row.iterations, letter);
    let Some(mut folder) = Folder::open(free.clone(), case)? else { return Ok(Some(free)) };
    for state in states {
        folder.put_state(state, plan.snapshots.store().blobs(), plan.workspace())?;
    }
    folder.close().map(Some)
}

/// The name of a case in this folder, as the quarantine shows it.
pub fn name(row: &RunRow, folder: &Path) -> String {
    let time = folder.file_name().unwrap_or_default();
    format!("{}/{}", runs::short(&row.id), time.to_string_lossy())
}

/// Says what a case has, and how to bring it back.
pub fn kept(what: &str, case: &str) -> String {
    format!("{what}: ralph quarantine show {case}\nTo bring it back: ralph quarantine restore {case}\n")
}
