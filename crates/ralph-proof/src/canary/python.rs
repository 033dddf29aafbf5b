//! pytest and unittest.

use super::commands::Commands;
use super::{Canary, directory, ended, file_name};
use crate::files::Files;
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

static RUNNER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:pytest|py\.test|unittest|nose2?|tox|nox|manage\.py\s+test)\b"));
static PYTEST: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:pytest|py\.test|tox|nox)\b"));

/// What a test case does to fail, by name.
const METHODS: [(&str, &str); 8] = [
    ("raise", "raise AssertionError(\"canary\")"),
    ("equal", "self.assertEqual(1, 2)"),
    ("true", "self.assertTrue(False)"),
    ("fail", "self.fail(\"canary\")"),
    ("raises", "self.assertRaises(KeyError, dict)"),
    ("none", "self.assertIsNone(1)"),
    ("contains", "self.assertIn(1, [])"),
    ("error", "{}[\"canary\"]"),
];

pub fn canary(room: &Files<'_>, commands: &Commands, token: &str) -> Option<Canary> {
    let uses_unittest = |path: &[u8]| room.text(path).is_some_and(|text| text.contains("unittest"));
    let known = RUNNER.is_match(&commands.text);
    let pytest = PYTEST.is_match(&commands.text);
    if let Some(path) = commands.named_tests(is_test).find(|path| known || uses_unittest(path)) {
        let text = room.text(path)?;
        let case = if has_line(&text, "import unittest") {
            "unittest.TestCase"
        } else {
            "__import__(\"unittest\").TestCase"
        };
        let (body, names) = body(case, token, pytest);
        return Some(Canary { files: vec![(path.to_vec(), inserted(&text, &body).into_bytes())], names });
    }
    if !known {
        return None;
    }
    let starts_with_test = |path: &[u8]| is_test(path) && (pytest || file_name(path).starts_with(b"test"));
    let beside = *commands.tests(room, starts_with_test).first()?;
    let name = match file_name(beside) {
        name if name.ends_with(b"_test.py") && !name.starts_with(b"test") => format!("ralph_{token}_test.py"),
        _ => format!("test_ralph_{token}.py"),
    };
    let (body, names) = body("unittest.TestCase", token, pytest);
    let path = [directory(beside), name.as_bytes()].concat();
    Some(Canary { files: vec![(path, format!("import unittest\n{body}").into_bytes())], names })
}

fn is_test(path: &[u8]) -> bool {
    let name = file_name(path);
    name.strip_suffix(b".py").is_some_and(|stem| {
        stem.starts_with(b"test_") || stem.ends_with(b"_test") || stem == b"test" || stem == b"tests"
    })
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|other| other.trim_end() == line)
}

/// The tests, laid out as formatters want them, so that a check of the layout before the tests passes.
fn body(case: &str, token: &str, pytest: bool) -> (String, Vec<String>) {
    let mut names = Vec::new();
    let mut body = format!("\n\nclass TestRalph{token}({case}):\n");
    for (index, (style, line)) in METHODS.iter().enumerate() {
        let name = format!("test_ralph_{token}_{style}");
        let gap = if index == 0 { "" } else { "\n" };
        body.push_str(&format!("{gap}    def {name}(self):\n        {line}\n"));
        names.push(name);
    }
    if pytest {
        let name = format!("test_ralph_{token}_assert");
        body.push_str(&format!("\n\ndef {name}():\n    assert 1 == 2\n"));
        names.push(name);
    }
    (body, names)
}

/// The file with more tests: before the line that runs them, if it has one.
fn inserted(text: &str, body: &str) -> String {
    let main = text.find("\nif __name__").map(|at| at + 1);
    match main.and_then(|at| text.split_at_checked(at)) {
        Some((before, after)) => format!("{}{body}\n\n{after}", ended(before)),
        None => format!("{}{body}", ended(text)),
    }
}
