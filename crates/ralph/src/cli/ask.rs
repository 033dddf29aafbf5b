//! `ralph stop`, `pause`, `continue` and `hint`: what a person asks of a run from another terminal. The request is left
//! in the run's inbox; whoever drives the run writes it into the journal, and only then is it said to be heard.

use super::{Here, runs};
use crate::print::{clean, say};
use crate::problem::{Code, Problem};
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use ralph_store::{Database, RequestId, RunRow, Store};
use std::io::Read;
use std::time::{Duration, Instant};

/// How long an answer is waited for. A run hears several times a second, unless it is held (Ctrl-Z).
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the answer is looked for.
const LOOK: Duration = Duration::from_millis(25);

/// What may be typed for `stop`.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// The run; the newest of this workspace if left out.
    run: Option<String>,
    /// Let the iteration finish first.
    #[arg(long)]
    after: bool,
}

/// What may be typed for `pause` and `continue`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The run; the newest of this workspace if left out.
    run: Option<String>,
}

/// What may be typed for `hint`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "ralph hint [OPTIONS] [RUN] <TEXT>")]
pub struct HintArgs {
    /// The hint in quotes, or - to read it from stdin; before it the run, if not the newest of this workspace.
    #[arg(value_name = "TEXT", num_args = 1.., required = true)]
    words: Vec<String>,
}

/// Asks to stop.
pub fn stop(args: &StopArgs, here: &Here) -> Result<u8, Problem> {
    let then = if args.after {
        "stops after this iteration"
    } else {
        "stops: its agent is ended, its work looked at"
    };
    let request = Request::Stop { after: args.after, signal: 2 };
    ask(args.run.as_deref(), &request, then, here)
}

/// Asks to hold before the next call.
pub fn pause(args: &RunArgs, here: &Here) -> Result<u8, Problem> {
    let then = "pauses before its next call; `ralph continue` lets it go on";
    ask(args.run.as_deref(), &Request::Pause, then, here)
}

/// Asks to go on; also ends a wait.
pub fn go_on(args: &RunArgs, here: &Here) -> Result<u8, Problem> {
    ask(args.run.as_deref(), &Request::Continue, "goes on", here)
}

/// Gives a hint.
pub fn hint(args: &HintArgs, here: &Here) -> Result<u8, Problem> {
    let (run, text) = match args.words.as_slice() {
        [run, text] => (Some(run.as_str()), text.as_str()),
        [text] => (None, text.as_str()),
        words => {
            let message = format!("a run and a hint were expected, not {} words", words.len());
            return Err(Problem::new(Code::Usage, message)
                .hint(format!("a hint of several words needs quotes: ralph hint '{}'", words.join(" "))));
        }
    };
    let text = if text == "-" { from_stdin()? } else { text.trim().to_string() };
    if text.is_empty() {
        return Err(Problem::new(Code::Usage, "the hint is empty")
            .hint("ralph hint 'the bug is in src/parse.rs, not in the tests'"));
    }
    if text.len() > HINT_BYTES {
        let message = format!("the hint has {} bytes; at most {HINT_BYTES} fit into a prompt", text.len());
        return Err(Problem::new(Code::Usage, message)
            .hint("write it into a file of the workspace, and hint at that file"));
    }
    let store = runs::store(&here.home()?)?;
    if run.is_none() && runs::is_id(&store, &text)? {
        return Err(Problem::new(Code::Usage, format!("`{text}` is a run; what is the hint?"))
            .hint(format!("ralph hint {text} 'what the agent should know'")));
    }
    drop(store);
    let quoted = |problem: Problem| match run {
        Some(word) if problem.code == Code::Usage && problem.message.starts_with("there is no run") => {
            problem.hint(format!("a hint of several words needs quotes: ralph hint '{word} {text}'"))
        }
        _ => problem,
    };
    ask(run, &Request::Hint { text: text.clone() }, "will read it in its next prompt", here).map_err(quoted)
}

fn from_stdin() -> Result<String, Problem> {
    let mut text = String::new();
    let most = u64::try_from(HINT_BYTES + 1).unwrap_or(u64::MAX);
    let read = std::io::stdin().lock().take(most).read_to_string(&mut text);
    read.map_err(|e| Problem::new(Code::Input, "the hint cannot be read from stdin").cause(&e))?;
    Ok(text.trim().to_string())
}

/// Leaves a request in the run's inbox and waits a moment until it is heard. `then` says what the run does.
fn ask(run: Option<&str>, request: &Request, then: &str, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, run, here)?;
    let short = runs::short(&row.id);
    let later = matches!(request, Request::Hint { .. }) && row.resumable;
    if !runs::is_running(&row, &home) && !later {
        return Err(not_running(&row));
    }
    let body = serde_json::to_string(request)
        .map_err(|e| Problem::new(Code::Bug, "the request cannot be written").cause(&e))?;
    let id = store.ask(&row.id, &clean(&body), utc()).map_err(|e| runs::broken(&e))?;
    if !runs::is_running(&row, &home) && later {
        say(&format!("Run {short} does not run now; `ralph resume {short}` goes on with this hint.\n"));
        return Ok(0);
    }
    match heard(&store, &home, &row, id)? {
        true => say(&format!("Run {short} {then}.\n")),
        false => say(&format!(
            "Run {short} was asked, but has not answered yet: it may be held (Ctrl-Z) or very busy.\n"
        )),
    }
    Ok(0)
}

/// The request was taken out of the inbox, which happens in the commit that writes it into the journal.
fn heard(store: &Database, home: &Home, row: &RunRow, id: RequestId) -> Result<bool, Problem> {
    let since = Instant::now();
    loop {
        // Asked first: a run that ends now may have heard it just before.
        let running = runs::is_running(row, home);
        let open = store.requests(&row.id).map_err(|e| runs::broken(&e))?;
        if !open.iter().any(|request| request.id == id) {
            return Ok(true);
        }
        if !running {
            let row = store.run(&row.id).map_err(|e| runs::broken(&e))?.unwrap_or_else(|| row.clone());
            return Err(not_running(&row));
        }
        if since.elapsed() > PATIENCE {
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
}

fn not_running(row: &RunRow) -> Problem {
    let short = runs::short(&row.id);
    let message = format!("run {short} is not running now ({})", row.status);
    Problem::new(Code::Usage, message).hint(if row.resumable {
        format!("nobody is there to ask; `ralph resume {short}` would go on with it")
    } else {
        "it is over; `ralph run` starts a new one".into()
    })
}
