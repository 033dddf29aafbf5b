//! What Gemini leaves on stderr where stdout has no result: a document with the error (`-o json`), or plain words
//! among its warnings and stack traces. `failure.rs` says what it means.

use crate::Failure;
use crate::dialect::Ended;
use crate::gemini::event::{Document, Error};
use crate::gemini::failure::{FailureFacts, failure};
use crate::json::Field;
use ralph_rules::failure::Class;

/// Lines that say nothing about a failure.
const NOISE: &[&str] = &[
    "Warning: ",
    "YOLO mode is enabled",
    "Approval mode overridden",
    "Ripgrep is not available",
    "[STARTUP] ",
    "Loaded cached credentials",
    "An unexpected critical error occurred:[object",
    "    at ",
    "Attempt ",
    "Usage: ",
];

/// How many places are tried for a document, from the end.
const TRIES: usize = 20;

/// The failure that exit code and stderr tell of.
pub fn failure_in(ended: &Ended<'_>) -> Option<Failure> {
    let code = ended.exit.code.filter(|code| *code != 0)?;
    let words = words_in(ended.stderr);
    if let Some(mut told) = document(ended.stderr) {
        told.code = told.code.or(Some(code.into()));
        return Some(failure(&fuller(told, words)));
    }
    let mute = words.words.is_empty() && code == 1;
    let told = (!mute).then(|| failure(&FailureFacts { code: Some(code.into()), ..words }));
    // An exit code that stands for nothing else is that of a signal.
    told.filter(|told| told.class != Class::Unknown || code <= 128)
}

/// An error that has no name or no words of its own takes those on stderr.
pub fn fuller(mut told: FailureFacts, words: FailureFacts) -> FailureFacts {
    if matches!(told.kind.as_str(), "" | "unknown" | "Error") {
        told.kind = words.kind;
    }
    if told.words.is_empty() || told.words == "[object Object]" {
        told.words = words.words;
    }
    told
}

/// What stderr says in words.
pub fn words_in(stderr: &str) -> FailureFacts {
    let words = said(stderr);
    FailureFacts { kind: name_in(&words), words, code: None }
}

/// The last document with an error in it.
fn document(stderr: &str) -> Option<FailureFacts> {
    let starts = stderr.rmatch_indices('{').map(|(at, _)| at);
    let lines = starts.filter(|at| stderr.get(at + 1..).is_some_and(|rest| rest.starts_with('\n')));
    lines.take(TRIES).find_map(|at| {
        let document: Document<'_> =
            serde_json::Deserializer::from_str(stderr.get(at..)?).into_iter().next()?.ok()?;
        facts(document.error)
    })
}

/// What an error object says.
pub fn facts(error: Field<'_>) -> Option<FailureFacts> {
    let error: Error<'_> = error.read()?;
    let words = error.message.head(4096).unwrap_or_default().into_owned();
    let kind = error.kind.head(100).unwrap_or_default().into_owned();
    let told = !words.is_empty() || !kind.is_empty();
    told.then(|| FailureFacts {
        kind,
        words,
        code: error.code.count().and_then(|code| i64::try_from(code).ok()),
    })
}

/// The lines that may say what happened. Where the client reports on the API, that line alone.
fn said(stderr: &str) -> String {
    let lines = || stderr.lines().filter(|line| !NOISE.iter().any(|noise| line.starts_with(noise)));
    let api = |line: &'_ str| -> Option<String> {
        let report = line.strip_prefix("Error when talking to Gemini API")?;
        Some(report.split_once(".json ")?.1.to_owned())
    };
    let all = || lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    lines().rev().find_map(api).unwrap_or_else(all)
}

/// The error's name before its words: `_ApiError: …`, `ModelNotFoundError: …`.
fn name_in(words: &str) -> String {
    let name = words.split(':').next().unwrap_or("").trim_start_matches('_');
    if name.ends_with("Error") && !name.contains(' ') { name.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    fn class(code: i32, stderr: &str) -> Option<Class> {
        let exit = Exit { code: Some(code), ..Exit::default() };
        failure_in(&Ended { exit, stderr }).map(|failure| failure.class)
    }

    #[test]
    fn the_last_document_counts() {
        let stderr = "Warning: x\n  status: 400\n}\n{\n \"session_id\": \"s\",\n \"error\": {\n  \"type\": \"Error\",\n  \
                      \"message\": \"hm\",\n  \"code\": 401\n }\n}\n[STARTUP] late\n";
        assert_eq!(class(145, stderr), Some(Class::Auth));
        assert_eq!(class(1, stderr), Some(Class::Auth));
        assert_eq!(class(0, stderr), None);
    }

    #[test]
    fn words_among_noise_are_found() {
        let trace = "    at async main (file:///gemini.js:17627:5) {\n  code: 404\n}\n";
        let report = "Error when talking to Gemini API Full report available at: /tmp/r.json ModelNotFoundError: model: m\n";
        assert_eq!(class(1, &format!("Warning: y\n{report}{trace}")), Some(Class::BadRequest));
        assert_eq!(class(41, "When using Gemini API, you must specify the key."), Some(Class::Auth));
        assert_eq!(class(1, "Unknown argument: nonsense\nUsage: gemini"), Some(Class::BadRequest));
        assert_eq!(class(1, "YOLO mode is enabled.\n"), None);
        assert_eq!(class(9, "{\n{\n{\n"), Some(Class::Unknown));
    }
}
