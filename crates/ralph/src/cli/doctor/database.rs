//! Checks of the database: whether it opens, its latest journals are intact, and the lists agree with them.

use super::{Row, ledger};
use crate::cli::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_engine::rebuild::{self, Rows};
use ralph_engine::run::stream_of;
use ralph_store::{Database, RunFilter, Store, StoreError, shown_size};

/// Number of latest runs to check without `--full`.
const NEWEST: u32 = 3;

/// One row for the file, one for the lists made from it.
pub fn rows(here: &Here, full: bool) -> Vec<Row> {
    let opened = here.home().and_then(|home| home.store_if_any().map_err(|e| runs::broken(&e)));
    match opened {
        Err(problem) => vec![Row::of("database", &problem)],
        Ok(None) => vec![Row::ok("database", "none yet, created by the first run")],
        Ok(Some(store)) => {
            let mut rows = match look(&store, full) {
                Ok(rows) => rows,
                Err(problem) => vec![Row::of("database", &problem)],
            };
            if full {
                rows.extend(ledger::rows(&store, here));
            }
            rows
        }
    }
}

fn look(store: &Database, full: bool) -> Result<Vec<Row>, Problem> {
    let path = store.path().display();
    let size = shown_size(std::fs::metadata(store.path()).map_or(0, |meta| meta.len()));
    store.refuse_newer().map_err(|e| runs::broken(&e))?;
    let newest = store.runs(&RunFilter { limit: Some(NEWEST), ..RunFilter::default() });
    let newest = newest.map_err(|e| runs::broken(&e))?;
    let checked = match full {
        true => format!("all {} records checked", store.verify().map_err(|e| runs::broken(&e))?),
        false => {
            for run in &newest {
                store.verify_chain(&stream_of(&run.id)).map_err(|e| runs::broken(&e))?;
            }
            format!("latest {} checked (--full checks all)", count(newest.len()))
        }
    };
    let mut stale = Vec::new();
    let looked: Vec<String> = match full {
        true => store
            .streams("run/")
            .map_err(|e| runs::broken(&e))?
            .iter()
            .map(|s| s.trim_start_matches("run/").into())
            .collect(),
        false => newest.into_iter().map(|run| run.id).collect(),
    };
    for run in looked {
        let made = Rows::of(store, &run).map_err(|e| wrong(&e))?;
        if made.run.is_some() && made != Rows::kept(store, &run).map_err(|e| runs::broken(&e))? {
            stale.push(runs::short(&run).to_string());
        }
    }
    let file = Row::ok("database", format!("{path}, {size}, {checked}"));
    let wrong = match stale.is_empty() {
        true => incomplete(store).map_err(|e| runs::broken(&e))?,
        false => Some(format!("the list of runs disagrees with the journal of {}", stale.join(", "))),
    };
    let lists = wrong.map(|fact| Row::warn("lists", fact, "rebuild it with `ralph doctor --repair`"));
    Ok(std::iter::once(file).chain(lists).collect())
}

/// What rows of an earlier version lack, if there are any: every run has a limit on iterations, and they do not say it.
fn incomplete(store: &Database) -> Result<Option<String>, StoreError> {
    let all = store.runs(&RunFilter::default())?;
    let older = all.iter().filter(|row| row.max_iterations == 0).count();
    let fact =
        || format!("limits, models and reasons of {} of an earlier version are not listed", count(older));
    Ok((older > 0).then(fact))
}

fn count(runs: usize) -> String {
    if runs == 1 { "run".into() } else { format!("{runs} runs") }
}

fn wrong(error: &rebuild::RebuildError) -> Problem {
    Problem::new(Code::Journal, "cannot compare the list of runs with the journals").cause(error)
}

/// Rebuilds the lists; returns the short ids of the runs whose rows were wrong.
pub fn repair(here: &Here) -> Result<Vec<String>, Problem> {
    let home = here.home()?;
    let Some(_) = home.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(Vec::new()) };
    let store = home.store().map_err(|e| runs::broken(&e))?;
    let rebuilt = rebuild::rebuild(&store, &|row| row.exit_code.is_none() && runs::is_running(row, &home))
        .map_err(|e| Problem::new(Code::Journal, "cannot rebuild the list of runs").cause(&e))?;
    Ok(rebuilt.iter().map(|id| runs::short(id).to_string()).collect())
}
