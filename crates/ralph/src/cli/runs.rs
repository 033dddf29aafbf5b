//! Which run is meant: an id, the last characters of one, or nothing for the newest run of this workspace.

use super::Here;
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::journal::{self, JournalError};
use ralph_rules::record::Record;
use ralph_store::{RunFilter, RunRow, Sqlite, Store, StoreError};

/// The store, which must be there.
pub fn store(home: &Home) -> Result<Sqlite, Problem> {
    let store = home.store_if_any().map_err(|e| broken(&e))?;
    store.ok_or_else(|| {
        Problem::new(Code::Usage, "there are no runs yet").hint("start one with `ralph run`, or try `ralph demo`")
    })
}

/// The problem of a store that cannot be used.
pub fn broken(error: &StoreError) -> Problem {
    Problem::new(Code::Journal, "ralph's database cannot be used").cause(error)
}

/// The run that is meant.
pub fn find(store: &dyn Store, wanted: Option<&str>, here: &Here) -> Result<RunRow, Problem> {
    let Some(wanted) = wanted else { return newest(store, here) };
    if let Some(run) = store.run(wanted).map_err(|e| broken(&e))? {
        return Ok(run);
    }
    let all = store.runs(&RunFilter::default()).map_err(|e| broken(&e))?;
    let mut found = all.into_iter().filter(|run| run.id.ends_with(wanted) || run.id.starts_with(wanted));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run),
        (Some(_), Some(_)) => Err(Problem::new(Code::Usage, format!("`{wanted}` fits more than one run"))
            .hint("give more characters of its id; `ralph list --all` shows them")),
        _ => Err(Problem::new(Code::Usage, format!("there is no run `{wanted}`"))
            .hint("`ralph list --all` shows every run")),
    }
}

/// The newest run of this workspace.
pub fn newest(store: &dyn Store, here: &Here) -> Result<RunRow, Problem> {
    let filter = RunFilter {
        workspace: Some(here.workspace.to_string_lossy().into_owned()),
        limit: Some(1),
        ..RunFilter::default()
    };
    store.runs(&filter).map_err(|e| broken(&e))?.into_iter().next().ok_or_else(|| {
        Problem::new(Code::Usage, format!("no run was ever started in {}", here.workspace.display()))
            .hint("`ralph list --all` shows the runs of every workspace")
    })
}

/// A run's journal.
pub fn records(store: &dyn Store, run: &str) -> Result<Vec<Record>, Problem> {
    journal::read(store, run).map_err(|error| match error {
        JournalError::Store(error) => broken(&error),
        JournalError::Record(error) => {
            Problem::new(Code::Journal, format!("the journal of run {} cannot be read", short(run))).cause(&error)
        }
    })
}

/// The last eight characters: the first of a UUIDv7 repeat.
pub fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
