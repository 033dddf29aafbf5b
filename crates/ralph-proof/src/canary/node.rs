//! node --test, jest, vitest and mocha.

use super::commands::Commands;
use super::{Canary, MOST_PLACES, directory, ended, file_name};
use crate::files::Files;
use crate::pattern::pattern;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    Node,
    Jest,
    Vitest,
    Mocha,
}

static RUNNERS: LazyLock<[(Runner, Regex); 4]> = LazyLock::new(|| {
    [
        (Runner::Vitest, pattern(r"\bvitest\b")),
        (Runner::Jest, pattern(r"\b(?:jest|react-scripts\s+test|tsdx\s+test)\b")),
        (Runner::Mocha, pattern(r"\bmocha\b")),
        (Runner::Node, pattern(r"\b(?:node|tsx)\b[^\n;&|]*\s--test\b")),
    ]
});
static SUFFIX: LazyLock<Regex> = LazyLock::new(|| pattern(r"[._-](?:test|spec)s?\.[cm]?[jt]sx?$"));
static EXTENSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.[cm]?[jt]sx?$"));
static TEST_CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:test|it|describe|suite)\s*[.(]"));
static IMPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*(?:import\s|export\s|import\{)"));
static NODE_TEST: LazyLock<Regex> = LazyLock::new(|| pattern(r#"['"]node:test['"]"#));

pub fn canary(room: &Files<'_>, commands: &Commands, token: &str) -> Option<Canary> {
    let known =
        RUNNERS.iter().find(|(_, pattern)| pattern.is_match(&commands.text)).map(|(runner, _)| *runner);
    let imports_runner = |path: &[u8]| room.text(path).is_some_and(|text| NODE_TEST.is_match(&text));
    let named =
        commands.named_tests(|path| EXTENSION.is_match(&lossy(file_name(path)))).find(|path| match known {
            Some(_) => is_test(path) && has_test_calls(room, path),
            None => imports_runner(path),
        });
    if let Some(path) = named {
        let text = room.text(path)?;
        let (body, names) = body(known.unwrap_or(Runner::Node), is_module(path, &text), &text, token);
        return Some(Canary {
            files: vec![(path.to_vec(), format!("{}{body}", ended(&text)).into_bytes())],
            names,
        });
    }
    let runner = known?;
    let mut canary = Canary::default();
    for path in places(room, commands) {
        let Some(text) = room.text(&path) else { continue };
        let (body, names) = body(runner, is_module(&path, &text), &text, token);
        canary.files.push((beside(&path, token), body.into_bytes()));
        canary.names = names;
    }
    (!canary.files.is_empty()).then_some(canary)
}

/// One test file for each package of the workspace.
fn places(room: &Files<'_>, commands: &Commands) -> Vec<Vec<u8>> {
    let mut places = BTreeMap::new();
    for path in commands.tests(room, is_test) {
        let package = package(room, path);
        if !places.contains_key(package) && has_test_calls(room, path) {
            places.insert(package, path.to_vec());
        }
        if places.len() >= MOST_PLACES {
            break;
        }
    }
    places.into_values().collect()
}

fn package<'a>(room: &Files<'_>, path: &'a [u8]) -> &'a [u8] {
    let mut dir = directory(path);
    while !dir.is_empty() && !room.contains(&[dir, &b"package.json"[..]].concat()) {
        dir = directory(dir.strip_suffix(b"/").unwrap_or_default());
    }
    dir
}

fn lossy(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}

fn is_test(path: &[u8]) -> bool {
    let name = lossy(file_name(path));
    let in_directory = directory(path)
        .split(|byte| *byte == b'/')
        .any(|part| [&b"test"[..], b"tests", b"__tests__", b"spec"].contains(&part));
    let named = SUFFIX.is_match(&name) || name.starts_with("test-") || name.starts_with("test.");
    (named || in_directory)
        && EXTENSION.is_match(&name)
        && !name.ends_with(".d.ts")
        && !name.contains(".config.")
}

fn has_test_calls(room: &Files<'_>, path: &[u8]) -> bool {
    room.text(path).is_some_and(|text| TEST_CALL.is_match(&text))
}

fn is_module(path: &[u8], text: &str) -> bool {
    let name = lossy(file_name(path));
    name.ends_with(".mjs") || !name.ends_with(".cjs") && IMPORT.is_match(text)
}

/// A new file that is collected if the one beside it is.
fn beside(path: &[u8], token: &str) -> Vec<u8> {
    let name = lossy(file_name(path)).into_owned();
    let end = SUFFIX.find(&name).or_else(|| EXTENSION.find(&name)).map_or("", |found| found.as_str());
    let start = if name.starts_with("test-") { "test-" } else { "" };
    [directory(path), format!("{start}ralph_{token}{end}").as_bytes()].concat()
}

/// The tests and their names, in the module system of the file that they are put into or beside.
fn body(runner: Runner, module: bool, beside: &str, token: &str) -> (String, Vec<String>) {
    let id = format!("ralph_{token}");
    let import = |names: &str, from: &str| match module {
        true => format!("import {names} from '{from}';\n"),
        false => format!("const {} = require('{from}');\n", names.replace(" as ", ": ")),
    };
    let assert = format!("{id}_assert");
    let expected = |expect: &str| {
        vec![
            ("throw", "throw new Error('canary');".to_owned()),
            ("be", format!("{expect}(1).toBe(2);")),
            ("deep", format!("{expect}([1]).toEqual([2]);")),
        ]
    };
    let asserted = vec![
        ("throw", "throw new Error('canary');".to_owned()),
        ("equal", format!("{assert}.equal(1, 2);")),
        ("strict", format!("{assert}.strictEqual(1, 2);")),
        ("deep", format!("{assert}.deepEqual([1], [2]);")),
        ("ok", format!("{assert}.ok(false);")),
    ];
    let aliases = format!("{{ test as {id}, expect as {id}_expect }}");
    let (head, call, styles) = match runner {
        Runner::Node => {
            let head = import(&format!("{{ test as {id} }}"), "node:test") + &import(&assert, "node:assert");
            (head, id.clone(), asserted)
        }
        Runner::Mocha => {
            let call = if beside.contains("suite(") { "test" } else { "it" };
            (import(&assert, "assert"), call.to_owned(), asserted)
        }
        Runner::Vitest => {
            (format!("import {aliases} from 'vitest';\n"), id.clone(), expected(&format!("{id}_expect")))
        }
        Runner::Jest if beside.contains("@jest/globals") => {
            (import(&aliases, "@jest/globals"), id.clone(), expected(&format!("{id}_expect")))
        }
        Runner::Jest => (String::new(), "test".to_owned(), expected("expect")),
    };
    let names: Vec<_> = styles.iter().map(|(style, _)| format!("{id}_{style}")).collect();
    let tests = styles
        .iter()
        .zip(&names)
        .map(|((_, line), name)| format!("{call}('{name}', () => {{\n  {line}\n}});\n"));
    (format!("{head}{}", tests.collect::<String>()), names)
}
