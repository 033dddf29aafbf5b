//! `ralph run --fallback`: one iteration where the loop cannot start through ralph's own fault. Without a usable state
//! directory or database the journal is kept in memory. Locks, an open breaker and limits hold as always, as far as they
//! can still be read; a baseline that does not end is the rules' (`admission.rs`).

use super::refused::can_be_recorded;
use super::resolve::Resolved;
use super::run::{Args, Output, close};
use super::watchers::{WatchedRun, watchers};
use super::{Here, named_skill, prompt, refused, runs};
use crate::plain::plain;
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::circuit::{cooled, open_breaker};
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::ledger::LedgerAccounts;
use ralph_engine::open::{self, OpenError};
use ralph_engine::reset_time::day_of;
use ralph_engine::session::Binding;
use ralph_rules::money::Micro;
use ralph_store::{DATABASE, Database, Store, StoreError, copies, open_existing};
use ralph_tree::{LockError, WorkspaceLock};
use rustix::process::Pid;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Why no run can be recorded, if none can. A database that is only busy can be waited for.
pub fn unusable_state(here: &Here) -> Option<Problem> {
    let home = match here.home() {
        Ok(home) => home,
        Err(problem) => return Some(problem),
    };
    let dirs = [home.locks(), home.dir().join("runs"), home.dir().join("trees")];
    let made = dirs.iter().find_map(|dir| Home::create_private_dir(dir).err());
    match home.store() {
        Err(StoreError::Busy { .. }) => None,
        Err(error) => Some(runs::broken(&error)),
        Ok(_) => match made {
            Some(error) => {
                let message = format!("the state directory {} cannot be used", home.dir().display());
                Some(Problem::new(Code::Journal, message).cause(&error))
            }
            None => can_be_recorded(&home).err(),
        },
    }
}

/// The arguments without a skill that cannot be read: the run makes one iteration without it. A name that is not known, or
/// flags that do not go with the skill, are the user's to correct.
pub fn without_broken_skill(args: Args, here: &Here) -> Args {
    match named_skill::of_run(&args, here) {
        Err(problem) if args.fallback && problem.code == Code::Input => {
            let cause = problem.causes.first().map(|cause| format!(": {cause}")).unwrap_or_default();
            Args { skill: None, broken_skill: Some(problem.message + &cause), ..args }
        }
        _ => args,
    }
}

/// One iteration, if the skill that was named is broken.
pub fn once_without_skill(args: &Args, resolved: &mut Resolved) {
    if let Some(why) = &args.broken_skill {
        let policy = &mut resolved.plan.policy;
        policy.max_iterations = policy.max_iterations.min(1);
        resolved.warnings.push(format!("{why}: one iteration without the skill"));
    }
}

/// One iteration of the resolved run, without a record.
pub fn run_unrecorded(
    mut resolved: Resolved,
    why: &Problem,
    output: Output,
    here: &Here,
) -> Result<u8, Problem> {
    let id = uuid::Uuid::now_v7().to_string();
    let scratch = tempfile::Builder::new().prefix("ralph-run-").tempdir().map_err(|error| {
        Problem::new(Code::Busy, "cannot create a temporary directory for the run").cause(&error)
    })?;
    let lock = own_lock(&id, here)?;
    let known = last_known(scratch.path(), here);
    not_in_session(known.as_ref(), here)?;
    not_open(known.as_ref(), &resolved, here)?;
    let policy = &mut resolved.plan.policy;
    policy.max_iterations = policy.max_iterations.min(1);
    if let Some(Known { store, .. }) = &known {
        let today = LedgerAccounts::new(&id, &day_of(utc(), &resolved.plan.zone)).day_meter();
        let spent = store.meter(&today).map_or(Micro::ZERO, |totals| Micro(totals.total()));
        policy.daily_cost = policy.daily_cost.minus(spent).max(Micro::ZERO);
    }
    if !output.quiet {
        let style = here.err_style();
        for warning in &resolved.warnings {
            say(&format!("{} {}\n", style.warn("warning:"), plain(warning)));
        }
        let because = why.causes.first().map(|cause| format!(" ({cause})")).unwrap_or_default();
        let message = format!("{}{because}: one iteration, which is not recorded", why.message);
        say(&format!("{} {}\n", style.warn("warning:"), plain(&message)));
    }
    let home = Home::at(scratch.path().join("state"));
    let workspace = resolved.plan.workspace.clone();
    let redactor = Arc::clone(&resolved.deps.redactor);
    let run = WatchedRun { id: &id, records: &[], workspace: &workspace, views: resolved.views, redactor };
    let (watchers, terminal) = watchers(run, output, &home, here);
    let ended = open::start_unrecorded(&home, &id, resolved.plan, resolved.deps, watchers);
    drop(terminal);
    drop(lock);
    keep_quarantine(scratch, &home);
    close(ended, output, &id, here)
}

