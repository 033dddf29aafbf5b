use super::*;
use crate::files::{FileFacts, Kind};
use proptest::prelude::*;

fn room<'a>(files: &'a [(&'a str, &'a str)]) -> Files<'a> {
    let facts = FileFacts { kind: Kind::File, executable: false, hash: 0 };
    let read = move |path: &[u8]| {
        let found = files.iter().find(|(name, _)| name.as_bytes() == path);
        found.map(|(_, text)| text.as_bytes().to_vec())
    };
    Files::new(files.iter().map(|(name, _)| (name.as_bytes().to_vec(), facts)), Box::new(read))
}

fn canary(files: &[(&str, &str)], command: &str) -> Option<Canary> {
    Canary::new(&room(files), &[command.to_owned()], "x7")
}

/// Where the canary goes for these files and this command.
fn placed(files: &[(&str, &str)], command: &str) -> Vec<String> {
    let files = canary(files, command).unwrap_or_default().files;
    files.into_iter().map(|(path, _)| String::from_utf8(path).unwrap()).collect()
}

const CASE: &str = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n\nif __name__ == \"__main__\":\n    unittest.main()\n";
const JS: &str = "test('a', () => {});\n";
const RS: &str = "#[cfg(test)]\nmod tests { #[test] fn t() {} }\n";

/// The room's files, the command, and where the canary goes.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);

#[test]
fn a_canary_sits_beside_a_test_of_its_runner() {
    let package = |script: &str| format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}");
    let (jest, vitest, mocha) = (package("jest"), package("vitest run"), package("mocha"));
    let node = package("node --test test/");
    let rows: &[Row<'_>] = &[
        (&[("tests/test_a.py", ""), ("tests/unit/test_b.py", "")], "pytest -q", &["tests/test_ralph_x7.py"]),
        (
            &[("tests/test_a.py", ""), ("tests/unit/test_b.py", "")],
            "pytest tests/unit",
            &["tests/unit/test_ralph_x7.py"],
        ),
        (&[("pkg/a_test.py", "")], "python3 -m pytest", &["pkg/ralph_x7_test.py"]),
        (&[("pkg/a_test.py", "")], "python3 -m unittest", &[]),
        (&[("t/test_a.py", CASE)], "python3 -m unittest t/test_a.py", &["t/test_a.py"]),
        (&[("t/test_a.py", CASE)], "python3 -m unittest t.test_a", &["t/test_a.py"]),
        (&[("test_a.py", CASE)], "python3 test_a.py", &["test_a.py"]),
        (&[("test_a.py", "print(1)\n")], "python3 test_a.py", &[]),
        (
            &[("Makefile", "test:\n\tpytest\n"), ("tests/test_a.py", "")],
            "make test",
            &["tests/test_ralph_x7.py"],
        ),
        (&[("ci.sh", "set -e\npytest\n"), ("test_a.py", "")], "sh ci.sh", &["test_ralph_x7.py"]),
        (
            &[("src/lib.rs", ""), ("src/a.rs", RS), ("tests/it.rs", RS)],
            "cargo test",
            &["src/lib.rs", "tests/it.rs"],
        ),
        (&[("a/src/main.rs", RS), ("b/src/lib.rs", "fn b() {}")], "cargo nextest run", &["a/src/main.rs"]),
        (&[("src/lib.rs", RS), ("src/tests/a.rs", RS)], "cargo +nightly test --all", &["src/lib.rs"]),
        (&[("src/lib.rs", RS)], "cargo build", &[]),
        (
            &[("a_test.go", "package a\n"), ("b/b_test.go", "package b\n")],
            "go test ./...",
            &["ralph_x7_test.go", "b/ralph_x7_test.go"],
        ),
        (&[("a_test.go", "//go:build x\n\npackage a\n")], "go test ./...", &[]),
        (&[("a_test.go", "package a\n")], "go test a_test.go", &["a_test.go"]),
        (&[("package.json", &jest), ("src/a.test.ts", JS)], "npm test", &["src/ralph_x7.test.ts"]),
        (&[("package.json", &vitest), ("a.spec.js", JS)], "npm test", &["ralph_x7.spec.js"]),
        (&[("package.json", &mocha), ("test/a.js", "it('a', () => {})")], "yarn test", &["test/ralph_x7.js"]),
        (&[("package.json", &node), ("test/a.mjs", JS)], "npm t", &["test/ralph_x7.mjs"]),
        (&[("test-a.js", JS)], "node --test", &["test-ralph_x7.js"]),
        (&[("test.js", "const {test} = require('node:test')\n")], "node test.js", &["test.js"]),
        (&[("test.js", "console.log(1)\n")], "node test.js", &[]),
        (&[("package.json", &package("node build.js")), ("a.test.js", JS)], "npm test", &[]),
        (&[("t/a.bats", "@test \"a\" { true; }\n")], "bats t", &["t/ralph_x7.bats"]),
        (&[("t/a.bats", "@test \"a\" { true; }\n")], "bats t/a.bats", &["t/a.bats"]),
        (&[("node_modules/a/a.test.js", JS)], "jest", &[]),
        (&[("a.txt", "")], "true", &[]),
    ];
    for (files, command, expected) in rows {
        assert_eq!(&placed(files, command), expected, "{command} in {files:?}");
    }
}

