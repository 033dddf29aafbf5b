//! How help is laid out: what the command does, examples, usage, arguments. `ralph --help` lists its commands in groups,
//! which clap cannot do itself.

use super::Args;
use super::command::GROUPS;
use clap::builder::Styles;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;

const COMMAND: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command line as it is parsed, shown and documented.
pub fn whole() -> Command {
    laid_out(Args::command()).help_template(template())
}

fn laid_out(command: Command) -> Command {
    command.mut_args(with_default).mut_subcommands(laid_out).help_template(COMMAND)
}

/// Defaults in parentheses, as in help that is written by hand, instead of clap's brackets.
fn with_default(arg: Arg) -> Arg {
    let values: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if values.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = format!("{help} (default: {})", values.join(" "));
    arg.help(help).hide_default_value(true)
}

fn template() -> String {
    let header = *Styles::default().get_header();
    let mut text = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n".to_string();
    for (title, commands) in groups() {
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for (name, about) in commands {
            let _ = writeln!(text, "  {name:<11}  {about}");
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

/// Each group's heading with the names and one-line descriptions of its commands.
pub fn groups() -> Vec<(&'static str, Vec<(String, String)>)> {
    let row = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        (command.get_name().to_string(), about)
    };
    let group = |add: fn(Command) -> Command| add(Command::new("")).get_subcommands().map(row).collect();
    GROUPS.iter().map(|(title, add)| (*title, group(*add))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let mut grouped: Vec<String> =
            groups().into_iter().flat_map(|(_, rows)| rows.into_iter().map(|(name, _)| name)).collect();
        let mut all: Vec<String> =
            Args::command().get_subcommands().map(|command| command.get_name().to_string()).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn every_command_and_flag_says_what_it_does_in_a_line() {
        fn look(command: &Command, path: &str) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 88 && !about.ends_with('.'), "{path}: {about:?}");
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty() && !help.ends_with('.'), "{path} {}: {help:?}", arg.get_id());
            }
            for inner in command.get_subcommands() {
                look(inner, &format!("{path} {}", inner.get_name()));
            }
        }
        look(&whole(), "ralph");
    }
}
