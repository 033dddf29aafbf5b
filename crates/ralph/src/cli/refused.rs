//! Why a run did not start or stopped abruptly, as an error with the exit code of the contract.

use super::{Here, runs, sandbox};
use crate::problem::{Code, Problem};
use ralph_agents::Client;
use ralph_engine::circuit::OpenBreaker;
use ralph_engine::home::Home;
use ralph_engine::open::OpenError;
use ralph_engine::session::Binding;
use ralph_rules::record::prompt_file;
use ralph_store::{Store, disk_free};
use ralph_tree::LockError;
use serde_json::{Value, json};
use std::path::Path;

/// The error to print.
pub fn refused(error: &OpenError, id: &str, here: &Here) -> Problem {
    let workspace = here.workspace.display();
    match error {
        OpenError::Lock(LockError::Held { who, workspace, elsewhere }) => {
            busy(who, workspace, *elsewhere, here)
        }
        OpenError::Lock(_) => {
            Problem::new(Code::Busy, format!("cannot lock the workspace {workspace}")).cause(error)
        }
        OpenError::CircuitOpen(open) => {
            let message =
                format!("the circuit breaker of this workspace is open ({}): {}", open.reason, open.why);
            guidance(open, here).into_iter().fold(Problem::new(Code::Breaker, message), Problem::hint)
        }
        OpenError::Glob(_) => {
            Problem::new(Code::Usage, "a protected path is not a valid pattern").cause(error)
        }
        OpenError::InSession(binding) => in_session(binding),
        OpenError::NoSuchRun(_) | OpenError::Over { .. } => {
            Problem::new(Code::Usage, error.to_string()).hint("start a new run with `ralph run`")
        }
        OpenError::Walk(_) => {
            Problem::new(Code::Busy, format!("cannot read the workspace {workspace}")).cause(error)
        }
        OpenError::Store(error) => runs::broken(error),
        OpenError::Journal(_) => Problem::new(Code::Journal, "cannot use the database").cause(error),
        OpenError::Unwritable(_) => unwritable(error, id, here),
        OpenError::Cut { outcome, .. } => Problem {
            result: serde_json::to_value(outcome).ok().map(Box::new),
            ..unwritable(error, id, here)
        },
        OpenError::Sandbox(why) => sandbox::refused(why, here),
        OpenError::System { .. } => Problem::new(Code::Busy, "cannot set up the run").cause(error),
    }
}

/// Whether a run could be recorded: it is better told before the first step than by the first write that fails.
pub fn can_be_recorded(home: &Home) -> Result<(), Problem> {
    if let Some(lack) = disk_free(&home.nearest_dir()).ok().and_then(|disk| disk.lack()) {
        let message = format!("the disk of {} is nearly full: {lack}", home.dir().display());
        return Err(Problem::new(Code::Journal, message)
            .hint("free some space; `ralph prune` deletes old transcripts and snapshots")
            .hint("or set XDG_STATE_HOME to a directory on another disk"));
    }
    let store = home.store_if_any().map_err(|e| runs::broken(&e))?;
    store.map_or(Ok(()), |store| store.refuse_newer()).map_err(|e| runs::broken(&e))
}

/// Another run is active here, or in a workspace that this one lies in or that lies in it.
fn busy(who: &str, held: &Path, elsewhere: bool, here: &Here) -> Problem {
    let place = match &here.workspace {
        this if this == held => "in this workspace".to_owned(),
        this if this.starts_with(held) => format!("in {}, which contains this workspace", held.display()),
        this if held.starts_with(this) => format!("in {}, which lies in this workspace", held.display()),
        _ => format!("in {}", held.display()),
    };
    let problem = Problem::new(Code::Busy, format!("another run is active {place}: {}", holder(who)));
    let problem = match elsewhere {
        // This state directory does not know the run.
        true => {
            problem.hint("it uses another state directory (XDG_STATE_HOME), user or machine; stop it there")
        }
        false if held == here.workspace => {
            problem.hint("show it with `ralph status`, stop it with `ralph stop`")
        }
        false => problem.hint(format!("stop it with `ralph stop -C {}`", held.display())),
    };
    problem.hint("or run in another checkout; a workspace can have only one active run")
}

