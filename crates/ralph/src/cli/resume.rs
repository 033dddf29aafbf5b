//! `ralph resume`: go on with a run that was interrupted or reached a limit. The recorded policy is kept; limits may be
//! raised by flags, within the ceilings.

use super::resolve::{Changes, equipment, parse_money};
use super::run::{Output, close, watchers};
use super::{Here, runs};
use crate::config::{self, parse_duration};
use crate::problem::{Code, Problem};
use ralph_engine::open;
use ralph_rules::policy::Policy;

/// What may be typed.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The run; the newest of this workspace if left out.
    run: Option<String>,
    /// Raise the limit of iterations.
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// Raise the limit of dollars.
    #[arg(long, value_name = "USD")]
    max_cost: Option<String>,
    /// Raise the limit of active time.
    #[arg(long, value_name = "DUR")]
    max_time: Option<String>,
    /// Do not wait for limits: leave with exit code 75.
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    output: Output,
}

/// Goes on.
pub fn resume(args: Args, here: &Here) -> Result<u8, Problem> {
    let store = runs::store(&here.home()?)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    if !row.resumable {
        let reason = row.reason.as_deref().unwrap_or("over");
        return Err(Problem::new(Code::Usage, format!("run {} is over: {reason}", runs::short(&row.id)))
            .hint("start a new one with `ralph run`"));
    }
    let wrong = |why| Problem::new(Code::Usage, format!("--max-time: {why}"));
    let changes = Changes {
        max_iterations: args.max_iterations,
        max_cost: args.max_cost.as_deref().map(parse_money).transpose()?,
        max_time: args.max_time.as_deref().map(parse_duration).transpose().map_err(wrong)?,
        no_wait: args.no_wait,
    };
    go_on(&row.id, &changes, args.output, here)
}

/// Goes on with this run under these limits.
pub fn go_on(id: &str, changes: &Changes, output: Output, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let records = runs::records(&runs::store(&home)?, id)?;
    let start = ralph_rules::state::State::of(records.first()).start;
    let start = start.ok_or_else(|| Problem::new(Code::Journal, format!("run {} has no beginning", runs::short(id))))?;
    let layers = config::load(std::path::Path::new(&start.workspace), here.env.config_home.as_deref())?;
    let equipment = equipment(&start.agent)?;
    let change = |policy: &Policy| {
        let mut policy = Policy { no_wait: changes.no_wait, ..policy.clone() };
        if let Some(n) = changes.max_iterations {
            policy.max_iterations = n;
        }
        if let Some(cost) = changes.max_cost {
            policy.max_cost = cost;
        }
        policy.max_time = changes.max_time.or(policy.max_time);
        for lowered in layers.cap(&mut policy) {
            super::say(&format!("{} {}\n", here.err_style().warn("warning:"), lowered.0));
        }
        policy
    };
    let ended = open::resume(&home, id, change, |_| equipment, watchers(output, here));
    close(ended, output, id, here)
}
