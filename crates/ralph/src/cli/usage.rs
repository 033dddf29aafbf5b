//! Errors of the command line in the same shape as all others: message, hints, exit code 64.

use crate::nearest::nearest;
use crate::problem::{Code, Problem};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A parser's error as a problem. `typed` is the command line, without the program.
pub fn problem(error: &clap::Error, command: &Command, typed: &[String]) -> Problem {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let message = text.split("\n\n").next().unwrap_or(text).trim_end();
    let problem = Problem::new(Code::Usage, in_backticks(message));
    let (command, path) = meant(command, typed);
    let problem = match suggestion(error, command) {
        Some(word) => problem.hint(format!("did you mean `{word}`?")),
        None => problem,
    };
    problem.hint(format!("see `{path} --help`"))
}

/// The command whose arguments were being read, and how it is called.
fn meant<'a>(mut command: &'a Command, typed: &[String]) -> (&'a Command, String) {
    let mut path = "ralph".to_string();
    for word in typed.iter().filter(|word| !word.starts_with('-')) {
        let Some(inner) = command.find_subcommand(word) else { break };
        command = inner;
        path = format!("{path} {word}");
    }
    (command, path)
}

fn suggestion(error: &clap::Error, command: &Command) -> Option<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let offered = kinds.iter().find_map(|kind| match error.get(*kind)? {
        ContextValue::String(word) => Some(word.clone()),
        // The best of them stands last.
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    });
    if offered.is_some() {
        return offered;
    }
    let word = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let typed = word(ContextKind::InvalidArg)?;
            let flags = command.get_arguments().filter_map(|arg| arg.get_long());
            nearest(typed.strip_prefix("--")?, flags).map(|flag| format!("--{flag}"))
        }
        ErrorKind::InvalidSubcommand => {
            let typed = word(ContextKind::InvalidSubcommand)?;
            nearest(&typed, command.get_subcommands().map(Command::get_name))
        }
        _ => None,
    }
}

/// What was typed is in backticks everywhere else.
fn in_backticks(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    let quotes = line.matches('\'').count();
    if quotes > 0 && quotes % 2 == 0 { line.replace('\'', "`") } else { line }
}
