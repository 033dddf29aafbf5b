//! Metrics and daily reports in the workspace (`.ralph/metrics/`), for people and other programs: one line per run, one
//! report per day with runs. The store stays the source: whatever is missing after a crash, a full disk or an agent's
//! clean-up is written at the next run. `metrics/log.rs` maintains the file of lines, `metrics/calendar.rs` knows where
//! days begin and end.

pub mod calendar;
mod log;

use crate::clock::utc;
use crate::home::Home;
use crate::rows::{account, accounts};
use crate::workspace_files::{Durable, WorkspaceFiles};
use calendar::Days;
use ralph_diagnostics::Discard;
use ralph_rules::account::RunAccount;
use ralph_rules::metrics::RalphMetrics;
use ralph_rules::money::Micro;
use ralph_rules::report::{Report, Span, report};
use ralph_store::{AccountFilter, Batch, Store, StoreError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Directory of metrics and reports in a workspace.
const DIR: &str = ".ralph/metrics";
/// How many of the latest runs are checked for missing lines.
const LATEST: u32 = 200;
/// How many days back missing reports are written.
const BACK: i64 = 31;

/// Writes a workspace's metrics while a run is active, off the loop's thread.
pub struct MetricsWriter {
    home: Home,
    workspace: PathBuf,
    catching_up: Option<JoinHandle<()>>,
}

impl MetricsWriter {
    /// Starts writing the lines and reports of earlier runs that are missing.
    pub fn start(home: &Home, workspace: &Path, zone: &str) -> MetricsWriter {
        let (of_thread, dir, zone) = (home.clone(), workspace.to_path_buf(), zone.to_owned());
        let catch_up = move || {
            if let Ok(Some(store)) = of_thread.store_if_any() {
                // Tried again at the next run.
                catch_up(&of_thread, &store, &dir, &zone).discard("write missing metrics and reports");
            }
        };
        let catching_up = std::thread::Builder::new().name("metrics".into()).spawn(catch_up).ok();
        MetricsWriter { home: home.clone(), workspace: workspace.to_path_buf(), catching_up }
    }

    /// Writes the line of the run that ended. Failing to do so never changes how the run ended.
    pub fn finish(self, store: &dyn Store, run: &str) {
        if let Some(thread) = self.catching_up {
            let _ = thread.join();
        }
        if let Some(account) = account(store, run) {
            write_lines(&self.home, &self.workspace, &[account]).discard("write the metrics of the run");
        }
    }
}

fn catch_up(home: &Home, store: &dyn Store, workspace: &Path, zone: &str) -> io::Result<()> {
    let text = workspace.to_string_lossy().into_owned();
    let filter =
        AccountFilter { workspace: Some(text.clone()), limit: Some(LATEST), ..AccountFilter::default() };
    let mut runs = accounts(store, &filter).unwrap_or_default();
    runs.reverse();
    write_lines(home, workspace, &runs)?;
    write_reports(store, workspace, &text, zone)
}

fn write_lines(home: &Home, workspace: &Path, runs: &[RunAccount]) -> io::Result<()> {
    let lines: Vec<RalphMetrics> =
        runs.iter().filter_map(|run| RalphMetrics::of(run, calendar::stamp)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    log::write(&WorkspaceFiles::open(workspace)?, &home.dir().join("metrics.lock"), &lines)
}

/// At the first run of a day, writes the reports of earlier days with runs.
fn write_reports(store: &dyn Store, workspace: &Path, text: &str, zone: &str) -> io::Result<()> {
    let key = format!("reported/{text}");
    let Some(today) = calendar::today(utc(), zone) else { return Ok(()) };
    let done = store.memo(&key).ok().flatten().and_then(|day| day.parse().ok());
    if done == Some(today) {
        return Ok(());
    }
    let files = WorkspaceFiles::open(workspace)?;
    for day in calendar::between(done, today, BACK) {
        let Ok(found) = day_report(store, Some(text), Days::one(day, zone)) else { continue };
        if found.overall.loops > 0 {
            let path = format!("{DIR}/ralph-report-{day}.md");
            files.replace(&path, found.markdown().as_bytes(), Durable::Yes)?;
        }
    }
    let memo = vec![(key, Some(today.to_string()))];
    store
        .commit(&Batch { memo, now: utc(), ..Batch::default() })
        .discard("remember which reports are written");
    Ok(())
}

/// The report of a span of days, of one workspace or of all.
pub fn day_report(store: &dyn Store, workspace: Option<&str>, days: Days) -> Result<Report, StoreError> {
    let filter = AccountFilter {
        workspace: workspace.map(str::to_owned),
        from: Some(days.from),
        before: Some(days.before),
        ..AccountFilter::default()
    };
    let mut runs = accounts(store, &filter)?;
    runs.reverse();
    let cap = runs.last().map(|run| run.daily_cost).filter(|cap| *cap > Micro::ZERO);
    let spent = store.meter(&format!("day/{}", days.last))?;
    let day = cap.map(|cap| (Micro(spent.settled), cap));
    let span = Span { from: days.first.to_string(), to: days.last.to_string(), day };
    Ok(report(&runs, &span))
}
