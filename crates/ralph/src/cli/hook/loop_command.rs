//! What a user types to start a run in a session: `/ralph:loop TASK FLAGS` (`$ralph:loop` in Codex), or any skill with
//! `--persist`. The task needs no quotes: flags stand at its end, or before it.

use super::words::{Word, words};
use crate::cli::run;
use crate::cli::usage;
use crate::problem::{Code, Problem};
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use ralph_agents::Client;
use toml::Value;

/// The flag that makes a loop of a skill.
const PERSIST: &str = "--persist";

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The skill that the work follows, if one was named.
    skill: Option<&'a str>,
    /// Task and flags as typed.
    rest: &'a str,
}

impl Asked<'_> {
    /// Whether a skill was typed as a command, which a loop is to follow.
    pub fn persists(&self) -> bool {
        self.skill.is_some()
    }
}

/// Whether this starts a run, and which.
pub fn asked(prompt: &str) -> Option<Asked<'_>> {
    let prompt = prompt.trim();
    let command = prompt.strip_prefix(['/', '$'])?;
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if name == "ralph:loop" {
        return Some(Asked { skill: None, rest });
    }
    // Paths begin with a slash, too.
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let skill = name.rsplit(':').next().filter(|skill| !skill.is_empty() && name.chars().all(is_name))?;
    let persists = rest.contains(PERSIST) && words(rest).iter().any(is_persist);
    persists.then_some(Asked { skill: Some(skill), rest })
}

fn is_persist(word: &Word) -> bool {
    word.is_flag() && word.text == PERSIST
}

#[derive(Debug, Parser)]
#[command(name = "/ralph:loop", no_binary_name = true, disable_help_flag = true)]
struct Loop {
    #[command(flatten)]
    run: run::Args,
}

/// The arguments of the run that was asked for, with the session's client as its agent.
pub fn args(asked: Asked<'_>, client: Client) -> Result<run::Args, Problem> {
    let all: Vec<Word> = words(asked.rest).into_iter().filter(|word| !is_persist(word)).collect();
    let (task, mut args) = split(asked.rest, &all)?;
    fits_a_session(&args)?;
    args.task = task;
    args.skill = asked.skill.map(ToOwned::to_owned).or(args.skill);
    args.settings = args.settings.with("agent.name", Value::String(client.agent().into()));
    Ok(args)
}

/// Separates the task from the flags. The flags begin where everything that follows can be read as flags.
fn split(text: &str, all: &[Word]) -> Result<(Option<String>, run::Args), Problem> {
    if all.first().is_some_and(Word::is_flag) {
        return flags_first(text, all);
    }
    for (at, word) in all.iter().enumerate().filter(|(_, word)| word.is_flag()) {
        let after = all.get(at..).unwrap_or_default();
        if !looks_like_flags(after) {
            continue;
        }
        match parse(after) {
            Ok(args) if args.task.is_none() => return Ok((task(text, all.get(..at)), args)),
            // A word of the task that looks like a flag, such as "add a --json flag".
            Ok(_) => {}
            Err(error) if is_another_programs(&error) && more_flags(after) => {}
            Err(error) => return Err(wrong(&error, &word.text)),
        }
    }
    Ok((task(text, Some(all)), run::Args::default()))
}

/// `/ralph:loop --max-cost 5 Add a flag`: the task is what is left over.
fn flags_first(text: &str, all: &[Word]) -> Result<(Option<String>, run::Args), Problem> {
    let mut at = 0;
    let mut best = None;
    while at <= all.len() {
        let (before, after) = (all.get(..at).unwrap_or_default(), all.get(at..));
        match parse(before) {
            Ok(args) if args.task.is_none() => best = Some((task(text, after), args)),
            Ok(_) => break,
            Err(error) if at == all.len() && best.is_none() => return Err(wrong(&error, "")),
            Err(error) if error.kind() == ErrorKind::UnknownArgument => return Err(wrong(&error, "")),
            Err(_) => {}
        }
        at += 1;
    }
    Ok(best.unwrap_or_default())
}

/// Each flag has at most one value.
fn looks_like_flags(words: &[Word]) -> bool {
    !words.windows(2).any(|two| two.iter().all(|word| !word.is_flag()))
}

fn more_flags(words: &[Word]) -> bool {
    words.iter().skip(1).any(Word::is_flag)
}

/// A flag that ralph does not have, and nothing like it either.
fn is_another_programs(error: &clap::Error) -> bool {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    unknown && error.get(ContextKind::SuggestedArg).is_none()
}

fn parse(words: &[Word]) -> Result<run::Args, clap::Error> {
    let typed = words.iter().map(|word| word.text.as_str());
    let matches = Loop::command().try_get_matches_from(typed)?;
    Loop::from_arg_matches(&matches).map(|parsed| parsed.run)
}

/// The words of the task as typed; a single one in quotes without them.
fn task(text: &str, words: Option<&[Word]>) -> Option<String> {
    match words? {
        [] => None,
        [one] => Some(one.text.clone()),
        [first, .., last] => text.get(first.place.start..last.place.end).map(ToOwned::to_owned),
    }
}

