//! The command line: what may be typed, and which file answers it. What was typed is kept apart from what it means:
//! each command resolves its own arguments.

mod agent;
mod agents;
mod analyze;
mod ask;
mod block;
mod circuit;
mod completions;
mod config;
mod demo;
mod detach;
mod diagnostics;
mod doctor;
mod dry_run;
mod examples;
mod explain;
mod init;
mod ladder;
mod list;
mod logs;
mod man;
mod prices;
mod prompt;
mod prune;
mod quarantine;
mod questions;
mod redact;
mod refused;
mod replay;
mod report;
mod resolve;
mod resume;
mod run;
mod runs;
mod secrets;
mod stats;
mod status;
mod tasks;
mod templates;
mod topics;
mod undo;
mod usage;
mod verify;
mod versions;
mod watchers;

use crate::env::Env;
use crate::print::{self, lost, say};
use crate::problem::{Code, Problem};
use crate::show::StderrLines;
use crate::style::{Style, When};
use clap::{CommandFactory, Parser, Subcommand};
use ralph_diagnostics::Diagnostics;
use ralph_engine::home::Home;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a coding agent on a repository, again and again, until the work is proven done or a safeguard stops it.
#[derive(Debug, Parser)]
#[command(name = "ralph", bin_name = "ralph", version, before_help = examples::RALPH, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, after_help = topics::MORE)]
struct Args {
    #[command(subcommand)]
    command: Command,

    /// When to colour: auto, always or never.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true, display_order = 900)]
    color: When,

    /// Work in this directory instead of the current one.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", display_order = 901)]
    directory: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Get a repository ready: find out how it is tested, write ralph.toml and PROMPT.md.
    Init(init::Args),
    /// Run the loop here, to an outcome.
    #[command(before_help = examples::RUN)]
    Run(Box<run::Args>),
    /// See the whole loop on a throw-away repository: no key, no network, no agent needed.
    #[command(before_help = examples::DEMO)]
    Demo(demo::Args),
    /// Go on with a run that was interrupted or reached a limit.
    #[command(before_help = examples::RESUME)]
    Resume(resume::Args),
    /// List runs, newest first.
    #[command(before_help = examples::LIST)]
    List(list::Args),
    /// Show one run in full.
    #[command(before_help = examples::STATUS)]
    Status(status::Args),
    /// Show what the agent of a run said and did, or what it changed.
    #[command(before_help = examples::LOGS)]
    Logs(logs::Args),
    /// Tell every decision of a run with the facts behind it, and why it stopped.
    #[command(before_help = examples::EXPLAIN)]
    Explain(explain::Args),
    /// Decide a whole run again from its journal, and compare.
    #[command(before_help = examples::REPLAY)]
    Replay(replay::Args),
    /// Stop a run: the agent now, or after the iteration.
    #[command(before_help = examples::STOP)]
    Stop(ask::StopArgs),
    /// Hold a run before its next call.
    #[command(before_help = examples::PAUSE)]
    Pause(ask::RunArgs),
    /// Let a paused run go on, or end its wait.
    #[command(before_help = examples::CONTINUE)]
    Continue(ask::RunArgs),
    /// Tell a run's agent something: it stands in the next prompt.
    #[command(before_help = examples::HINT)]
    Hint(ask::HintArgs),
    /// Put the workspace's files back as they were before a run, or after one of its iterations.
    #[command(before_help = examples::UNDO)]
    Undo(undo::Args),
    /// Hide secrets in what earlier runs left: prompts, transcripts, verification output.
    #[command(before_help = examples::REDACT)]
    Redact(redact::Args),
    /// Show what was found at protected paths and put aside, or put it back.
    #[command(before_help = examples::QUARANTINE)]
    Quarantine(quarantine::Args),
    /// Remove what agents printed and the snapshots of old runs; journals and costs stay.
    #[command(before_help = examples::PRUNE)]
    Prune(prune::Args),
    /// Verify this working tree or a branch, whoever made it, and print a receipt; or check one.
    #[command(before_help = examples::VERIFY)]
    Verify(verify::Args),
    /// Show or reset the breaker of this workspace.
    #[command(before_help = examples::CIRCUIT)]
    Circuit(circuit::Args),
    /// Analyse one agent response, from a file or stdin, and print the analysis as JSON.
    #[command(before_help = examples::ANALYZE)]
    Analyze(analyze::Args),
    /// Check a status block, or write a truthful one.
    #[command(before_help = examples::BLOCK)]
    Block(block::Args),
    /// List the agents: which are installed, their versions, what each can report.
    #[command(before_help = examples::AGENTS, after_help = include_str!("cli/topics/agents.txt"))]
    Agents(agents::Args),
    /// A day's runs in numbers, as Markdown: what was proven, what it cost, what was wasted.
    #[command(before_help = examples::REPORT)]
    Report(report::Args),
    /// The history of this workspace in numbers.
    #[command(before_help = examples::STATS)]
    Stats(stats::Args),
    /// Show, explain, check or edit the configuration.
    #[command(before_help = examples::CONFIG, after_help = include_str!("cli/topics/config.txt"))]
    Config(config::Args),
    /// Look whether everything a run needs is in order; changes nothing.
    Doctor(doctor::Args),
    /// Print what a shell loads to complete commands, run ids, agents and keys.
    Completions(completions::Args),
    /// Print a manual page, or write them all.
    Man(man::Args),
    /// Tell about a command or a topic.
    Help(topics::Args),
    /// Show what models cost, where each price comes from and how old it is.
    #[command(before_help = examples::PRICES)]
    Prices(prices::Args),
    /// Play a scripted agent: behaves like Claude Code, needs no key.
    #[command(before_help = examples::AGENT_SIM)]
    AgentSim {
        /// Its own flags; `ralph agent-sim --help` tells them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
}

/// What every command gets: where it is, where the truth lives, how to print.
#[derive(Clone)]
pub struct Here {
    /// The environment.
    pub env: Env,
    /// The workspace, absolute.
    pub workspace: PathBuf,
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
            Problem::new(
                Code::Busy,
                "there is no place for ralph's state: neither HOME nor XDG_STATE_HOME is set",
            )
            .hint("set XDG_STATE_HOME to a directory on a local disk")
        })?;
        Ok(Home::at(state.join("ralph")))
    }

    /// How stdout is coloured.
    pub fn out_style(&self) -> Style {
        self.color.style(std::io::stdout().is_terminal(), self.env.no_color, self.env.dumb)
    }

    /// How stderr is coloured.
    pub fn err_style(&self) -> Style {
        self.color.style(std::io::stderr().is_terminal(), self.env.no_color, self.env.dumb)
    }
}

