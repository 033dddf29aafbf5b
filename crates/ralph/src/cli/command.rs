//! Every command of `ralph`. A command belongs to the group that `ralph --help` lists it under by the enum it stands in.

use super::workspace::Finds;
use super::{
    Here, accept, advise, agents, analyze, ask, attach, block, circuit, completions, config, demo, diff,
    doctor, examples, explain, hook, init, inside, list, logs, man, notify, plan, prices, prune, quarantine,
    redact, reject, replay, report, resume, run, serve, shell_lib, skills, stats, status, topics, undo,
    verify, watch,
};
use crate::problem::Problem;
use clap::Subcommand;
use std::ffi::OsString;

/// All commands, one variant per group.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See [`RunCommand`].
    #[command(flatten)]
    Run(RunCommand),
    /// See [`LookCommand`].
    #[command(flatten)]
    Look(LookCommand),
    /// See [`ControlCommand`].
    #[command(flatten)]
    Control(ControlCommand),
    /// See [`ProveCommand`].
    #[command(flatten)]
    Prove(ProveCommand),
    /// See [`SettingsCommand`].
    #[command(flatten)]
    Settings(SettingsCommand),
    /// See [`OtherCommand`].
    #[command(flatten)]
    Other(OtherCommand),
}

/// A group's heading, and what adds its commands to a `clap::Command`.
pub type Group = (&'static str, fn(clap::Command) -> clap::Command);

/// The groups in the order of `ralph --help`.
pub const GROUPS: &[Group] = &[
    ("Run", RunCommand::augment_subcommands),
    ("Look", LookCommand::augment_subcommands),
    ("Control", ControlCommand::augment_subcommands),
    ("Prove", ProveCommand::augment_subcommands),
    ("Settings", SettingsCommand::augment_subcommands),
    ("Other", OtherCommand::augment_subcommands),
];

/// Commands that start work.
#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Set up a repository: detect its test command, write ralph.toml and PROMPT.md.
    #[command(before_help = examples::INIT)]
    Init(init::Args),
    /// Run the agent until the work is proven done or a limit stops it.
    #[command(before_help = examples::RUN)]
    Run(Box<run::Args>),
    /// Say whether a task deserves a loop, one call or a person.
    #[command(before_help = examples::ADVISE)]
    Advise(advise::Args),
    /// Resume a run that was interrupted, hit a limit or needs an answer (--hint).
    #[command(before_help = examples::RESUME)]
    Resume(resume::Args),
    /// Run in a session of Claude Code or Codex that you sit in, by its hooks.
    #[command(before_help = examples::HOOK)]
    Hook(hook::Args),
    /// Show or check a plan, say what is next in it, or import one.
    #[command(before_help = examples::PLAN)]
    Plan(plan::Args),
    /// Watch a complete run on a throwaway repository (no key, network or agent needed).
    #[command(before_help = examples::DEMO)]
    Demo(demo::Args),
}

/// Commands that show runs and change nothing.
#[derive(Debug, Subcommand)]
pub enum LookCommand {
    /// List runs, newest first.
    #[command(before_help = examples::LIST)]
    List(list::Args),
    /// Show one run, iteration by iteration.
    #[command(before_help = examples::STATUS)]
    Status(status::Args),
    /// Show what the agent said and did, or what it changed.
    #[command(before_help = examples::LOGS)]
    Logs(logs::Args),
    /// Show what a run changed, and nothing else.
    #[command(before_help = examples::DIFF)]
    Diff(diff::Args),
    /// Watch all runs, and one in depth; leaving stops none.
    #[command(before_help = examples::WATCH)]
    Watch(watch::Args),
    /// Watch and control a run in the background; leaving does not stop it.
    #[command(before_help = examples::ATTACH)]
    Attach(attach::Args),
    /// Show all runs on a page in the browser, on this machine.
    #[command(before_help = examples::SERVE)]
    Serve(serve::Args),
    /// Explain every decision in a run and why it stopped.
    #[command(before_help = examples::EXPLAIN)]
    Explain(explain::Args),
    /// Summarize a day's runs as Markdown: results, cost, waste.
    #[command(before_help = examples::REPORT)]
    Report(report::Args),
    /// Show statistics over all runs in this workspace.
    #[command(before_help = examples::STATS)]
    Stats(stats::Args),
}

