//! Errors that a message reports: lines in the format in which programs print them. Sentences about errors do not count,
//! nor do lines in a fence or a quotation, nor errors of the past ("The build used to fail with:", "… (fixed)").

use super::message_lines::{Line, LineKind, Message};
use super::pattern::pattern;
use crate::fingerprint::{ErrorCount, Fingerprint};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Distinct errors reported per message, at most.
const MOST: usize = 10;
/// How much of a line is looked at.
const WIDTH: usize = 400;
/// A sentence about an error is at most this many lines away from it.
const NEAR: usize = 2;

/// Compilers, interpreters, test runners, package managers.
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?i:(?:fatal |internal |compile |build |syntax |api )?error(?: ?\[?[A-Z]*[0-9]+\]?)?: )|",
        r"[^ :]+(?::[0-9]+){1,2}: (?:fatal )?error: |[^ (]+\([0-9]+,[0-9]+\): error |",
        r"(?:[A-Za-z_]+\.)*[A-Z][A-Za-z]*(?:Error|Exception)(?:: |$)|",
        r"(?i:fatal: )|FATAL[: ]|panic: |thread '[^']*' .{0,40}panicked at |Traceback \(most recent call last\)|",
        r"npm (?:ERR!|error) |FAILED |FAIL |--- FAIL: |not ok [0-9]+|test [^ ]+ \.\.\. FAILED|test result: FAILED|",
        r"make(?:\[[0-9]+\])?: \*+ .*Error [0-9]+|(?:[^ :]+: )*[^ :]+: command not found$|Segmentation fault)",
    ))
});

/// Every such line has one of these. Most messages have none, and the pattern is expensive to compile.
const SIGNS: [&str; 12] = [
    "rror",
    "RROR",
    "ERR!",
    "xception",
    "atal",
    "FATAL",
    "panic",
    "Traceback",
    "FAIL",
    "not ok ",
    "not found",
    "Segm",
];

/// Words of a sentence that something was repaired.
static REPAIRED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:fixed|resolved|solved|repaired|corrected|addressed|no longer|(?:is|are) gone|went away)\b",
    )
});

/// Words of an introduction that tells of the past.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:previously|formerly|originally|initially|at first|used to|",
        r"before (?:the|my|this|that) (?:fix|change|edit|patch|commit|refactoring|rewrite))\b",
    ))
});

/// Words of a sentence that an error is still there, or that it comes after what was repaired.
static STILL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:still|same|identical|persists?|not|never|cannot|[a-z]+n't|could not|unable|will|to be|needs?|",
        r"must|should|again|remain(?:s|ing)?|keeps?|fails?|left|unresolved|unfixed|try|trying|tried|",
        r"(?:now (?:the|it|i|we))|says|reports|prints|shows|stops|gives|complains|get|gets|see|sees)\b",
    ))
});

/// A note behind an error that it is over: "… (fixed)", "… — resolved now".
static OVER_AT_END: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:[(\[:;,.>→–—]|-) *(?:(?:this|that|it|now|already|is|was|has|have|been) )*",
        r"(?:fixed|resolved|solved|gone|addressed)(?: now| already)?[^a-z]*$",
    ))
});

/// A name of an error's type; in a list it is part of a description.
static TYPE_NAME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[A-Za-z_]+\.)*[A-Z][A-Za-z]*(?:Error|Exception)(?:: |$)"));

/// A summary without errors: "FAILED tests: 0", "Error: none".
static NONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i): *(?:0|no|none|n/?a|nil|null|false|nothing|no (?:errors?|failures?|problems?)(?: found)?|[-–—\x22']+)[^a-z0-9]*$",
    )
});

