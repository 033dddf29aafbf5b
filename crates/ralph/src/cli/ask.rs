//! `ralph stop`: what a person asks of a run from another terminal.

use super::{Here, runs};
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::clock::utc;
use ralph_rules::record::Request;
use ralph_store::Store;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// The run; the newest of this workspace if left out.
    run: Option<String>,
    /// Let the iteration finish first.
    #[arg(long)]
    after: bool,
}

/// Leaves a request in the run's inbox.
pub fn stop(args: &StopArgs, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let short = runs::short(&row.id);
    if !runs::is_running(&row, &home) {
        let message = format!("run {short} is not running now ({})", row.status);
        return Err(Problem::new(Code::Usage, message).hint(if row.resumable {
            "nothing needs to be stopped; `ralph resume` would go on with it"
        } else {
            "nothing needs to be stopped"
        }));
    }
    let request = Request::Stop { after: args.after, signal: 2 };
    let body = serde_json::to_string(&request)
        .map_err(|e| Problem::new(Code::Bug, "the request cannot be written").cause(&e))?;
    store.ask(&row.id, &body, utc()).map_err(|e| runs::broken(&e))?;
    say(&match args.after {
        true => format!("Run {short} will stop after this iteration.\n"),
        false => format!("Run {short} was asked to stop.\n"),
    });
    Ok(0)
}
