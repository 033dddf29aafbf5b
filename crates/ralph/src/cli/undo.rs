//! `ralph undo`: restores files to their state before a run, or after one of its iterations. Shows what it will do first.
//! Files only: git's index, stash and history are not touched. What was changed since the run is left alone unless asked
//! for, and whatever it replaces is saved first, so that an undo can be undone.

use super::{Here, runs};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_snapshots::{PathProblem, Restore, RestoreReport};
use ralph_store::RunRow;
use ralph_tree::{LockError, WorkspaceLock};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

pub mod plan;

use plan::UndoPlan;

/// Lines shown of a long list.
const SHOWN: usize = 20;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // switches of a command line
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Restore the state after this iteration (default: 0, before the run).
    #[arg(long, value_name = "N")]
    to: Option<u32>,
    /// Also restore files that changed after the run ended.
    #[arg(long)]
    newer_too: bool,
    /// Show what would be done, without doing it.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Restores the files.
pub fn undo(args: &Args, here: &Here) -> Result<u8, Problem> {
    let plan = UndoPlan::of((args.run.as_deref(), args.to.unwrap_or(0)), args.newer_too, "undo", here)?;
    let (row, to, cut_short) = (plan.row.clone(), plan.to, plan.cut_short);
    let restore = plan.restore.clone();
    if !args.json {
        say(&shown(&restore, &row, to));
        if let Some(last) =
            plan.snapshots.iterations().last().filter(|_| cut_short && !restore.acts.is_empty())
        {
            say(&cut_short_note(*last));
        }
    }
    let done = match restore.acts.is_empty() {
        _ if args.dry_run => None,
        true => {
            plan.done();
            None
        }
        false if agreed(args.yes, args.json)? => Some(plan.apply()?),
        false => None,
    };
    if args.json {
        print_json(&as_json(&restore, done.as_ref(), &row, to))?;
    } else if let Some(done) = &done {
        say(&outcome(done));
    }
    let whole = restore.missing.is_empty() && done.is_none_or(|done| done.failed.is_empty());
    Ok(if whole { 0 } else { Code::Journal as u8 })
}

/// Keeps runs out of the workspace meanwhile.
pub fn lock(home: &Home, workspace: &Path, what: &str) -> Result<WorkspaceLock, Problem> {
    let made = Home::create_private_dir(&home.locks());
    made.map_err(|e| Problem::new(Code::Journal, "the lock directory cannot be created").cause(&e))?;
    let taken = WorkspaceLock::take(&home.locks(), workspace, what).and_then(WorkspaceLock::and_in_workspace);
    taken.map_err(|e| match e {
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
    })
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
pub fn shown(plan: &Restore, row: &RunRow, to: u32) -> String {
    let moment = if to == 0 { "before".to_owned() } else { format!("after iteration {to} of") };
    let mut text = format!("Restoring files to their state {moment} run {}:\n", runs::short(&row.id));
    list(&mut text, "", plan.acts.iter().map(ToString::to_string));
    if plan.acts.is_empty() {
        text.push_str("  nothing to do\n");
    }
    if !plan.newer.is_empty() {
        text.push_str("Left alone, because they changed after the run (--newer-too restores them too):\n");
        list(&mut text, "", plan.newer.iter().map(ToString::to_string));
    }
    if !plan.missing.is_empty() {
        text.push_str("Cannot be restored:\n");
        list(&mut text, "", plan.missing.iter().map(|missed| format!("{}: {}", missed.path, missed.why)));
    }
    text
}

/// Said before the undo of a run that was cut short.
pub fn cut_short_note(last: u32) -> String {
    format!(
        "The run was cut short: whatever changed since its last snapshot counts as its work. To bring that back: \
         ralph undo --to {last} --newer-too\n"
    )
}

fn list(text: &mut String, mark: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(text, "  {mark}{line}");
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

/// Plan and outcome, for scripts.
pub fn as_json(plan: &Restore, done: Option<&RestoreReport>, row: &RunRow, to: u32) -> Value {
    let missed = |all: &[PathProblem]| -> Vec<Value> {
        all.iter().map(|it| json!({"path": it.path.to_string(), "why": it.why})).collect()
    };
    json!({
        "runId": row.id,
        "to": to,
        "acts": plan.acts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "newer": plan.newer.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "missing": missed(&plan.missing),
        "done": done.map(|done| done.acts),
        "failed": done.map(|done| missed(&done.failed)),
    })
}
