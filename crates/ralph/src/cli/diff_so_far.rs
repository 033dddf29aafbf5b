//! The diff of a run up to this moment, for its panel: also of the iteration under way, from any process. It only reads:
//! the run's own process may be working on the same files.

use ralph_engine::home::Home;
use ralph_engine::journal;
use ralph_engine::open::tree_of;
use ralph_engine::redact::Redactor;
use ralph_engine::snapshots::Snapshots;
use ralph_rules::state::State;
use ralph_tree::Index;
use ralph_view::style::Style;
use ralph_view::workspace_diff::{Contents, Moments, Shown, diff};
use std::error::Error;
use std::path::Path;

/// Its lines without colours, or why there are none.
pub fn diff_so_far(home: &Home, run: &str, redactor: &Redactor) -> Vec<String> {
    let text = match changes(home, run, redactor) {
        Ok(Some(text)) if text.is_empty() => "No changes so far.".into(),
        Ok(Some(text)) => text,
        Ok(None) => "No changes so far: the agent has not been called yet.".into(),
        Err(error) => format!("The changes cannot be shown: {error}"),
    };
    text.lines().map(|line| line.replace('\t', "    ")).collect()
}

/// The diff; none before the first snapshot was taken.
fn changes(home: &Home, run: &str, redactor: &Redactor) -> Result<Option<String>, Box<dyn Error>> {
    let store = home.store_if_any()?.ok_or("there is no database")?;
    let start = State::of(&journal::read(&store, run)?).start.ok_or("the run has no start record")?;
    let workspace = Path::new(&start.workspace);
    let snapshots = Snapshots::of(home, workspace, run);
    let Some(before) = snapshots.after(0) else { return Ok(None) };
    let after = tree_of(home, workspace, &start)?.walk(Index::load(&home.index(workspace)).as_ref())?;
    let contents = Contents { blobs: snapshots.store().blobs(), live: Some(workspace), redactor };
    let shown = Shown { contents, style: Style::default(), raw: false, map: None };
    let mut text = Vec::new();
    diff(&mut text, &Moments::of(workspace, before, after, snapshots.store().blobs()), shown)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}
