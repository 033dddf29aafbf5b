//! Where the workspace of a run is that is to be resumed: at its path, or at the directory that was named instead.

use super::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::moved::{FilesNeeded, Standing, has_its_files, standing};
use ralph_rules::ending::Reason;
use ralph_rules::record::RunStarted;
use ralph_rules::state::State;
use ralph_store::{RunFilter, RunRow, Store};
use std::path::{Path, PathBuf};

/// The workspace of a run, as it was given or found: at its path, if it is still there or came back, otherwise the
/// directory at hand if it has the run's files.
pub fn workspace(
    start: &RunStarted,
    needed: FilesNeeded,
    home: &Home,
    here: &Here,
) -> Result<PathBuf, Problem> {
    let old = Path::new(&start.workspace);
    if is_in_place(start, needed, home) {
        return Ok(old.to_path_buf());
    }
    if here.workspace != old && has_its_files(home, start, &here.workspace, needed) {
        return Ok(here.workspace.clone());
    }
    let (without, has) = match needed {
        FilesNeeded::Half => ("without most of its files", "has less than half of its files"),
        FilesNeeded::One => ("without its files", "has none of its files"),
    };
    let found = match old.exists() {
        true => format!("another directory is at {}, {without}", old.display()),
        false => format!("{} does not exist", old.display()),
    };
    let short = runs::short(&start.run);
    let message = format!("the workspace of run {short} is lost: {found}");
    let problem = Problem::new(Code::Journal, message)
        .hint("put it back at its path, then resume")
        .hint(format!("if it was moved, name its new path: `ralph resume {short} -C DIR`"));
    let problem = match needed {
        FilesNeeded::Half => problem.hint(format!(
            "a directory with any of its files is taken if you name the run: `ralph resume {short}`"
        )),
        FilesNeeded::One => problem,
    };
    Err(match here.workspace == old {
        true => problem,
        false => problem.hint(format!("{} {has}", here.workspace.display())),
    })
}

/// Whether the workspace of a run is at its path, itself or as a copy.
pub fn is_in_place(start: &RunStarted, needed: FilesNeeded, home: &Home) -> bool {
    let path = Path::new(&start.workspace);
    match standing(home, &start.run, path) {
        Standing::Same => true,
        Standing::Other => has_its_files(home, start, path, needed),
        Standing::Gone => false,
    }
}

/// The latest run that lost its workspace, if the directory at hand is that workspace.
pub fn run_here(store: &dyn Store, home: &Home, here: &Here) -> Result<Option<RunRow>, Problem> {
    let filter = RunFilter { resumable: Some(true), ..RunFilter::default() };
    let lost = Reason::WorkspaceLost.name();
    for row in store.runs(&filter).map_err(|e| runs::broken(&e))? {
        let may_be = row.reason.as_deref().is_none_or(|reason| reason == lost);
        if !may_be || standing(home, &row.id, Path::new(&row.workspace)) == Standing::Same {
            continue;
        }
        let start = State::of(&runs::records(store, &row.id)?).start;
        if start.is_some_and(|start| has_its_files(home, &start, &here.workspace, FilesNeeded::Half)) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// What is asked of a directory for a run that was named, or was not.
pub fn needed(named: Option<&String>) -> FilesNeeded {
    if named.is_some() { FilesNeeded::One } else { FilesNeeded::Half }
}
