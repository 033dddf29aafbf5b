//! `ralph hook`: runs whose agent is a session of a client that the user sits in. The client calls `ralph hook prompt` when
//! the user has typed something and `ralph hook stop` when the agent stops, each with JSON on stdin and nothing else on
//! the command line: these two lines never change, because clients trust them by their text.
//!
//! A session that is not bound to a run is answered at once: nothing is printed, and neither settings nor database are
//! opened. Whatever goes wrong, a hook exits with 0 and valid JSON, because clients ignore everything else.

//!
//! A plugin (`plugin.rs`) makes the client call these; `install.rs`, `uninstall.rs` and `status.rs` keep it registered with
//! the clients that `client.rs` knows.

mod answer;
mod cancel;
mod client;
mod install;
pub mod known_process;
mod loop_command;
pub mod open_run;
pub mod plugin;
mod prompt;
mod session_command;
mod standing;
mod status;
mod stop;
mod uninstall;
mod words;

pub use cancel::Args as CancelArgs;
pub use client::CLIENTS;
pub use prompt::line as line_of_start;
pub use standing::{Word, standing, was_installed};
pub use stop::not_kept;

use super::workspace::{self, Finds};
use super::{Here, examples};
use crate::env::Env;
use crate::print::print;
use crate::problem::Problem;
use crate::show::StderrLines;
use crate::style::When;
use answer::Answer;
use clap::Subcommand;
use ralph_agents::session_hook::HookInput;
use ralph_engine::home::Home;
use ralph_engine::session::bound_run;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

/// More than a client ever writes: the rest is not read, and what is cut is not JSON.
const MOST: u64 = 64 << 20;

/// Arguments of `ralph hook`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Install the hooks in Claude Code or Codex.
    #[command(before_help = examples::HOOK)]
    Install(install::Args),
    /// Remove the hooks from a client.
    #[command(before_help = examples::HOOK)]
    Uninstall(uninstall::Args),
    /// Show whether the hooks of each client run.
    #[command(before_help = examples::HOOK)]
    Status(status::Args),
    /// Answer a client's prompt hook: start a run if one is asked for.
    #[command(before_help = examples::HOOK_PROMPT)]
    Prompt,
    /// Answer a client's stop hook: judge the work, ask for the next iteration.
    #[command(before_help = examples::HOOK_STOP)]
    Stop,
    /// Stop the run that a session works on here; the session continues.
    #[command(before_help = examples::HOOK_CANCEL)]
    Cancel(CancelArgs),
}

impl Args {
    /// The command's name if it decides whether anybody checks the work of a session.
    pub fn for_people_only(&self) -> Option<&'static str> {
        match &self.what {
            What::Install(_) => Some("hook install"),
            What::Uninstall(_) => Some("hook uninstall"),
            // `/ralph:cancel` is answered by the prompt hook, because a person types it.
            What::Cancel(_) => Some("hook cancel"),
            _ => None,
        }
    }
}

/// Runs the command.
pub fn hook(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.what {
        What::Prompt => answered(Event::Prompt),
        What::Stop => answered(Event::Stop),
        What::Cancel(args) => return cancel::cancel(args, here),
        What::Install(args) => return install::install(args, here),
        What::Uninstall(args) => return uninstall::uninstall(args, here),
        What::Status(args) => return status::status(args, here),
    };
    Ok(0)
}

/// What a client tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The user has typed something.
    Prompt,
    /// The agent stops.
    Stop,
}

/// Answers a client, if this is the command line of a hook. Everything else is parsed as usual.
pub fn answered_client(words: impl Iterator<Item = std::ffi::OsString>) -> Option<ExitCode> {
    let words: Vec<_> = words.take(2).collect();
    let event = match words.as_slice() {
        [word] if word == "prompt" => Event::Prompt,
        [word] if word == "stop" => Event::Stop,
        _ => return None,
    };
    answered(event);
    Some(ExitCode::SUCCESS)
}

/// Reads what the client says and prints the answer, if there is one.
fn answered(event: Event) {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST).read_to_end(&mut bytes);
    let Some(input) = read.ok().and_then(|_| HookInput::read(&bytes)) else { return };
    drop(bytes);
    let Some(state) = Env::state_home().map(|state| state.join("ralph")) else { return };
    let bound = bound_run(&state, &input.session);
    let typed = input.prompt.as_deref().filter(|_| event == Event::Prompt);
    if let Some(command) = typed.and_then(session_command::typed) {
        get_ready();
        let answer =
            here(&input).and_then(|here| session_command::answer(command, &input, bound.as_deref(), &here));
        return say(answer, event, &input);
    }
    let asked = typed.and_then(loop_command::asked);
    let answer = match (event, asked, bound) {
        (Event::Prompt, Some(asked), bound) => {
            get_ready();
            here(&input).and_then(|here| prompt::prompt(&input, asked, bound, &here))
        }
        (Event::Stop, _, Some(run)) => {
            get_ready();
            here(&input).and_then(|here| stop::stop(&input, &run, &here))
        }
        (Event::Prompt, None, Some(run)) => return session_command::noted(&input, &run, state),
        _ => return,
    };
    say(answer, event, &input);
}

/// Prints the answer, or what went wrong.
fn say(answer: Result<Option<Answer>, Problem>, event: Event, input: &HookInput) {
    let answer = answer.unwrap_or_else(|problem| Some(Answer::failed(event, &problem)));
    if let Some(text) = answer.and_then(|answer| answer.json(event, input.client())) {
        print(&(text + "\n"));
    }
}

/// What other commands do before anything else.
fn get_ready() {
    ralph_engine::signals::exit_on_signal();
    ralph_engine::file_size::survive_the_limit();
}

/// The surroundings of the session: it works in the directory that the client names.
fn here(input: &HookInput) -> Result<Here, Problem> {
    let env = Env::read();
    let named = PathBuf::from(&input.cwd).canonicalize().ok().filter(|dir| dir.is_dir());
    let typed_in = named.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("/"));
    let home = env.state_home.as_ref().map(|state| Home::at(state.join("ralph")));
    let workspace = workspace::find(&typed_in, Finds::Config, home.as_ref(), env.home.as_deref());
    let stderr = StderrLines::default();
    let diagnostics = super::diagnostics::init(&env, false, stderr.clone())?;
    Ok(Here { env, workspace, typed_in, named: false, color: When::Never, diagnostics, stderr })
}
