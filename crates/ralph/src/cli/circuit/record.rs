//! `ralph circuit record`: a script whose loop is its own tells how each loop went. The guards of a run judge it, and an
//! open breaker keeps runs from starting, as one that a run opened does.

use super::super::{Here, get_value, runs};
use crate::config::{Flags, Sources};
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::circuit::{self, Reported};
use ralph_engine::home::Home;
use ralph_rules::breaker::Breaker;
use ralph_rules::fingerprint::Fingerprint;
use ralph_rules::loop_results::{Judged, LoopResult};
use ralph_rules::objection::Objection;
use ralph_rules::policy::Policy;
use serde_json::{Value, json};
use std::fs::File;
use std::io;
use toml::Value as Setting;

/// The error of a loop that had one, but did not say which.
const SOME_ERROR: &str = "the loop reported an error";

/// The file that whoever records locks.
const TURN: &str = "circuit.lock";

/// Arguments of `ralph circuit record`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of files that the loop changed; 0 means no progress.
    #[arg(long, value_name = "N", required_unless_present = "blocked")]
    files: Option<u64>,
    /// Error that the loop ended with; an empty text means that it had one which is not known.
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Length of the loop's output, to detect answers that get much shorter.
    #[arg(long, value_name = "BYTES")]
    output_bytes: Option<u64>,
    /// Note that the agent needs a person, and why; it counts as nothing.
    #[arg(long, value_name = "WHY", conflicts_with_all = ["files", "error", "output_bytes"])]
    blocked: Option<String>,
    /// Loops without progress until HALF_OPEN (default: breaker.half_open_after).
    #[arg(long, value_name = "N")]
    half_open_after: Option<u32>,
    /// Further ones until OPEN (default: breaker.open_after).
    #[arg(long, value_name = "N")]
    open_after: Option<u32>,
    /// Loops with the same error until OPEN (default: breaker.same_error).
    #[arg(long, value_name = "N")]
    same_error: Option<u32>,
    /// Percentage of the average output below which the breaker opens (default: breaker.decline and decline_below).
    #[arg(long, value_name = "PERCENT")]
    decline_below: Option<u32>,
    /// Print only this value of the JSON, such as state.
    #[arg(long, value_name = "KEY", conflicts_with = "json")]
    get: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Records a loop and prints what follows.
pub fn record(args: &Args, here: &Here) -> Result<u8, Problem> {
    let policy = policy(args, here)?;
    let home = here.home()?;
    let failed = |e| Problem::new(Code::Journal, "cannot record the loop").cause(&e);
    let _turn = turn(&home).map_err(failed)?;
    let store = home.store().map_err(|e| runs::broken(&e))?;
    if let Some(run) = super::under_way(&store, here)?.and_then(|state| state.start) {
        let message = format!("run {} is active here and keeps the breaker itself", runs::short(&run.run));
        return Err(Problem::new(Code::Busy, message).hint("record loops of a script when no run is active"));
    }
    let recorded = circuit::record(&store, &here.workspace, reported(args), &policy)
        .map_err(|e| Problem::new(Code::Journal, "cannot record the loop").cause(&e))?;
    let count = circuit::loop_results(&store, &here.workspace).map_err(|e| runs::broken(&e))?.count;
    if args.json || args.get.is_some() {
        let mut value = loops(count, &recorded);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("state".into(), json!(recorded.state));
            fields.insert("why".into(), json!(recorded.reason.as_ref().map(Objection::say)));
        }
        get_value::print_value(&value, args.get.as_deref())?;
    } else {
        say(&words(count, &recorded));
    }
    Ok(0)
}

/// What scripts recorded, counted.
pub fn loops(count: u32, judged: &Judged) -> Value {
    json!({
        "recorded": count, "withoutProgress": judged.without_progress, "sameError": judged.same_error,
    })
}

/// Two scripts that record at once take turns.
fn turn(home: &Home) -> io::Result<File> {
    Home::create_private_dir(home.dir())?;
    let file = File::options().create(true).truncate(false).write(true).open(home.dir().join(TURN))?;
    file.lock()?;
    Ok(file)
}

fn reported(args: &Args) -> Reported {
    if let Some(why) = &args.blocked {
        return Reported::Blocked(why.clone());
    }
    let error = args.error.as_deref().map(|text| if text.trim().is_empty() { SOME_ERROR } else { text });
    let result = LoopResult {
        progress: args.files.is_some_and(|files| files > 0),
        error: error.map(Fingerprint::of),
        output_bytes: args.output_bytes,
    };
    Reported::Loop(result, error.map(|error| Fingerprint::of(error).head))
}

fn words(count: u32, judged: &Judged) -> String {
    let name = judged.state.name();
    let why = judged.reason.as_ref().map(Objection::say);
    let why = why.as_deref().map(|why| why.trim_end_matches('.'));
    match (judged.state, why) {
        (Breaker::Open, Some(why)) => {
            format!("{name}: {why}. Stop the loop; `ralph circuit status` tells what to check.\n")
        }
        (Breaker::Open, None) => {
            format!("{name}: stop the loop; `ralph circuit status` tells why.\n")
        }
        (_, Some(why)) => format!("{name} after {count} recorded: {why}.\n"),
        (_, None) => format!("{name} after {count} recorded.\n"),
    }
}

/// The settings here, with the thresholds that were typed.
fn policy(args: &Args, here: &Here) -> Result<Policy, Problem> {
    let number = |n: u32| Setting::Integer(i64::from(n));
    let typed = [
        ("breaker.half_open_after", args.half_open_after.map(number)),
        ("breaker.open_after", args.open_after.map(number)),
        ("breaker.same_error", args.same_error.map(number)),
        ("breaker.decline_below", args.decline_below.map(number)),
        ("breaker.decline", args.decline_below.map(|_| Setting::String("open".into()))),
    ];
    let flags = Flags::of(typed.into_iter().filter_map(|(key, value)| Some((key, value?))));
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    Ok(sources.variables(&here.env).flags(&flags).load()?.settings.policy)
}
