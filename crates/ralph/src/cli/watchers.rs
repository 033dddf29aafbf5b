//! Who watches a run: the person, on a terminal or a pipe, a script, and the views for other programs.

use super::diff_so_far::diff_so_far;
use super::run::Output;
use super::secrets;
use super::{Here, runs};
use crate::print::{RunOutput, say};
use crate::show::{
    CallsLastHour, JsonLines, KeyTargets, LiveScreen, Terminal, TerminalGuard, TerminalLines, Verbosity,
};
use crate::views::{Paths, Views, Warnings};
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::ledger;
use ralph_engine::redact::Redactor;
use ralph_engine::signals;
use ralph_engine::watch::Watcher;
use ralph_rules::record::{Record, Request};
use ralph_store::{Database, Store};
use ralph_view::run_lines::RunLines;
use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A run that is to be watched.
pub struct WatchedRun<'a> {
    /// Its id.
    pub id: &'a str,
    /// What was written of it before.
    pub records: &'a [Record],
    /// Where it works.
    pub workspace: &'a Path,
    /// Where its views are.
    pub views: Paths,
    /// What must not be printed of it.
    pub redactor: Arc<Redactor>,
}

/// The watchers of a run, and the terminal that some of them draw on: it is restored when the guard is dropped.
pub fn watchers(
    run: WatchedRun<'_>,
    output: Output,
    home: &Home,
    here: &Here,
) -> (Vec<Box<dyn Watcher>>, Option<TerminalGuard>) {
    let WatchedRun { id, records, workspace, views, redactor } = run;
    let verbosity = match (output.quiet, output.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let out = RunOutput::new(redactor);
    // Records on the same terminal would run into the lines that are rewritten.
    let shared = output.json && stdout().is_terminal();
    let drawn = verbosity != Verbosity::Quiet && !shared;
    let (screen, guard) = screen(id, drawn, None, &out, home, here);
    let calls: CallsLastHour = if guard.is_some() { calls_last_hour(home) } else { Box::new(|_| None) };
    let style = here.err_style();
    say_before_forced_exit(id);
    let warnings = (!output.quiet).then(|| Warnings { printer: screen.line_printer(), style });
    let lines = RunLines::new(records, style);
    let lines = TerminalLines::new(verbosity, screen, calls, lines, out.clone());
    let mut watchers: Vec<Box<dyn Watcher>> = vec![Box::new(lines)];
    if output.json {
        watchers.push(Box::new(JsonLines::new(out)));
    }
    watchers.push(Box::new(Views::new(workspace, views, records, home, warnings)));
    (watchers, guard)
}

/// The screen of a run, drawn on if stderr is a terminal that can be. `leave` is set once a person leaves it, where that
/// does not stop the run.
pub fn screen(
    id: &str,
    drawn: bool,
    leave: Option<Arc<AtomicBool>>,
    out: &RunOutput,
    home: &Home,
    here: &Here,
) -> (LiveScreen, Option<TerminalGuard>) {
    let style = here.err_style();
    let guard = (drawn && stderr().is_terminal() && !here.env.dumb).then(Terminal::open);
    let screen = match &guard {
        Some(guard) => {
            let (run, state) = (id.to_string(), home.clone());
            let redactor = secrets::redactor_anyway(&here.workspace, here);
            let diff = Box::new(move || diff_so_far(&state, &run, &redactor));
            let targets = KeyTargets { send: send_to(id, home, out), diff, leave };
            LiveScreen::on_terminal(guard.terminal(), out.clone(), style, targets)
        }
        None => LiveScreen::without_terminal(out.clone(), style),
    };
    here.stderr.attach(screen.line_printer());
    (screen, guard)
}

/// The second Ctrl-C says what it does.
fn say_before_forced_exit(id: &str) {
    let short = runs::short(id).to_string();
    signals::before_forced_exit(move || {
        say(&format!(
            "Ending at once: the agent is killed, its last work is not inspected. `ralph resume {short}` continues the run.\n"
        ));
    });
}

/// A key sends its request as any other terminal does: through the inbox.
fn send_to(id: &str, home: &Home, out: &RunOutput) -> Box<dyn Fn(&Request) -> bool + Send> {
    let (id, home, out) = (id.to_string(), home.clone(), out.clone());
    Box::new(move |request| {
        let Ok(Some(store)) = home.store_if_any() else { return false };
        let body = serde_json::to_string(request).unwrap_or_default();
        store.ask(&id, &out.clean(&body), utc()).is_ok()
    })
}

/// The calls of the last hour, read beside the run by a connection of its own.
pub fn calls_last_hour(home: &Home) -> CallsLastHour {
    let home = home.clone();
    let mut store: Option<Database> = None;
    Box::new(move |state| {
        if store.is_none() {
            store = home.store_if_any().ok().flatten();
        }
        let start = state.start.as_deref()?;
        let (calls, _) = ledger::hour(store.as_ref()?, start, utc()).ok()?;
        Some(calls.used)
    })
}
