//! `ralph list`: runs, newest first.

use super::{Here, notify, runs};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use ralph_engine::clock::utc;
use ralph_store::{RunFilter, Store};
use ralph_view::fact_text::ago;
use ralph_view::listed_run::{ListedRun, STATUS_WIDTH};
use std::fmt::Write;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List the runs of every workspace.
    #[arg(long)]
    all: bool,
    /// Maximum number of runs.
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the runs.
pub fn list(args: &Args, here: &Here) -> Result<u8, Problem> {
    let filter = RunFilter {
        workspace: (!args.all).then(|| here.workspace.to_string_lossy().into_owned()),
        limit: Some(args.limit),
        ..RunFilter::default()
    };
    let home = here.home()?;
    let store = home.store_if_any().map_err(|e| runs::broken(&e))?;
    let rows = match &store {
        Some(store) => {
            let rows = store.runs(&filter).map_err(|e| runs::broken(&e))?;
            let rows = runs::with_live_spend(runs::seen_now(rows, &home), store, here)?;
            rows.into_iter().map(|row| ListedRun::of(row, store)).collect()
        }
        None => Vec::new(),
    };
    shown(&rows, args, here)?;
    if let Some(store) = &store {
        notify::saw(rows.iter().map(|run| &run.row), store, here);
    }
    Ok(0)
}

fn shown(rows: &[ListedRun], args: &Args, here: &Here) -> Result<(), Problem> {
    if args.json {
        return print_json(&rows);
    }
    if rows.is_empty() {
        let place = if args.all { "" } else { " in this workspace (`--all` lists all workspaces)" };
        say(&format!("No runs{place}.\n"));
        return Ok(());
    }
    print(&table(rows, args.all, here));
    Ok(())
}

fn table(rows: &[ListedRun], all: bool, here: &Here) -> String {
    let style = here.out_style();
    let mut text = String::new();
    let head = format!(
        "{:<8}  {:<9}  {:<STATUS_WIDTH$}  {:<20}  {:<10}  {:>4}  {:>9}  TASK",
        "RUN", "WHEN", "STATUS", "REASON", "PROOF", "ITER", "COST"
    );
    let _ = writeln!(text, "{}", style.faint(head));
    for run in rows {
        let row = &run.row;
        let (_, reason) = run.status();
        let place = if all { format!("  {}", style.faint(plain(&row.workspace))) } else { String::new() };
        let task = plain(&row.task) + &place;
        let _ = writeln!(
            text,
            "{:<8}  {:<9}  {}  {:<20}  {:<10}  {:>4}  {:>9}  {task}",
            runs::short(&row.id),
            ago(utc() - row.started),
            run.painted_status(style),
            reason.unwrap_or("-"),
            row.proof.as_deref().unwrap_or("-"),
            row.iterations,
            run.cost(),
        );
    }
    text
}
