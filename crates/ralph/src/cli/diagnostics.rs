//! What ralph logs about itself: how much is printed, and where a run keeps it.

use super::Here;
use super::command::{Command, ControlCommand, RunCommand};
use crate::env::{Env, LOG};
use crate::problem::{Code, Problem};
use crate::show::StderrLines;
use ralph_diagnostics::{Attached, DebugLog, Diagnostics, Level};
use ralph_engine::redact::Redactor;
use std::path::Path;
use std::sync::Arc;

/// Installs the log: to stderr as far as `RALPH_LOG` or `-v` ask for it.
pub fn init(env: &Env, verbose: bool, stderr: StderrLines) -> Result<Diagnostics, Problem> {
    let asked = env.log.as_deref().map(str::parse::<Level>).transpose().map_err(|unknown| {
        Problem::new(Code::Usage, format!("{LOG}: {unknown}")).hint(format!("{LOG}=debug ralph …"))
    })?;
    let level = asked.unwrap_or(if verbose { Level::Debug } else { Level::Off });
    Ok(ralph_diagnostics::init(level, move |line| stderr.line(line)))
}

/// Whether `-v` was given.
pub fn is_verbose(command: &Command) -> bool {
    match command {
        Command::Run(RunCommand::Run(args)) => args.output.verbose,
        Command::Run(RunCommand::Resume(args)) => args.output.verbose,
        Command::Control(ControlCommand::Accept(args)) => args.output.verbose,
        _ => false,
    }
}

/// Keeps this run's log in its folder, without secrets, as long as the answer is held.
pub fn keep_log(folder: &Path, redactor: &Arc<Redactor>, here: &Here) -> Attached {
    let redactor = Arc::clone(redactor);
    let clean = Box::new(move |line: &str| redactor.redact(line).into_owned());
    here.diagnostics.attach(DebugLog::new(folder, clean))
}
