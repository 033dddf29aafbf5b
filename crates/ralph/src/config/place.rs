//! A mistake in a config file: where it is, and what was probably meant.

use crate::problem::{Code, Problem};
use std::path::Path;

/// The problem for a file that could not be read as configuration.
pub fn mistake(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    let message = format!("{}:{line}:{column}: {}", path.display(), first_line(error.message()));
    let mut problem = Problem::new(Code::Config, message);
    if let Some(shown) = text.lines().nth(line - 1) {
        problem = problem.hint(format!("the line is: {}", shown.trim()));
    }
    match suggestion(error.message()) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    }
}

fn first_line(message: &str) -> &str {
    let line = message.lines().next().unwrap_or(message);
    line.split(", expected one of").next().unwrap_or(line)
}

/// serde names the unknown key and the keys it knows, all in backticks.
fn suggestion(message: &str) -> Option<String> {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| message.starts_with("unknown"))?;
    closest(unknown, names)
}

/// The name nearest to what was typed, if it is near.
pub fn closest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|name| (strsim::jaro_winkler(typed, name), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then(|| best.1.to_string())
}
