//! `ralph hook stop`: the session's agent has stopped. Closes the open call with what it said, judges the work, and asks
//! for the next iteration, or lets the session end.

use super::answer::{Answer, fitting};
use super::{known_process, open_run};
use crate::cli::{Here, runs};
use crate::plain::plain;
use crate::problem::Problem;
use ralph_agents::session_hook::HookInput;
use ralph_engine::home::Home;
use ralph_engine::open::Departure;
use ralph_engine::outcome::Outcome;
use ralph_engine::session::{Binding, Handover, SessionProcess, SessionTurn};
use ralph_rules::counting::counted;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::state::{Phase, State};
use ralph_view::fact_text::money;
use std::path::PathBuf;

/// What the session is answered; nothing if it is to end without a word.
pub fn stop(input: &HookInput, run: &str, here: &Here) -> Result<Option<Answer>, Problem> {
    let client = input.client();
    let short = runs::short(run);
    if input.subagent_runs() {
        return Ok(None);
    }
    let Some(message) = input.last_message.clone() else {
        let (title, version) = (client.title(), client.needs_version());
        return Ok(said(format!(
            "this version of {title} does not tell what the agent said last, so run {short} cannot continue here; update \
             to {title} {version} or later, or continue with `ralph resume {short}` outside"
        )));
    };
    let home = here.home()?;
    let binding = Binding {
        run: run.into(),
        client: client.agent().into(),
        session: input.session.clone(),
        transcript: input.transcript.clone(),
        process: SessionProcess::of_caller(),
    };
    let Some(found) = open_run::find(&home, run)? else {
        binding.release(&home);
        return Ok(said_if_lost(open_run::is_recorded(&home, run)?, short));
    };
    binding.keep(&home).map_err(|e| not_kept(&e))?;
    known_process::remember(&binding, &home);
    let told = found.was_told(&message, &input.transcript);
    if told && let Phase::Calling { .. } = found.state.phase {
        return Ok(again(&found.state, input, &home));
    }
    let transcript = PathBuf::from(&input.transcript);
    let (model, prompt) = (input.model.clone(), input.prompt_id.clone());
    let turn = SessionTurn { message, prompt, transcript, model, interrupted_by: None };
    let departure = open_run::open(found, Some(turn).filter(|_| !told), Vec::new(), here);
    match departure.map_err(|problem| resumable(problem, run))? {
        Departure::HandedOver(call, state) => Ok(Some(next(&call, &state, input, &home))),
        Departure::Ended(outcome) => Ok(ended(&outcome, &binding, &home)),
    }
}

/// The same answer as before, for a client that asks twice.
fn again(state: &State, input: &HookInput, home: &Home) -> Option<Answer> {
    let id = state.calls.id;
    let run = state.start.as_deref().map_or("", |start| start.run.as_str());
    let prompt = std::fs::read_to_string(home.run(run).join(format!("{id}.prompt.md"))).ok()?;
    Some(next(&Handover { id, prompt }, state, input, home))
}

/// The problem of a binding that cannot be written.
pub fn not_kept(error: &std::io::Error) -> Problem {
    Problem::new(crate::problem::Code::Busy, "the session cannot be recorded in ralph's state directory")
        .cause(error)
}

/// A run that is over needs no word. One that is gone from the database does: nobody checks the session any more.
fn said_if_lost(recorded: bool, short: &str) -> Option<Answer> {
    let lost = format!(
        "run {short} is not in ralph's database any more, so this session is not checked; `ralph doctor` looks at the database"
    );
    if recorded { None } else { said(lost) }
}

fn said(line: String) -> Option<Answer> {
    Some(Answer { line: Some(line), ..Answer::default() })
}

/// Whatever went wrong, the run can be continued.
fn resumable(problem: Problem, run: &str) -> Problem {
    let message = format!("{} (`ralph resume {}` continues the run)", problem.message, runs::short(run));
    Problem { message, ..problem }
}

/// The next iteration.
fn next(call: &Handover, state: &State, input: &HookInput, home: &Home) -> Answer {
    let start = state.start.as_deref();
    let task = start.map_or("", |start| start.prompt.as_str());
    let most = start.map_or(0, |start| start.policy.max_iterations);
    let run = start.map_or("", |start| start.run.as_str());
    let mut context = added(&call.prompt, task).to_owned();
    let shells: Vec<String> =
        input.background.iter().map(|task| format!("`{}`", plain(task.what.trim()))).collect();
    if !shells.is_empty() {
        context.push_str(&format!(
            "\nStill running in the background while the work was verified: {}.\n",
            shells.join(", ")
        ));
    }
    if !context.contains("RALPH_STATUS") {
        context
            .push_str("\nContinue with the task, and end your final message with the status block again.\n");
    }
    let rest = home.run(run).join(format!("{}.prompt.md", call.id));
    let why = state.objections.first().map(|why| format!(": {}", why.say())).unwrap_or_default();
    let cost = money(state.budget.spent.0, state.budget.unpriced == 0);
    let beside = match shells.len() {
        0 => String::new(),
        _ => format!("; still running: {}", shells.join(", ")),
    };
    let line = format!("iteration {} of {most}, {cost} so far{why}{beside}", call.id.iteration);
    Answer { context: Some(fitting(&context, &rest)), line: Some(plain(&line)), refused: None }
}

/// The part of a prompt that follows the task, which the session knows.
pub fn added<'a>(prompt: &'a str, task: &str) -> &'a str {
    let after = prompt.strip_prefix(task).unwrap_or(prompt);
    after.strip_prefix("\n\n---\n").unwrap_or(after).trim_start_matches('\n')
}

/// The exit code of a run that `ralph stop` ended; a client ends a hook by another signal.
const ASKED_TO_STOP: u8 = 130;

/// How the run ended. A person who interrupts only interrupts this: the next stop continues.
fn ended(outcome: &Outcome, binding: &Binding, home: &Home) -> Option<Answer> {
    if outcome.reason == Reason::Interrupted.name() && outcome.exit_code != ASKED_TO_STOP {
        return None;
    }
    binding.release(home);
    let (run, cost) = (runs::short(&binding.run), micro(outcome.cost_usd));
    let cost = money(cost, outcome.cost_is_complete);
    let why = outcome.details.get("why").and_then(|why| why.as_str()).unwrap_or_default();
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let proof = outcome.proof.map(|grade| format!(" ({grade})")).unwrap_or_default();
    let how = match outcome.status {
        Status::Completed => format!("completed{proof}"),
        _ => format!("stopped with {}{why}", outcome.reason),
    };
    said(plain(&format!(
        "run {run} {how} after {}, {cost}; `ralph explain {run}` shows why",
        counted(outcome.iterations, "iteration")
    )))
}

fn micro(usd: f64) -> i64 {
    ralph_rules::money::Micro::from_usd(usd).map_or(0, |micro| micro.0)
}
