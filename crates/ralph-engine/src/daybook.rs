//! What is kept in the workspace for people and other programs, beside the truth in the store: a metrics line for every
//! run, and a report of every day with runs. Written off the loop's path; what is missing after a crash, a full disk or
//! an agent's clean-up is made up for at the next run. `daybook/lines.rs` keeps the file of lines, `place.rs` writes
//! where an agent could have laid traps, `days.rs` knows calendars.

pub mod days;
mod lines;
mod place;

use crate::clock::utc;
use crate::home::Home;
use crate::rows::{account, accounts};
use days::Days;
use place::Place;
use ralph_rules::account::RunAccount;
use ralph_rules::metrics::RalphMetrics;
use ralph_rules::money::Micro;
use ralph_rules::report::{Report, Span, report};
use ralph_store::{AccountFilter, Batch, Store, StoreError};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Runs looked at when lines are made up for.
const LATEST: u32 = 200;
/// Days looked back for reports that were not written.
const BACK: i64 = 31;

/// The daybook of a workspace while a run is under way.
pub struct Daybook {
    home: Home,
    workspace: PathBuf,
    catching_up: Option<JoinHandle<()>>,
}

impl Daybook {
    /// Opens it: in the background lines and reports are written that should be there already.
    pub fn open(home: &Home, workspace: &Path, zone: &str) -> Daybook {
        let (theirs, place, zone) = (home.clone(), workspace.to_path_buf(), zone.to_owned());
        let catch_up = move || {
            if let Ok(Some(store)) = theirs.store_if_any() {
                let _ = catch_up(&theirs, &store, &place, &zone);
            }
        };
        let catching_up = std::thread::Builder::new().name("daybook".into()).spawn(catch_up).ok();
        Daybook { home: home.clone(), workspace: workspace.to_path_buf(), catching_up }
    }

    /// Closes it with the line of the run that was left. Never changes how the run ended.
    pub fn close(self, store: &dyn Store, run: &str) {
        if let Some(thread) = self.catching_up {
            let _ = thread.join();
        }
        if let Some(account) = account(store, run) {
            let _ = write_lines(&self.home, &self.workspace, &[account]);
        }
    }
}

fn catch_up(home: &Home, store: &dyn Store, workspace: &Path, zone: &str) -> std::io::Result<()> {
    let text = workspace.to_string_lossy().into_owned();
    let filter =
        AccountFilter { workspace: Some(text.clone()), limit: Some(LATEST), ..AccountFilter::default() };
    let mut runs = accounts(store, &filter).unwrap_or_default();
    runs.reverse();
    write_lines(home, workspace, &runs)?;
    write_reports(store, workspace, &text, zone)
}

fn write_lines(home: &Home, workspace: &Path, runs: &[RunAccount]) -> std::io::Result<()> {
    let lines: Vec<RalphMetrics> = runs.iter().filter_map(|run| RalphMetrics::of(run, days::stamp)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    lines::keep(&Place::metrics(workspace)?, &home.dir().join("metrics.lock"), &lines)
}

/// At the first run of a new day: the reports of the days with runs before it.
fn write_reports(store: &dyn Store, workspace: &Path, text: &str, zone: &str) -> std::io::Result<()> {
    let key = format!("reported/{text}");
    let Some(today) = days::today(utc(), zone) else { return Ok(()) };
    let done = store.memo(&key).ok().flatten().and_then(|day| day.parse().ok());
    if done == Some(today) {
        return Ok(());
    }
    let place = Place::metrics(workspace)?;
    for day in days::between(done, today, BACK) {
        let Ok(found) = day_report(store, Some(text), Days::one(day, zone)) else { continue };
        if found.overall.loops > 0 {
            place.replace(&format!("ralph-report-{day}.md"), found.markdown().as_bytes())?;
        }
    }
    let memo = vec![(key, Some(today.to_string()))];
    let _ = store.commit(&Batch { memo, now: utc(), ..Batch::default() });
    Ok(())
}

/// The report of some days, of one workspace or of all.
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
