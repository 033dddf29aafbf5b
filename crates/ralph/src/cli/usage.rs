//! Errors of the command line in the same shape as all others: message, hints, exit code 64.

use super::other_tools;
use crate::nearest::nearest;
use crate::problem::{Code, Problem};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands whose only words are a text: more than one word was meant to be one.
const WITH_TEXT: &[(&str, &str)] = &[("run", "task"), ("init", "task"), ("hint", "hint")];

/// A parser's error as a problem. `typed` is the command line, without the program.
pub fn problem(error: &clap::Error, command: &Command, typed: &[String]) -> Problem {
    let (command, path) = meant(command, typed);
    let problem = Problem::new(Code::Usage, message(error, &path));
    let problem = match instead(error, command, typed).or_else(|| example(error, command, &path)) {
        Some(hint) => problem.hint(hint),
        None => problem,
    };
    problem.hint(format!("see `{path} --help`"))
}

/// What happened. The parser's own words are kept where they name the value and what it may be.
fn message(error: &clap::Error, path: &str) -> String {
    let said = match error.kind() {
        ErrorKind::InvalidSubcommand => context(error, ContextKind::InvalidSubcommand)
            .map(|word| format!("`{path}` has no command `{word}`")),
        ErrorKind::UnknownArgument => {
            context(error, ContextKind::InvalidArg).map(|word| match word.starts_with('-') {
                true => format!("`{path}` has no option `{word}`"),
                false => format!("`{path}` does not expect `{word}`"),
            })
        }
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) => {
                Some(format!("`{path}` needs {}", missing.join(", ").replace("...", "")))
            }
            _ => None,
        },
        _ => None,
    };
    said.unwrap_or_else(|| {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let line = in_backticks(text.split("\n\n").next().unwrap_or(text).trim_end());
        // The value is named once.
        let value = context(error, ContextKind::InvalidValue).unwrap_or_default();
        let line = line.replace(&format!(": `{value}` is not a valid duration; "), ": ");
        NOT_A_NUMBER.iter().fold(line, |line, words| line.replace(words, "use a whole number, such as 3"))
    })
}

/// How the standard library says that a text is not a number.
const NOT_A_NUMBER: &[&str] = &[
    "invalid digit found in string",
    "cannot parse integer from empty string",
    "number too large to fit in target type",
];

/// The words that can name commands: no options, nor the values of those that every command has.
pub fn command_words(typed: &[String]) -> impl Iterator<Item = &str> {
    let mut is_value = false;
    typed.iter().map(String::as_str).take_while(|word| *word != "--").filter(move |word| {
        let was_value = is_value;
        is_value = matches!(*word, "-C" | "--directory" | "--color");
        !was_value && !word.starts_with('-')
    })
}

/// The command whose arguments were being read, and how it is called.
fn meant<'a>(mut command: &'a Command, typed: &[String]) -> (&'a Command, String) {
    let mut path = "ralph".to_string();
    for word in command_words(typed) {
        let Some(inner) = command.find_subcommand(word) else { break };
        command = inner;
        path = format!("{path} {word}");
    }
    (command, path)
}

/// What to type instead of a word that is not known here.
fn instead(error: &clap::Error, command: &Command, typed: &[String]) -> Option<String> {
    let did_you_mean = |word: String| format!("did you mean `{word}`?");
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = context(error, ContextKind::InvalidSubcommand)?;
            if word.contains(' ') {
                return Some(format!("to give a task: ralph run '{word}'"));
            }
            let at_top = command.get_name() == "ralph";
            let other = other_tools::command(&word).filter(|_| at_top).map(Into::into);
            other
                .or_else(|| nearest(&word, command.get_subcommands().map(Command::get_name)))
                .map(did_you_mean)
        }
        ErrorKind::UnknownArgument => {
            let word = context(error, ContextKind::InvalidArg)?;
            if word.starts_with('-') {
                flag(&word, command).map(did_you_mean)
            } else {
                quoted(command, typed)
            }
        }
        _ => suggested_value(error).map(did_you_mean),
    }
}

/// A flag that is not one of this command: another command's, another tool's, or a slip of the fingers.
fn flag(typed: &str, command: &Command) -> Option<String> {
    let name = typed.trim_start_matches('-').split('=').next().unwrap_or_default();
    let has = |command: &Command| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    let at_top = command.get_name() == "ralph";
    if at_top && command.find_subcommand("run").is_some_and(has) {
        return Some(format!("ralph run --{name}"));
    }
    let flags = command.get_arguments().filter_map(|arg| arg.get_long());
    let near = || nearest(name, flags).map(|flag| format!("--{flag}"));
    let other = other_tools::flag(typed).filter(|other| other.starts_with("ralph ") || knows(command, other));
    other.map(Into::into).or_else(near)
}

/// Whether a command has the flag that a suggestion begins with.
fn knows(command: &Command, suggestion: &str) -> bool {
    let flag = suggestion.split(' ').next().unwrap_or_default();
    command.get_arguments().any(|arg| {
        let short = arg.get_short().is_some_and(|short| flag == format!("-{short}"));
        short || arg.get_long().is_some_and(|long| flag == format!("--{long}"))
    })
}

/// Several words where one text was expected.
fn quoted(command: &Command, typed: &[String]) -> Option<String> {
    let (name, what) = WITH_TEXT.iter().find(|(name, _)| *name == command.get_name())?;
    let words =
        typed.iter().skip_while(|word| word != name).skip(1).take_while(|word| !word.starts_with('-'));
    let text = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    Some(format!("put the {what} in quotes: ralph {name} '{text}'"))
}

fn suggested_value(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::SuggestedValue)? {
        ContextValue::String(word) => Some(word.clone()),
        // The best of them stands last.
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    }
}

/// The command's first example, where something is missing.
fn example(error: &clap::Error, command: &Command, path: &str) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let examples = command.get_before_help()?.to_string();
    let line = examples.lines().map(str::trim).find(|line| line.starts_with(path))?;
    // What it does follows after a gap.
    let line = line.split("  ").next().unwrap_or(line);
    Some(format!("for example: {}", line.replace(" \\", " …")))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
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
