//! The quarantine case that `ralph reject` and `ralph undo --newer-too` make of what they take away.

use super::plan::UndoPlan;
use crate::cli::runs;
use ralph_engine::clock::utc;
use ralph_engine::quarantine::{self, Case, Folder, PathState};
use ralph_store::RunRow;
use ralph_tree::TreePath;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The rejected change of a run.
pub const REJECTED: char = 'x';
/// Changes of the user's that an undo took away.
const NEWER: char = 'u';

/// Keeps these states in a new case of this kind. An earlier one of the run that has them is enough: a command that was cut
/// short is repeated, and what it had taken away by then is only there. Returns the case; none where nothing is to be kept.
pub fn keep(plan: &UndoPlan, kind: char, states: &[PathState<'_>]) -> io::Result<Option<PathBuf>> {
    let run = plan.snapshots.quarantine();
    if states.is_empty() {
        return Ok(None);
    }
    let is_of_kind =
        |folder: &Path| folder.extension().is_some_and(|end| end.to_string_lossy().starts_with(kind));
    let has = |folder: &Path, case: &Case| {
        let is_whole = kind == NEWER || case.found.len() == states.len();
        is_of_kind(folder) && is_whole && case.has(folder, states)
    };
    let earlier = quarantine::of_run(run).into_iter().rfind(|(folder, case)| has(folder, case));
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
    let free = quarantine::free_folder(run, plan.row.iterations, kind);
    let Some(mut folder) = Folder::open(free.clone(), case)? else { return Ok(Some(free)) };
    for state in states {
        folder.put_state(state, plan.snapshots.store().blobs(), plan.workspace())?;
    }
    folder.close().map(Some)
}

/// Keeps what was changed after the run and is about to be replaced or removed.
pub fn keep_newer(plan: &UndoPlan) -> io::Result<Option<PathBuf>> {
    let acts: BTreeSet<&[u8]> = plan.restore.acts.iter().map(|act| act.path().as_bytes()).collect();
    let newer = plan.newer.iter().map(TreePath::as_bytes).filter(|path| acts.contains(path));
    let state = |path| {
        let entry = plan.now(path);
        let how = match entry {
            None => "deleted after the run, brought back by `ralph undo --newer-too`",
            Some(_) => "changed after the run, replaced by `ralph undo --newer-too`",
        };
        PathState { path, entry, is_there: true, how }
    };
    keep(plan, NEWER, &newer.map(state).collect::<Vec<_>>())
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
