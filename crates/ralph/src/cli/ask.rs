//! `ralph stop`, `pause`, `continue` and `hint`: requests to a run from another terminal. A request is put into the run's
//! inbox; the process that drives the run records it in the journal, and only then is it reported as received.

use super::{Here, runs};
use crate::print::{clean, say};
use crate::problem::{Code, Problem};
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use ralph_store::{RunRow, Store};
use ralph_view::requests::{self, Sent};
use ralph_view::run_state::{RunState, row_now};
use std::io::Read;

/// Arguments of `ralph stop`.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Let the current iteration finish first.
    #[arg(long)]
    after: bool,
}

/// Arguments of `ralph pause` and `ralph continue`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Run id (default: the latest run here).
    run: Option<String>,
}

/// Arguments of `ralph hint`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "ralph hint [OPTIONS] [RUN] <TEXT>")]
pub struct HintArgs {
    /// The hint in quotes, or - for stdin; a run id may precede it (default: the latest run here).
    #[arg(value_name = "TEXT", num_args = 1.., required = true)]
    words: Vec<String>,
}

/// Stops a run.
pub fn stop(args: &StopArgs, here: &Here) -> Result<u8, Problem> {
    let then = if args.after {
        "will stop after the current iteration"
    } else {
        "is stopping: ending the agent, then inspecting its work"
    };
    let request = Request::Stop { after: args.after, signal: 2 };
    ask(args.run.as_deref(), &request, then, here)
}

/// Pauses a run before its next call.
pub fn pause(args: &RunArgs, here: &Here) -> Result<u8, Problem> {
    let then = "will pause before its next call; continue it with `ralph continue`";
    ask(args.run.as_deref(), &Request::Pause, then, here)
}

/// Continues a paused run, or ends its wait.
pub fn go_on(args: &RunArgs, here: &Here) -> Result<u8, Problem> {
    ask(args.run.as_deref(), &Request::Continue, "continues", here)
}

/// Sends a hint.
pub fn hint(args: &HintArgs, here: &Here) -> Result<u8, Problem> {
    let (run, text) = match args.words.as_slice() {
        [run, text] => (Some(run.as_str()), text.as_str()),
        [text] => (None, text.as_str()),
        words => {
            let message =
                format!("expected a hint, or a run id and a hint, but got {} arguments", words.len());
            return Err(Problem::new(Code::Usage, message)
                .hint(format!("put the hint in quotes: ralph hint '{}'", words.join(" "))));
        }
    };
    let text = checked_hint(text)?;
    let store = runs::store(&here.home()?)?;
    if run.is_none() && runs::is_id(&store, &text)? {
        return Err(Problem::new(Code::Usage, format!("the hint is missing: `{text}` is a run id"))
            .hint(format!("ralph hint {text} 'what the agent should know'")));
    }
    drop(store);
    let quoted = |problem: Problem| match run {
        Some(word) if problem.code == Code::Usage && problem.message.starts_with("there is no run") => {
            problem.hint(format!("put the hint in quotes: ralph hint '{word} {text}'"))
        }
        _ => problem,
    };
    ask(run, &Request::Hint { text: text.clone() }, "will include the hint in its next prompt", here)
        .map_err(quoted)
}

/// A hint as it was typed, or as stdin has it for `-`; not an empty or overlong one.
pub fn checked_hint(text: &str) -> Result<String, Problem> {
    let text = if text == "-" { from_stdin()? } else { text.trim().to_string() };
    if text.is_empty() {
        return Err(Problem::new(Code::Usage, "the hint is empty")
            .hint("for example: 'The bug is in src/parse.rs, not in the tests'"));
    }
    if text == "…" || text == "..." {
        return Err(Problem::new(Code::Usage, "the hint has no words yet")
            .hint("replace the dots by what the agent should know or do"));
    }
    if text.len() > HINT_BYTES {
        let message = format!("the hint is too long: {} bytes, the maximum is {HINT_BYTES}", text.len());
        return Err(Problem::new(Code::Usage, message)
            .hint("write it to a file in the workspace and name that file in the hint"));
    }
    Ok(text)
}

fn from_stdin() -> Result<String, Problem> {
    let mut text = String::new();
    let most = u64::try_from(HINT_BYTES + 1).unwrap_or(u64::MAX);
    let read = std::io::stdin().lock().take(most).read_to_string(&mut text);
    read.map_err(|e| Problem::new(Code::Input, "cannot read the hint from stdin").cause(&e))?;
    Ok(text.trim().to_string())
}

/// Puts a request into the run's inbox and waits a moment for it to be received. `then` says what the run will do.
fn ask(run: Option<&str>, request: &Request, then: &str, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, run, here)?;
    let short = runs::short(&row.id);
    let redact = |text: &str| clean(text).into_owned();
    let sent = requests::send(&store, &home, &row, request, &redact).map_err(|e| runs::broken(&e))?;
    say(&match sent {
        Sent::Recorded => format!("Run {short} {then}.\n"),
        Sent::Waiting => format!(
            "Run {short} has received the request but not answered yet; it may be suspended (Ctrl-Z) or busy.\n"
        ),
        Sent::Kept if row.status == RunState::InSession.name() => {
            format!("Run {short} will include the hint in its next prompt.\n")
        }
        Sent::Kept => format!("Run {short} is not active; `ralph resume {short}` will include the hint.\n"),
        Sent::NotActive => {
            let row = store.run(&row.id).map_err(|e| runs::broken(&e))?.unwrap_or(row);
            return Err(not_running(&row_now(row, &home)));
        }
    });
    Ok(0)
}

fn not_running(row: &RunRow) -> Problem {
    let short = runs::short(&row.id);
    let message = format!("run {short} is not active (status: {})", row.status);
    if row.status == RunState::InSession.name() {
        return Problem::new(
            Code::Usage,
            format!("run {short} is in a session, which ralph does not control"),
        )
        .hint(format!("end the run and let the session be: `ralph hook cancel {short}`"))
        .hint(format!("or tell the agent something: `ralph hint {short} '…'`"));
    }
    Problem::new(Code::Usage, message).hint(if row.resumable {
        format!("resume it first: `ralph resume {short}`")
    } else {
        "it has ended; start a new run with `ralph run`".into()
    })
}
