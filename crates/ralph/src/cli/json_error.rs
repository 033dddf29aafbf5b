//! An error under `--json`: one JSON object on stdout, whatever command failed and however early. The text for people is
//! on stderr as always.

use super::refused::refusal;
use super::usage;
use crate::print::print;
use crate::problem::Problem;

/// Commands that print lines, of which the last is always the run's result. That of `accept` is a commit, so it has a
/// result only of a run that went on.
const WITH_RESULT: &[&str] = &["run", "resume", "demo"];

/// Prints the error for a script, if the command line asks for JSON.
pub fn print_if_asked(problem: &Problem, typed: &[String]) {
    if let Some(line) = line(problem, typed) {
        print(&(line + "\n"));
    }
}

fn line(problem: &Problem, typed: &[String]) -> Option<String> {
    let mut own = typed.iter().take_while(|word| *word != "--");
    own.any(|word| word == "--json").then(|| {
        let command = usage::command_words(typed).next();
        let of_run = problem.run.is_some() || problem.result.is_some();
        let value = match of_run || command.is_some_and(|name| WITH_RESULT.contains(&name)) {
            true => refusal(problem),
            false => problem.json(),
        };
        value.to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;

    fn kind(typed: &[&str]) -> Option<String> {
        let problem = Problem::new(Code::Usage, "wrong").hint("do this");
        let typed: Vec<String> = typed.iter().map(ToString::to_string).collect();
        let line = line(&problem, &typed)?;
        let value: serde_json::Value = serde_json::from_str(&line).ok()?;
        Some(value["type"].as_str()?.to_owned())
    }

    #[test]
    fn commands_of_runs_end_with_a_result_and_others_with_an_error() {
        assert_eq!(kind(&["run", "x"]), None);
        assert_eq!(kind(&["run", "x", "--", "--json"]), None, "that is the agent's");
        assert_eq!(kind(&["-C", "list", "run", "x", "--json"]).as_deref(), Some("result"));
        assert_eq!(kind(&["accept", "--json"]).as_deref(), Some("error"));
        assert_eq!(kind(&["lst", "--json"]).as_deref(), Some("error"));
        assert_eq!(kind(&["--json"]).as_deref(), Some("error"));
    }
}