/// The errors a message reports, each kind once, in their order, and how many lines or things they are.
pub(super) fn reported(text: &str, message: &Message<'_>) -> (Vec<Fingerprint>, ErrorCount) {
    if !SIGNS.iter().any(|sign| text.contains(sign)) {
        return Default::default();
    }
    let (mut lines, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let reports: Vec<String> =
        present(message).into_iter().filter(|line| lines.insert(line.clone())).collect();
    let count = ErrorCount::of(&reports.join("\n"));
    let errors = reports.iter().map(|line| Fingerprint::of(line));
    (errors.filter(|error| seen.insert(error.hash.clone())).take(MOST).collect(), count)
}

/// One fingerprint for all errors of a message, independent of their order.
pub fn signature(errors: &[Fingerprint]) -> Option<Fingerprint> {
    let first = errors.first()?;
    let mut hashes: Vec<&str> = errors.iter().map(|error| error.hash.as_str()).collect();
    hashes.sort_unstable();
    let hash = if errors.len() == 1 { first.hash.clone() } else { Fingerprint::of(&hashes.join("\n")).hash };
    Some(Fingerprint { hash, head: first.head.clone() })
}

/// The lines that report an error the message does not call a thing of the past. Neighbouring reports share the sentence
/// that introduces them and the one that follows.
fn present(message: &Message<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut before: Option<&Line<'_>> = None;
    let mut group: Vec<String> = Vec::new();
    let mut introduced_as_over = false;
    let mut last = 0;
    for line in &message.lines {
        let report =
            Some(line).filter(|line| line.kind == LineKind::Prose).and_then(|line| report(line.text));
        match report {
            Some(report) => {
                if group.is_empty() {
                    introduced_as_over = before.is_some_and(|before| introduces_past(before, line));
                }
                last = line.number;
                // A report that its own line calls solved stays in the group: its neighbours share the introduction.
                group.push(if OVER_AT_END.is_match(&report) { String::new() } else { report });
            }
            // The rest of a report: a place, a note, a frame of a stack.
            None if !group.is_empty() && continues(line.text) => last = line.number,
            None => {
                let over = introduced_as_over || follows_as_past(line, last);
                close(&mut group, over, &mut found);
                before = (line.kind == LineKind::Prose).then_some(line);
            }
        }
    }
    close(&mut group, introduced_as_over, &mut found);
    found
}

fn close(group: &mut Vec<String>, over: bool, found: &mut Vec<String>) {
    let reports = group.drain(..).filter(|report| !report.is_empty() && !over);
    found.extend(reports);
}

/// The line without list and bold marks, if it has the format of an error.
fn report(text: &str) -> Option<String> {
    let cut = text.get(..text.floor_char_boundary(WIDTH)).unwrap_or(text);
    let text = cut.replace("**", "");
    let item = text.strip_prefix(['-', '*', '+', '•']).and_then(|rest| rest.strip_prefix(' '));
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = Some(digits).filter(|rest| rest.len() < text.len());
    let numbered = numbered.and_then(|rest| rest.strip_prefix(['.', ')'])?.strip_prefix(' '));
    let item = item.or(numbered);
    let bare = item.unwrap_or(&text).trim_start_matches("[ ]").trim();
    let bare = bare.trim_start_matches(['❌', '✗', '✘', '🔴', '⚠', '\u{fe0f}', ' ']);
    let described = item.is_some() && TYPE_NAME.is_match(bare);
    (REPORT.is_match(bare) && !described && !NONE.is_match(bare)).then(|| bare.to_owned())
}

/// Whether a line belongs to the report above it, as compilers and interpreters print them.
fn continues(text: &str) -> bool {
    const STARTS: [&str; 9] = ["-->", "|", "= ", "^", "note:", "help:", "at ", "File \"", "..."];
    let source = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    STARTS.iter().any(|start| text.starts_with(start))
        || (source.len() < text.len() && source.starts_with('|'))
}

/// The line above introduces an error of the past: "Before my change the build printed:".
fn introduces_past(before: &Line<'_>, report: &Line<'_>) -> bool {
    let introduces = before.text.ends_with(':') || before.text.starts_with('#');
    let sentence = last_sentence(before.text);
    let over = (REPAIRED.is_match(sentence) || PAST.is_match(sentence)) && !STILL.is_match(sentence);
    (introduces || report.number - before.number <= NEAR) && over
}

/// The line below says that it was repaired: "I fixed it by …".
fn follows_as_past(line: &Line<'_>, last_report: usize) -> bool {
    let near = line.number.saturating_sub(last_report) <= NEAR && line.kind == LineKind::Prose;
    let sentence = first_sentence(line.text);
    let over = REPAIRED.is_match(sentence) && !STILL.is_match(sentence);
    near && !line.text.starts_with('#') && !line.text.ends_with(':') && over
}

fn first_sentence(text: &str) -> &str {
    text.split(". ").next().unwrap_or(text)
}

fn last_sentence(text: &str) -> &str {
    text.rsplit(". ").next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        reported(text, &Message::new(text)).0.len()
    }

    #[test]
    fn lines_of_the_shape_of_an_error_are_found() {
        for line in [
            "error: could not compile `x`",
            "Error: Cannot find module 'y'",
            "ERROR: it broke",
            "error[E0308]: mismatched types",
            "src/a.c:3:4: error: expected ';'",
            "src/a.ts(3,4): error TS2322: Type 'x'",
            "TypeError: undefined is not a function",
            "java.lang.NullPointerException: x",
            "fatal: not a git repository",
            "thread 'main' panicked at src/lib.rs:3:9: boom",
            "Traceback (most recent call last):",
            "npm ERR! missing script: test",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "--- FAIL: TestA (0.00s)",
            "test a::b ... FAILED",
            "not ok 3 - adds numbers",
            "- error[E0308]: mismatched types",
            "1. **error[E0308]**: mismatched types",
            "❌ error[E0308]: mismatched types",
            "- [ ] error[E0308]: mismatched types",
            "make: *** [Makefile:3: all] Error 2",
            "bash: cargo: command not found",
            "FAIL src/x.test.ts",
            "test result: FAILED. 3 passed; 1 failed",
            "Segmentation fault (core dumped)",
        ] {
            assert_eq!(found(&format!("I ran it:\n\n  {line}\n\nI will look at it next.\n")), 1, "{line}");
        }
    }

    #[test]
    fn words_about_errors_are_none() {
        for line in [
            "{\"is_error\": false}",
            "I fixed the error: it was a typo",
            "Errors: 0",
            "The error handling now says Error: x",
            "- Error messages are clearer",
            "error",
            "No errors.",
            "FAILED_STATES is a table",
            "it fails with TypeError: x when empty",
            "FAILED tests: 0",
            "Error: none",
            "Error: n/a",
            "**Error:** none",
            "error: no errors found",
            "error: \"\"",
            "Error: -",
            "- ConfigError",
            "- ParseError: returned when the file is empty",
        ] {
            assert_eq!(found(line), 0, "{line}");
        }
    }

    #[test]
    fn quoted_and_past_errors_do_not_count() {
        for text in [
            "I ran it:\n```\nerror[E0308]: mismatched types\n```\n",
            "> error[E0308]: mismatched types",
            "`error[E0308]: mismatched types`",
            "\"error[E0308]: mismatched types\" is what the user saw.",
            "error[E0308]: mismatched types (fixed)",
            "error[E0308]: mismatched types — now resolved.",
            "- error[E0308]: mismatched types -> fixed",
            "The error was:\n\nerror[E0308]: mismatched types\n --> src/a.rs:3:4\n\nI fixed it with a cast.",
            "Before my change the build printed:\nerror[E0308]: mismatched types\n  --> src/a.rs:3:4\n   |\nTypeError: x",
            "## Fixed\n\n- error[E0308]: mismatched types\n- error[E0382]: use of moved value",
            "error[E0308]: mismatched types\n\nI fixed it with a cast. All tests pass.",
            "error[E0308]: mismatched types\nThis is resolved now.",
        ] {
            assert_eq!(found(text), 0, "{text}");
        }
    }

    #[test]
    fn an_error_that_is_still_there_counts_whatever_else_is_past() {
        for text in [
            "I fixed the parser. Now the build says:\n\nerror[E0308]: mismatched types",
            "I fixed two of them, but the build still fails with:\nerror[E0308]: mismatched types",
            "error[E0308]: mismatched types\n\nThis could not be fixed yet.",
            "error[E0308]: mismatched types\n\nI will have it fixed in the next iteration.",
            "error: value was moved here and not resolved",
            "The tests ran. I got:\nerror[E0308]: mismatched types",
            "I get the same error as in the previous iteration:\nerror[E0308]: mismatched types",
            "error[E0308]: mismatched types\nSame error as in the previous iteration.",
            "error[E0308]: mismatched types\nThis is identical to the earlier failure.",
            "I fixed the import and now the compiler says:\nerror[E0308]: mismatched types",
            "I fixed two tests, and the build stops with:\nerror[E0308]: mismatched types",
            "I have gone through every call site, and the compiler reports:\nerror[E0308]: mismatched types",
            "I ran the build, and the error was:\nerror[E0308]: mismatched types",
            "a.c:3:4: error: redefinition of 'x'\nnote: previous definition of 'x' was here",
        ] {
            assert_eq!(found(text), 1, "{text}");
        }
    }

    #[test]
    fn the_same_errors_have_the_same_signature() {
        let sign = |text: &str| signature(&reported(text, &Message::new(text)).0).map(|error| error.hash);
        let first = sign("error: a at line 3\nTypeError: b");
        assert!(first.is_some());
        assert_eq!(first, sign("TypeError: b\nTypeError: b\nerror: a at line 99"));
        assert_ne!(first, sign("TypeError: b"));
        assert_eq!(sign("nothing"), None);
    }
}
