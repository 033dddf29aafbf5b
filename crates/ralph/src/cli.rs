//! The command line: `command.rs` lists the commands, each in its own file here resolves its arguments and runs.

mod accept;
mod advise;
mod agent;
mod agents;
mod analyze;
mod ask;
mod attach;
mod auto;
mod auto_prune;
mod block;
mod board;
mod circuit;
mod command;
mod completions;
mod config;
mod demo;
mod detach;
mod diagnostics;
mod diff;
mod diff_so_far;
mod doctor;
mod dry_run;
mod dry_run_agent;
mod examples;
mod exit_codes;
mod explain;
mod fallback;
mod files;
mod get_value;
mod help;
pub mod hook;
mod init;
mod init_place;
mod inside;
mod json_error;
mod ladder;
mod list;
mod logs;
mod man;
mod mode_hook;
mod moved;
mod named_skill;
mod notify;
mod other_tools;
mod output_files;
mod plan;
mod prices;
mod prompt;
mod prune;
mod quarantine;
mod questions;
mod redact;
mod refused;
mod reject;
mod replay;
mod report;
mod resolve;
mod resume;
mod retention;
mod review;
mod run;
mod run_files;
mod runs;
mod sandbox;
mod secrets;
mod serve;
mod shell_lib;
mod skills;
mod start_warnings;
mod stats;
mod status;
mod tasks;
mod templates;
mod topics;
mod undo;
mod usage;
mod verify;
mod versions;
mod watch;
mod watchers;
mod workspace;

use crate::env::Env;
use crate::plain::plain;
use crate::print::{self, lost, say};
use crate::problem::{Code, Problem};
use crate::show::StderrLines;
use crate::style::{Style, When};
use clap::{FromArgMatches, Parser};
use command::Command;
use ralph_diagnostics::Diagnostics;
use ralph_engine::home::Home;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Run a coding agent on your repository until the work is proven done or a limit stops it.
#[derive(Debug, Parser)]
#[command(name = "ralph", bin_name = "ralph", version, before_help = examples::RALPH, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, after_help = topics::MORE)]
struct Args {
    #[command(subcommand)]
    command: Command,

    /// When to use colors: auto, always or never.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true, display_order = 900)]
    color: When,

    /// Directory to work in (default: nearest with ralph.toml, or this one).
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", display_order = 901)]
    directory: Option<PathBuf>,
}

/// What every command needs to know about its surroundings.
#[derive(Clone)]
pub struct Here {
    /// The environment variables that ralph reads.
    pub env: Env,
    /// The workspace, absolute.
    pub workspace: PathBuf,
    /// Where the command was typed: the current directory, or the one that `-C` names.
    pub typed_in: PathBuf,
    /// Whether `-C` names the workspace.
    pub named: bool,
    /// `--color`.
    pub color: When,
    /// What ralph logs about itself.
    pub diagnostics: Diagnostics,
    /// Where lines from outside a run are printed.
    pub stderr: StderrLines,
}

impl Here {
    /// The state directory.
    pub fn home(&self) -> Result<Home, Problem> {
        let state = self.env.state_home.as_ref().ok_or_else(|| {
            Problem::new(Code::Busy, "no state directory: neither HOME nor XDG_STATE_HOME is set")
                .hint("set XDG_STATE_HOME to a directory on a local disk")
        })?;
        Ok(Home::at(state.join("ralph")))
    }

    /// Colors for stdout.
    pub fn out_style(&self) -> Style {
        self.color.style(std::io::stdout().is_terminal(), self.env.no_color, self.env.dumb)
    }

    /// Colors for stderr.
    pub fn err_style(&self) -> Style {
        self.color.style(std::io::stderr().is_terminal(), self.env.no_color, self.env.dumb)
    }
}

#[cfg(test)]
pub use exit_codes::EXIT_CODES;

