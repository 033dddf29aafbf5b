//! Lines that no test can notice: blank ones, comments and documentation.

use crate::language::{Language, language};
use crate::parts::{python, rust};

/// For each line, whether it is blank, a comment or documentation.
pub fn lines(path: &[u8], text: &str) -> Vec<bool> {
    match language(path) {
        Language::Rust => outside(text, &rust::code_spans(text)),
        Language::Python => match python::code_spans(text) {
            Some(code) => outside(text, &code),
            None => by_prefix(text, &["#"]),
        },
        Language::JavaScript | Language::Go | Language::C | Language::Java => slashes(text),
        Language::Shell
        | Language::Make
        | Language::Ruby
        | Language::Perl
        | Language::Yaml
        | Language::Toml => by_prefix(text, &["#"]),
        Language::Json | Language::Other => by_prefix(text, &[]),
        Language::Markup => vec![true; text.split_inclusive('\n').count()],
    }
}

/// Lines that none of these spans touches.
fn outside(text: &str, spans: &[std::ops::Range<usize>]) -> Vec<bool> {
    let (mut at, mut next) = (0, 0);
    text.split_inclusive('\n')
        .map(|line| {
            let end = at + line.len();
            while spans.get(next).is_some_and(|span| span.end <= at) {
                next += 1;
            }
            let touched = spans.get(next).is_some_and(|span| span.start < end);
            at = end;
            !touched
        })
        .collect()
}

fn by_prefix(text: &str, prefixes: &[&str]) -> Vec<bool> {
    text.split_inclusive('\n')
        .enumerate()
        .map(|(number, line)| {
            let line = line.trim();
            let directive = number == 0 && line.starts_with("#!");
            line.is_empty() || !directive && prefixes.iter().any(|prefix| line.starts_with(prefix))
        })
        .collect()
}

/// Comments from `//` to the end of the line and from `/*` to `*/`, where they begin a line. A comment that tells a tool
/// something is no comment.
fn slashes(text: &str) -> Vec<bool> {
    let mut inside = false;
    text.split_inclusive('\n')
        .map(|line| {
            let line = line.trim();
            if inside {
                let Some((_, after)) = line.split_once("*/") else { return true };
                inside = false;
                return after.trim().is_empty();
            }
            if let Some(rest) = line.strip_prefix("/*") {
                let Some((_, after)) = rest.split_once("*/") else {
                    inside = true;
                    return true;
                };
                return after.trim().is_empty();
            }
            let told = ["//go:", "// +build", "//export", "// @", "//@", "// eslint"];
            line.is_empty() || line.starts_with("//") && !told.iter().any(|start| line.starts_with(start))
        })
        .collect()
}
