//! Who watches a run: the person, on a terminal or a pipe, a script, and the views for other programs.

use super::Here;
use super::run::Output;
use crate::print::clean;
use crate::show::{Hour, Human, Json, Live, Mode};
use crate::views::{Paths, Views};
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::ledger;
use ralph_engine::watch::Watcher;
use ralph_rules::record::{Fact, Record, Request, Seen};
use ralph_rules::state::State;
use ralph_store::{Sqlite, Store};
use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;

/// A run that is to be watched.
pub struct Watched<'a> {
    /// Its id.
    pub id: &'a str,
    /// What was written of it before.
    pub records: &'a [Record],
    /// Where it works.
    pub workspace: &'a Path,
    /// Where its views lie.
    pub views: Paths,
}

/// The watchers of a run.
pub fn watchers(run: Watched<'_>, output: Output, home: &Home, here: &Here) -> Vec<Box<dyn Watcher>> {
    let Watched { id, records, workspace, views } = run;
    let mode = match (output.quiet, output.verbose) {
        (true, _) => Mode::Quiet,
        (_, true) => Mode::Verbose,
        _ => Mode::Calm,
    };
    // Records on the same terminal would run into the lines that are rewritten.
    let shared = output.json && stdout().is_terminal();
    let terminal = stderr().is_terminal() && !here.env.dumb && mode != Mode::Quiet && !shared;
    let style = here.err_style();
    let live = if terminal { Live::on_terminal(style, ask(id, home)) } else { Live::none(style) };
    let cost = |record: &Record| match &record.fact {
        Fact::Seen(Seen::CallEnded(call)) => Some(call.charged.0),
        Fact::Seen(Seen::CallLost(lost)) => Some(lost.charged.0),
        _ => None,
    };
    let costs = records.iter().filter_map(cost).collect();
    let hour: Hour = if terminal { hour(home) } else { Box::new(|_| None) };
    let mut watchers: Vec<Box<dyn Watcher>> =
        vec![Box::new(Human::new(mode, live, hour, style, State::of(records), costs))];
    if output.json {
        watchers.push(Box::new(Json));
    }
    let talk = (style, output.quiet);
    watchers.push(Box::new(Views::new(workspace, views, records, home, talk)));
    watchers
}

/// A key asks as any other terminal does: by the inbox.
fn ask(id: &str, home: &Home) -> Box<dyn Fn(&Request) -> bool + Send> {
    let (id, home) = (id.to_string(), home.clone());
    Box::new(move |request| {
        let Ok(Some(store)) = home.store_if_any() else { return false };
        let body = serde_json::to_string(request).unwrap_or_default();
        store.ask(&id, &clean(&body), utc()).is_ok()
    })
}

/// The last hour's calls, read beside the run by a connection of its own.
fn hour(home: &Home) -> Hour {
    let home = home.clone();
    let mut store: Option<Sqlite> = None;
    Box::new(move |state| {
        if store.is_none() {
            store = home.store_if_any().ok().flatten();
        }
        let start = state.start.as_deref()?;
        let (calls, _) = ledger::hour(store.as_ref()?, start, utc()).ok()?;
        Some(calls.used)
    })
}
