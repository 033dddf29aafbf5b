//! `ralph help TOPIC`: what belongs to no single command, each on one screen. A command's name works too.

use super::exit_codes::EXIT_CODES;
use super::help::whole;
use super::{Here, files};
use crate::config;
use crate::nearest::nearest;
use crate::print::print;
use crate::problem::{Code, Problem};
use clap::Command;
use std::fmt::Write;

/// Arguments of `ralph help`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Command or topic.
    topic: Vec<String>,
}

/// A help text that is not about a single command.
pub struct Topic {
    /// The name to type.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    text: &'static str,
}

/// All topics.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "advice",
        about: "which tasks deserve a loop; --auto and --fallback",
        text: include_str!("topics/advice.txt"),
    },
    Topic {
        name: "agents",
        about: "choosing an agent, or using your own program",
        text: include_str!("topics/agents.txt"),
    },
    Topic {
        name: "config",
        about: "configuration files, layers, ceilings, presets",
        text: include_str!("topics/config.txt"),
    },
    Topic { name: "exit-codes", about: "what each exit code means", text: "" },
    Topic { name: "files", about: "files that ralph reads and writes", text: "" },
    Topic {
        name: "money",
        about: "spending limits, reservations, unknown costs",
        text: include_str!("topics/money.txt"),
    },
    Topic {
        name: "plans",
        about: "plans, and runs that take them story by story",
        text: include_str!("topics/plans.txt"),
    },
    Topic {
        name: "safety",
        about: "proof, protected paths, what is not sandboxed",
        text: include_str!("topics/safety.txt"),
    },
    Topic {
        name: "skills",
        about: "methods for a loop: where skills are, what a SKILL.md has",
        text: include_str!("topics/skills.txt"),
    },
    Topic {
        name: "status-block",
        about: "how an agent reports its status",
        text: include_str!("topics/status-block.txt"),
    },
    Topic { name: "variables", about: "environment variables", text: "" },
    Topic {
        name: "workspace",
        about: "one run at a time; a workspace that is lost or cannot be written",
        text: include_str!("topics/workspace.txt"),
    },
];

/// Prints the help of a command, or a topic.
pub fn help(args: &Args, _: &Here) -> Result<u8, Problem> {
    let words: Vec<&str> = args.topic.iter().map(String::as_str).collect();
    if let [name] = words.as_slice()
        && let Some(topic) = TOPICS.iter().find(|topic| topic.name == *name && !is_command(name))
    {
        print(&text(topic));
        return Ok(0);
    }
    let line = ["ralph"].into_iter().chain(words.iter().copied()).chain(["--help"]);
    match whole().try_get_matches_from(line) {
        Err(error) if !error.use_stderr() && known(&words) => {
            print(&error.render().to_string());
            Ok(0)
        }
        _ => Err(unknown(&words)),
    }
}

/// `config` and `agents` are both: the command's help ends with the topic's text.
fn is_command(name: &str) -> bool {
    whole().find_subcommand(name).is_some()
}

fn known(words: &[&str]) -> bool {
    let whole = whole();
    let mut command = &whole;
    words.iter().all(|word| {
        let inner = command.find_subcommand(word);
        command = inner.unwrap_or(command);
        inner.is_some()
    })
}

fn unknown(words: &[&str]) -> Problem {
    let typed = words.join(" ");
    let whole = whole();
    let commands = whole.get_subcommands().map(Command::get_name);
    let problem = Problem::new(Code::Usage, format!("`{typed}` is neither a command nor a help topic"));
    let problem = match nearest(&typed, commands.chain(TOPICS.iter().map(|topic| topic.name))) {
        Some(meant) => problem.hint(format!("did you mean `ralph help {meant}`?")),
        None => problem,
    };
    let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    problem.hint(format!("topics: {}; for commands: `ralph --help`", names.join(", ")))
}

/// The text of a topic.
pub fn text(topic: &Topic) -> String {
    let mut text = String::new();
    match topic.name {
        "exit-codes" => {
            text.push_str("Every command exits with one of these codes.\n\n");
            for (code, word, meaning) in EXIT_CODES {
                let _ = writeln!(text, "  {code:>3}  {word:<12} {meaning}");
            }
            text.push_str("\nNames in capitals are the `reason` of a result (`ralph run --json`, `ralph status --json`).\n");
        }
        "files" => text.push_str(&files::topic()),
        "variables" => {
            text.push_str("Each overrides the configuration files and is overridden by its flag.\n\n");
            for (name, what) in config::variables() {
                let _ = writeln!(text, "  {name:<22} {what}");
            }
            text.push_str(VARIABLES_MORE);
        }
        _ => text.push_str(topic.text),
    }
    text
}

const VARIABLES_MORE: &str = "
RALPH_LOG logs ralph's own activity to stderr: off, error, warn, info, debug or trace.
Set by ralph for agents and verify commands: RALPH_RUN, RALPH_ITERATION; for agents RALPH_CALL;
for sessions of `--mode hook` RALPH_SESSION.
Also used: HOME, XDG_STATE_HOME, XDG_CONFIG_HOME, PATH, TERM, NO_COLOR, TZ, VISUAL, EDITOR.
";

/// The list under `ralph --help`.
pub const MORE: &str = "\
Help topics (`ralph help TOPIC`):
  advice  agents  config  exit-codes  files  money  plans  safety  skills  status-block  variables
  workspace";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_says_something_and_is_listed() {
        for topic in TOPICS {
            assert!(text(topic).lines().count() > 5, "{}", topic.name);
            assert!(MORE.contains(topic.name), "{}", topic.name);
            assert!(text(topic).lines().all(|line| line.chars().count() <= 140), "{}", topic.name);
        }
    }

    #[test]
    fn every_code_that_a_problem_may_have_is_explained() {
        for code in [
            Code::Usage,
            Code::Input,
            Code::Unavailable,
            Code::Bug,
            Code::Busy,
            Code::Journal,
            Code::Config,
            Code::Breaker,
            Code::Person,
        ] {
            assert!(EXIT_CODES.iter().any(|(number, _, _)| *number == code as u8), "{code:?}");
        }
    }
}
