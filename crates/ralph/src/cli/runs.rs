//! Which run is meant: an id, the last characters of one, or nothing for the newest run of this workspace.

use super::Here;
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::journal::{self, JournalError};
use ralph_rules::record::Record;
use ralph_store::{RunFilter, RunRow, Sqlite, Store, StoreError};
use ralph_tree::WorkspaceLock;
use std::path::Path;

/// The store, which must be there.
pub fn store(home: &Home) -> Result<Sqlite, Problem> {
    let store = home.store_if_any().map_err(|e| broken(&e))?;
    store.ok_or_else(|| {
        Problem::new(Code::Usage, "there are no runs yet")
            .hint("start one with `ralph run`, or try `ralph demo`")
    })
}

/// The problem of a store that cannot be used.
pub fn broken(error: &StoreError) -> Problem {
    let problem = Problem::new(Code::Journal, "ralph's database cannot be used").cause(error);
    match error {
        StoreError::File { .. } => {
            problem.hint("set XDG_STATE_HOME to a directory on a local disk that can be written")
        }
        _ => problem,
    }
}

/// The run that is meant.
pub fn find(store: &dyn Store, wanted: Option<&str>, here: &Here) -> Result<RunRow, Problem> {
    let Some(wanted) = wanted else { return newest(store, here) };
    if wanted.is_empty() {
        return Err(Problem::new(Code::Usage, "an empty run id was given")
            .hint("leave it out for the newest run here"));
    }
    if let Some(run) = store.run(wanted).map_err(|e| broken(&e))? {
        return Ok(now(run, &here.home()?));
    }
    let all = store.runs(&RunFilter::default()).map_err(|e| broken(&e))?;
    let mut found = all.into_iter().filter(|run| run.id.ends_with(wanted) || run.id.starts_with(wanted));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(now(run, &here.home()?)),
        (Some(_), Some(_)) => Err(Problem::new(Code::Usage, format!("`{wanted}` fits more than one run"))
            .hint("give more characters of its id; `ralph list --all` shows them")),
        _ => Err(Problem::new(Code::Usage, format!("there is no run `{wanted}`"))
            .hint("`ralph list --all` shows every run")),
    }
}

/// Whether a word names a run, and is long enough to be meant so.
pub fn is_id(store: &dyn Store, word: &str) -> Result<bool, Problem> {
    let id = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let all = if id { store.runs(&RunFilter::default()).map_err(|e| broken(&e))? } else { Vec::new() };
    Ok(all.iter().any(|run| run.id.ends_with(word)))
}

/// The newest run of this workspace.
fn newest(store: &dyn Store, here: &Here) -> Result<RunRow, Problem> {
    let home = here.home()?;
    let filter = RunFilter {
        workspace: Some(here.workspace.to_string_lossy().into_owned()),
        limit: Some(1),
        ..RunFilter::default()
    };
    let newest = store.runs(&filter).map_err(|e| broken(&e))?.into_iter().next();
    newest.map(|run| now(run, &home)).ok_or_else(|| {
        Problem::new(Code::Usage, format!("no run was ever started in {}", here.workspace.display()))
            .hint("`ralph list --all` shows the runs of every workspace")
    })
}

/// What a run's row is called when its process is gone and never wrote an end.
pub const CRASHED: &str = "CRASHED";

/// The rows as they are now, processes looked at.
pub fn seen_now(rows: Vec<RunRow>, home: &Home) -> Vec<RunRow> {
    rows.into_iter().map(|row| now(row, home)).collect()
}

/// A row says what was written last; whether somebody still works on it only the lock knows.
fn now(row: RunRow, home: &Home) -> RunRow {
    match row.exit_code.is_none() && !is_running(&row, home) {
        true => RunRow { status: CRASHED.into(), pid: None, ..row },
        false => row,
    }
}

/// Some ralph works on it.
pub fn is_running(row: &RunRow, home: &Home) -> bool {
    let holder = WorkspaceLock::holder(&home.locks(), Path::new(&row.workspace));
    holder.is_some_and(|who| who.contains(&row.id))
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

/// The last eight characters: the first of a UUIDv7 repeat.
pub fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
