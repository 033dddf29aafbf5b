//! `ralph circuit`: the circuit breaker of this workspace and its history. While it is open, no run starts.

mod record;

use super::refused::guidance;
use super::{Here, examples, get_value, runs};
use crate::config;
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use crate::show::{ago, seconds};
use ralph_engine::circuit::{self, Change, OpenBreaker};
use ralph_engine::clock::utc;
use ralph_rules::breaker::{Breaker, HISTORY};
use ralph_rules::state::State;
use ralph_store::{Database, RunFilter, Store};
use serde_json::{Value, json};
use std::fmt::Write;

/// Arguments of `ralph circuit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the breaker's state and history.
    #[command(before_help = examples::CIRCUIT)]
    Status {
        /// Print only this value of the JSON, such as state or loops.withoutProgress.
        #[arg(long, value_name = "KEY", conflicts_with = "json")]
        get: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Close the breaker, so that runs can start again.
    #[command(before_help = examples::CIRCUIT)]
    Reset {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Record how a loop of your own script went; enough bad ones open the breaker.
    #[command(before_help = examples::CIRCUIT)]
    Record(record::Args),
}

impl Args {
    /// The command's name, where it is for people only.
    pub fn for_people_only(&self) -> Option<&'static str> {
        match self.what {
            What::Status { .. } => None,
            What::Reset { .. } => Some("circuit reset"),
            What::Record(_) => Some("circuit record"),
        }
    }
}

/// What is known of the workspace's breaker.
struct Known {
    state: Breaker,
    open: Option<OpenBreaker>,
    /// When it closes automatically.
    closes_at: Option<i64>,
    history: Vec<Change>,
    /// What a script recorded.
    loops: Option<Value>,
}

/// Shows or resets the breaker, or records a loop.
pub fn circuit(args: &Args, here: &Here) -> Result<u8, Problem> {
    if let What::Record(args) = &args.what {
        return record::record(args, here);
    }
    let store = here.home()?.store_if_any().map_err(|e| runs::broken(&e))?;
    match &args.what {
        What::Record(_) => {}
        What::Status { json, get } => {
            let known = known(store.as_ref(), here)?;
            if *json || get.is_some() {
                get_value::print_value(&known.as_json(here), get.as_deref())?;
            } else {
                print(&words(&known, here));
            }
        }
        What::Reset { json } => {
            let was_open = match &store {
                Some(store) => circuit::reset_breaker(store, &here.workspace)
                    .map_err(|e| Problem::new(Code::Journal, "cannot reset the breaker").cause(&e))?,
                None => false,
            };
            match (*json, was_open) {
                (true, _) => print_json(&json!({"state": Breaker::Closed, "wasOpen": was_open}))?,
                (_, true) => say("The breaker is closed; runs can start again.\n"),
                (_, false) => say("The breaker was already closed.\n"),
            }
        }
    }
    Ok(0)
}

impl Known {
    fn as_json(&self, here: &Here) -> Value {
        let Known { state, open, closes_at, history, loops } = self;
        json!({
            "state": state, "workspace": here.workspace, "open": open, "closesAt": closes_at, "loops": loops,
            "history": history,
        })
    }
}

/// The stored state; while a run is active, that run's own.
fn known(store: Option<&Database>, here: &Here) -> Result<Known, Problem> {
    let closed =
        Known { state: Breaker::Closed, open: None, closes_at: None, history: Vec::new(), loops: None };
    let Some(store) = store else { return Ok(closed) };
    let open = circuit::open_breaker(store, &here.workspace).map_err(|e| runs::broken(&e))?;
    let name = here.workspace.to_string_lossy();
    let mut history = circuit::history(store, &name).map_err(|e| runs::broken(&e))?;
    let policy = config::load_files(&here.workspace, &here.env)?.settings.policy;
    let results = circuit::loop_results(store, &here.workspace).map_err(|e| runs::broken(&e))?;
    let judged = results.judge(&policy);
    // An open breaker is remembered as such; one that a script opened and that has cooled down is closed.
    let mut state = if judged.state == Breaker::Open { Breaker::Closed } else { judged.state };
    let loops = (results.count > 0).then(|| record::loops(results.count, &judged));
    if let Some(run) = under_way(store, here)? {
        let id = run.start.as_ref().map(|s| s.run.clone());
        state = run.circuit.now;
        history.retain(|change| change.run != id);
        history.extend(circuit::changes_of(&run));
        history.drain(..history.len().saturating_sub(HISTORY));
    }
    let cooldown = policy.breaker.cooldown;
    let closes_at = open.as_ref().zip(cooldown).map(|(open, after)| open.at.saturating_add(after));
    let open = open.filter(|open| !circuit::cooled(open, cooldown, utc()));
    if open.is_some() {
        state = Breaker::Open;
    }
    Ok(Known { state, closes_at: closes_at.filter(|_| open.is_some()), open, history, loops })
}

fn under_way(store: &Database, here: &Here) -> Result<Option<State>, Problem> {
    let home = here.home()?;
    let workspace = Some(here.workspace.to_string_lossy().into_owned());
    let filter = RunFilter { workspace, resumable: Some(true), ..RunFilter::default() };
    let rows = store.runs(&filter).map_err(|e| runs::broken(&e))?;
    match rows.iter().find(|row| row.exit_code.is_none() && runs::is_running(row, &home)) {
        Some(row) => Ok(Some(State::of(&runs::records(store, &row.id)?))),
        None => Ok(None),
    }
}

fn words(known: &Known, here: &Here) -> String {
    let mut text = String::new();
    let now = utc();
    match (&known.open, known.state) {
        (Some(open), _) => {
            let why = plain(open.why.trim_end_matches('.'));
            let when = ago(now - open.at);
            let _ = match &open.run {
                Some(run) => {
                    let run = runs::short(run);
                    writeln!(text, "OPEN ({when}): run {run} ended with {}: {why}.", open.reason)
                }
                None => writeln!(text, "OPEN ({when}), recorded by a script: {why}."),
            };
            if let Some(at) = known.closes_at {
                let _ = writeln!(text, "It closes automatically in {}.", seconds((at - now).max(0)));
            }
            for line in guidance(open, here) {
                let _ = writeln!(text, "  - {}", plain(&line));
            }
        }
        (None, Breaker::HalfOpen) if known.loops.is_some() => {
            text.push_str("HALF_OPEN: recorded loops made no progress; another approach is needed.\n");
        }
        (None, Breaker::HalfOpen) => {
            text.push_str("HALF_OPEN: the active run is trying another approach.\n");
        }
        (None, _) => text.push_str("CLOSED: runs can start in this workspace.\n"),
    }
    if !known.history.is_empty() {
        text.push_str("\nHistory, latest last:\n");
    }
    for change in &known.history {
        let place = match (&change.run, change.iteration) {
            (Some(run), Some(n)) => format!(" (run {}, iteration {n})", runs::short(run)),
            (None, Some(n)) => format!(" (recorded loop {n})"),
            _ => String::new(),
        };
        let (from, to) = (change.from.name(), change.to.name());
        let step = if from == to { from.to_string() } else { format!("{from} → {to}") };
        let _ = writeln!(text, "  {:>9}  {step:<20}  {}{place}", ago(now - change.at), plain(&change.why));
    }
    text
}
