//! The last error as templates see it: the line as it was printed when the error was seen first, where in the files it is,
//! and how often it has come back. The guard (`guard/repeat.rs`) knows only its fingerprint, which has no numbers and paths.

use super::data::LINE;
use super::head;
use crate::claim::pattern::pattern;
use crate::fingerprint::{Fingerprint, shown_line, without_escapes};
use crate::guard::repeat::Streak;
use crate::state::State;
use regex::Regex;
use serde::Serialize;
use std::sync::LazyLock;

/// Lines after the error's that may name its place: compilers and tracebacks print it there.
const AFTER: usize = 4;
/// Lines before it, for exceptions below their traceback.
const BEFORE: usize = 3;

/// The error the last iteration ended with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // names and meaning are those of the documentation of templates
pub struct LastError {
    pub text: String,
    pub times: u32,
    pub since: Option<u32>,
    pub place: Option<String>,
}

/// The last error: a failed call, otherwise what the same-error guard counts.
pub(super) fn last_error(state: &State) -> Option<LastError> {
    if let Some(fault) = &state.faults.last {
        let text = head(&fault.message, LINE);
        return Some(LastError { text, times: state.faults.running, since: None, place: None });
    }
    let Streak { error, running: times, since, .. } = state.repeat.longest();
    let error = error.as_ref()?;
    let first = state.first_error.as_ref().filter(|first| first.hash == error.hash);
    let (text, place) = first
        .and_then(|first| as_printed(&first.output, &error.head))
        .unwrap_or_else(|| (known_by_head(error), None));
    let since = Some(*since);
    Some(LastError {
        text: head(&text, LINE),
        times: *times,
        since,
        place: place.map(|place| head(&place, LINE)),
    })
}

/// An error of which only the fingerprint is left; a timeout has no line of its own.
fn known_by_head(error: &Fingerprint) -> String {
    match error.hash.strip_prefix("timeout:") {
        Some(command) => format!("`{command}` timed out"),
        None => error.head.clone(),
    }
}

/// The line that a fingerprint shows as `shown`, as it stands in the output, and its place if another line has that.
fn as_printed(output: &str, shown: &str) -> Option<(String, Option<String>)> {
    let plain = without_escapes(output);
    let lines: Vec<&str> = plain.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let at = shown_line(&lines, shown)?;
    let line = lines.get(at)?;
    let after = lines.iter().skip(at + 1).take(AFTER);
    let before = lines.get(at.saturating_sub(BEFORE)..at)?.iter().rev();
    let place = match place(line) {
        Some(_) => None,
        None => after.chain(before).find_map(|line| place(line)),
    };
    Some(((*line).to_owned(), place))
}

/// `src/main.rs:12:5`, `File "test_slug.py", line 10` and `src/a.ts(3,4)`; an address on the network is none.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"File "(?<file>[^"]+)", line (?<line>[0-9]+)|"#,
        r"(?:^|[ (\[\x22'=>])(?<path>[[:word:]./\\@~+-]*[[:word:]]\.[[:alpha:]]{1,5})(?::(?<row>[0-9]+)|\((?<at>[0-9]+),)",
    ))
});

fn place(line: &str) -> Option<String> {
    let found = PLACE.captures(line.get(..line.floor_char_boundary(400)).unwrap_or_default())?;
    let path = found.name("file").or(found.name("path"))?;
    let number = found.name("line").or(found.name("row")).or(found.name("at"))?;
    Some(format!("{}:{}", path.as_str(), number.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> (String, Option<String>) {
        as_printed(output, &Fingerprint::of(output).head).unwrap_or_default()
    }

    #[test]
    fn an_error_is_shown_as_printed_with_its_place() {
        for (output, text, at) in [
            (
                "   Compiling x\n\x1b[31merror[E0308]\x1b[0m: mismatched types\n  --> src/main.rs:12:5\n   |\n",
                "error[E0308]: mismatched types",
                Some("src/main.rs:12"),
            ),
            (
                "Traceback (most recent call last):\n  File \"/w/slug.py\", line 10, in test\n    x\nTypeError: 3 of 7\n",
                "Traceback (most recent call last):",
                Some("/w/slug.py:10"),
            ),
            (
                "  File \"a.py\", line 3, in f\n    g(7)\nTypeError: got 7\n",
                "TypeError: got 7",
                Some("a.py:3"),
            ),
            ("src/a.ts(3,4): error TS2322: Type 'x'", "src/a.ts(3,4): error TS2322: Type 'x'", None),
            ("main.go:7:2: undefined: x", "main.go:7:2: undefined: x", None),
            (
                "error: connection refused\nhttp://example.org:8080/x 10.0.0.7:80",
                "error: connection refused",
                None,
            ),
            ("it stopped after 12 s", "it stopped after 12 s", None),
        ] {
            assert_eq!(shown(output), (text.to_owned(), at.map(Into::into)), "{output}");
        }
        assert_eq!(as_printed("nothing of the kind", "error: x"), None);
    }
}
