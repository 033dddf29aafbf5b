//! `ralph prune`: deletes transcripts, prompts and snapshots of old runs. Journals and costs are kept: they are small, and
//! the daily budget depends on them. Runs that are active or can be resumed keep everything, and the quarantine is never
//! deleted by ralph.

use super::{Here, runs};
use crate::plain::plain;
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use crate::show::ago;
use crate::values;
use ralph_diagnostics::Discard;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::snapshots::Snapshots;
use ralph_rules::record::Ms;
use ralph_snapshots::is_shared_base;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_tree::WorkspaceLock;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::Metadata;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Lines shown of a long list.
const SHOWN: usize = 20;

/// Arguments of `ralph prune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Delete files of runs older than this.
    #[arg(long, value_name = "DUR", default_value = "90d", value_parser = values::span)]
    keep: Ms,
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
    quarantine: u64,
}

/// Prunes.
pub fn prune(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let rows = store.runs(&RunFilter::default()).map_err(|e| runs::broken(&e))?;
    let plan = plan(rows, args, &home);
    if !args.json {
        say(&shown(&plan, args));
    }
    let go = !args.dry_run && !plan.goes.is_empty() && confirmed(args)?;
    let freed = if go { Some(remove(&plan, &home)) } else { None };
    if !args.dry_run {
        remove_leftovers(&plan, &home);
    }
    if args.json {
        let list = |kept: &[Kept]| {
            kept.iter().map(|k| json!({"runId": k.row.id, "bytes": k.bytes})).collect::<Vec<_>>()
        };
        print_json(&json!({
            "removed": list(&plan.goes), "done": go, "kept": plan.stays.len(), "quarantineBytes": plan.quarantine,
            "freedBytes": freed, "stillOverSize": plan.over,
        }))?;
    } else if let Some(bytes) = freed {
        say(&format!("Freed {}.\n", size(bytes)));
    }
    Ok(0)
}

/// Too old, or too much counted from the newest; never a run that is active or can be resumed.
fn plan(rows: Vec<RunRow>, args: &Args, home: &Home) -> Plan {
    let now = utc();
    let all = rows.into_iter().map(|row| Kept { bytes: size_of_run(&home.run(&row.id)), row });
    // Newest first, as the store gives them.
    let (mut goes, mut stays) = (Vec::new(), Vec::new());
    let mut total = size_of(&home.dir().join("keep"));
    for kept in all.filter(|kept| kept.bytes > 0) {
        let may_go = !kept.row.resumable && !runs::is_running(&kept.row, home);
        let old = now.saturating_sub(kept.row.updated) > args.keep;
        let too_much = total.saturating_add(kept.bytes) > args.max_size;
        if may_go && (old || too_much) {
            goes.push(kept);
        } else {
            total = total.saturating_add(kept.bytes);
            stays.push(kept);
        }
    }
    Plan { goes, stays, over: total > args.max_size, quarantine: size_of(&home.quarantine()) }
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

/// Deletes the folders, then contents that no snapshot refers to. What cannot be deleted is left for next time.
fn remove(plan: &Plan, home: &Home) -> u64 {
    let before = size_of(&home.dir().join("keep"));
    let mut freed: u64 = 0;
    for Kept { row, bytes } in &plan.goes {
        if std::fs::remove_dir_all(home.run(&row.id)).is_ok() {
            freed += bytes;
        }
    }
    let mut left: BTreeMap<&str, Vec<&RunRow>> = BTreeMap::new();
    for Kept { row, .. } in &plan.goes {
        left.entry(&row.workspace).or_default();
    }
    for Kept { row, .. } in plan.stays.iter().rev() {
        left.entry(&row.workspace).or_default().push(row);
    }
    for (workspace, runs) in left {
        let workspace = Path::new(workspace);
        let who = format!("prune, process {}", std::process::id());
        // A run is active there; it prunes when it ends.
        let Ok(_lock) = WorkspaceLock::take(&home.locks(), workspace, &who) else { continue };
        Snapshots::of(home, workspace, "none").prune(home, &runs).discard("prune the snapshots");
    }
    freed + before.saturating_sub(size_of(&home.dir().join("keep")))
}

/// Removes what killed processes left half written, in the workspaces where nothing runs.
fn remove_leftovers(plan: &Plan, home: &Home) {
    let mut runs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Kept { row, .. } in &plan.stays {
        runs.entry(&row.workspace).or_default().push(row.id.clone());
    }
    for (workspace, runs) in runs {
        let workspace = Path::new(workspace);
        let who = format!("prune, process {}", std::process::id());
        if let Ok(_lock) = WorkspaceLock::take(&home.locks(), workspace, &who) {
            Snapshots::of(home, workspace, "none").remove_leftovers(home, &runs);
        }
    }
}

/// The bytes of all files below a directory; links are not followed.
fn size_of(dir: &Path) -> u64 {
    size_where(dir, |_, _| true)
}

/// The bytes of a run's files. An index that it shares with other runs belongs to none of them.
fn size_of_run(dir: &Path) -> u64 {
    size_where(dir, |path, meta| !is_shared_base(path, meta))
}

fn size_where(dir: &Path, counts: impl Fn(&Path, &Metadata) -> bool) -> u64 {
    let (mut bytes, mut dirs) = (0_u64, vec![dir.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => dirs.push(entry.path()),
                Ok(meta) if counts(&entry.path(), &meta) => bytes = bytes.saturating_add(meta.len()),
                _ => {}
            }
        }
    }
    bytes
}

/// `812 B`, `3.4 MB`.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} B"),
    }
}
