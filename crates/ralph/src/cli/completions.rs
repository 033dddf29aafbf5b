//! `ralph completions`: a few lines for a shell that ask this program what could come next, so that run ids, agents and
//! keys are those of this moment. The shell calls `ralph` with `RALPH_COMPLETE` set; `main.rs` sends that here.

use super::{Here, help, topics};
use crate::config;
use crate::env::Env;
use crate::print::print;
use crate::problem::{Code, Problem};
use clap::Command;
use clap_complete::engine::ArgValueCompleter;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use ralph_agents::registry::AGENTS;
use ralph_engine::home::Home;
use ralph_store::{RunFilter, RunRow, Store};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variable a shell sets when it asks.
pub const VARIABLE: &str = "RALPH_COMPLETE";

/// Runs that are offered, at most.
const MOST: u32 = 50;

/// Arguments of `ralph completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Shell to print completions for.
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell", "elvish"])]
    shell: String,
}

/// Prints what the shell must load.
pub fn completions(args: &Args, _: &Here) -> Result<u8, Problem> {
    let failed = |e: &(dyn std::error::Error + 'static)| {
        Problem::new(Code::Bug, "cannot generate the completions").cause(e)
    };
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else {
        return Err(Problem::new(Code::Usage, format!("no completions for `{}`", args.shell)));
    };
    let mut text = Vec::new();
    shell.write_registration(VARIABLE, "ralph", "ralph", "ralph", &mut text).map_err(|e| failed(&e))?;
    print(&String::from_utf8_lossy(&text));
    Ok(0)
}

/// Answers a shell that asks, and says whether one did.
pub fn answered() -> bool {
    let asked = CompleteEnv::with_factory(command).var(VARIABLE);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// The command line with what can be known only now.
fn command() -> Command {
    fn known(command: Command) -> Command {
        let command = command.mut_args(|arg| match arg.get_id().as_str() {
            "run" => arg.add(ArgValueCandidates::new(runs)),
            "agent" => arg.add(ArgValueCandidates::new(agents)),
            "key" => arg.add(ArgValueCompleter::new(keys)),
            "skill" => arg.add(ArgValueCandidates::new(skills)),
            "topic" => arg.add(ArgValueCompleter::new(commands_and_topics)),
            "command" => arg.add(ArgValueCompleter::new(commands)),
            _ => arg,
        });
        command.mut_subcommands(known)
    }
    known(help::whole())
}

/// The newest runs of this workspace, then those of others, by their short ids, with their tasks.
fn runs() -> Vec<CompletionCandidate> {
    let home = Env::read().state_home.map(|state| Home::at(state.join("ralph")));
    let Some(store) = home.and_then(|home| home.store_if_any().ok().flatten()) else { return Vec::new() };
    let newest = |workspace: Option<String>| {
        let filter = RunFilter { workspace, limit: Some(MOST), ..RunFilter::default() };
        store.runs(&filter).unwrap_or_default()
    };
    // The runs of a subdirectory are those of the workspace above it.
    let dir = directory().unwrap_or_default();
    let here = dir.ancestors().map(|dir| newest(Some(dir.to_string_lossy().into_owned())));
    let here = here.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default();
    let elsewhere = newest(None).into_iter().filter(|row| here.iter().all(|own| own.id != row.id));
    let all: Vec<RunRow> = here.iter().cloned().chain(elsewhere).take(MOST as usize).collect();
    let offer = |(n, row): (usize, RunRow)| {
        let help = format!("{} {}", row.status, crate::plain::plain(&row.task));
        CompletionCandidate::new(super::runs::short(&row.id)).help(Some(help.into())).display_order(Some(n))
    };
    all.into_iter().enumerate().map(offer).collect()
}

/// The directory that the command will work in: the one after `-C`, otherwise the current one.
fn directory() -> Option<PathBuf> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let given = words.windows(2).find_map(|pair| match pair {
        [flag, dir] if flag == "-C" || flag == "--directory" => Some(PathBuf::from(dir)),
        _ => None,
    });
    given.unwrap_or_else(|| PathBuf::from(".")).canonicalize().ok()
}

fn agents() -> Vec<CompletionCandidate> {
    AGENTS.iter().map(|info| CompletionCandidate::new(info.name).help(Some(info.title.into()))).collect()
}

/// The skills that are in force where the command will work.
fn skills() -> Vec<CompletionCandidate> {
    let (dir, env) = (directory().unwrap_or_default(), Env::read());
    let mut offered: Vec<CompletionCandidate> = Vec::new();
    for found in crate::skills::all(&dir, &env) {
        if offered.iter().all(|known| known.get_value() != found.name.as_str()) {
            offered.push(CompletionCandidate::new(found.name.clone()).help(Some(found.source.word().into())));
        }
    }
    offered
}

/// Keys that begin so; agents' names cannot be known.
fn keys(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting =
        config::keys().filter(|key| !key.name.contains('*') && key.name.starts_with(typed.as_ref()));
    fitting.map(|key| CompletionCandidate::new(key.name).help(Some(key.doc.into()))).collect()
}

fn commands(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = help::groups().into_iter().flat_map(|(_, commands)| commands);
    let fitting = fitting.filter(|(name, _)| name.starts_with(typed.as_ref()));
    fitting.map(|(name, about)| CompletionCandidate::new(name).help(Some(about.into()))).collect()
}

/// What `ralph help` explains; `config` and `agents` are both.
fn commands_and_topics(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut offered = commands(typed);
    let typed = typed.to_string_lossy();
    let topics = topics::TOPICS.iter().filter(|topic| topic.name.starts_with(typed.as_ref()));
    for topic in topics {
        if offered.iter().all(|known| known.get_value() != topic.name) {
            offered.push(CompletionCandidate::new(topic.name).help(Some(topic.about.into())));
        }
    }
    offered
}
