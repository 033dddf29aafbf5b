//! `ralph status`: one run in full.

use super::{Here, board, notify, runs};
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::Problem;
use ralph_agents::Client;
use ralph_engine::clock::utc;
use ralph_engine::outcome::{last_ending, outcome};
use ralph_engine::receipt::stories_of;
use ralph_rules::breaker::Breaker;
use ralph_rules::claim::WorkType;
use ralph_rules::counting::counted;
use ralph_rules::grade::Grade;
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::record::{Decision, Fact, Record, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::{IterationRow, RunRow, Store};
use ralph_view::call_receipts;
use ralph_view::fact_text::{clock_until, money, seconds};
use ralph_view::listed_run::ListedRun;
use ralph_view::live_spend::LiveSpend;
use ralph_view::run_receipt::receipt;
use ralph_view::run_state::{RunState, was_cut_off};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id, or its last characters (default: the latest run here).
    run: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the run.
pub fn status(args: &Args, here: &Here) -> Result<u8, Problem> {
    let store = runs::store(&here.home()?)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let records = runs::records_to_the_end(&store, &row.id)?;
    let rows = store.iterations(&row.id).map_err(|e| runs::broken(&e))?;
    let (state, works) = fold(records);
    let run = ListedRun::of(with_live_spend(row, &state, here)?, &store);
    let iterations: Vec<Shown<'_>> =
        rows.iter().map(|row| Shown { row, work_type: works.get(&(row.n, row.attempt)).copied() }).collect();
    let calls = state.start.as_ref().map(|start| call_receipts::call_receipts(records, start, &rows));
    let calls = calls.unwrap_or_default();
    let ended = state.ending.and(last_ending(records)).map(|(ending, why)| outcome(&state, ending, why));
    if args.json {
        let mut value = json!({
            "run": run,
            "breaker": state.circuit.now,
            "breakerHistory": state.circuit.history,
            "rungs": climbed(records, &state),
            "verify": state.checks.shown().map(|v| &v.results),
            "iterations": iterations,
            "receipts": calls,
            "result": ended,
        });
        if let Some(fields) = value.as_object_mut().filter(|_| state.stories.is_on()) {
            fields.insert("stories".into(), json!(stories_of(&state)));
        }
        print_json(&value)?;
        notify::saw([&run.row].into_iter(), &store, here);
        return Ok(0);
    }
    let mut text = heading(&run, &state);
    text.push_str(&table(&iterations, &climbed(records, &state), &run, here));
    text.push_str(&call_receipts::table(&calls, here.out_style()));
    if let Some(ended) = &ended {
        text.push('\n');
        text.push_str(&receipt(ended, &state, here.out_style()));
    }
    print(&text);
    notify::saw([&run.row].into_iter(), &store, here);
    Ok(0)
}

/// The row with what the call under way has spent so far.
fn with_live_spend(row: RunRow, state: &State, here: &Here) -> Result<RunRow, Problem> {
    if !LiveSpend::may_call(&row) {
        return Ok(row);
    }
    let (home, settings) = (here.home()?, board::settings(here));
    Ok(LiveSpend::new(&home, &settings.prices).of_state(row, state))
}

/// One attempt with the kind of work it reports.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    row: &'a IterationRow,
    work_type: Option<WorkType>,
}

/// The state after a journal, and what kind of work each attempt reported.
fn fold(records: &[Record]) -> (State, BTreeMap<(u32, u32), WorkType>) {
    let (mut state, mut works) = (State::default(), BTreeMap::new());
    for record in records {
        state.apply(record);
        if let Fact::Seen(Seen::CallEnded(call)) = &record.fact
            && let Some(work) = state.claim.work.filter(|_| !state.reviews.has(call.id))
        {
            works.insert((call.id.iteration, call.id.attempt), work);
        }
    }
    (state, works)
}

fn heading(run: &ListedRun, state: &State) -> String {
    let row = &run.row;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {}", plain(value));
    };
    line("run", &format!("{} ({})", runs::short(&row.id), row.id));
    line("workspace", &row.workspace);
    line("task", &row.task);
    if let Some(start) = &state.start {
        let model = start.agent.model.as_deref().map(|m| format!(", {m}")).unwrap_or_default();
        line("agent", &format!("{} ({}{model})", start.agent.name, start.agent.program));
        for (n, rung) in start.ladder.iter().enumerate() {
            match start.rotate {
                true => line("then", &rung.title()),
                false => line("if stuck", &format!("rung {}: {}", n + 1, rung.title())),
            }
        }
        let verify = if start.verify.is_empty() {
            "no command: completion cannot be verified".into()
        } else {
            start.verify.join(" && ")
        };
        line("verify", &verify);
        let iterations = counted(start.policy.max_iterations, "iteration");
        line("limits", &format!("{iterations}, {}", start.policy.max_cost));
        if start.contained.is_some() {
            line("sandbox", &start.sandbox);
        }
    }
    if let Some(story) = &state.stories.current {
        line("story", &format!("{} ({} granted)", story.title, state.stories.granted.len()));
    }
    let (status, _) = run.status();
    line("status", &format!("{status}{}", status_note(run, state)));
    if let Some(reserved) = run.cut_off() {
        let (cost, charged, reserved) = (run.cost(), money(row.cost_micro, true), money(reserved, true));
        line(
            "cost",
            &format!("{cost} ({charged} charged, {reserved} reserved for the call that was cut off)"),
        );
    }
    if let Some(grade) = row.proof.as_deref().and_then(Grade::of) {
        line("proof", &format!("{grade}: {}", grade.meaning()));
    }
    if let Some(change) = state.circuit.history.last().filter(|_| state.circuit.now != Breaker::Closed) {
        let why = change.reason.as_ref().map(Objection::say).unwrap_or_default();
        line("breaker", &format!("{}: {why}", state.circuit.now.name()));
    }
    text.push('\n');
    text
}