#[test]
fn a_file_keeps_what_it_had() {
    let rows: &[(&str, &str, &str)] = &[
        ("test_a.py", CASE, "python3 -m unittest test_a.py"),
        ("src/lib.rs", RS, "cargo test"),
        ("a.bats", "@test \"a\" { true; }", "bats a.bats"),
        ("a.test.js", JS, "node --test a.test.js"),
    ];
    for (path, text, command) in rows {
        let canary = canary(&[(path, text)], command).unwrap();
        let made = String::from_utf8(canary.files[0].1.clone()).unwrap();
        assert!(text.lines().all(|line| made.lines().any(|other| other == line)), "{made}");
        assert!(canary.names.iter().all(|name| made.contains(name)), "{made}");
    }
    let made = canary(&[("test_a.py", CASE)], "python3 test_a.py").unwrap().files.remove(0).1;
    let made = String::from_utf8(made).unwrap();
    assert!(made.find("TestRalph").unwrap() < made.find("__main__").unwrap(), "{made}");
}

#[test]
fn modules_follow_their_neighbour() {
    let written = |path: &str, text: &str, command: &str| {
        let files = [(path, text)];
        String::from_utf8(canary(&files, command).unwrap().files.remove(0).1).unwrap()
    };
    assert!(
        written("a.test.js", "import x from 'y';\ntest()", "node --test")
            .starts_with("import { test as ralph_x7 }")
    );
    assert!(
        written("a.test.js", "test()", "node --test")
            .starts_with("const { test: ralph_x7 } = require('node:test')")
    );
    assert!(
        written("a.test.js", "import { test } from '@jest/globals';\ntest()", "jest")
            .contains("@jest/globals")
    );
    assert!(written("test/a.js", "suite('a', () => test('b'))", "mocha").contains("\ntest('ralph_x7_equal'"));
}

#[test]
fn only_failing_canaries_are_seen() {
    let canary = canary(&[("tests/test_a.py", "")], "pytest").unwrap();
    let output = "FAILED tests/test_ralph_x7.py::TestRalphx7::test_ralph_x7_equal - assert\n\
        FAILED tests/test_ralph_x7.py::TestRalphx7::test_ralph_x7_raises\n\
        tests/test_ralph_x7.py::TestRalphx7::test_ralph_x7_none PASSED\n";
    assert_eq!(canary.seen(output), ["test_ralph_x7_equal", "test_ralph_x7_raises"]);
    assert_eq!(canary.seen("10 passed"), Vec::<&str>::new());
}

proptest! {
    #[test]
    fn any_command_is_read(command in "(cd |npm |make |sh |pytest|node --test|go test|cargo test|bats|\\./|a|/|\\.py|::|['\"; ]|é){0,20}", text in "[ -~\n]{0,80}") {
        let files = [("package.json", text.as_str()), ("Makefile", &text), ("a/test_a.py", &text), ("test/a.js", &text), ("src/lib.rs", &text)];
        if let Some(canary) = canary(&files, &command) {
            prop_assert!(!canary.names.is_empty());
        }
    }
}