fn wrong(error: &clap::Error, flag: &str) -> Problem {
    let typed: Vec<String> = [flag].into_iter().filter(|flag| !flag.is_empty()).map(Into::into).collect();
    let mut problem = usage::problem(error, &Loop::command(), &typed);
    problem.hints.retain(|hint| !hint.contains("--help"));
    problem
        .hint("`ralph run --help` lists the flags; a flag that belongs to the task goes into quotes with it")
}

/// Flags that say how or where ralph itself works have no meaning in a session.
fn fits_a_session(args: &run::Args) -> Result<(), Problem> {
    let out = &args.output;
    let set = [
        (args.settings.is_set("agent.name"), "--agent"),
        (args.settings.is_set("agent.model"), "--model"),
        (args.mode.is_some(), "--mode"),
        (args.auto, "--auto"),
        (args.fallback, "--fallback"),
        (args.fresh, "--fresh"),
        (args.detach || args.detached.is_some(), "--detach"),
        (args.watch, "--watch"),
        (args.dry_run, "--dry-run"),
        (args.nested, "--nested"),
        (out.json, "--json"),
        (out.quiet, "--quiet"),
        (out.verbose, "--verbose"),
        (!args.rest.is_empty(), "--"),
    ];
    match set.into_iter().find(|(on, _)| *on) {
        None => Ok(()),
        Some((_, flag)) => {
            let message = format!("{flag} does not apply to a run in this session");
            Err(Problem::new(Code::Usage, message)
                .hint("leave it out; if it belongs to the task, put the task into quotes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(prompt: &str) -> Result<run::Args, Problem> {
        args(asked(prompt).unwrap(), Client::Claude)
    }

    #[test]
    fn the_task_needs_no_quotes_and_flags_stand_at_its_end_or_before_it() {
        for (typed, task, iterations) in [
            ("/ralph:loop Add a --json flag --max-iterations 8", "Add a --json flag", true),
            ("$ralph:loop Add a flag", "Add a flag", false),
            ("/ralph:loop \"Add a --json flag\" --max-iterations 8", "Add a --json flag", true),
            ("/ralph:loop --max-iterations 8 Add a flag", "Add a flag", true),
            ("/ralph:loop --max-iterations=8 --force Add a flag", "Add a flag", true),
            (
                "/ralph:loop Don't break\n  the second line --max-iterations 8",
                "Don't break\n  the second line",
                true,
            ),
            (
                "/ralph:loop Support --verbose and --quiet in the parser",
                "Support --verbose and --quiet in the parser",
                false,
            ),
            ("/ralph:loop Fix $(rm -rf /) `id` --max-iterations 8", "Fix $(rm -rf /) `id`", true),
        ] {
            let args = parsed(typed).unwrap_or_else(|problem| panic!("{typed}: {problem:?}"));
            assert_eq!(args.task.as_deref(), Some(task), "{typed}");
            assert_eq!(args.settings.is_set("run.max_iterations"), iterations, "{typed}");
            assert_eq!(args.settings.text("agent.name"), Some("claude"), "{typed}");
        }
        assert_eq!(parsed("/ralph:loop --max-iterations 8").unwrap().task, None, "PROMPT.md is meant");
        assert_eq!(parsed("/ralph:loop").unwrap().task, None);
    }

    #[test]
    fn a_skill_makes_a_loop_where_it_persists() {
        let args = parsed("/tdd \"Implement registration\" --persist --max-iterations 8").unwrap();
        assert_eq!(
            (args.task.as_deref(), args.skill.as_deref()),
            (Some("Implement registration"), Some("tdd"))
        );
        let args = parsed("$ralph:code-cleanup --persist").unwrap();
        assert_eq!((args.task, args.skill.as_deref()), (None, Some("code-cleanup")));
        for no in [
            "/tdd \"Implement it\"",
            "/tdd \"say --persist\"",
            "/usr/bin/x --persist",
            "tdd --persist",
            "/ --persist",
        ] {
            assert_eq!(asked(no), None, "{no}");
        }
    }

    #[test]
    fn wrong_flags_are_refused_and_never_part_of_the_task() {
        for (typed, said) in [
            ("/ralph:loop Go --max-iteration 8", "--max-iteration"),
            ("/ralph:loop Go --max-iteration 8 --max-cost 5", "--max-iteration"),
            ("/ralph:loop Go --max-iterations eight", "eight"),
            ("/ralph:loop Go --max-iterations", "--max-iterations"),
            ("/ralph:loop --max-iteration 8 Go", "--max-iteration"),
            ("/ralph:loop Go --unheard-of", "--unheard-of"),
            ("/ralph:loop Go --agent codex", "--agent does not apply"),
            ("/ralph:loop Go --json", "--json does not apply"),
            ("/ralph:loop Go --fresh", "--fresh does not apply"),
            ("/ralph:loop Go --fallback", "--fallback does not apply"),
            ("/ralph:loop Go --mode hook", "--mode does not apply"),
        ] {
            let problem = parsed(typed).unwrap_err();
            assert!(problem.message.contains(said), "{typed}: {}", problem.message);
        }
    }
}
