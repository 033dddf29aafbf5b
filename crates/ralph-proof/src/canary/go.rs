//! go test.

use super::commands::Commands;
use super::{Canary, MOST_PLACES, directory, ended, file_name, is_foreign};
use crate::files::Files;
use crate::pattern::pattern;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static RUNNER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:go\s+test|gotestsum|richgo\s+test)\b"));
static PACKAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^package\s+(\w+)"));

const STYLES: [(&str, &str); 4] = [
    ("fatal", "t.Fatal(\"canary\")"),
    ("errorf", "t.Errorf(\"canary\")"),
    ("fail", "t.Fail()"),
    ("nested", "t.Run(\"sub\", func(t *testing.T) { t.FailNow() })"),
];

pub fn canary(room: &Files<'_>, commands: &Commands, token: &str) -> Option<Canary> {
    if !RUNNER.is_match(&commands.text) {
        return None;
    }
    let mut canary = Canary::default();
    if let Some(path) = commands.named_tests(is_test).next() {
        let made = format!("{}{}", ended(&room.text(path)?), functions(&mut canary, token, 0));
        canary.files.push((path.to_vec(), made.into_bytes()));
        return Some(canary);
    }
    for (number, (directory, package)) in packages(room).into_iter().enumerate() {
        let path = [&directory, format!("ralph_{token}_test.go").as_bytes()].concat();
        let functions = functions(&mut canary, token, number);
        canary
            .files
            .push((path, format!("package {package}\n\nimport \"testing\"\n{functions}").into_bytes()));
    }
    (!canary.files.is_empty()).then_some(canary)
}

fn is_test(path: &[u8]) -> bool {
    file_name(path).ends_with(b"_test.go")
}

/// Directories with tests that are always built, each with the name of its package.
fn packages(room: &Files<'_>) -> BTreeMap<Vec<u8>, String> {
    let mut packages = BTreeMap::new();
    for path in room.paths().filter(|path| is_test(path) && !is_foreign(path)) {
        if packages.len() >= MOST_PLACES {
            break;
        }
        let directory = directory(path);
        let Some(text) = (!packages.contains_key(directory)).then(|| room.text(path)).flatten() else {
            continue;
        };
        let limited = text.contains("//go:build") || text.contains("// +build");
        let package = PACKAGE.captures(&text).filter(|_| !limited).and_then(|found| found.get(1));
        packages.extend(package.map(|package| (directory.to_vec(), package.as_str().to_owned())));
    }
    packages
}

fn functions(canary: &mut Canary, token: &str, number: usize) -> String {
    let mut made = String::new();
    for (style, line) in STYLES {
        let name = format!("TestRalph_{token}_{number}_{style}");
        made.push_str(&format!("\nfunc {name}(t *testing.T) {{\n\t{line}\n}}\n"));
        canary.names.push(name);
    }
    made
}
