//! `ralph list`: runs, newest first.

use super::{Here, runs};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use ralph_engine::clock::utc;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_view::fact_text::{ago, money};
use ralph_view::run_state::{RunState, painted};
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
    let rows = match home.store_if_any().map_err(|e| runs::broken(&e))? {
        Some(store) => runs::seen_now(store.runs(&filter).map_err(|e| runs::broken(&e))?, &home),
        None => Vec::new(),
    };
    if args.json {
        return print_json(&rows).map(|()| 0);
    }
    if rows.is_empty() {
        let place = if args.all { "" } else { " in this workspace (`--all` lists all workspaces)" };
        say(&format!("No runs{place}.\n"));
        return Ok(0);
    }
    print(&table(&rows, args.all, here));
    Ok(0)
}

fn table(rows: &[RunRow], all: bool, here: &Here) -> String {
    let style = here.out_style();
    let mut text = String::new();
    let head = format!(
        "{:<8}  {:<9}  {:<11}  {:<20}  {:<10}  {:>4}  {:>9}  TASK",
        "RUN", "WHEN", "STATUS", "REASON", "PROOF", "ITER", "COST"
    );
    let _ = writeln!(text, "{}", style.faint(head));
    for row in rows {
        let status = match RunState::named(&row.status) {
            Some(state) => painted(state, style, 11),
            None => format!("{:<11}", row.status),
        };
        let place = if all { format!("  {}", style.faint(plain(&row.workspace))) } else { String::new() };
        let task = plain(&row.task) + &place;
        let _ = writeln!(
            text,
            "{:<8}  {:<9}  {status}  {:<20}  {:<10}  {:>4}  {:>9}  {task}",
            runs::short(&row.id),
            ago(utc() - row.started),
            row.reason.as_deref().unwrap_or("-"),
            row.proof.as_deref().unwrap_or("-"),
            row.iterations,
            money(row.cost_micro, row.cost_complete),
        );
    }
    text
}
