//! `ralph hook cancel`: ends the run that a session works on, and lets the session be. `/ralph:cancel` does the same.

use super::open_run;
use crate::cli::{Here, runs};
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::session::{Binding, SessionTurn};
use ralph_rules::next::Why;
use ralph_rules::record::Request;
use ralph_store::{RunFilter, Store};
use std::path::PathBuf;

/// Arguments of `ralph hook cancel`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the run that a session works on here).
    run: Option<String>,
}

/// Cancels the run.
pub fn cancel(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let binding = match &args.run {
        Some(run) => {
            let row = runs::find(&runs::store(&home)?, Some(run), here)?;
            Binding::of_run(&home, &row.id)
        }
        None => bound_here(&home, here)?,
    };
    let Some(binding) = binding else {
        return Err(Problem::new(Code::Usage, "no session works on a run here")
            .hint("`ralph list` shows the runs of this workspace; `ralph stop` stops other runs"));
    };
    say(&format!("{}\n", cancelled(&binding, here)?));
    Ok(0)
}

/// Ends the run of a session; what to tell the user.
pub fn cancelled(binding: &Binding, here: &Here) -> Result<String, Problem> {
    let home = here.home()?;
    let short = runs::short(&binding.run).to_owned();
    if let Some(found) = open_run::find(&home, &binding.run)? {
        let turn = SessionTurn {
            transcript: PathBuf::from(&binding.transcript),
            interrupted_by: Some(Why::Person),
            ..SessionTurn::default()
        };
        let stop = Request::Stop { after: false, signal: 2 };
        open_run::open(found, Some(turn), vec![stop], here)?;
    }
    binding.release(&home);
    Ok(format!(
        "Run {short} is stopped; the session continues without it. `ralph resume {short}` continues the run."
    ))
}

/// The newest run of this workspace that a session is bound to.
fn bound_here(home: &Home, here: &Here) -> Result<Option<Binding>, Problem> {
    let Some(store) = home.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(None) };
    let workspace = Some(here.workspace.to_string_lossy().into_owned());
    let filter = RunFilter { workspace, resumable: Some(true), ..RunFilter::default() };
    let rows = store.runs(&filter).map_err(|e| runs::broken(&e))?;
    Ok(rows.iter().find_map(|row| Binding::of_run(home, &row.id)))
}
