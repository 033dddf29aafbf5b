//! Messages and what must be read from them: forged, malformed and honest ones, in `claim_cases/*.txt`.
//! A case is `=== name | expectations`, then the message. What is not named is expected to be absent. `@DONE@`,
//! `@MORE@`, `@STUCK@` and `@TEMPLATE@` stand for whole blocks, `\u{…}` for the character of that number.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use ralph_rules::claim::{Claim, Exit, read};
use std::collections::{BTreeMap, BTreeSet};

const FILES: [(&str, &str); 10] = [
    ("block", include_str!("claim_cases/block.txt")),
    ("forged", include_str!("claim_cases/forged.txt")),
    ("rules", include_str!("claim_cases/rules.txt")),
    ("promise", include_str!("claim_cases/promise.txt")),
    ("phrases", include_str!("claim_cases/phrases.txt")),
    ("questions", include_str!("claim_cases/questions.txt")),
    ("lookalike", include_str!("claim_cases/lookalike.txt")),
    ("quoted", include_str!("claim_cases/quoted.txt")),
    ("repeated", include_str!("claim_cases/repeated.txt")),
    ("honest", include_str!("claim_cases/honest.txt")),
];

const TEMPLATE: &str = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\n\
    TASKS_COMPLETED_THIS_LOOP: <number>\nFILES_MODIFIED: <number>\nTESTS_STATUS: PASSING | FAILING | NOT_RUN\n\
    WORK_TYPE: IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING\nEXIT_SIGNAL: false | true\n\
    RECOMMENDATION: <one line summary>\n---END_RALPH_STATUS---";

fn block(status: &str, exit: bool, recommendation: &str) -> String {
    format!(
        "---RALPH_STATUS---\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 3\n\
         TESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: {exit}\n\
         RECOMMENDATION: {recommendation}\n---END_RALPH_STATUS---"
    )
}

struct Case {
    name: String,
    wants: BTreeMap<String, String>,
    text: String,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (file, content) in FILES {
        for part in content.split("\n=== ").skip(1) {
            let (head, text) = part.split_once('\n').unwrap();
            let (name, wants) = head.split_once('|').unwrap_or((head, ""));
            let wants = unescaped(wants);
            let wants: BTreeMap<_, _> = wants
                .split_whitespace()
                .map(|want| want.split_once('=').unwrap_or((want, "yes")))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect();
            let mut text = text
                .trim_end_matches('\n')
                .replace("@DONE@", &block("COMPLETE", true, "Shipped the parser"))
                .replace("@MORE@", &block("IN_PROGRESS", false, "Next: the parser"))
                .replace("@STUCK@", &block("BLOCKED", false, "Blocked: need credentials"))
                .replace("@TEMPLATE@", TEMPLATE);
            text = unescaped(&text);
            if wants.contains_key("crlf") {
                text = text.replace('\n', "\r\n");
            }
            cases.push(Case { name: format!("{file}/{}", name.trim()), wants, text });
        }
    }
    cases
}

/// `\u{…}` as the character it names, so that nothing invisible stands in the files.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('}').expect("\\u{ is closed");
        out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

fn names<T: serde::Serialize>(items: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    items.into_iter().map(|item| serde_json::to_value(item).unwrap().as_str().unwrap().to_owned()).collect()
}

fn list(case: &Case, key: &str) -> BTreeSet<String> {
    let value = case.wants.get(key).map_or("", String::as_str);
    value.split(',').filter(|name| !name.is_empty() && *name != "-").map(str::to_owned).collect()
}

fn check(case: &Case, claim: &Claim) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, got: String, want: String| {
        if got != want {
            wrong.push(format!("{}: {what} is {got}, not {want}", case.name));
        }
    };
    let want = |key: &str, default: &str| case.wants.get(key).map_or(default, String::as_str).to_owned();
    let yes = |truth: bool| if truth { "yes" } else { "no" }.to_owned();
    same("exit", names([claim.exit]).pop_first().unwrap(), want("exit", "absent"));
    same("block", yes(claim.block.is_some()), want("block", "no"));
    same("attempted", yes(claim.attempted), want("attempted", "no"));
    same("promise", yes(claim.promise), want("promise", "no"));
    same("asks", yes(claim.asks), want("asks", "no"));
    same("evidence", format!("{:?}", names(&claim.evidence)), format!("{:?}", list(case, "evidence")));
    let mut lints = names(claim.lints.iter().map(|lint| lint.code));
    if !case.wants.contains_key("lints") {
        lints.remove("no_block");
    }
    same("lints", format!("{lints:?}"), format!("{:?}", list(case, "lints")));
    for key in case.wants.keys() {
        let known = ["exit", "block", "attempted", "promise", "asks", "evidence", "lints", "crlf", "wanted"];
        assert!(known.contains(&key.as_str()), "{}: unknown expectation {key}", case.name);
    }
    wrong
}

#[test]
fn every_case_reads_as_written() {
    let wrong: Vec<_> = cases()
        .iter()
        .flat_map(|case| {
            let promise = case.wants.get("wanted").map_or("COMPLETE", String::as_str);
            check(case, &read(&case.text, promise))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn there_are_enough_cases_and_no_two_share_a_name() {
    let all = cases();
    let unique: BTreeSet<_> = all.iter().map(|case| &case.name).collect();
    assert_eq!(unique.len(), all.len(), "two cases share a name");
    assert!(all.len() >= 450, "only {} cases", all.len());
}

/// Whatever stands before or after it, no forged message ever asks for the end.
#[test]
fn a_forgery_stays_one_with_other_text_around_it() {
    let shown = |case: &&Case| case.name.starts_with("forged/") || case.name.starts_with("quoted/");
    for case in cases().iter().filter(shown) {
        for text in [format!("All done.\n\n{}", case.text), format!("{}\n\nThat is all.", case.text)] {
            let claim = read(&text, "COMPLETE");
            assert_ne!(claim.exit, Exit::True, "{}", case.name);
        }
    }
}

/// The way of line ends changes nothing.
#[test]
fn crlf_reads_like_lf() {
    for case in cases() {
        let crlf = case.text.replace("\r\n", "\n").replace('\n', "\r\n");
        assert_eq!(read(&case.text, "COMPLETE"), read(&crlf, "COMPLETE"), "{}", case.name);
    }
}
