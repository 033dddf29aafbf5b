//! PROMPT.md: one frame, and for each stack the habits an agent should have in it.

use super::found::{Found, Stack, Use};
use std::fmt::Write;

const FRAME: &str = include_str!("templates/prompt.md");

/// What the task says until a person writes it.
const NO_TASK: &str = "\
Make every check below pass without weakening any of them. Where they pass already, nothing is left to do: say so.

(Replace these lines by what you want done. Say what must be true in the end, and how one would notice.)";

/// The whole file.
pub fn prompt(project: &str, task: Option<&str>, found: &[Found], verify: &[String]) -> String {
    let project = if project.is_empty() { "without a name".into() } else { format!("`{project}`") };
    FRAME
        .replace("{{project}}", &project)
        .replace("{{stacks}}", &stacks(found))
        .replace("{{checks}}", &checks(found, verify))
        .replace("{{habits}}", &habits(found))
        .replace("{{next}}", next(found))
        // Last: whatever stands in it stays as it was typed.
        .replace("{{task}}", task.unwrap_or(NO_TASK))
}

fn stacks(found: &[Found]) -> String {
    let names: Vec<String> = found.iter().map(Found::words).collect();
    match names.as_slice() {
        [] => "Find out first what it is made of and how it is built and tested.".into(),
        names => format!("It is made of: {}.", names.join(", ")),
    }
}

fn checks(found: &[Found], verify: &[String]) -> String {
    if verify.is_empty() {
        return "No command proves the work yet. If you find out how this project is tested, write it into the README.".into();
    }
    let mut text = "The work counts as done when all of these pass:\n".to_string();
    for command in verify {
        let _ = write!(text, "\n    {command}");
    }
    let more: Vec<String> = found
        .iter()
        .flat_map(|f| f.checks.iter().filter(|c| c.what == Use::Lint).map(|c| f.at_top(c)))
        .filter(|command| !verify.contains(command))
        .collect();
    if !more.is_empty() {
        let _ = write!(text, "\n\nWorth running too: `{}`.", more.join("`, `"));
    }
    text
}

fn habits(found: &[Found]) -> String {
    let mut seen = Vec::new();
    let mut text = String::new();
    for stack in found.iter().map(|f| f.stack) {
        if !seen.contains(&stack) {
            seen.push(stack);
            let _ = write!(text, "\n{}", of(stack));
        }
    }
    text
}

/// What is usual in a stack and easily forgotten.
fn of(stack: Stack) -> &'static str {
    match stack {
        Stack::Rust => include_str!("templates/rust.md"),
        Stack::Node => include_str!("templates/node.md"),
        Stack::Python => include_str!("templates/python.md"),
        Stack::Go => include_str!("templates/go.md"),
        Stack::Maven | Stack::Gradle => include_str!("templates/java.md"),
        Stack::DotNet => include_str!("templates/dotnet.md"),
        Stack::Ruby => include_str!("templates/ruby.md"),
        Stack::Php => include_str!("templates/php.md"),
        Stack::Just | Stack::Make => include_str!("templates/make.md"),
    }
}

/// A next task that sounds like one of this stack.
fn next(found: &[Found]) -> &'static str {
    match found.first().map(|f| f.stack) {
        Some(Stack::Rust) => "handle the empty input in `parse` and test it",
        Some(Stack::Node) => "validate the request body in the second route",
        Some(Stack::Python) => "replace the bare except in the loader and test it",
        Some(Stack::Go) => "return the error of Close instead of dropping it",
        _ => "cover the error path of the importer with a test",
    }
}