#[cfg(test)]
pub use topics::EXIT_CODES;

/// Every command with its help, for the reference.
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
    let mut whole = Args::command().term_width(100);
    whole.build();
    let mut all = Vec::new();
    below(&mut whole, "ralph", &mut all);
    all
}

/// Set by a shell that asks what could come next.
pub use completions::VARIABLE as COMPLETE;

/// A shell asked what could come next, and was answered.
pub fn completed() -> bool {
    completions::answered()
}

/// Parses, runs, prints what went wrong, and gives the exit code.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return misused(&error),
    };
    let color = args.color;
    let done = here(&args).and_then(|here| {
        let hidden = here.clone();
        print::hide(move || secrets::redactor_anyway(&hidden.workspace, &hidden));
        answer(args.command, &here)
    });
    match done {
        Ok(code) => match lost() {
            Some(problem) => wrong(&problem, color),
            None => ExitCode::from(code),
        },
        Err(problem) => wrong(&problem, color),
    }
}

fn wrong(problem: &Problem, color: When) -> ExitCode {
    let env = Env::read();
    let style = color.style(std::io::stderr().is_terminal(), env.no_color, env.dumb);
    say(&problem.render(style));
    ExitCode::from(problem.code as u8)
}

/// clap's own exit code 2 would mean "blocked": wrong use is 64, and said as every other problem is.
fn misused(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    let missing = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || error.kind() == missing {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { Code::Usage as u8 } else { 0 });
    }
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let mut command = Args::command();
    command.build();
    wrong(&usage::problem(error, &command, &typed), When::Auto)
}

fn here(args: &Args) -> Result<Here, Problem> {
    let wanted = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let cannot =
        || Problem::new(Code::Usage, format!("the directory {} cannot be entered", wanted.display()));
    let workspace = wanted.canonicalize().map_err(|e| cannot().cause(&e))?;
    if !workspace.is_dir() {
        return Err(cannot().hint("it is a file; name a directory"));
    }
    let env = Env::read();
    let stderr = StderrLines::default();
    let verbose = diagnostics::is_verbose(&args.command);
    let diagnostics = diagnostics::init(&env, verbose, stderr.clone())?;
    Ok(Here { env, workspace, color: args.color, diagnostics, stderr })
}

fn answer(command: Command, here: &Here) -> Result<u8, Problem> {
    match command {
        Command::Init(args) => init::init(&args, here),
        Command::Run(args) => run::run(&args, here),
        Command::Demo(args) => demo::demo(&args, here),
        Command::Resume(args) => resume::resume(&args, here),
        Command::List(args) => list::list(&args, here),
        Command::Status(args) => status::status(&args, here),
        Command::Logs(args) => logs::logs(&args, here),
        Command::Explain(args) => explain::explain(&args, here),
        Command::Replay(args) => replay::replay(&args, here),
        Command::Stop(args) => ask::stop(&args, here),
        Command::Pause(args) => ask::pause(&args, here),
        Command::Continue(args) => ask::go_on(&args, here),
        Command::Hint(args) => ask::hint(&args, here),
        Command::Undo(args) => undo::undo(&args, here),
        Command::Verify(args) => verify::verify(&args, here),
        Command::Redact(args) => redact::redact(&args, here),
        Command::Quarantine(args) => quarantine::quarantine(&args, here),
        Command::Prune(args) => prune::prune(&args, here),
        Command::Circuit(args) => circuit::circuit(&args, here),
        Command::Analyze(args) => analyze::analyze(&args, here),
        Command::Block(args) => block::block(&args),
        Command::Config(args) => config::config(&args, here),
        Command::Doctor(args) => doctor::doctor(&args, here),
        Command::Completions(args) => completions::completions(&args, here),
        Command::Man(args) => man::man(&args, here),
        Command::Help(args) => topics::help(&args, here),
        Command::Agents(args) => agents::agents(&args, here),
        Command::Report(args) => report::report(&args, here),
        Command::Stats(args) => stats::stats(&args, here),
        Command::Prices(args) => prices::prices(&args, here),
        Command::AgentSim { args } => Ok(ralph_sim::main(args.into_iter(), &|name| std::env::var_os(name))),
    }
}