/// Commands that steer a run, or take back what it did.
#[derive(Debug, Subcommand)]
pub enum ControlCommand {
    /// Stop a run now, or after its current iteration.
    #[command(before_help = examples::STOP)]
    Stop(ask::StopArgs),
    /// Pause a run before its next agent call.
    #[command(before_help = examples::PAUSE)]
    Pause(ask::RunArgs),
    /// Continue a paused run, or end its wait for a limit.
    #[command(before_help = examples::CONTINUE)]
    Continue(ask::RunArgs),
    /// Send the agent a hint, included in its next prompt.
    #[command(before_help = examples::HINT)]
    Hint(ask::HintArgs),
    /// Restore files to their state before a run, or after one of its iterations.
    #[command(before_help = examples::UNDO)]
    Undo(undo::Args),
    /// Commit exactly what a run changed, and accept it if it needs a review.
    #[command(before_help = examples::ACCEPT)]
    Accept(accept::Args),
    /// Take back what a run changed and keep it in the quarantine.
    #[command(before_help = examples::REJECT)]
    Reject(reject::Args),
    /// Show or restore changes that were removed from protected paths, or rejected.
    #[command(before_help = examples::QUARANTINE)]
    Quarantine(quarantine::Args),
    /// Show or reset the circuit breaker of this workspace, or record loops of a script.
    #[command(before_help = examples::CIRCUIT)]
    Circuit(circuit::Args),
}

/// Commands that check work, answers and decisions.
#[derive(Debug, Subcommand)]
pub enum ProveCommand {
    /// Verify the working tree or a branch and print a receipt, or check a receipt.
    #[command(before_help = examples::VERIFY)]
    Verify(verify::Args),
    /// Replay a run's decisions from its journal and compare.
    #[command(before_help = examples::REPLAY)]
    Replay(replay::Args),
    /// Analyze one agent response and print the result as JSON.
    #[command(before_help = examples::ANALYZE)]
    Analyze(analyze::Args),
    /// Check a status block, or generate a valid one.
    #[command(before_help = examples::BLOCK)]
    Block(block::Args),
}

/// Commands about settings and what a run needs.
#[derive(Debug, Subcommand)]
pub enum SettingsCommand {
    /// Show, explain, check or edit the configuration.
    #[command(before_help = examples::CONFIG, after_help = include_str!("topics/config.txt"))]
    Config(config::Args),
    /// List agents: whether installed, version, what each reports.
    #[command(before_help = examples::AGENTS, after_help = include_str!("topics/agents.txt"))]
    Agents(agents::Args),
    /// List, show or check skills: methods that a loop can follow.
    #[command(before_help = examples::SKILLS, after_help = include_str!("topics/skills.txt"))]
    Skills(skills::Args),
    /// Show model prices, their source and their date.
    #[command(before_help = examples::PRICES)]
    Prices(prices::Args),
    /// Test or list who hears about runs, and deliver notes that wait.
    #[command(before_help = examples::NOTIFY)]
    Notify(notify::Args),
    /// Check that everything a run needs is in place.
    #[command(before_help = examples::DOCTOR)]
    Doctor(doctor::Args),
}

