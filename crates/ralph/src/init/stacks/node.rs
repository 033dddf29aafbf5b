//! Node: the package manager by its name or its lockfile, the scripts that package.json has.

use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;
use serde_json::Value;

/// Lockfiles and whose they are.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("yarn.lock", "yarn"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// A package.
pub fn find(look: &Look, inherited: Option<&str>) -> Option<Found> {
    if !look.has("package.json") {
        return None;
    }
    let text = look.text("package.json");
    let package: Value = serde_json::from_str(&text).unwrap_or_default();
    let manager = manager(look, &package, inherited);
    let mut found = Found { with: manager.clone(), ..Found::new(Stack::Node, "package.json") };
    if package.is_null() {
        found.notes.push("package.json is not valid JSON, so its scripts are unknown".into());
        return Some(found);
    }
    let script = |names: &[&str]| {
        let name = names.iter().find(|name| script_of(&package, name).is_some_and(usable))?;
        Some(if *name == "test" && manager != "bun" {
            format!("{manager} test")
        } else {
            format!("{manager} run {name}")
        })
    };
    let test = script(&["test", "test:ci", "test:run", "test:unit", "tests", "unit"]);
    if test.is_none() && script_of(&package, "test").is_some_and(watches) {
        found.notes.push(
            "the script `test` watches files and never ends: add one that runs once, such as `test:ci`"
                .into(),
        );
    }
    let test = test.or_else(|| runner(look, &package, &manager));
    Some(
        found
            .check(Use::Test, test)
            .check(Use::Lint, script(&["lint", "lint:ci", "eslint"]))
            .check(Use::Lint, script(&["typecheck", "type-check", "check-types", "tsc", "check"]))
            .check(Use::Build, script(&["build", "compile"])),
    )
}

/// `packageManager` or `devEngines` first: the authors said so. Then the lockfile, then the one of a directory above.
fn manager(look: &Look, package: &Value, inherited: Option<&str>) -> String {
    let named = package.get("packageManager").and_then(Value::as_str).and_then(|text| text.split('@').next());
    let named = named.or_else(|| package.pointer("/devEngines/packageManager/name")?.as_str());
    let known = named.filter(|name| LOCKS.iter().any(|(_, manager)| manager == name));
    let locked = LOCKS.iter().find(|(lock, _)| look.has(lock)).map(|(_, manager)| *manager);
    known.or(locked).or(inherited).unwrap_or("npm").to_string()
}

fn script_of<'a>(package: &'a Value, name: &str) -> Option<&'a str> {
    package.get("scripts")?.get(name)?.as_str()
}

/// A script that does something and ends. npm writes one that only fails.
fn usable(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains("no test specified") && !watches(text)
}

fn watches(script: &str) -> bool {
    let words =
        |word: &str| matches!(word, "--watch" | "--watchAll" | "--watch=true" | "--watchAll=true" | "watch");
    script.split_whitespace().any(words)
}

/// Without a script: a test runner the package depends on, else Node's own where there are files for it.
fn runner(look: &Look, package: &Value, manager: &str) -> Option<String> {
    let needs = |name: &str| {
        ["devDependencies", "dependencies"]
            .iter()
            .any(|part| package.get(*part).and_then(|needed| needed.get(name)).is_some())
    };
    let run = match manager {
        "pnpm" => "pnpm exec",
        "yarn" => "yarn run",
        "bun" => "bunx",
        _ => "npx --no",
    };
    if needs("vitest") {
        return Some(format!("{run} vitest run"));
    }
    if let Some(tool) = ["jest", "mocha", "ava"].iter().find(|tool| needs(tool)) {
        return Some(format!("{run} {tool}"));
    }
    let ends = [".test.js", ".test.mjs", ".test.cjs", "-test.js", "_test.js", ".test.ts"];
    let beside = look.ending(&ends).next().is_some();
    let inner = ["test", "tests", "src", "__tests__"].iter().any(|dir| {
        let inner = look.has_dir(dir).then(|| Look::at(&look.path().join(dir)));
        let any: &[&str] = if *dir == "test" { &[".js", ".mjs", ".cjs", ".test.ts"] } else { &ends };
        inner.is_some_and(|inner| inner.ending(any).next().is_some())
    });
    (beside || inner).then(|| if manager == "bun" { "bun test".into() } else { "node --test".into() })
}