/// What the status alone does not say: until when a run waits, or how to continue it.
fn status_note(run: &ListedRun, state: &State) -> String {
    let (status, reason) = run.status();
    match (RunState::named(&run.row.status), reason) {
        (Some(RunState::InSession), _) => {
            let client = run.row.agent.as_str();
            let client = Client::of_agent(client).map_or(client, |client| client.title());
            let pid = run.row.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
            format!(" (in a session of {client}{pid}; `ralph hook cancel` ends the run)")
        }
        (Some(RunState::Crashed), _) => " (its process is gone; `ralph resume` continues it)".into(),
        (Some(gone), _) if was_cut_off(gone, &run.row) => {
            " (ended by force; `ralph resume` continues it)".into()
        }
        (Some(RunState::Waiting { .. }), _) => match (RunState::of(state), &state.start) {
            (RunState::Waiting { until: Some(at) }, Some(start)) => {
                format!(" (until {})", clock_until(at, utc(), &start.zone))
            }
            _ => String::new(),
        },
        (_, Some(reason)) if reason != status => format!(" ({reason})"),
        _ => String::new(),
    }
}

/// Which rung a call was on.
#[derive(Debug, Serialize)]
struct Climbed {
    iteration: u32,
    attempt: u32,
    rung: u32,
    agent: String,
    model: Option<String>,
    /// What the table says of it.
    #[serde(skip)]
    label: String,
}

/// The rung of every call of a run with a ladder, or whose agents take turns.
fn climbed(records: &[Record], state: &State) -> Vec<Climbed> {
    let Some(start) = state.start.as_ref().filter(|s| !s.ladder.is_empty()) else { return Vec::new() };
    let call = |record: &Record| match &record.fact {
        Fact::Decided(Decision { next: Next::Do(Step::Call { id, rung, review: false, .. }), .. }) => {
            let agent = start.rung(*rung);
            let label = match *rung {
                _ if start.rotate => format!(", {}", agent.title()),
                0 => String::new(),
                rung => format!(", rung {rung}"),
            };
            let (agent, model) = (agent.name.clone(), agent.model.clone());
            Some(Climbed { iteration: id.iteration, attempt: id.attempt, rung: *rung, agent, model, label })
        }
        _ => None,
    };
    records.iter().filter_map(call).collect()
}

fn table(rows: &[Shown<'_>], climbed: &[Climbed], run: &ListedRun, here: &Here) -> String {
    // Of a call that was cut off its reservation counts, of one that is under way what it has spent so far.
    let open = run.cut_off().or(Some(run.row.live_micro).filter(|live| *live > 0));
    let style = here.out_style();
    let mut text = String::new();
    if rows.is_empty() {
        return "No calls yet.\n".into();
    }
    let head = format!(
        "{:>4}  {:>8}  {:>9}  {:>5}  {:<8}  {:<14}  {}",
        "ITER", "TIME", "COST", "FILES", "VERIFIED", "WORK", "DECISION"
    );
    let _ = writeln!(text, "{}", style.faint(head));
    let labels: BTreeMap<(u32, u32), &str> =
        climbed.iter().map(|c| ((c.iteration, c.attempt), c.label.as_str())).collect();
    for (at, Shown { row, work_type }) in rows.iter().enumerate() {
        // A review may have been cut off after the last attempt was settled.
        let open = open.filter(|_| at + 1 == rows.len() && row.cost_micro == 0);
        let n = if row.attempt > 1 { format!("{}.{}", row.n, row.attempt) } else { row.n.to_string() };
        let verified = match row.verified {
            Some(true) => style.good(format!("{:<8}", "passed")),
            Some(false) => style.bad(format!("{:<8}", "failed")),
            None => format!("{:<8}", "-"),
        };
        let failure = row.failure.as_deref().map(|f| format!(" ({f})")).unwrap_or_default();
        let rung = labels.get(&(row.n, row.attempt)).copied().unwrap_or_default();
        let _ = writeln!(
            text,
            "{n:>4}  {:>8}  {:>9}  {:>5}  {verified}  {:<14}  {}{failure}{rung}",
            seconds(row.dur_ms),
            open.map_or_else(|| money(row.cost_micro, !row.cost_unknown), |so_far| money(so_far, false)),
            row.files,
            work_type.map_or("-", WorkType::word),
            if row.decision.is_empty() { "-" } else { &row.decision },
        );
    }
    text
}