/// A session works on a run here.
pub fn in_session(binding: &Binding) -> Problem {
    let client = Client::of_agent(&binding.client).map_or(binding.client.as_str(), |client| client.title());
    let (run, pid) = (runs::short(&binding.run), binding.process.pid);
    let message = format!("a session of {client} (process {pid}) works on run {run} here");
    Problem::new(Code::Busy, message)
        .hint("show it with `ralph status`, end the run with `ralph hook cancel`")
        .hint("or run in another checkout; a workspace can have only one active run")
}

/// Who holds the lock: a run by its short id and process, other commands as they name themselves.
fn holder(who: &str) -> String {
    match who.strip_prefix("run ").and_then(|rest| rest.split_once(", ")) {
        Some((run, process)) => format!("{} ({process})", runs::short(run)),
        None => who.to_string(),
    }
}

/// What to check before an open breaker is reset.
pub fn guidance(open: &OpenBreaker, here: &Here) -> Vec<String> {
    let Some(id) = &open.run else { return recorded_guidance(open) };
    let run = runs::short(id);
    let mut lines = vec![format!("see why it stopped: `ralph explain {run}`")];
    if let Some(error) = &open.error {
        lines.push(format!("the last error was: {error}"));
    }
    lines.push(match prompt_file(&open.prompt) {
        None => "check that the task is clear, and that it is not done already".into(),
        Some(file) => {
            format!("check that the task in {file} is clear, and that the plan still has open items")
        }
    });
    if !open.verify.is_empty() {
        lines.push(format!("check that the verify command can pass: `{}`", open.verify.join(" && ")));
    }
    if !open.call.is_empty() {
        lines.push(format!("read the last prompt: `ralph explain {run} --prompt`"));
        if let Ok(home) = here.home() {
            let log = home.run(id).join(format!("{}.out.jsonl", open.call));
            lines.push(format!("read the agent's output: {}", log.display()));
        }
    }
    lines.push("then reset the breaker: `ralph circuit reset`".into());
    lines
}

/// The same where a script recorded the loops that opened it.
fn recorded_guidance(open: &OpenBreaker) -> Vec<String> {
    let error = open.error.iter().map(|error| format!("the last error was: {error}"));
    let rest = [
        "a script recorded this with `ralph circuit record`; check its task and its last output".to_owned(),
        "then reset the breaker: `ralph circuit reset`".to_owned(),
    ];
    error.chain(rest).collect()
}

/// Only a run that is in the database can be resumed.
fn unwritable(error: &OpenError, id: &str, here: &Here) -> Problem {
    let problem = Problem::new(Code::Journal, "cannot write the journal").cause(error);
    let begun = here
        .home()
        .and_then(|home| runs::store(&home))
        .is_ok_and(|store| store.run(id).is_ok_and(|row| row.is_some()));
    match begun {
        true => {
            let hint = format!("fix the cause, then resume with `ralph resume {}`", runs::short(id));
            Problem { run: Some(id.into()), ..problem.hint(hint) }
        }
        false => problem.hint("the run is not in the database; the workspace is as the agent left it"),
    }
}

/// The result line of a run that never started, or whose end could not be recorded.
pub fn refusal(problem: &Problem) -> Value {
    if let Some(result) = &problem.result {
        return Value::clone(result);
    }
    let (status, reason) = match problem.code {
        Code::Breaker => ("ABORTED", "CIRCUIT_OPEN"),
        Code::Person => ("ABORTED", "NEEDS_PERSON"),
        _ => ("ERROR", "REFUSED"),
    };
    json!({
        "v": 1, "type": "result", "runId": problem.run, "status": status, "reason": reason,
        "exitCode": problem.code as u8, "iterations": 0, "costUSD": 0.0, "costIsComplete": true,
        "durationSeconds": 0.0, "verificationPassed": false, "proof": null, "sandbox": "none", "error": problem.message,
        "details": {"causes": problem.causes, "hints": problem.hints},
    })
}