/// Everything else.
#[derive(Debug, Subcommand)]
pub enum OtherCommand {
    /// Delete old transcripts and snapshots (journals and costs are kept).
    #[command(before_help = examples::PRUNE)]
    Prune(prune::Args),
    /// Redact secrets from past runs' files.
    #[command(before_help = examples::REDACT)]
    Redact(redact::Args),
    /// Print shell completions for commands, run ids, agents and keys.
    #[command(before_help = examples::COMPLETIONS)]
    Completions(completions::Args),
    /// Print functions for loops that are shell scripts: analyzer and circuit breaker.
    #[command(before_help = examples::SHELL_LIB)]
    ShellLib,
    /// Print a man page, or write all of them to a directory.
    #[command(before_help = examples::MAN)]
    Man(man::Args),
    /// Show help for a command or a topic.
    #[command(before_help = examples::HELP)]
    Help(topics::Args),
    /// Run the scripted agent of demos and tests (behaves like Claude Code, needs no key).
    #[command(before_help = examples::AGENT_SIM)]
    AgentSim {
        /// Options of the scripted agent (see `ralph agent-sim --help`).
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
}

impl Command {
    /// Runs the command and returns its exit code.
    pub fn answer(self, here: &Here) -> Result<u8, Problem> {
        if let Some(name) = self.for_people_only() {
            inside::for_people_only(name, here)?;
        }
        match self {
            Command::Run(command) => command.answer(here),
            Command::Look(command) => command.answer(here),
            Command::Control(command) => command.answer(here),
            Command::Prove(command) => command.answer(here),
            Command::Settings(command) => command.answer(here),
            Command::Other(command) => command.answer(here),
        }
    }
}

impl Command {
    /// Which directory it works in if none is named.
    pub fn finds(&self) -> Finds {
        match self {
            Command::Run(RunCommand::Init(_) | RunCommand::Demo(_)) => Finds::CurrentDirectory,
            Command::Run(
                RunCommand::Run(_) | RunCommand::Advise(_) | RunCommand::Hook(_) | RunCommand::Plan(_),
            )
            | Command::Settings(_) => Finds::Config,
            Command::Prove(ProveCommand::Verify(_) | ProveCommand::Analyze(_) | ProveCommand::Block(_)) => {
                Finds::Config
            }
            Command::Look(LookCommand::Serve(_) | LookCommand::Watch(_)) => Finds::RunsAtOnce,
            Command::Run(_) | Command::Look(_) | Command::Control(_) | Command::Prove(_) => Finds::Runs,
            Command::Other(OtherCommand::Prune(_) | OtherCommand::Redact(_)) => Finds::Runs,
            Command::Other(_) => Finds::CurrentDirectory,
        }
    }

    /// Whether it says where it works if that is not the current directory: those that start programs or change files.
    pub fn says_where(&self) -> bool {
        match self {
            Command::Run(RunCommand::Run(args)) => !args.output.quiet,
            Command::Run(RunCommand::Resume(args)) => !args.output.quiet,
            Command::Control(ControlCommand::Accept(args)) => !args.output.quiet,
            Command::Control(ControlCommand::Undo(_) | ControlCommand::Reject(_)) => true,
            Command::Prove(ProveCommand::Verify(_)) => true,
            _ => false,
        }
    }

    /// The command's name if agents and verify commands must not use it: it controls or judges runs, or changes what
    /// they left.
    fn for_people_only(&self) -> Option<&'static str> {
        match self {
            Command::Control(command) => command.for_people_only(),
            Command::Look(LookCommand::Attach(_)) => Some("attach"),
            Command::Look(LookCommand::Serve(_)) => Some("serve"),
            Command::Look(LookCommand::Watch(_)) => Some("watch"),
            Command::Run(RunCommand::Hook(args)) => args.for_people_only(),
            Command::Settings(SettingsCommand::Config(args)) => args.edits().then_some("config edit"),
            Command::Settings(SettingsCommand::Doctor(args)) => args.mends(),
            Command::Settings(SettingsCommand::Notify(args)) => args.for_people_only(),
            Command::Other(OtherCommand::Prune(_)) => Some("prune"),
            Command::Other(OtherCommand::Redact(_)) => Some("redact"),
            _ => None,
        }
    }
}

impl RunCommand {
    fn answer(self, here: &Here) -> Result<u8, Problem> {
        match self {
            RunCommand::Init(args) => init::init(&args, here),
            RunCommand::Run(args) => run::run(&args, here),
            RunCommand::Advise(args) => advise::advise(&args, here),
            RunCommand::Resume(args) => resume::resume(&args, here),
            RunCommand::Hook(args) => hook::hook(&args, here),
            RunCommand::Plan(args) => plan::plan(&args, here),
            RunCommand::Demo(args) => demo::demo(&args, here),
        }
    }
}

