//! The views: files in the workspace that other programs may read, `status.json`, `progress.json`, `session.json` and
//! `analysis.json`. A watcher writes them beside the loop, each whole or not at all; ralph never reads them. `ralph-view`
//! keeps what they show (`view_fold.rs`, `view_shapes.rs`), `ralph_engine::workspace_files` writes it without following links.
//! `views/paths.rs` knows where they lie, and where the engine writes metrics and reports.

mod paths;

pub use paths::Paths;

use crate::show::LinePrinter;
use crate::style::Style;
use ralph_agents::Activity;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::ledger;
use ralph_engine::watch::Watcher;
use ralph_engine::workspace_files::{Durable, WorkspaceFiles};
use ralph_rules::next::Next;
use ralph_rules::record::{Decision, Fact, Record, Seen};
use ralph_store::{Database, WindowUse};
use ralph_tree::git_facts;
use ralph_view::view_fold::ViewFold;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Views are written this often at most, however much happens.
const PACE: Duration = Duration::from_millis(250);
/// Looking at the last hour takes at most one part in this many of the time: it counts every call of that hour.
const HOUR_SHARE: u32 = 50;
/// Progress is written this often at least while a run is under way: readers see that it is alive.
const ALIVE: Duration = Duration::from_secs(5);

/// Where a warning is printed.
pub struct Warnings {
    /// Beside the run's own lines.
    pub printer: LinePrinter,
    /// In this style.
    pub style: Style,
}

/// Writes the views of one run.
pub struct Views {
    /// Opened once: another directory that comes to be at its path is not the run's.
    workspace: io::Result<WorkspaceFiles>,
    paths: Paths,
    fold: ViewFold,
    home: Home,
    store: Option<Database>,
    hour: (WindowUse, WindowUse),
    /// When the last hour may be looked at again.
    look_again: Instant,
    warnings: Option<Warnings>,
    /// Something is to be written: progress only, or all.
    due: Option<Due>,
    written: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Progress,
    All,
}

impl Views {
    /// Of a run in this workspace, of which this was written before. A warning is printed once, if at all.
    pub fn new(
        workspace: &Path,
        paths: Paths,
        records: &[Record],
        home: &Home,
        warnings: Option<Warnings>,
    ) -> Views {
        let mut fold = ViewFold::new(git_facts(workspace).recent);
        records.iter().for_each(|record| fold.record(record));
        let own = fold.state.start.as_deref().map(|start| start.own_files.clone()).unwrap_or_default();
        Views {
            workspace: WorkspaceFiles::open(workspace).map(|files| files.hiding(&own)),
            paths,
            fold,
            home: home.clone(),
            store: None,
            hour: Default::default(),
            look_again: Instant::now(),
            warnings,
            due: None,
            written: Instant::now(),
        }
    }

    fn due(&mut self, what: Due, now: bool) {
        self.due = self.due.max(Some(what));
        if now || self.written.elapsed() >= PACE {
            self.write();
        }
    }

    fn write(&mut self) {
        let Some(due) = self.due.take() else { return };
        self.written = Instant::now();
        let progress = self.fold.progress(utc());
        let mut done = self.put(&self.paths.progress.clone(), &progress);
        if due == Due::All {
            self.look_at_the_hour();
            let status = self.fold.status(utc(), self.hour);
            done = done.and(self.put(&self.paths.status.clone(), &status));
            let session = self.fold.session.clone();
            done = done.and(self.put(&self.paths.session.clone(), &session));
            if let Some(analysis) = self.fold.analysis.clone() {
                done = done.and(self.put(&self.paths.analysis.clone(), &analysis));
            }
        }
        if let Err(why) = done
            && let Some(warnings) = self.warnings.take()
        {
            let words = format!("the status files cannot be written ({why}); the run continues");
            warnings.printer.line(&format!("{} {words}", warnings.style.warn("warning:")));
        }
    }

    fn put<T: Serialize>(&mut self, path: &str, value: &T) -> Result<(), String> {
        let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
        let files = self.workspace.as_ref().map_err(|e| e.to_string())?;
        let written = files.replace(path, (text + "\n").as_bytes(), Durable::No);
        written.map_err(|e| format!("{path}: {e}"))
    }

    /// The last hour over all runs, by a connection of its own. What is written last is exact.
    fn look_at_the_hour(&mut self) {
        let began = Instant::now();
        if began < self.look_again && self.fold.is_open() {
            return;
        }
        if self.store.is_none() {
            self.store = self.home.store_if_any().ok().flatten();
        }
        if let (Some(store), Some(start)) = (&self.store, self.fold.state.start.as_deref())
            && let Ok(hour) = ledger::hour(store, start, utc())
        {
            self.hour = hour;
        }
        self.look_again = Instant::now() + began.elapsed() * HOUR_SHARE;
    }
}

impl Watcher for Views {
    fn record(&mut self, record: &Record) {
        self.fold.record(record);
        if let Fact::Seen(Seen::RunStarted(start)) = &record.fact
            && let Ok(files) = &mut self.workspace
        {
            files.hide(&start.own_files);
        }
        if let Fact::Seen(Seen::Woke | Seen::Spent(_) | Seen::Extended(_)) = &record.fact {
            return;
        }
        let last = matches!(&record.fact, Fact::Decided(Decision { next: Next::Exit(_), .. }));
        self.due(Due::All, last);
    }

    fn activity(&mut self, activity: &Activity) {
        self.fold.activity(activity);
        self.due(Due::Progress, false);
    }

    fn tick(&mut self) {
        if self.written.elapsed() >= ALIVE && self.fold.is_open() {
            self.due = self.due.max(Some(Due::Progress));
        }
        if self.written.elapsed() >= PACE {
            self.write();
        }
    }
}

impl Drop for Views {
    fn drop(&mut self) {
        self.write();
    }
}
