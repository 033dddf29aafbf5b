//! `ralph circuit`: the breaker of this workspace. An open one keeps new runs from starting.

use super::{Here, examples, runs};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use crate::show::ago;
use ralph_engine::clock::utc;
use ralph_engine::open;
use serde_json::json;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show it.
    #[command(before_help = examples::CIRCUIT)]
    Status {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Close it, so that runs may start again.
    #[command(before_help = examples::CIRCUIT)]
    Reset,
}

/// Shows or resets the breaker.
pub fn circuit(args: &Args, here: &Here) -> Result<u8, Problem> {
    let store = here.home()?.store_if_any().map_err(|e| runs::broken(&e))?;
    let open = match &store {
        Some(store) => open::open_breaker(store, &here.workspace).map_err(|e| runs::broken(&e))?,
        None => None,
    };
    match (&args.what, open, store) {
        (What::Status { json: true }, open, _) => {
            let state = if open.is_some() { "OPEN" } else { "CLOSED" };
            print_json(&json!({"state": state, "workspace": here.workspace, "open": open}))?;
        }
        (What::Status { .. }, None, _) => print("CLOSED: runs may start in this workspace.\n"),
        (What::Status { .. }, Some(open), _) => print(&format!(
            "OPEN ({}): run {} ended with {}: {}.\n`ralph explain {}` tells more, `ralph circuit reset` closes it.\n",
            ago(utc() - open.at),
            runs::short(&open.run),
            open.reason,
            plain(open.why.trim_end_matches('.')),
            runs::short(&open.run)
        )),
        (What::Reset, Some(_), Some(store)) => {
            open::reset_breaker(&store, &here.workspace)
                .map_err(|e| Problem::new(Code::Journal, "the breaker could not be reset").cause(&e))?;
            say("The breaker is closed. Runs may start again.\n");
        }
        (What::Reset, ..) => say("The breaker was closed already.\n"),
    }
    Ok(0)
}
