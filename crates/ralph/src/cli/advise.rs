//! `ralph advise`: says before a run whether its task deserves a loop, one call or a person. `run --auto` asks the same
//! (`auto.rs`). What the text says is read by the rules; `conditions.rs` adds what this workspace knows, `text.rs` shows it.

pub mod conditions;
mod skill;
pub mod text;

use super::run::Args as RunArgs;
use super::{Here, prompt, resolve, verify};
use crate::config::{Flags, Sources};
use crate::print::{print, print_json};
use crate::problem::Problem;
use conditions::{Advice, Asked, CheckState};
use ralph_rules::advice::Verdict;
use toml::Value;

/// Exit code where a person is needed.
pub const PERSON: u8 = 2;

/// Arguments of `ralph advise`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task, or - to read it from stdin (default: the contents of PROMPT.md).
    #[arg(conflicts_with = "prompt")]
    task: Option<String>,
    /// File with the task, or - for stdin.
    #[arg(long, value_name = "FILE")]
    prompt: Option<String>,
    /// Verify command of the run (repeatable; default: the configured ones).
    #[arg(long, value_name = "CMD")]
    verify: Vec<String>,
    /// Run the verify commands now to see whether they pass.
    #[arg(long)]
    check: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the advice. The exit code is 2 where a person is needed, otherwise 0.
pub fn advise(args: &Args, here: &Here) -> Result<u8, Problem> {
    let list = || Value::Array(args.verify.iter().map(|command| Value::String(command.clone())).collect());
    let file = args.prompt.iter().map(|file| ("prompt.file", Value::String(file.clone())));
    let commands = (!args.verify.is_empty()).then(|| ("verify.commands", list()));
    let settings = Flags::of(file.chain(commands));
    let typed = RunArgs { task: args.task.clone(), settings, ..RunArgs::default() };
    let typed = prompt::typed(&typed, here)?;
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let config = sources.variables(&here.env).flags(&typed.settings).load()?;
    let settings = &config.settings;
    let (task, _) = prompt::prompt(&typed, settings, here)?;
    let checked = match args.check && !settings.verify.is_empty() {
        true => Some(CheckState { green: verify::is_green(&settings.verify, settings, here)?, seen: None }),
        false => None,
    };
    let protect = resolve::protect(settings);
    let limits = (settings.max_iterations, settings.max_cost, settings.ceilings);
    let asked = Asked { task: &task, verify: &settings.verify, protect: &protect, limits, checked };
    let advice = Advice::of(&asked, here)?;
    match args.json {
        true => print_json(&advice)?,
        false => print(&text::text(&advice, here.out_style())),
    }
    Ok(if advice.verdict == Verdict::Person { PERSON } else { 0 })
}
