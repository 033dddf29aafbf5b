//! PROMPT.md: a common frame, plus conventions of each detected stack.

use super::found::{Found, Stack, Use};
use std::fmt::Write;

const FRAME: &str = include_str!("templates/prompt.md");

/// The placeholder until a person writes the task.
const NO_TASK: &str = "\
Make every check below pass without weakening any of them. If they all pass already, there is nothing to do: say so.

(Replace this text with your task. Describe what must be true when it is done, and how to tell.)";

/// The whole file.
pub fn prompt(project: &str, task: Option<&str>, found: &[Found], verify: &[String]) -> String {
    let project = if project.is_empty() { "unnamed".into() } else { format!("`{project}`") };
    FRAME
        .replace("{{project}}", &project)
        .replace("{{stacks}}", &stacks(found))
        .replace("{{checks}}", &checks(found, verify))
        .replace("{{habits}}", &habits(found))
        .replace("{{next}}", next(found))
        // Last, so that nothing in the task is replaced.
        .replace("{{task}}", task.unwrap_or(NO_TASK))
}

fn stacks(found: &[Found]) -> String {
    let names: Vec<String> = found.iter().map(Found::words).collect();
    match names.as_slice() {
        [] => "First find out how it is built and tested.".into(),
        names => format!("It uses {}.", names.join(", ")),
    }
}

fn checks(found: &[Found], verify: &[String]) -> String {
    if verify.is_empty() {
        return "There is no verify command yet. If you find out how to test this project, document it in the README.".into();
    }
    let mut text = "The work is done when all of these commands pass:\n".to_string();
    for command in verify {
        let _ = write!(text, "\n    {command}");
    }
    let more: Vec<String> = found
        .iter()
        .flat_map(|f| f.checks.iter().filter(|c| c.what == Use::Lint).map(|c| f.at_top(c)))
        .filter(|command| !verify.contains(command))
        .collect();
    if !more.is_empty() {
        let _ = write!(text, "\n\nAlso useful: `{}`.", more.join("`, `"));
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

/// Conventions of a stack that are easily forgotten.
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

/// An example of a next task that fits the stack.
fn next(found: &[Found]) -> &'static str {
    match found.first().map(|f| f.stack) {
        Some(Stack::Rust) => "handle the empty input in `parse` and test it",
        Some(Stack::Node) => "validate the request body in the second route",
        Some(Stack::Python) => "replace the bare except in the loader and test it",
        Some(Stack::Go) => "return the error of Close instead of dropping it",
        _ => "cover the error path of the importer with a test",
    }
}
