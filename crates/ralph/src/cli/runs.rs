//! Finds the run that an argument names: an id, the last characters of one, or nothing for the latest run of this workspace.

use super::{Here, board};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::journal::{self, JournalError};
use ralph_rules::record::Record;
use ralph_store::{Database, RunFilter, RunRow, Store, StoreError};
use ralph_view::live_spend::LiveSpend;
use ralph_view::run_state::row_now;
pub use ralph_view::run_state::{is_alive, is_running, short_id as short};

/// The store, which must be there.
pub fn store(home: &Home) -> Result<Database, Problem> {
    let store = home.store_if_any().map_err(|e| broken(&e))?;
    store.ok_or_else(|| {
        Problem::new(Code::Usage, "there are no runs yet")
            .hint("start one with `ralph run`, or try `ralph demo`")
    })
}

/// The problem of a store that cannot be used.
pub fn broken(error: &StoreError) -> Problem {
    let problem = match error {
        StoreError::Newer { .. } => {
            Problem::new(Code::Journal, "a newer version of ralph wrote the database")
                .hint("update ralph, or set XDG_STATE_HOME to another directory for the runs of this version")
        }
        StoreError::Full { .. } => Problem::new(Code::Journal, "there is no room for ralph's database")
            .hint("free some space; `ralph prune` deletes old transcripts and snapshots"),
        StoreError::File { .. } => Problem::new(Code::Journal, "ralph's database cannot be opened")
            .hint("set XDG_STATE_HOME to a writable directory on a local disk"),
        _ => Problem::new(Code::Journal, "ralph's database cannot be opened"),
    };
    problem.cause(error)
}

/// The run that `wanted` names.
pub fn find(store: &dyn Store, wanted: Option<&str>, here: &Here) -> Result<RunRow, Problem> {
    let Some(wanted) = wanted else { return latest(store, here) };
    if wanted.is_empty() {
        return Err(
            Problem::new(Code::Usage, "an empty run id was given").hint("omit it for the latest run here")
        );
    }
    if let Some(run) = store.run(wanted).map_err(|e| broken(&e))? {
        return Ok(row_now(run, &here.home()?));
    }
    let all = store.runs(&RunFilter::default()).map_err(|e| broken(&e))?;
    let mut found = all.into_iter().filter(|run| run.id.ends_with(wanted) || run.id.starts_with(wanted));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(row_now(run, &here.home()?)),
        (Some(_), Some(_)) => Err(Problem::new(Code::Usage, format!("`{wanted}` matches more than one run"))
            .hint("give more characters of the id; `ralph list --all` shows every run")),
        _ => Err(Problem::new(Code::Usage, format!("there is no run `{wanted}`"))
            .hint("`ralph list --all` shows every run")),
    }
}

/// Whether a word names a run, and is long enough not to do so by accident.
pub fn is_id(store: &dyn Store, word: &str) -> Result<bool, Problem> {
    let id = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let all = if id { store.runs(&RunFilter::default()).map_err(|e| broken(&e))? } else { Vec::new() };
    Ok(all.iter().any(|run| run.id.ends_with(word)))
}

/// The latest run of this workspace.
fn latest(store: &dyn Store, here: &Here) -> Result<RunRow, Problem> {
    let home = here.home()?;
    let filter = RunFilter {
        workspace: Some(here.workspace.to_string_lossy().into_owned()),
        limit: Some(1),
        ..RunFilter::default()
    };
    let newest = store.runs(&filter).map_err(|e| broken(&e))?.into_iter().next();
    newest.map(|run| row_now(run, &home)).ok_or_else(|| {
        Problem::new(Code::Usage, format!("no runs in {}", here.workspace.display()))
            .hint("`ralph list --all` shows the runs of every workspace")
    })
}

/// The rows with what calls under way have spent so far, as their transcripts tell. Costs nothing where no run is open.
pub fn with_live_spend(rows: Vec<RunRow>, store: &dyn Store, here: &Here) -> Result<Vec<RunRow>, Problem> {
    if !rows.iter().any(LiveSpend::may_call) {
        return Ok(rows);
    }
    let (home, settings) = (here.home()?, board::settings(here));
    let spend = LiveSpend::new(&home, &settings.prices);
    Ok(rows.into_iter().map(|row| spend.of_row(row, store)).collect())
}

/// The rows as they are now, processes looked at.
pub fn seen_now(rows: Vec<RunRow>, home: &Home) -> Vec<RunRow> {
    rows.into_iter().map(|row| row_now(row, home)).collect()
}

/// A run's journal, for a command that ends with it: a hundred thousand records take longer to free than to print.
pub fn records_to_the_end(store: &dyn Store, run: &str) -> Result<&'static [Record], Problem> {
    Ok(records(store, run)?.leak())
}

/// A run's journal.
pub fn records(store: &dyn Store, run: &str) -> Result<Vec<Record>, Problem> {
    journal::read(store, run).map_err(|error| match error {
        JournalError::Store(error) => broken(&error),
        JournalError::Record(error) => {
            Problem::new(Code::Journal, format!("the journal of run {} cannot be read", short(run)))
                .cause(&error)
        }
    })
}
