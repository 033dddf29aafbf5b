//! `ralph undo`: restores files to their state before a run, or after one of its iterations. Shows what it will do first.
//! Files only: git's index, stash and history are not touched. What was changed since the run is left alone unless asked
//! for, and whatever it replaces is saved first, so that an undo can be undone.

use super::{Here, runs};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::snapshots::{Snapshots, walk_without_drafts};
use ralph_rules::state::State;
use ralph_snapshots::{PathProblem, PendingRestore, Restore, RestoreReport, RestoreRequest, restore};
use ralph_store::RunRow;
use ralph_tree::{Index, LockError, Protect, Tree, WorkspaceLock};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::sync::Arc;

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
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let workspace = Path::new(&row.workspace);
    let _lock = lock(&home, workspace, &format!("undo of {}", row.id))?;
    let state = State::of(&runs::records(&store, &row.id)?);
    let (globs, own) = state.start.map(|start| (start.protect, start.own_files)).unwrap_or_default();
    let protect = Protect::new(&globs).map_err(|e| Problem::new(Code::Journal, e.to_string()))?;
    let tree =
        Tree::new(workspace, protect).leaving_out(own).leaving_out_dir(home.within(workspace).as_ref());
    let pending = PendingRestore::load(&home.pending_restore(workspace));
    let snapshots = Snapshots::of(&home, workspace, &row.id);
    snapshots.remove_leftovers(&home, &[]);
    let now = walk_without_drafts(&tree, Index::load(&home.index(workspace)).as_ref())
        .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be read").cause(&e))?;
    let to = args.to.unwrap_or(0);
    if let Some(why) = state.trees.no_snapshot.get(&to.saturating_add(1)) {
        return Err(not_taken(&snapshots, &row, to, why));
    }
    let target = snapshots.after(to).ok_or_else(|| no_moment(&snapshots, &row, to))?;
    // Nobody saw what a run that was cut short did last, so all that changed since is taken for its work.
    let cut_short = snapshots.was_cut_short();
    let left = if cut_short { now.clone() } else { snapshots.last().unwrap_or_default() };
    let (newer_too, half) = (args.newer_too, pending.half_restored(workspace));
    let wanted = RestoreRequest { target: &target, left: &left, now: &now, newer_too, half: &half };
    let plan = restore(wanted, snapshots.store().blobs());
    if !args.json {
        say(&shown(&plan, &row, to));
        if let Some(last) = snapshots.iterations().last().filter(|_| cut_short && !plan.acts.is_empty()) {
            say(&cut_short_note(*last));
        }
    }
    let done = match plan.acts.is_empty() {
        _ if args.dry_run => None,
        true => {
            pending.done();
            None
        }
        false if agreed(args.yes, args.json)? => {
            Some(apply((&snapshots, cut_short), &plan, &now, workspace, pending)?)
        }
        false => None,
    };
    if args.json {
        print_json(&as_json(&plan, done.as_ref(), &row, to))?;
    } else if let Some(done) = &done {
        say(&outcome(done));
    }
    let whole = plan.missing.is_empty() && done.is_none_or(|done| done.failed.is_empty());
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

fn not_taken(snapshots: &Snapshots, row: &RunRow, to: u32, why: &str) -> Problem {
    let message =
        format!("nothing was saved before iteration {} of run {}: {why}", to + 1, runs::short(&row.id));
    let others = snapshots.iterations().into_iter().filter_map(|n| n.checked_sub(1)).filter(|n| *n != to);
    let others: Vec<String> = others.map(|n| n.to_string()).collect();
    let problem = Problem::new(Code::Usage, message);
    match others.is_empty() {
        true => problem.hint("no other state of this run was saved either"),
        false => problem.hint(format!("--to accepts {}", others.join(", "))),
    }
}

fn no_moment(snapshots: &Snapshots, row: &RunRow, to: u32) -> Problem {
    let known = snapshots.iterations();
    let message = format!("run {} has no snapshot for iteration {to}", runs::short(&row.id));
    let problem = Problem::new(Code::Usage, message);
    match known.last() {
        Some(last) => problem.hint(format!("--to accepts 0 (before the run) to {last}")),
        None => problem.hint("it never called an agent, is older than this version, or was pruned"),
    }
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

/// Saves what is replaced or removed before anything is written.
fn apply(
    (snapshots, cut_short): (&Snapshots, bool),
    plan: &Restore,
    now: &Index,
    workspace: &Path,
    mut pending: PendingRestore,
) -> Result<RestoreReport, Problem> {
    let unsafe_now = |e: &(dyn std::error::Error + 'static)| {
        Problem::new(Code::Journal, "the current files could not be saved, so nothing was changed").cause(e)
    };
    let taken = match cut_short {
        // The state that is undone gets a snapshot: it can be returned to, and a repeated undo compares with it.
        true => snapshots.left(&Arc::new(now.clone())),
        false => snapshots.take_durably(now),
    };
    let taken = taken.map_err(|e| unsafe_now(&e))?;
    let lost: Vec<&PathProblem> =
        taken.missed.iter().filter(|missed| plan.acts.iter().any(|act| *act.path() == missed.path)).collect();
    if let Some(first) = lost.first() {
        let message = format!("{} cannot be saved ({}), so nothing was changed", first.path, first.why);
        return Err(Problem::new(Code::Busy, message).hint("move it away, then run undo again"));
    }
    pending.begin(plan.acts.iter().map(|act| (workspace, act))).map_err(|e| unsafe_now(&e))?;
    let done = plan
        .apply(workspace, snapshots.store().blobs())
        .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be opened").cause(&e))?;
    if done.failed.is_empty() {
        pending.done();
    }
    Ok(done)
}

fn shown(plan: &Restore, row: &RunRow, to: u32) -> String {
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

fn cut_short_note(last: u32) -> String {
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

fn outcome(done: &RestoreReport) -> String {
    let mut text = format!("Restored {} of {}.\n", done.acts, done.acts as usize + done.failed.len());
    for failed in &done.failed {
        let _ = writeln!(text, "  failed: {}: {}", failed.path, failed.why);
    }
    text
}

fn as_json(plan: &Restore, done: Option<&RestoreReport>, row: &RunRow, to: u32) -> Value {
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
