//! THE FACE: the binary `ralph`. Everything a person touches: command line, configuration, what is printed. The work is
//! done by the hands (`ralph-engine`), decided by the rules (`ralph-rules`). Start with `cli.rs`.

mod cli;
mod config;
mod env;
#[cfg(test)]
mod fresh;
mod git_command;
mod init;
mod nearest;
mod print;
mod problem;
#[cfg(test)]
mod reference;
mod show;
mod skills;
mod style;
mod values;
mod views;

use ralph_view::plain;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    let first = first.as_ref().and_then(|a| a.to_str());
    // Clients call hooks for every session, and most have no run: those end here.
    if first == Some("hook")
        && let Some(code) = cli::hook::answered_client(std::env::args_os().skip(2))
    {
        return code;
    }
    // These have their own ways with signals.
    if !matches!(first, Some("__supervise" | "__box" | "__init" | "__probe" | "agent-sim")) {
        ralph_engine::signals::exit_on_signal();
    }
    if std::env::var_os(cli::COMPLETE).is_some() && cli::completed() {
        return ExitCode::SUCCESS;
    }
    // The supervisor, the sandbox and the scripted agent start many times a run: they go before any parsing.
    match first {
        Some("__supervise") => ralph_supervisor::supervise(args),
        Some("__box") => ralph_sandbox::run_box(args),
        Some("__init") => ralph_sandbox::run_init(args),
        Some("__probe") => ralph_sandbox::run_probe(args),
        Some("agent-sim") => ExitCode::from(ralph_sim::main(args, &|name| std::env::var_os(name))),
        _ => cli::main(),
    }
}
