//! Whether a run's change was taken back, by `ralph reject`, `ralph undo` or by hand: nobody wants that committed.

use crate::cli::diff::RunChange;
use crate::cli::undo::plan::tree_of;
use crate::cli::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_tree::{Index, TreePath};
use ralph_view::workspace_diff::changed_files;
use std::path::Path;

/// Refuses a run none of whose files is as the run left it, while some are as they were before it.
pub fn refuse_taken_back(change: &RunChange, here: &Here) -> Result<(), Problem> {
    let (home, workspace) = (here.home()?, Path::new(&change.row.workspace));
    let tree = tree_of(&change.row, change.state.start.as_deref(), &home)?;
    let now = tree
        .walk(Index::load(&home.index(workspace)).as_ref())
        .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be read").cause(&e))?;
    let mut some_as_before = false;
    for file in changed_files(&change.moments) {
        let is = now.get(file.path());
        // What is ignored now is in no index.
        let is_gone = || workspace.join(TreePath::from(file.path()).as_path()).symlink_metadata().is_err();
        let known = is.is_some() || is_gone();
        if !known || file.is_as_after(is.as_ref()) {
            return Ok(());
        }
        some_as_before |= file.is_as_before(is.as_ref());
    }
    if some_as_before { Err(taken_back(change)) } else { Ok(()) }
}

fn taken_back(change: &RunChange) -> Problem {
    let short = runs::short(&change.row.id);
    let message = format!(
        "nothing was committed: the change of run {short} was taken back, no file is as the run left it"
    );
    let problem = Problem::new(Code::Usage, message)
        .hint("to accept another run, name it: `ralph accept RUN`; `ralph list` shows them");
    match change.snapshots.iterations().last() {
        Some(last) => problem.hint(format!("to bring the change back first: ralph undo {short} --to {last}")),
        None => problem,
    }
}
