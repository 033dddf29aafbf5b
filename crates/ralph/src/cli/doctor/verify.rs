//! Whether the verify commands can start: their first program must be installed. What it starts in turn is not known
//! before it runs.

use super::Row;
use crate::cli::Here;
use crate::config;
use crate::problem::Code;

/// What a shell understands itself.
const OF_THE_SHELL: &[&str] = &[
    ".", ":", "[", "[[", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for", "if",
    "printf", "pwd", "set", "source", "test", "time", "trap", "true", "type", "ulimit", "umask", "unset",
    "until", "while",
];

/// One row: the commands can start, or which program is missing.
pub fn rows(here: &Here) -> Vec<Row> {
    let Ok(config) = config::load(&here.workspace, &here.env) else { return Vec::new() };
    let commands = &config.settings.verify;
    if commands.is_empty() {
        let remedy = "set verify.commands in ralph.toml, or use --verify 'your test command'";
        return vec![Row::warn("verify", "no verify command: completion cannot be verified", remedy)];
    }
    let missing = commands.iter().filter_map(|line| Some((line, missing(line, here)?)));
    let row = |(line, program): (&String, &str)| {
        let fact = format!("`{program}` is not installed, so `{line}` cannot run");
        Row::bad(
            "verify",
            Code::Config,
            fact,
            format!("install {program}, or change verify.commands in ralph.toml"),
        )
    };
    let rows: Vec<Row> = missing.map(row).collect();
    if rows.is_empty() { vec![Row::ok("verify", commands.join(" && "))] } else { rows }
}

/// The first program of a command line, if it is not installed. Anything but a plain word may mean something else to the
/// shell, and is not judged.
fn missing<'a>(line: &'a str, here: &Here) -> Option<&'a str> {
    let program = line.split_whitespace().find(|word| !is_assignment(word))?;
    let is_plain = program.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+/".contains(c));
    let judged = is_plain && !OF_THE_SHELL.contains(&program) && !line.trim_start().starts_with("PATH=");
    (judged && here.env.which(program, &here.workspace).is_none()).then_some(program)
}

/// `CI=1` before a program.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