impl LookCommand {
    fn answer(self, here: &Here) -> Result<u8, Problem> {
        match self {
            LookCommand::List(args) => list::list(&args, here),
            LookCommand::Status(args) => status::status(&args, here),
            LookCommand::Logs(args) => logs::logs(&args, here),
            LookCommand::Diff(args) => diff::diff(&args, here),
            LookCommand::Watch(args) => watch::watch(&args, here),
            LookCommand::Attach(args) => attach::attach(&args, here),
            LookCommand::Serve(args) => serve::serve(&args, here),
            LookCommand::Explain(args) => explain::explain(&args, here),
            LookCommand::Report(args) => report::report(&args, here),
            LookCommand::Stats(args) => stats::stats(&args, here),
        }
    }
}

impl ControlCommand {
    fn for_people_only(&self) -> Option<&'static str> {
        match self {
            ControlCommand::Stop(_) => Some("stop"),
            ControlCommand::Pause(_) => Some("pause"),
            ControlCommand::Continue(_) => Some("continue"),
            ControlCommand::Hint(_) => Some("hint"),
            ControlCommand::Undo(_) => Some("undo"),
            ControlCommand::Accept(_) => Some("accept"),
            ControlCommand::Reject(_) => Some("reject"),
            ControlCommand::Quarantine(_) => None,
            ControlCommand::Circuit(args) => args.for_people_only(),
        }
    }

    fn answer(self, here: &Here) -> Result<u8, Problem> {
        match self {
            ControlCommand::Stop(args) => ask::stop(&args, here),
            ControlCommand::Pause(args) => ask::pause(&args, here),
            ControlCommand::Continue(args) => ask::go_on(&args, here),
            ControlCommand::Hint(args) => ask::hint(&args, here),
            ControlCommand::Undo(args) => undo::undo(&args, here),
            ControlCommand::Accept(args) => accept::accept(&args, here),
            ControlCommand::Reject(args) => reject::reject(&args, here),
            ControlCommand::Quarantine(args) => quarantine::quarantine(&args, here),
            ControlCommand::Circuit(args) => circuit::circuit(&args, here),
        }
    }
}

impl ProveCommand {
    fn answer(self, here: &Here) -> Result<u8, Problem> {
        match self {
            ProveCommand::Verify(args) => verify::verify(&args, here),
            ProveCommand::Replay(args) => replay::replay(&args, here),
            ProveCommand::Analyze(args) => analyze::analyze(&args, here),
            ProveCommand::Block(args) => block::block(&args, here),
        }
    }
}

impl SettingsCommand {
    fn answer(self, here: &Here) -> Result<u8, Problem> {
        match self {
            SettingsCommand::Config(args) => config::config(&args, here),
            SettingsCommand::Agents(args) => agents::agents(&args, here),
            SettingsCommand::Skills(args) => skills::skills(&args, here),
            SettingsCommand::Prices(args) => prices::prices(&args, here),
            SettingsCommand::Notify(args) => notify::notify(&args, here),
            SettingsCommand::Doctor(args) => doctor::doctor(&args, here),
        }
    }
}

impl OtherCommand {
    fn answer(self, here: &Here) -> Result<u8, Problem> {
        match self {
            OtherCommand::Prune(args) => prune::prune(&args, here),
            OtherCommand::Redact(args) => redact::redact(&args, here),
            OtherCommand::Completions(args) => completions::completions(&args, here),
            OtherCommand::ShellLib => shell_lib::shell_lib(here),
            OtherCommand::Man(args) => man::man(&args, here),
            OtherCommand::Help(args) => topics::help(&args, here),
            OtherCommand::AgentSim { args } => {
                Ok(ralph_sim::main(args.into_iter(), &|name| std::env::var_os(name)))
            }
        }
    }
}