/// Every command with its rendered help, for docs/reference.
#[cfg(test)]
pub fn helps() -> Vec<(String, String)> {
    fn below(command: &mut clap::Command, path: &str, all: &mut Vec<(String, String)>) {
        all.push((path.to_string(), command.render_help().to_string()));
        for inner in
            command.get_subcommands_mut().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
        {
            let name = format!("{path} {}", inner.get_name());
            below(inner, &name, all);
        }
    }
    let mut whole = help::whole().term_width(100);
    whole.build();
    let mut all = Vec::new();
    below(&mut whole, "ralph", &mut all);
    all
}

/// Every help topic with its text, for docs/reference.
#[cfg(test)]
pub fn topics() -> Vec<(&'static str, String)> {
    topics::TOPICS.iter().map(|topic| (topic.name, topics::text(topic))).collect()
}

/// The variable a shell sets to ask for completions.
pub use completions::VARIABLE as COMPLETE;

/// Answers a shell that asks for completions; true if one did.
pub fn completed() -> bool {
    completions::answered()
}

/// Parses, runs, prints what went wrong, and gives the exit code.
pub fn main() -> ExitCode {
    ralph_engine::file_size::survive_the_limit();
    // Laying out the help of every command costs a millisecond, so it is done only where help or an error is shown.
    let shown = || help::whole().try_get_matches().and_then(|matches| Args::from_arg_matches(&matches));
    let parsed = Args::try_parse().or_else(|_| shown());
    let args = match parsed {
        Ok(args) => args,
        Err(error) => return misused(&error),
    };
    let color = args.color;
    let done = here(&args).and_then(|here| {
        let hidden = here.clone();
        print::hide(move || secrets::redactor_anyway(&hidden.workspace, &hidden));
        args.command.answer(&here)
    });
    match done {
        Ok(code) => match lost() {
            Some(problem) => wrong(&problem, color),
            None => ExitCode::from(code),
        },
        Err(problem) => {
            json_error::print_if_asked(&problem, &typed());
            wrong(&problem, color)
        }
    }
}

/// The command line without the program.
fn typed() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

fn wrong(problem: &Problem, color: When) -> ExitCode {
    let env = Env::read();
    let style = color.style(std::io::stderr().is_terminal(), env.no_color, env.dumb);
    say(&problem.render(style));
    ExitCode::from(problem.code as u8)
}

/// A usage error in the same form as every other error. clap's own exit code 2 would mean "blocked", so it is 64.
fn misused(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    let missing = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || error.kind() == missing {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { Code::Usage as u8 } else { 0 });
    }
    let typed = typed();
    let mut command = help::whole();
    command.build();
    let problem = usage::problem(error, &command, &typed);
    json_error::print_if_asked(&problem, &typed);
    wrong(&problem, When::Auto)
}

fn here(args: &Args) -> Result<Here, Problem> {
    let wanted = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let cannot = || Problem::new(Code::Usage, format!("cannot work in {}", wanted.display()));
    let directory = "give an existing directory, such as: ralph -C ~/project list";
    let typed_in = wanted.canonicalize().map_err(|e| cannot().cause(&e).hint(directory))?;
    if !typed_in.is_dir() {
        return Err(cannot().hint("it is a file; -C needs a directory"));
    }
    let env = Env::read();
    let named = args.directory.is_some();
    let workspace = match named {
        true => typed_in.clone(),
        false => {
            let home = env.state_home.as_ref().map(|state| Home::at(state.join("ralph")));
            workspace::find(&typed_in, args.command.finds(), home.as_ref(), env.home.as_deref())
        }
    };
    if workspace != typed_in && args.command.says_where() {
        say(&format!("Working in {} (-C . works here instead).\n", plain(&workspace.to_string_lossy())));
    }
    let stderr = StderrLines::default();
    let verbose = diagnostics::is_verbose(&args.command);
    let diagnostics = diagnostics::init(&env, verbose, stderr.clone())?;
    Ok(Here { env, workspace, typed_in, named, color: args.color, diagnostics, stderr })
}
