//! `ralph undo`: the workspace's files as they were before a run, or after one of its iterations. Shows what it will do
//! first. Files only: git's index, stash and history are not touched. What was changed since the run is left alone
//! unless asked for, and whatever it replaces is put aside first, so that an undo can be taken back.

use super::{Here, runs};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::snapshots::Snapshots;
use ralph_snapshots::{Done, Missed, Restore, Wanted, restore};
use ralph_store::RunRow;
use ralph_tree::{Index, Protect, Tree, WorkspaceLock};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Lines shown of a long list.
const SHOWN: usize = 20;

/// What may be typed.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // switches of a command line
pub struct Args {
    /// The run; the newest of this workspace if left out.
    run: Option<String>,
    /// As it was after this iteration; 0, or nothing, is before the run.
    #[arg(long, value_name = "N")]
    to: Option<u32>,
    /// Also what was changed since the run ended.
    #[arg(long)]
    newer_too: bool,
    /// Only show what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Puts the files back.
pub fn undo(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let workspace = Path::new(&row.workspace);
    let _lock = lock(&home, workspace, &format!("undo of {}", row.id))?;
    let start = ralph_rules::state::State::of(&runs::records(&store, &row.id)?).start;
    let (globs, own) = start.map(|start| (start.protect, start.own_files)).unwrap_or_default();
    let protect = Protect::new(&globs).map_err(|e| Problem::new(Code::Journal, e.to_string()))?;
    let tree = Tree::new(workspace, protect).leaving_out(own);
    let now = tree
        .walk(Index::load(&home.index(workspace)).as_ref())
        .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be looked at").cause(&e))?;
    let snapshots = Snapshots::of(&home, workspace, &row.id);
    let to = args.to.unwrap_or(0);
    let target = snapshots.after(to).ok_or_else(|| no_moment(&snapshots, &row, to))?;
    let left = snapshots.last().unwrap_or_default();
    let wanted = Wanted { target: &target, left: &left, now: &now, newer_too: args.newer_too };
    let plan = restore(wanted, snapshots.keep().blobs());
    if !args.json {
        say(&shown(&plan, &row, to));
    }
    let go = !args.dry_run && !plan.acts.is_empty() && agreed(args.yes, args.json)?;
    let done = if go { Some(apply(&snapshots, &plan, &now, workspace)?) } else { None };
    if args.json {
        print_json(&as_json(&plan, done.as_ref(), &row, to))?;
    } else if let Some(done) = &done {
        say(&outcome(done));
    }
    Ok(if done.is_some_and(|done| !done.failed.is_empty()) { Code::Busy as u8 } else { 0 })
}

/// Nobody else changes the workspace meanwhile.
pub fn lock(home: &Home, workspace: &Path, what: &str) -> Result<WorkspaceLock, Problem> {
    let made = Home::make(&home.locks());
    made.map_err(|e| Problem::new(Code::Busy, "the folder for locks cannot be made").cause(&e))?;
    WorkspaceLock::take(&home.locks(), workspace, what).map_err(|e| {
        Problem::new(Code::Busy, "somebody works in this workspace now")
            .cause(&e)
            .hint("stop the run first: ralph stop")
    })
}

fn no_moment(snapshots: &Snapshots, row: &RunRow, to: u32) -> Problem {
    let known = snapshots.iterations();
    let message = format!("run {} has nothing put aside for iteration {to}", runs::short(&row.id));
    let problem = Problem::new(Code::Usage, message);
    match known.last() {
        Some(last) => problem.hint(format!("--to takes 0 (before the run) to {last}")),
        None => problem.hint("it called no agent, is older than this version, or was pruned"),
    }
}

/// Somebody says yes, by a flag or now.
pub fn agreed(yes: bool, json: bool) -> Result<bool, Problem> {
    if yes {
        return Ok(true);
    }
    if json || !std::io::stdin().is_terminal() {
        return Err(Problem::new(Code::Usage, "nobody is here to agree to this")
            .hint("add --yes to do it, or --dry-run to only look"));
    }
    say("Do this? [y/N] ");
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    let yes = matches!(answer.trim(), "y" | "Y" | "yes");
    if !yes {
        say("Nothing was changed.\n");
    }
    Ok(yes)
}

/// Nothing is replaced or removed that is not put aside first.
fn apply(snapshots: &Snapshots, plan: &Restore, now: &Index, workspace: &Path) -> Result<Done, Problem> {
    let unsafe_now = |e: &dyn std::error::Error| {
        Problem::new(Code::Journal, "what would be replaced could not be put aside, so nothing was changed")
            .cause(e)
    };
    let taken = snapshots.take_durably(now).map_err(|e| unsafe_now(&e))?;
    let lost: Vec<&Missed> =
        taken.missed.iter().filter(|missed| plan.acts.iter().any(|act| *act.path() == missed.path)).collect();
    if let Some(first) = lost.first() {
        let message = format!("{} cannot be put aside ({}), so nothing was changed", first.path, first.why);
        return Err(Problem::new(Code::Busy, message).hint("move it away first, then undo again"));
    }
    plan.apply(workspace, snapshots.keep().blobs())
        .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be opened").cause(&e))
}

fn shown(plan: &Restore, row: &RunRow, to: u32) -> String {
    let moment = if to == 0 { "before".to_owned() } else { format!("after iteration {to} of") };
    let mut text = format!("Files as they were {moment} run {}:\n", runs::short(&row.id));
    list(&mut text, "", plan.acts.iter().map(ToString::to_string));
    if plan.acts.is_empty() {
        text.push_str("  nothing to do\n");
    }
    if !plan.newer.is_empty() {
        text.push_str(
            "Left alone, because they were changed after the run (--newer-too takes them along):\n",
        );
        list(&mut text, "", plan.newer.iter().map(ToString::to_string));
    }
    if !plan.missing.is_empty() {
        text.push_str("Cannot be brought back:\n");
        list(&mut text, "", plan.missing.iter().map(|missed| format!("{}: {}", missed.path, missed.why)));
    }
    text
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

fn outcome(done: &Done) -> String {
    let mut text = format!("Done: {} of {}.\n", done.acts, done.acts as usize + done.failed.len());
    for failed in &done.failed {
        let _ = writeln!(text, "  failed: {}: {}", failed.path, failed.why);
    }
    text
}

fn as_json(plan: &Restore, done: Option<&Done>, row: &RunRow, to: u32) -> Value {
    let missed = |all: &[Missed]| -> Vec<Value> {
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