/// The lock of the state directory, as far as it can be taken there: the one in the workspace is taken in any case.
fn own_lock(id: &str, here: &Here) -> Result<Option<WorkspaceLock>, Problem> {
    let Ok(home) = here.home() else { return Ok(None) };
    let who = format!("run {id}, process {}", std::process::id());
    match WorkspaceLock::take(&home.locks(), &here.workspace, &who) {
        Ok(lock) => Ok(Some(lock)),
        Err(held @ LockError::Held { .. }) => Err(refused::refused(&OpenError::Lock(held), id, here)),
        Err(LockError::Io { .. }) => Ok(None),
    }
}

/// What can still be read of earlier runs.
struct Known {
    store: Database,
    is_copy: bool,
}

/// The database if it can be read, otherwise its newest copy that can.
fn last_known(scratch: &Path, here: &Here) -> Option<Known> {
    let home = here.home().ok()?;
    let database = home.store_if_any().ok().flatten();
    let readable = database.filter(|store| store.memo("").is_ok());
    readable.map(|store| Known { store, is_copy: false }).or_else(|| {
        copies(home.dir()).into_iter().rev().enumerate().find_map(|(nth, copy)| {
            let dir = scratch.join(format!("copy-{nth}"));
            Home::create_private_dir(&dir).ok()?;
            std::fs::copy(copy, dir.join(DATABASE)).ok()?;
            let store = open_existing(&dir).ok().flatten().filter(|store| store.memo("").is_ok())?;
            Some(Known { store, is_copy: true })
        })
    })
}

/// Refuses a workspace that a living session works in. The files of the bindings are asked, because the database may be
/// lost; where nothing is known of a run, its workspace is where its session works.
fn not_in_session(known: Option<&Known>, here: &Here) -> Result<(), Problem> {
    let Ok(home) = here.home() else { return Ok(()) };
    let runs = std::fs::read_dir(home.dir().join("runs")).into_iter().flatten().flatten();
    let ids = runs.filter_map(|entry| entry.file_name().into_string().ok());
    let is_here = |binding: &Binding| {
        let row = known.and_then(|known| known.store.run(&binding.run).ok().flatten());
        let pid = i32::try_from(binding.process.pid).ok().and_then(Pid::from_raw);
        match row {
            Some(row) => Path::new(&row.workspace) == here.workspace,
            None => pid.is_some_and(|pid| ralph_os::works_below(pid, &here.workspace)),
        }
    };
    let mut sessions = ids.filter_map(|id| Binding::alive(&home, &id));
    sessions.find(is_here).map_or(Ok(()), |binding| Err(refused::in_session(&binding)))
}

/// Refuses a workspace whose breaker is open: as the database says, otherwise its newest copy or the status file, which is
/// newer than the copy.
fn not_open(known: Option<&Known>, resolved: &Resolved, here: &Here) -> Result<(), Problem> {
    if known.is_none_or(|known| known.is_copy) {
        not_open_by_view(&resolved.views.status, here)?;
    }
    let Some(Known { store, .. }) = known else { return Ok(()) };
    let cooldown = resolved.plan.policy.breaker.cooldown;
    match open_breaker(store, &here.workspace) {
        Ok(Some(open)) if !cooled(&open, cooldown, utc()) => {
            Err(refused::refused(&OpenError::CircuitOpen(Box::new(open)), "", here))
        }
        _ => Ok(()),
    }
}

fn not_open_by_view(status: &str, here: &Here) -> Result<(), Problem> {
    let text = prompt::read(&here.workspace, Path::new(status)).unwrap_or_default();
    let view: Value = serde_json::from_str(&text).unwrap_or_default();
    match view.pointer("/breaker/state").and_then(Value::as_str) {
        Some("OPEN") => {
            let message = format!("the circuit breaker of this workspace is open, as {status} says");
            Err(Problem::new(Code::Breaker, message).hint("repair the database first: `ralph doctor`"))
        }
        _ => Ok(()),
    }
}

/// Keeps the run's directory if it holds the only copy of something: what was taken out of protected paths.
fn keep_quarantine(scratch: tempfile::TempDir, home: &Home) {
    let quarantine = home.quarantine();
    if std::fs::read_dir(&quarantine).is_ok_and(|mut entries| entries.next().is_some()) {
        let _ = scratch.keep();
        say(&format!("Changes of protected paths were saved in {}.\n", quarantine.display()));
    }
}
