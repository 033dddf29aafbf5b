//! The command line: what may be typed, and which file answers it. What was typed is kept apart from what it means:
//! each command resolves its own arguments.

mod analyze;
mod ask;
mod circuit;
mod demo;
mod explain;
mod list;
mod replay;
mod resolve;
mod resume;
mod run;
mod runs;
mod status;

use crate::env::Env;
use crate::problem::{Code, Problem};
use crate::style::{Style, When};
use clap::{Parser, Subcommand};
use ralph_engine::home::Home;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  ralph demo                                          see the whole loop in seconds, no key needed
  ralph run \"Make the tests pass\" --verify 'cargo test' --max-iterations 10 --max-cost 5
  ralph run --agent command --verify 'make check' --max-iterations 5 --max-cost 2 -- ./my-agent --flag
  ralph explain                                       why the newest run of this workspace stopped
  ralph resume                                        go on with it";

/// Runs a coding agent on a repository, again and again, until the work is proven done or a safeguard stops it.
#[derive(Debug, Parser)]
#[command(
    name = "ralph",
    version,
    before_help = EXAMPLES,
    subcommand_required = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
struct Args {
    #[command(subcommand)]
    command: Command,

    /// When to colour.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    color: When,

    /// Work in this directory instead of the current one.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the loop here, to an outcome.
    Run(Box<run::Args>),
    /// See the whole loop on a throw-away repository: no key, no network, no agent needed.
    Demo(demo::Args),
    /// Go on with a run that was interrupted or reached a limit.
    Resume(resume::Args),
    /// List runs, newest first.
    List(list::Args),
    /// Show one run in full.
    Status(status::Args),
    /// Tell every decision of a run with the facts behind it, and why it stopped.
    Explain(explain::Args),
    /// Decide a whole run again from its journal, and compare.
    Replay(replay::Args),
    /// Stop a run: the agent now, or after the iteration.
    Stop(ask::StopArgs),
    /// Show or reset the breaker of this workspace.
    Circuit(circuit::Args),
    /// Analyse one agent response, from a file or stdin, and print the analysis as JSON.
    Analyze(analyze::Args),
}

/// What every command gets: where it is, where the truth lives, how to print.
pub struct Here {
    /// The environment.
    pub env: Env,
    /// The workspace, absolute.
    pub workspace: PathBuf,
    /// `--color`.
    pub color: When,
}

impl Here {
    /// The state directory.
    pub fn home(&self) -> Result<Home, Problem> {
        let state = self.env.state_home.as_ref().ok_or_else(|| {
            Problem::new(Code::Busy, "there is no place for ralph's state: neither HOME nor XDG_STATE_HOME is set")
                .hint("set XDG_STATE_HOME to a directory on a local disk")
        })?;
        Ok(Home::at(state.join("ralph")))
    }

    /// How stdout is coloured.
    pub fn out_style(&self) -> Style {
        Style::of(self.color, std::io::stdout().is_terminal(), self.env.no_color, self.env.dumb)
    }

    /// How stderr is coloured.
    pub fn err_style(&self) -> Style {
        Style::of(self.color, std::io::stderr().is_terminal(), self.env.no_color, self.env.dumb)
    }
}

/// Parses, runs, prints what went wrong, and gives the exit code.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    let color = args.color;
    match here(&args).and_then(|here| answer(args.command, &here)) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            let env = Env::read();
            let style = Style::of(color, std::io::stderr().is_terminal(), env.no_color, env.dumb);
            say(&problem.render(style));
            ExitCode::from(problem.code as u8)
        }
    }
}

/// clap's own exit code 2 would mean "blocked": wrong use is 64.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { Code::Usage as u8 } else { 0 })
}

fn here(args: &Args) -> Result<Here, Problem> {
    let wanted = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let workspace = wanted.canonicalize().map_err(|e| {
        Problem::new(Code::Usage, format!("the directory {} cannot be entered", wanted.display())).cause(&e)
    })?;
    Ok(Here { env: Env::read(), workspace, color: args.color })
}

fn answer(command: Command, here: &Here) -> Result<u8, Problem> {
    match command {
        Command::Run(args) => run::run(*args, here),
        Command::Demo(args) => demo::demo(&args, here),
        Command::Resume(args) => resume::resume(args, here),
        Command::List(args) => list::list(&args, here),
        Command::Status(args) => status::status(&args, here),
        Command::Explain(args) => explain::explain(&args, here),
        Command::Replay(args) => replay::replay(&args, here),
        Command::Stop(args) => ask::stop(&args, here),
        Command::Circuit(args) => circuit::circuit(&args, here),
        Command::Analyze(args) => analyze::analyze(&args, here),
    }
}

/// Data, on stdout. A reader that went away is no failure.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Talk, on stderr.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One JSON document on stdout.
pub fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Problem> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Problem::new(Code::Bug, "the answer cannot be written as JSON").cause(&e))?;
    print(&(text + "\n"));
    Ok(())
}
