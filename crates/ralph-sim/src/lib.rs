//! The scripted agent: imitates Claude Code and misbehaves on demand. Shipped as `ralph agent-sim`, used by `ralph
//! demo` and by the tests of every crate that starts an agent.
//!
//! One call: `flags` → `script` (what to do in this iteration) → `perform` (does it) → `output` (prints it as Claude
//! would). `demo` has the built-in demonstration. The script language:
//!
//! ```text
#![doc = include_str!("help.txt")]
//! ```

mod calls;
mod claim;
mod clock;
pub mod demo;
mod flags;
mod ids;
mod object;
mod output;
mod perform;
mod price;
mod script;

use flags::{Flags, Mode};
use ids::Ids;
use output::{Output, SessionInfo, VERSION};
use perform::{Given, Performer};
use script::{Action, Mistake, Script};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What `--help` prints: flags, script language, examples.
pub const HELP: &str = include_str!("help.txt");

const MODEL: &str = "claude-sonnet-4-5";
/// The script or the command line is wrong.
const USAGE: u8 = 64;

/// Runs the agent on the arguments that follow `agent-sim`, with `env` to look up environment variables, on the
/// process's own stdin, stdout and stderr. Returns the exit code. Takes over SIGTERM, SIGINT and SIGHUP.
pub fn main(args: impl Iterator<Item = OsString>, env: &dyn Fn(&str) -> Option<OsString>) -> u8 {
    let args: Vec<OsString> = args.collect();
    let self_command = args_before(args.len());
    let asked = match flags::read(args.into_iter()) {
        Ok(asked) => asked,
        Err(why) => return refuse(&SimError::Flag(why)),
    };
    match asked {
        Mode::Help => print(HELP),
        Mode::Version => print(&format!("{VERSION} (Claude Code)\n")),
        Mode::Child(kind, command) => perform::become_child(kind, &command),
        Mode::Run(flags) => match chosen(&flags, env) {
            Ok(actions) => perform(*flags, actions, env, self_command),
            Err(wrong) => refuse(&wrong),
        },
    }
}

/// Why no script was run.
#[derive(Debug, thiserror::Error)]
enum SimError {
    #[error("{0} (--help lists the flags)")]
    Flag(String),
    #[error("no script: give --script FILE or --do 'say hello; claim complete' (--help shows more)")]
    NoScript,
    #[error("cannot read the script {0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    #[error("{}", mistakes.iter().map(|m| format!("{name}, {m}")).collect::<Vec<_>>().join("\nagent-sim: "))]
    Script { name: String, mistakes: Vec<Mistake> },
    #[error("the script has no section for iteration {0}: add [{0}] or [*]")]
    NoSection(u32),
    #[error("RALPH_ITERATION={0} is not a number")]
    Iteration(String),
    #[error(
        "the script has sections such as [1.2], which need a call counter: give --calls FILE (outside the workspace)"
    )]
    NotCounted,
    #[error("cannot count calls in {0}: {1}")]
    Uncountable(PathBuf, std::io::Error),
}

/// The actions of this call.
fn chosen(flags: &Flags, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Vec<Action>, SimError> {
    let (name, text) =
        match (&flags.inline, flags.script.clone().or_else(|| env("RALPH_SIM_SCRIPT").map(Into::into))) {
            (Some(inline), _) => ("--do".to_owned(), script::from_inline(inline)),
            (None, Some(path)) => match std::fs::read_to_string(&path) {
                Ok(text) => (path.display().to_string(), text),
                Err(error) => return Err(SimError::Unreadable(path, error)),
            },
            // `ralph run --agent sim` without a script.
            (None, None) if env("RALPH_RUN").is_some() => {
                ("the demo's script".to_owned(), demo::SCRIPT.to_owned())
            }
            (None, None) => return Err(SimError::NoScript),
        };
    let script = Script::parse(&text).map_err(|mistakes| SimError::Script { name, mistakes })?;
    let iteration = match (flags.iteration, env("RALPH_ITERATION")) {
        (Some(number), _) => number,
        (None, Some(word)) => {
            let word = word.to_string_lossy();
            word.parse().map_err(|_| SimError::Iteration(word.into_owned()))?
        }
        (None, None) => 1,
    };
    let call = match flags.calls.clone().or_else(|| env("RALPH_SIM_CALLS").map(Into::into)) {
        Some(path) => {
            let run = env("RALPH_RUN").unwrap_or_default();
            calls::count(&path, &run.to_string_lossy(), iteration)
                .map_err(|error| SimError::Uncountable(path, error))?
        }
        None if script.counts_calls() => return Err(SimError::NotCounted),
        None => 1,
    };
    script.choose(iteration, call).ok_or(SimError::NoSection(iteration))
}

fn perform(
    flags: Flags,
    actions: Vec<Action>,
    env: &dyn Fn(&str) -> Option<OsString>,
    self_command: Vec<OsString>,
) -> u8 {
    let obey = Arc::new(AtomicBool::new(true));
    for (signal, code) in [(SIGTERM, 143), (SIGINT, 0), (SIGHUP, 129)] {
        // If it cannot be registered, the signal keeps its default action, which ends the program as well.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&obey));
    }
    let prompt = if actions.contains(&Action::IgnoreStdin) { String::new() } else { prompt() };
    // Session ids must differ between calls unless --seed is given: ralph distinguishes conversations by id.
    let seed = flags.seed.unwrap_or_else(|| {
        let time = u64::try_from(clock::now().as_nanos() & u128::from(u64::MAX)).unwrap_or(0);
        time ^ u64::from(std::process::id()).rotate_left(40)
    });
    let mut ids = Ids::seeded(seed);
    let info = SessionInfo {
        format: flags.format,
        partial: !flags.no_partial,
        model: flags.model.unwrap_or_else(|| MODEL.to_owned()),
        session: flags.session.unwrap_or_else(|| ids.uuid()),
        permission_mode: flags.permission_mode.unwrap_or_else(|| "default".to_owned()),
        cwd: std::env::current_dir().unwrap_or_default().display().to_string(),
    };
    let output = Output::new(Box::new(std::io::stdout()), info, ids);
    let given = Given { prompt, system: flags.system.unwrap_or_default(), env, self_command, obey };
    Performer::new(output, given).perform(actions)
}

/// All of stdin, which Claude reads before anything else. Nothing is read from a terminal.
fn prompt() -> String {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let _ = stdin.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// This process's arguments before the simulator's own ones, without the program.
fn args_before(own: usize) -> Vec<OsString> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let before = words.len().saturating_sub(own);
    words.into_iter().take(before).collect()
}

fn print(text: &str) -> u8 {
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

fn refuse(wrong: &SimError) -> u8 {
    let _ = writeln!(std::io::stderr(), "agent-sim: {wrong}");
    USAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_a_row_for_every_action_and_class() {
        for name in script::NAMES {
            let row = HELP
                .lines()
                .any(|line| line.strip_prefix("  ").is_some_and(|l| l.split(' ').next() == Some(name)));
            assert!(row, "no row for {name}");
        }
        for (name, _) in script::Class::ALL {
            assert!(HELP.contains(name), "{name} is not in the help");
        }
    }
}
