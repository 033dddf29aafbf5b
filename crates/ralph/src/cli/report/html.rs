//! `ralph report --html`: the pages that `ralph-view` makes, from the store and the snapshots.

use crate::cli::{Here, board, diff::RunChange, resolve, runs, secrets};
use crate::print::print;
use crate::problem::{Code, Problem};
use ralph_engine::clock::utc;
use ralph_engine::metrics::calendar::Days;
use ralph_rules::report::Report;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_view::card::Card;
use ralph_view::change_data::ChangeData;
use ralph_view::html_report::{DayPage, RunPage, day_page, run_page};
use ralph_view::iteration_parts::verifications;
use ralph_view::workspace_diff::Contents;
use std::path::Path;

/// Runs on a page at most.
const MOST_RUNS: usize = 200;
/// Bytes of diffs in a page.
const MOST_CHANGES: usize = 512 << 10;
/// Files whose changes are in a page.
const MOST_FILES: usize = 200;

/// Prints the page of one run.
pub fn of_run(wanted: &str, here: &Here) -> Result<u8, Problem> {
    let store = runs::store(&here.home()?)?;
    let row = runs::find(&store, Some(wanted), here)?;
    let mut board = board::of(here)?;
    let now = utc();
    board.poll(now);
    let detail = board.detail(&row.id, now).map_err(|e| board::unreadable(&e))?;
    let detail = detail.ok_or_else(|| Problem::new(Code::Usage, format!("there is no run `{wanted}`")))?;
    let records = runs::records(&store, &row.id)?;
    let verifications = verifications(&records, detail.card.iteration);
    let changes = changes(&row.id, here);
    print(&run_page(&RunPage {
        detail: &detail,
        verifications: &verifications,
        changes: changes.as_ref(),
        now,
    }));
    Ok(0)
}

/// What the run changed; none where nothing was saved of it any more.
fn changes(run: &str, here: &Here) -> Option<ChangeData> {
    let change = RunChange::of(Some(run), here).ok()?;
    let workspace = Path::new(&change.row.workspace);
    let redactor = secrets::redactor_anyway(workspace, here);
    let live = change.until_now.then_some(workspace);
    let contents = Contents { blobs: change.snapshots.store().blobs(), live, redactor: &redactor };
    Some(ChangeData::of(run, &change.moments, contents, MOST_CHANGES).made_plain(MOST_FILES))
}

/// Prints the page of some days.
pub fn of_days(report: &Report, days: &Days, all: bool, here: &Here) -> Result<u8, Problem> {
    let mut board = board::of(here)?;
    let (now, zone) = (utc(), resolve::zone(here));
    board.poll(now);
    let workspace = (!all).then(|| here.workspace.to_string_lossy().into_owned());
    let filter = RunFilter { workspace, ..RunFilter::default() };
    let mut rows = match board.store() {
        Some(store) => store.runs(&filter).map_err(|e| runs::broken(&e))?,
        None => Vec::new(),
    };
    rows.retain(|row| days.contains(row.started));
    let left_out = rows.len().saturating_sub(MOST_RUNS);
    let card = |row: &RunRow| board.card(&row.id, now).map_err(|e| board::unreadable(&e));
    let cards =
        rows.iter().take(MOST_RUNS).rev().map(card).collect::<Result<Vec<Option<Card>>, Problem>>()?;
    let mut cards: Vec<Card> = cards.into_iter().flatten().collect();
    // What needs somebody first, as everywhere; within a group in the order they were started.
    cards.sort_by_key(|card| card.group);
    print(&day_page(&DayPage { report, cards: &cards, left_out, zone: &zone, now }));
    Ok(0)
}
