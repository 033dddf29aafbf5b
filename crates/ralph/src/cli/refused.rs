//! Why a run did not start or stopped abruptly, in the words and exit codes of the contract.

use super::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_engine::circuit::OpenBreaker;
use ralph_engine::open::OpenError;
use ralph_store::Store;
use ralph_tree::LockError;
use serde_json::{Value, json};

/// The problem, as a person reads it.
pub fn refused(error: &OpenError, id: &str, here: &Here) -> Problem {
    let workspace = here.workspace.display();
    match error {
        OpenError::Lock(LockError::Held { who, .. }) => {
            let message = format!("another ralph works in this workspace: {who}");
            Problem::new(Code::Busy, message)
                .hint("`ralph status` shows what it does, `ralph stop` stops it")
                .hint("or work in another checkout: one workspace has one run at a time")
        }
        OpenError::Lock(_) => {
            Problem::new(Code::Busy, format!("the workspace {workspace} cannot be locked")).cause(error)
        }
        OpenError::CircuitOpen(open) => {
            let message = format!("the breaker of this workspace is open ({}): {}", open.reason, open.why);
            guidance(open, here).into_iter().fold(Problem::new(Code::Breaker, message), Problem::hint)
        }
        OpenError::Glob(_) => Problem::new(Code::Usage, "a protected path cannot be read").cause(error),
        OpenError::NoSuchRun(_) | OpenError::Over { .. } => {
            Problem::new(Code::Usage, error.to_string()).hint("start a new run with `ralph run`")
        }
        OpenError::Walk(_) => {
            Problem::new(Code::Busy, format!("the workspace {workspace} cannot be looked at")).cause(error)
        }
        OpenError::Store(error) => runs::broken(error),
        OpenError::Journal(_) => Problem::new(Code::Journal, "ralph's database cannot be used").cause(error),
        OpenError::Unwritable(_) => unwritable(error, id, here),
        OpenError::Cut { outcome, .. } => Problem {
            result: serde_json::to_value(outcome).ok().map(Box::new),
            ..unwritable(error, id, here)
        },
        OpenError::System { .. } => Problem::new(Code::Busy, "the run could not be set up").cause(error),
    }
}

/// What to look at before an open breaker is closed.
pub fn guidance(open: &OpenBreaker, here: &Here) -> Vec<String> {
    let run = runs::short(&open.run);
    let mut lines = vec![format!("see what happened: `ralph explain {run}`")];
    if let Some(error) = &open.error {
        lines.push(format!("the last error was: {error}"));
    }
    lines.push(match open.prompt.as_str() {
        "" | "argument" => {
            "check that the task says clearly what is to be done, and that it is not done yet".into()
        }
        file => {
            format!(
                "check that {file} says clearly what is to be done, and that tasks of the plan are still open"
            )
        }
    });
    if !open.verify.is_empty() {
        lines.push(format!("check that the verification can pass: `{}`", open.verify.join(" && ")));
    }
    if !open.call.is_empty() {
        lines.push(format!("read what the agent was told last: `ralph explain {run} --prompt`"));
        if let Ok(home) = here.home() {
            let log = home.run(&open.run).join(format!("{}.out.jsonl", open.call));
            lines.push(format!("read what it printed: {}", log.display()));
        }
    }
    lines.push("then close it: `ralph circuit reset`".into());
    lines
}

/// Only a run that was written down can go on.
fn unwritable(error: &OpenError, id: &str, here: &Here) -> Problem {
    let problem = Problem::new(Code::Journal, "the journal cannot be written").cause(error);
    let begun = here
        .home()
        .and_then(|home| runs::store(&home))
        .is_ok_and(|store| store.run(id).is_ok_and(|row| row.is_some()));
    match begun {
        true => {
            let hint = format!("`ralph resume {}` goes on once that is mended", runs::short(id));
            Problem { run: Some(id.into()), ..problem.hint(hint) }
        }
        false => problem.hint(
            "what was written of the run cannot be found any more; the workspace is as the agent left it",
        ),
    }
}

/// The result line of a run that never started, or could not be written down to its end.
pub fn refusal(problem: &Problem) -> Value {
    if let Some(result) = &problem.result {
        return Value::clone(result);
    }
    let open = problem.code == Code::Breaker;
    let (status, reason) = if open { ("ABORTED", "CIRCUIT_OPEN") } else { ("ERROR", "REFUSED") };
    json!({
        "v": 1, "type": "result", "runId": problem.run, "status": status, "reason": reason,
        "exitCode": problem.code as u8, "iterations": 0, "costUSD": 0.0, "costIsComplete": true,
        "durationSeconds": 0.0, "verificationPassed": false, "sandbox": "none", "error": problem.message,
        "details": {"causes": problem.causes, "hints": problem.hints},
    })
}
