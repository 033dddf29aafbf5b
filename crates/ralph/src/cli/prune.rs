//! `ralph prune`: deletes transcripts, prompts and snapshots of old runs. Journals and costs are kept: they are small, and
//! the daily budget depends on them. Runs that are active or can be resumed keep everything, and the quarantine is never
//! deleted by ralph.

use super::retention::{Retention, latest};
use super::run_files::{size_of, size_of_run};
use super::{Here, run_files, runs};
use crate::plain::plain;
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use crate::show::ago;
use crate::values;
use ralph_diagnostics::Discard;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::open::PRUNE;
use ralph_engine::snapshots::Snapshots;
use ralph_rules::record::Ms;
use ralph_store::{RunFilter, RunRow, Store, shown_size as size};
use ralph_tree::WorkspaceLock;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Lines shown of a long list.
const SHOWN: usize = 20;

/// Arguments of `ralph prune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Delete files of all runs older than this (default: prune.keep, and never the latest run of a workspace).
    #[arg(long, value_name = "DUR", value_parser = values::span)]
    keep: Option<Ms>,
    /// Delete files of the oldest runs until this size is reached.
    #[arg(long, value_name = "SIZE", default_value = "5GB", value_parser = values::size)]
    max_size: u64,
    /// Show what would be deleted without deleting it.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A run and the bytes of its files.
struct Kept {
    row: RunRow,
    bytes: u64,
}

/// What goes and what stays.
struct Plan {
    goes: Vec<Kept>,
    stays: Vec<Kept>,
    /// Still over the size, but nothing else can be deleted.
    over: bool,
    /// Workspaces whose settings cannot be read.
    unreadable: Vec<String>,
    quarantine: u64,
}

/// Prunes.
pub fn prune(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let rows = store.runs(&RunFilter::default()).map_err(|e| runs::broken(&e))?;
    let plan = plan(rows, args, &home, here);
    if !args.json {
        say(&shown(&plan, args));
    }
    let go = !args.dry_run && !plan.goes.is_empty() && confirmed(args)?;
    let goes: Vec<&RunRow> = plan.goes.iter().map(|kept| &kept.row).collect();
    let deleted = go.then(|| run_files::delete(&goes, &store, &home));
    if !args.dry_run {
        remove_leftovers(&plan, &home);
        ralph_notify::prune(&store, utc()).discard("delete old notes");
    }
    if args.json {
        // What could not be deleted, or is in use meanwhile, is not listed.
        let is_gone = |kept: &&Kept| deleted.as_ref().is_none_or(|(gone, _)| gone.contains(&kept.row.id));
        let removed = plan.goes.iter().filter(is_gone).map(|k| json!({"runId": k.row.id, "bytes": k.bytes}));
        print_json(&json!({
            "removed": removed.collect::<Vec<_>>(), "done": go, "kept": plan.stays.len(), "quarantineBytes": plan.quarantine,
            "freedBytes": deleted.as_ref().map(|(_, bytes)| bytes), "stillOverSize": plan.over,
        }))?;
    } else if let Some((_, bytes)) = deleted {
        say(&format!("Freed {}.\n", size(bytes)));
    }
    Ok(0)
}

/// Too old, or too much counted from the newest; never a run that is active or can be resumed, nor one in a workspace
/// where another is active.
fn plan(rows: Vec<RunRow>, args: &Args, home: &Home, here: &Here) -> Plan {
    let mut retention = Retention::new(&here.env);
    let latest = latest(&rows);
    let mut is_old = |row: &RunRow| match args.keep {
        Some(keep) => retention.is_older(row, keep),
        None => !latest.contains(&row.id) && retention.is_over(row),
    };
    let all = rows.into_iter().map(|row| Kept { bytes: size_of_run(&home.run(&row.id)), row });
    // Newest first, as the store gives them.
    let (mut goes, mut stays) = (Vec::new(), Vec::new());
    let mut total = size_of(&home.dir().join("keep"));
    for kept in all.filter(|kept| home.run(&kept.row.id).exists()) {
        let free = WorkspaceLock::holder(&home.locks(), Path::new(&kept.row.workspace)).is_none();
        let may_go = free && !kept.row.resumable && !runs::is_running(&kept.row, home);
        let old = may_go && is_old(&kept.row);
        let too_much = total.saturating_add(kept.bytes) > args.max_size;
        if may_go && (old || too_much) {
            goes.push(kept);
        } else {
            total = total.saturating_add(kept.bytes);
            stays.push(kept);
        }
    }
    let unreadable = retention.unreadable().into_iter().map(Into::into).collect();
    Plan { goes, stays, over: total > args.max_size, unreadable, quarantine: size_of(&home.quarantine()) }
}

fn shown(plan: &Plan, args: &Args) -> String {
    let mut text = String::new();
    let bytes = plan.goes.iter().map(|kept| kept.bytes).sum();
    match plan.goes.len() {
        0 => text.push_str("Nothing to delete.\n"),
        n => {
            let runs = if n == 1 { "1 run".to_string() } else { format!("{n} runs") };
            let _ =
                writeln!(text, "Deleting transcripts, prompts and snapshots of {runs} ({}):", size(bytes));
        }
    }
    for Kept { row, bytes } in plan.goes.iter().take(SHOWN) {
        let when = ago(utc().saturating_sub(row.updated));
        let _ = writeln!(
            text,
            "  {}  {when:<9}  {:>8}  {}",
            runs::short(&row.id),
            size(*bytes),
            plain(&row.task)
        );
    }
    if plan.goes.len() > SHOWN {
        let _ = writeln!(text, "  … and {} more (--json lists all)", plan.goes.len() - SHOWN);
    }
    text.push_str("Journals and costs of all runs are kept");
    let again = plan.stays.iter().filter(|kept| kept.row.resumable).count();
    if again > 0 {
        let _ = write!(text, ", and all files of {again} that can be resumed");
    }
    text.push_str(".\n");
    if plan.quarantine > 0 {
        let _ = writeln!(
            text,
            "The quarantine ({}) is kept too; `ralph quarantine` lists it.",
            size(plan.quarantine)
        );
    }
    for workspace in &plan.unreadable {
        let _ = writeln!(
            text,
            "The settings in {} cannot be read, so all runs there are kept (--keep deletes them).",
            plain(workspace)
        );
    }
    if plan.over {
        let _ = writeln!(
            text,
            "What is kept still exceeds {}, but none of it can be deleted.",
            size(args.max_size)
        );
    }
    text
}

fn confirmed(args: &Args) -> Result<bool, Problem> {
    if args.yes {
        return Ok(true);
    }
    if args.json || !std::io::stdin().is_terminal() {
        return Err(Problem::new(
            Code::Usage,
            "confirmation is needed, but stdin is not a terminal (use --yes)",
        )
        .hint("add --yes to delete, or --dry-run to only list"));
    }
    say("Delete them? [y/N] ");
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    let yes = matches!(answer.trim(), "y" | "Y" | "yes");
    if !yes {
        say("Nothing was deleted.\n");
    }
    Ok(yes)
}

/// Removes what killed processes left half written, in the workspaces where nothing runs.
fn remove_leftovers(plan: &Plan, home: &Home) {
    let mut runs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Kept { row, .. } in &plan.stays {
        runs.entry(&row.workspace).or_default().push(row.id.clone());
    }
    for (workspace, runs) in runs {
        let workspace = Path::new(workspace);
        let who = format!("{PRUNE} {}", std::process::id());
        if let Ok(_lock) = WorkspaceLock::take(&home.locks(), workspace, &who) {
            Snapshots::of(home, workspace, "none").remove_leftovers(home, &runs);
        }
    }
}
