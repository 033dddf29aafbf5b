//! `ralph help TOPIC`: the things that belong to no single command, each on a screen. A command's name works too.

use super::{Args as Whole, Here, examples};
use crate::env::VARIABLES;
use crate::nearest::nearest;
use crate::print::print;
use crate::problem::{Code, Problem};
use clap::{Command, CommandFactory, Parser};
use std::fmt::Write;

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(before_help = examples::HELP)]
pub struct Args {
    /// A command, or a topic.
    topic: Vec<String>,
}

/// One topic.
pub struct Topic {
    /// As it is typed.
    pub name: &'static str,
    /// In a line.
    pub about: &'static str,
    text: &'static str,
}

/// All of them.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "agents",
        about: "who can work, and how to bring your own",
        text: include_str!("topics/agents.txt"),
    },
    Topic {
        name: "config",
        about: "files, layers, ceilings, presets",
        text: include_str!("topics/config.txt"),
    },
    Topic { name: "exit-codes", about: "what each exit code means", text: "" },
    Topic { name: "files", about: "what ralph writes, and where", text: include_str!("topics/files.txt") },
    Topic {
        name: "money",
        about: "limits, reservations, what unknown cost means",
        text: include_str!("topics/money.txt"),
    },
    Topic {
        name: "safety",
        about: "what is watched, what is not contained",
        text: include_str!("topics/safety.txt"),
    },
    Topic {
        name: "status-block",
        about: "how an agent reports, and what counts",
        text: include_str!("topics/status-block.txt"),
    },
    Topic { name: "variables", about: "every environment variable", text: "" },
];

/// Every exit code and what it means.
pub const EXIT_CODES: &[(u8, &str, &str)] = &[
    (0, "completed", "the work is done: proven, or unverified where nothing verifies"),
    (
        1,
        "stopped",
        "nothing moved: STALL, SAME_ERROR_5X, TEST_SATURATION, OUTPUT_DECLINE, CIRCUIT_OPEN, PERMISSION_DENIED",
    ),
    (2, "blocked", "a person is needed: BLOCKED"),
    (3, "a limit", "MAX_ITERATIONS, COST_LIMIT, DAILY_BUDGET, TIME_LIMIT"),
    (4, "tampering", "PROHIBITED_PATH, or evidence was changed: ORACLE_CHANGED"),
    (64, "usage", "what was typed, or a RALPH_ variable, cannot be used"),
    (65, "input", "something given to read cannot be read"),
    (69, "unavailable", "the agent (or an editor) is missing or not authenticated: AGENT_UNAVAILABLE"),
    (70, "a bug", "in ralph; please report it"),
    (73, "busy", "another ralph works here, or something cannot be created"),
    (74, "journal", "the journal cannot be written or read, or the disk is full"),
    (75, "later", "rate limited with --no-wait, or max_wait passed: RATE_LIMIT"),
    (78, "config", "a config file is wrong"),
    (129, "interrupted", "by SIGHUP; the run can be resumed"),
    (130, "interrupted", "by Ctrl-C or `ralph stop`; the run can be resumed"),
    (143, "interrupted", "by SIGTERM; the run can be resumed"),
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
    match Whole::try_parse_from(line) {
        Err(error) if !error.use_stderr() && known(&words) => {
            print(&error.render().to_string());
            Ok(0)
        }
        _ => Err(unknown(&words)),
    }
}

/// `config` and `agents` are both: the command's help says where the topic is.
fn is_command(name: &str) -> bool {
    Whole::command().find_subcommand(name).is_some()
}

fn known(words: &[&str]) -> bool {
    let whole = Whole::command();
    let mut command = &whole;
    words.iter().all(|word| {
        let inner = command.find_subcommand(word);
        command = inner.unwrap_or(command);
        inner.is_some()
    })
}

fn unknown(words: &[&str]) -> Problem {
    let typed = words.join(" ");
    let whole = Whole::command();
    let commands = whole.get_subcommands().map(Command::get_name);
    let problem = Problem::new(Code::Usage, format!("there is no command and no topic `{typed}`"));
    let problem = match nearest(&typed, commands.chain(TOPICS.iter().map(|topic| topic.name))) {
        Some(meant) => problem.hint(format!("did you mean `ralph help {meant}`?")),
        None => problem,
    };
    let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    problem.hint(format!("topics are {}", names.join(", "))).hint("`ralph --help` lists the commands")
}

/// A topic's text.
pub fn text(topic: &Topic) -> String {
    let mut text = String::new();
    match topic.name {
        "exit-codes" => {
            text.push_str("Every command ends with one of these.\n\n");
            for (code, word, meaning) in EXIT_CODES {
                let _ = writeln!(text, "  {code:>3}  {word:<12} {meaning}");
            }
            text.push_str("\nA name in capitals is the `reason` of the result (`ralph run --json`, `ralph status --json`).\n");
        }
        "variables" => {
            text.push_str("Each stands above every config file and below the flag of the same name.\n\n");
            for (name, what) in VARIABLES {
                let _ = writeln!(text, "  {name:<22} {what}");
            }
            text.push_str(VARIABLES_MORE);
        }
        _ => text.push_str(topic.text),
    }
    text
}

const VARIABLES_MORE: &str = "
RALPH_LOG prints what ralph does itself to stderr: off, error, warn, info, debug or trace.
Set by ralph for agents and verification, not settings: RALPH_RUN, RALPH_ITERATION.
Also read: HOME, XDG_STATE_HOME, XDG_CONFIG_HOME, PATH, TERM, NO_COLOR, TZ, VISUAL, EDITOR.
";

/// The list under `ralph --help`.
pub const MORE: &str = "\
Topics, by `ralph help TOPIC`:
  agents  config  exit-codes  files  money  safety  status-block  variables";

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
        ] {
            assert!(EXIT_CODES.iter().any(|(number, _, _)| *number == code as u8), "{code:?}");
        }
    }
}
