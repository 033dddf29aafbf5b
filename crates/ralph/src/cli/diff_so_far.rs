//! The diff of a run for its panel and the monitor, from any process: up to this moment, also of the iteration under way, while it
//! is not over, and otherwise to the files as it left them. It only reads: the run's own process may be working on the same
//! files.

use super::diff::files_after;
use ralph_engine::home::Home;
use ralph_engine::journal;
use ralph_engine::redact::Redactor;
use ralph_engine::snapshots::Snapshots;
use ralph_rules::record::Attempt;
use ralph_rules::state::State;
use ralph_store::Store;
use ralph_view::style::Style;
use ralph_view::workspace_diff::{Contents, Moments, Shown, diff};
use std::error::Error;
use std::path::Path;

/// Its lines without colours, or why there are none.
pub fn diff_so_far(home: &Home, run: &str, redactor: &Redactor) -> Vec<String> {
    let text =
        changes(home, run, redactor).unwrap_or_else(|error| format!("The changes cannot be shown: {error}"));
    text.lines().map(|line| line.replace('\t', "    ")).collect()
}

fn changes(home: &Home, run: &str, redactor: &Redactor) -> Result<String, Box<dyn Error>> {
    let store = home.store_if_any()?.ok_or("there is no database")?;
    let row = store.run(run)?.ok_or("there is no such run")?;
    let state = State::of(&journal::read(&store, run)?);
    let workspace = Path::new(&row.workspace);
    let snapshots = Snapshots::of(home, workspace, run);
    let Some(before) = snapshots.after(0) else { return Ok(nothing_saved(&state)) };
    let (after, until_now) =
        files_after(&row, &state, &snapshots, home).map_err(|problem| problem.message)?;
    let live = until_now.then_some(workspace);
    let contents = Contents { blobs: snapshots.store().blobs(), live, redactor };
    let shown = Shown { contents, style: Style::default(), raw: false, map: None };
    let mut text = Vec::new();
    diff(&mut text, &Moments::of(workspace, before, after, snapshots.store().blobs()), shown)?;
    Ok(match (text.is_empty(), until_now) {
        (false, _) => String::from_utf8_lossy(&text).into_owned(),
        (true, true) => "No changes so far.".into(),
        (true, false) => "The run changed no file.".into(),
    })
}

/// Why there is nothing to compare with.
fn nothing_saved(state: &State) -> String {
    if let Some(why) = state.trees.no_snapshot.get(&1) {
        return format!("The changes cannot be shown: the files before the run were not saved: {why}");
    }
    let called = state.calls.id != Attempt::default();
    let text = match (called, state.ending.is_some()) {
        (true, _) => {
            "The changes cannot be shown: the run's snapshots were pruned, or are of an older version."
        }
        (false, true) => "No changes: the agent was not called.",
        (false, false) => "No changes so far: the agent has not been called yet.",
    };
    text.to_owned()
}
