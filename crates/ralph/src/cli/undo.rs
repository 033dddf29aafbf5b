//! `ralph undo`: restores files to their state before a run, or after one of its iterations. Shows what it will do first.
//! Files only: git's index, stash and history are not touched. What was changed since the run is left alone unless asked
//! for, and whatever it replaces is saved first, so that an undo can be undone.

use super::refused::in_session;
use super::{Here, runs};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::session::Binding;
use ralph_snapshots::{PathProblem, Restore, RestoreReport};
use ralph_store::{RunFilter, RunRow, Store};
use ralph_tree::{LockError, TreePath, WorkspaceLock};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

pub mod kept_case;
pub mod plan;

use kept_case::{keep_newer, kept, name};
use plan::UndoPlan;

/// Lines shown of a long list.
const SHOWN: usize = 20;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Restore the state after this iteration (default: 0, before the run).
    #[arg(long, value_name = "N")]
    to: Option<u32>,
    /// Also restore files that changed after the run ended; what they are now is quarantined.
    #[arg(long)]
    newer_too: bool,
    #[command(flatten)]
    how: How,
}

/// How a restore is carried out.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct How {
    /// Show what would be done, without doing it.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What became of a plan.
pub struct CarriedOut<T> {
    /// The run.
    pub row: RunRow,
    /// What was done; none where nothing was to be done, or nobody agreed.
    pub report: Option<RestoreReport>,
    /// What was done first, if anything was.
    pub first: Option<T>,
    /// What was planned.
    pub restore: Restore,
    left_out: Vec<(TreePath, &'static str)>,
}

/// Restores the files.
pub fn undo(args: &Args, here: &Here) -> Result<u8, Problem> {
    let plan = UndoPlan::of((args.run.as_deref(), args.to.unwrap_or(0)), args.newer_too, "undo", here)?;
    let to = plan.to;
    let done = carry_out(plan, args.how, |plan| {
        keep_newer(plan).map_err(|e| {
            let message = "what was changed after the run could not be quarantined, so nothing was changed";
            Problem::new(Code::Journal, message).cause(&e)
        })
    })?;
    let case = done.first.as_ref().and_then(Option::as_deref).map(|folder| name(&done.row, folder));
    if args.how.json {
        print_json(&done.as_json([("to", json!(to)), ("case", json!(case))]))?;
    } else if let Some(report) = &done.report {
        say(&outcome(report));
        say(&case.map(|case| kept("What was changed after the run is kept", &case)).unwrap_or_default());
    }
    Ok(done.code())
}

/// Shows the plan, asks, and applies it; right before that, `first` is done, also where there is nothing to apply.
pub fn carry_out<T>(
    plan: UndoPlan,
    how: How,
    first: impl FnOnce(&UndoPlan) -> Result<T, Problem>,
) -> Result<CarriedOut<T>, Problem> {
    let (row, restore, left_out) = (plan.row.clone(), plan.restore.clone(), plan.left_out.clone());
    if !how.json {
        say(&shown(&plan));
    }
    let (mut done, mut report) = (None, None);
    let nothing = restore.acts.is_empty();
    if !how.dry_run && nothing {
        done = Some(first(&plan)?);
        plan.done();
    } else if !how.dry_run && agreed(how.yes, how.json)? {
        let (first, applied) = plan.apply(first)?;
        (done, report) = (Some(first), Some(applied));
    }
    Ok(CarriedOut { row, report, first: done, restore, left_out })
}

impl<T> CarriedOut<T> {
    /// The exit code.
    pub fn code(&self) -> u8 {
        let failed = self.report.as_ref().is_some_and(|report| !report.failed.is_empty());
        if failed || !self.restore.missing.is_empty() { Code::Journal as u8 } else { 0 }
    }

