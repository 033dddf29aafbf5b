//! Metrics and daily reports in the workspace (`.ralph/metrics/`, unless `[views]` moves them), for people and other programs: one line per run, one
//! report per day with runs. The store stays the source: whatever is missing after a crash, a full disk or an agent's
//! clean-up is written at the next run. `metrics/log.rs` maintains the file of lines, `metrics/calendar.rs` knows where
//! days begin and end.

pub mod calendar;
mod log;

use crate::clock::utc;
use crate::home::Home;
use crate::ledger::run_meter;
use crate::rows::{account, accounts};
use crate::workspace_files::{Durable, WorkspaceFiles};
use calendar::Days;
use ralph_diagnostics::Discard;
use ralph_rules::account::RunAccount;
use ralph_rules::metrics::RalphMetrics;
use ralph_rules::money::Micro;
use ralph_rules::record::RunStarted;
use ralph_rules::report::{Report, Span, report};
use ralph_store::{AccountFilter, Batch, Store, StoreError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

/// How many of the latest runs are checked for missing lines.
const LATEST: u32 = 200;
/// How many days back missing reports are written.
const BACK: i64 = 31;

/// How every report begins; another file is never replaced by one.
const REPORT_HEAD: &str = "# Ralph Loop Performance Report";
/// No report is larger.
const LARGEST_REPORT: u64 = 1 << 20;

/// Where metrics and reports are written, relative to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsPaths {
    /// File with one line per run.
    pub lines: String,
    /// Directory of the daily reports; empty for the workspace itself.
    pub reports: String,
}

impl Default for MetricsPaths {
    fn default() -> MetricsPaths {
        MetricsPaths { lines: ".ralph/metrics/ralph-loops.jsonl".into(), reports: ".ralph/metrics".into() }
    }
}

impl MetricsPaths {
    /// The report of a day; `*` stands for any day.
    pub fn report(&self, day: &str) -> String {
        match self.reports.as_str() {
            "" => format!("ralph-report-{day}.md"),
            dir => format!("{dir}/ralph-report-{day}.md"),
        }
    }
}

/// A workspace whose metrics are written.
struct Target {
    workspace: PathBuf,
    zone: String,
    paths: MetricsPaths,
    /// What ralph writes outside of `.ralph/`.
    own: Vec<String>,
}

/// Writes a workspace's metrics while a run is active, off the loop's thread.
pub struct MetricsWriter {
    home: Home,
    target: Arc<Target>,
    catching_up: Option<JoinHandle<()>>,
}

impl MetricsWriter {
    /// Starts writing the lines and reports of earlier runs that are missing.
    pub fn start(home: &Home, run: &RunStarted, paths: &MetricsPaths) -> MetricsWriter {
        let (workspace, zone) = (PathBuf::from(&run.workspace), run.zone.clone());
        let target = Arc::new(Target { workspace, zone, paths: paths.clone(), own: run.own_files.clone() });
        let (of_thread, its_target) = (home.clone(), Arc::clone(&target));
        let catch_up = move || {
            if let Ok(Some(store)) = of_thread.store_if_any() {
                // Tried again at the next run.
                its_target.catch_up(&of_thread, &store).discard("write missing metrics and reports");
            }
        };
        let catching_up = std::thread::Builder::new().name("metrics".into()).spawn(catch_up).ok();
        MetricsWriter { home: home.clone(), target, catching_up }
    }

    /// Writes the line of the run that ended. Failing to do so never changes how the run ended.
    pub fn finish(self, store: &dyn Store, run: &str) {
        if let Some(thread) = self.catching_up {
            let _ = thread.join();
        }
        if let Some(account) = account(store, run) {
            self.target.write_lines(&self.home, &[account]).discard("write the metrics of the run");
        }
    }
}

impl Target {
    fn catch_up(&self, home: &Home, store: &dyn Store) -> io::Result<()> {
        let workspace = Some(self.workspace.to_string_lossy().into_owned());
        let filter = AccountFilter { workspace, limit: Some(LATEST), ..AccountFilter::default() };
        let mut runs = accounts(store, &filter).unwrap_or_default();
        runs.reverse();
        self.write_lines(home, &runs)?;
        self.write_reports(store)
    }

    fn files(&self) -> io::Result<WorkspaceFiles> {
        Ok(WorkspaceFiles::open(&self.workspace)?.hiding(&self.own))
    }

    fn write_lines(&self, home: &Home, runs: &[RunAccount]) -> io::Result<()> {
        let lines: Vec<RalphMetrics> =
            runs.iter().filter_map(|run| RalphMetrics::of(run, calendar::stamp)).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let lock = home.dir().join("metrics.lock");
        log::write(&self.files()?, &self.paths.lines, &lock, &lines)
    }

    /// At the first run of a day, writes the reports of earlier days with runs.
    fn write_reports(&self, store: &dyn Store) -> io::Result<()> {
        let workspace = self.workspace.to_string_lossy();
        let key = format!("reported/{workspace}");
        let Some(today) = calendar::today(utc(), &self.zone) else { return Ok(()) };
        let done = store.memo(&key).ok().flatten().and_then(|day| day.parse().ok());
        if done == Some(today) {
            return Ok(());
        }
        let files = self.files()?;
        for day in calendar::between(done, today, BACK) {
            let days = Days::one(day, &self.zone);
            let Ok(found) = day_report(store, Some(workspace.as_ref()), days) else { continue };
            let path = self.paths.report(&day.to_string());
            if found.overall.loops + found.scripted_runs > 0 && is_report_or_nothing(&files, &path) {
                files.replace(&path, found.markdown().as_bytes(), Durable::Yes)?;
            }
        }
        let memo = vec![(key, Some(today.to_string()))];
        store
            .commit(&Batch { memo, now: utc(), ..Batch::default() })
            .discard("remember which reports are written");
        Ok(())
    }
}

/// Whether a report may be written here: a file of the user's that has its name stays as it is.
fn is_report_or_nothing(files: &WorkspaceFiles, path: &str) -> bool {
    files.read(path, LARGEST_REPORT).is_ok_and(|text| text.is_empty() || text.starts_with(REPORT_HEAD))
}

/// Accounts, newest first, with what is held for calls that nobody has settled.
pub fn with_unsettled(store: &dyn Store, filter: &AccountFilter) -> Result<Vec<RunAccount>, StoreError> {
    let mut runs = accounts(store, filter)?;
    for run in &mut runs {
        let held = store.meter(&run_meter(&run.run)).map_or(0, |meter| meter.held);
        run.add_unsettled(Micro(held));
    }
    Ok(runs)
}

/// The report of a span of days, of one workspace or of all.
pub fn day_report(store: &dyn Store, workspace: Option<&str>, days: Days) -> Result<Report, StoreError> {
    let filter = AccountFilter {
        workspace: workspace.map(str::to_owned),
        from: Some(days.from),
        before: Some(days.before),
        ..AccountFilter::default()
    };
    let mut runs = with_unsettled(store, &filter)?;
    runs.reverse();
    let cap = runs.last().map(|run| run.daily_cost).filter(|cap| *cap > Micro::ZERO);
    let spent = store.meter(&format!("day/{}", days.last))?;
    let day = cap.map(|cap| (Micro(spent.settled), cap));
    let span = Span { from: days.first.to_string(), to: days.last.to_string(), day };
    Ok(report(&runs, &span))
}
