//! `ralph stats`: statistics over all runs in this workspace; `stats/text.rs` formats them.

mod text;

use super::{Here, resolve, runs};
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use ralph_engine::metrics::with_unsettled;
use ralph_rules::counting::counted;
use ralph_store::AccountFilter;
use ralph_view::statistics::Statistics;

/// Arguments of `ralph stats`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Include runs in all workspaces.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the history.
pub fn stats(args: &Args, here: &Here) -> Result<u8, Problem> {
    let workspace = (!args.all).then(|| here.workspace.to_string_lossy().into_owned());
    let filter = AccountFilter { workspace: workspace.clone(), ..AccountFilter::default() };
    let mut runs = match here.home()?.store_if_any().map_err(|e| runs::broken(&e))? {
        Some(store) => with_unsettled(&store, &filter).map_err(|e| runs::broken(&e))?,
        None => Vec::new(),
    };
    runs.reverse();
    let all = runs.len();
    runs.retain(|run| !run.is_scripted());
    let scripted = u32::try_from(all - runs.len()).unwrap_or(u32::MAX);
    if runs.is_empty() && !args.json {
        let place = if args.all { "" } else { " in this workspace (--all includes other workspaces)" };
        say(&format!("No runs{place}.\n"));
        if scripted > 0 {
            say(&format!("Not counted: {}.\n", of_the_scripted_agent(scripted)));
        }
        return Ok(0);
    }
    let stats = Statistics::of(&runs, workspace, scripted, &resolve::zone(here));
    match args.json {
        true => print_json(&stats)?,
        false => print(&text::text(&stats, here.out_style())),
    }
    Ok(0)
}

fn of_the_scripted_agent(runs: u32) -> String {
    format!("{} of the scripted agent (sim)", counted(runs, "run"))
}