    /// Plan and outcome, for scripts, with more fields.
    pub fn as_json<const N: usize>(&self, more: [(&str, Value); N]) -> Value {
        let missed = |all: &[PathProblem]| -> Vec<Value> {
            all.iter().map(|it| json!({"path": it.path.to_string(), "why": it.why})).collect()
        };
        let mut value = json!({
            "runId": self.row.id,
            "acts": self.restore.acts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "newer": self.restore.newer.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "leftOut": left_out_json(&self.left_out),
            "missing": missed(&self.restore.missing),
            "done": self.report.as_ref().map(|report| report.acts),
            "failed": self.report.as_ref().map(|report| missed(&report.failed)),
        });
        if let Some(fields) = value.as_object_mut() {
            fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
        }
        value
    }
}

/// Keeps runs out of the workspace meanwhile.
pub fn lock(home: &Home, workspace: &Path, what: &str) -> Result<WorkspaceLock, Problem> {
    let made = Home::create_private_dir(&home.locks());
    made.map_err(|e| Problem::new(Code::Journal, "the lock directory cannot be created").cause(&e))?;
    let taken = WorkspaceLock::take(&home.locks(), workspace, what).and_then(WorkspaceLock::and_in_workspace);
    let taken = taken.map_err(|e| match e {
        LockError::Held { .. } => Problem::new(Code::Busy, "another run is active in this workspace")
            .cause(&e)
            .hint("stop the run first: ralph stop"),
        LockError::Io { .. } => {
            let message =
                format!("cannot lock the workspace {}, so nothing was changed", workspace.display());
            Problem::new(Code::Journal, message)
                .cause(&e)
                .hint("if it was moved, `ralph resume -C DIR` takes its run to the new path")
        }
    })?;
    match session_here(home, workspace)? {
        Some(binding) => Err(in_session(&binding)),
        None => Ok(taken),
    }
}

/// A living session that works on a run in this workspace: between two hooks nobody holds the lock.
fn session_here(home: &Home, workspace: &Path) -> Result<Option<Binding>, Problem> {
    let Some(store) = home.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(None) };
    let workspace = Some(workspace.to_string_lossy().into_owned());
    let filter = RunFilter { workspace, resumable: Some(true), ..RunFilter::default() };
    let open = store.runs(&filter).map_err(|e| runs::broken(&e))?;
    Ok(open.iter().find_map(|run| Binding::alive(home, &run.id)))
}

/// Asks for confirmation, unless `yes`.
pub fn agreed(yes: bool, json: bool) -> Result<bool, Problem> {
    if yes {
        return Ok(true);
    }
    if json || !std::io::stdin().is_terminal() {
        return Err(Problem::new(Code::Usage, "confirmation is needed, but stdin is not a terminal")
            .hint("add --yes to confirm, or --dry-run to see what would be done"));
    }
    say("Continue? [y/N] ");
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    let yes = matches!(answer.trim(), "y" | "Y" | "yes");
    if !yes {
        say("Nothing was changed.\n");
    }
    Ok(yes)
}

/// What will be done, for the user to agree to.
fn shown(plan: &UndoPlan) -> String {
    let UndoPlan { restore, row, to, .. } = plan;
    let moment = if *to == 0 { "before".to_owned() } else { format!("after iteration {to} of") };
    let mut text = format!("Restoring files to their state {moment} run {}:\n", runs::short(&row.id));
    list(&mut text, restore.acts.iter().map(ToString::to_string));
    if restore.acts.is_empty() {
        text.push_str("  nothing to do\n");
    }
    if !restore.newer.is_empty() {
        text.push_str(&left_alone(plan));
        list(&mut text, restore.newer.iter().map(ToString::to_string));
    }
    if !plan.left_out.is_empty() {
        text.push_str("Left alone, because an ignore rule changed:\n");
        list(&mut text, plan.left_out.iter().map(|(path, why)| format!("{path}: {why}")));
    }
    if !restore.missing.is_empty() {
        text.push_str("Cannot be restored:\n");
        list(&mut text, restore.missing.iter().map(|missed| format!("{}: {}", missed.path, missed.why)));
    }
    let last = plan.snapshots.iterations().last().copied();
    if let Some(last) = last.filter(|_| plan.cut_short && !restore.acts.is_empty()) {
        text.push_str(&cut_short_note(last));
    }
    text
}

/// Said of what was changed after the run; `reject` has no flag for it.
fn left_alone(plan: &UndoPlan) -> String {
    let more = match plan.what {
        "reject" => format!("`ralph undo {} --newer-too` restores them too", runs::short(&plan.row.id)),
        _ => "--newer-too restores them too".to_owned(),
    };
    format!("Left alone, because they changed after the run ({more}):\n")
}

/// Said before the undo of a run that was cut short.
fn cut_short_note(last: u32) -> String {
    format!(
        "The run was cut short: whatever changed since its last snapshot counts as its work. To bring that back: \
         ralph undo --to {last}\n"
    )
}

/// Adds a list, of which a long one is cut.
pub fn list(text: &mut String, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > SHOWN {
        let _ = writeln!(text, "  … and {} more (--json lists all)", lines.len() - SHOWN);
    }
}

/// What was done.
pub fn outcome(done: &RestoreReport) -> String {
    let mut text = format!("Restored {} of {}.\n", done.acts, done.acts as usize + done.failed.len());
    for failed in &done.failed {
        let _ = writeln!(text, "  failed: {}: {}", failed.path, failed.why);
    }
    text
}

/// Files that are left alone, for scripts.
pub fn left_out_json(left_out: &[(TreePath, &'static str)]) -> Vec<Value> {
    left_out.iter().map(|(path, why)| json!({"path": path.to_string(), "why": why})).collect()
}
