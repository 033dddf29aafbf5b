//! `ralph hook prompt`: the user has typed something that starts a run in the session. What is wrong with it is said
//! before any model is asked; otherwise the baseline is verified, and the agent is told how to report.

use super::answer::{Answer, fitting};
use super::loop_command::{self, Asked};
use super::stop::{added, not_kept};
use super::{known_process, open_run};
use crate::cli::refused::{can_be_recorded, refused};
use crate::cli::resolve::{self, Resolved, UNCONTAINED};
use crate::cli::{Here, diagnostics, named_skill, runs};
use crate::plain::plain;
use crate::problem::{Code, Problem};
use crate::views::Views;
use ralph_agents::session_hook::HookInput;
use ralph_diagnostics::Discard;
use ralph_engine::home::Home;
use ralph_engine::open::{self, Departure};
use ralph_engine::outcome::Outcome;
use ralph_engine::session::{Binding, Handover, SessionPort, SessionProcess, mark_now};
use ralph_engine::watch::Watcher;
use ralph_rules::counting::counted;
use ralph_rules::prompt::protocol;
use ralph_rules::record::{FROM_ARGUMENT, RunStarted, SessionGiven};
use ralph_rules::state::State;
use std::path::Path;
use std::sync::Arc;

/// Starts the run that was asked for.
pub fn prompt(
    input: &HookInput,
    asked: Asked<'_>,
    bound: Option<String>,
    here: &Here,
) -> Result<Option<Answer>, Problem> {
    let home = here.home()?;
    if let Some(run) = bound {
        is_free(&run, &home)?;
    }
    let args = loop_command::args(asked, input.client())?;
    let resolved = resolve::resolve(&args, here)?;
    if asked.persists() {
        named_skill::loop_ready(&args, &resolved.plan, here)?;
    }
    can_be_recorded(&home)?;
    let id = uuid::Uuid::now_v7().to_string();
    let binding = Binding {
        run: id.clone(),
        client: input.client().agent().into(),
        session: input.session.clone(),
        transcript: input.transcript.clone(),
        process: SessionProcess::of_caller(),
    };
    // The database is there before the first folder of a run: folders alone would look like a lost one.
    drop(home.store().map_err(|e| runs::broken(&e))?);
    // Then the binding: a run without one would not be found when the session stops.
    binding.keep(&home).map_err(|e| not_kept(&e))?;
    let warnings = resolved.warnings.clone();
    let departure = start(&id, resolved, &binding, input, here);
    match departure {
        Ok(Departure::HandedOver(call, state)) => {
            known_process::remember(&binding, &home);
            Ok(Some(begun(&call, &state, &warnings, &home)))
        }
        Ok(Departure::Ended(outcome)) => {
            binding.release(&home);
            Ok(Some(Answer { refused: Some(not_begun(&outcome, &id)), ..Answer::default() }))
        }
        Err(problem) => {
            binding.release(&home);
            Err(problem)
        }
    }
}

/// A session works on one run at a time.
fn is_free(run: &str, home: &Home) -> Result<(), Problem> {
    if open_run::find(home, run)?.is_none() {
        return Ok(());
    }
    let message = format!("this session already works on run {}", runs::short(run));
    Err(Problem::new(Code::Busy, message).hint(
        "it continues when the agent stops; /ralph:cancel (in another terminal `ralph hook cancel`) ends it",
    ))
}

fn start(
    id: &str,
    resolved: Resolved,
    binding: &Binding,
    input: &HookInput,
    here: &Here,
) -> Result<Departure, Problem> {
    let home = here.home()?;
    let Resolved { mut plan, mut deps, views, .. } = resolved;
    plan.session = Some(SessionGiven {
        client: binding.client.clone(),
        id: binding.session.clone(),
        transcript: binding.transcript.clone(),
        pid: binding.process.pid,
        began: binding.process.began,
        mark: mark_now(input.client(), Path::new(&input.transcript)),
    });
    // A session stays what it is: it cannot be exchanged for a stronger agent.
    plan.ladder.clear();
    deps.rungs.clear();
    deps.session = Some(Arc::new(SessionPort::default()));
    let watchers: Vec<Box<dyn Watcher>> =
        vec![Box::new(Views::new(&plan.workspace, views, &[], &home, None))];
    let _log = diagnostics::keep_log(&home.run(id), &deps.redactor, here);
    open::start(&home, id, plan, deps, watchers).map_err(|error| refused(&error, id, here))
}

/// The run has begun: what the agent must know of it, and a line for the user.
fn begun(call: &Handover, state: &State, warnings: &[String], home: &Home) -> Answer {
    let Some(start) = state.start.as_deref() else { return Answer::default() };
    let mut context = String::new();
    if start.prompt_from != FROM_ARGUMENT {
        context.push_str(&format!("The task, from {}:\n\n{}\n\n", start.prompt_from, start.prompt));
    }
    let more = added(&call.prompt, &start.prompt);
    if !more.contains("RALPH_STATUS") {
        context.push_str(&protocol(start));
        context.push('\n');
    }
    context.push_str(more);
    // The prompt's own file has neither protocol nor skill if they are a system prompt in a loop.
    let rest = home.run(&start.run).join(format!("{}.context.md", call.id));
    std::fs::write(&rest, &context).discard("keep the context of a session's first call");
    // Ralph has no sandbox for a session that it did not start: the client has its own.
    let ours = warnings.iter().filter(|warning| warning.as_str() != UNCONTAINED);
    let warned = ours.map(|warning| format!("; warning: {warning}")).collect::<String>();
    let line = plain(&(line(start) + &warned));
    Answer { context: Some(fitting(&context, &rest)), line: Some(line), refused: None }
}

/// What the user is told when the run begins.
pub fn line(start: &RunStarted) -> String {
    let policy = &start.policy;
    let verify = match start.verify.is_empty() {
        // A warning says so.
        true => String::new(),
        false => format!("; verified by `{}`", start.verify.join(" && ")),
    };
    format!(
        "run {} begins, at most {} and {}; limits act between iterations, they cannot end one in a session{verify}",
        runs::short(&start.run),
        counted(policy.max_iterations, "iteration"),
        policy.max_cost,
    )
}

fn not_begun(outcome: &Outcome, id: &str) -> String {
    let why = outcome.details.get("why").and_then(|why| why.as_str()).unwrap_or_default();
    let short = runs::short(id);
    plain(&format!("ralph: run {short} ended before the first iteration with {}: {why}", outcome.reason))
}
