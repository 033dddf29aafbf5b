//! `Cargo.toml` and `pyproject.toml`: tables that say which tests there are and how they run.

use toml::{Table, Value};

/// Paths of keys, a dot between.
pub type Keys = &'static [&'static str];

/// Cargo: test targets, the library's own switches, what `cargo test` builds.
pub const CARGO: Keys = &[
    "test",
    "ctx",
    "lib.test",
    "lib.doctest",
    "lib.harness",
    "package.autotests",
    "profile.test",
    "profile.dev.debug-assertions",
    "profile.dev.overflow-checks",
    "workspace.default-members",
    "workspace.exclude",
    "workspace.metadata.nextest",
    "lints",
    "workspace.lints",
];

/// Python: runners, linters, task runners, and plug-ins that a runner loads by itself.
pub const PYTHON: Keys = &[
    "tool.pytest",
    "tool.coverage",
    "tool.tox",
    "tool.nox",
    "tool.poe",
    "tool.taskipy",
    "tool.pdm.scripts",
    "tool.hatch.envs",
    "tool.hatch.scripts",
    "tool.mypy",
    "tool.ruff",
    "tool.pylint",
    "tool.pyright",
    "tool.unittest",
    "project.entry-points.pytest11",
    "tool.poetry.plugins.pytest11",
];

/// Whether all of the keys have the same values.
pub fn same(keys: Keys, baseline: &str, now: &str) -> bool {
    let (Ok(baseline), Ok(now)) = (baseline.parse::<Table>(), now.parse::<Table>()) else { return false };
    keys.iter().all(|key| get(&baseline, key) == get(&now, key))
}

/// The new document with the baseline's values.
pub fn put_back(keys: Keys, baseline: &str, now: &str) -> Option<String> {
    let (baseline, mut made) = (baseline.parse::<Table>().ok()?, now.parse::<Table>().ok()?);
    for key in keys {
        set(&mut made, key, get(&baseline, key).cloned());
    }
    toml::to_string(&made).ok()
}

fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((head, rest)) => get(table.get(head)?.as_table()?, rest),
    }
}

fn set(table: &mut Table, key: &str, value: Option<Value>) {
    let Some((head, rest)) = key.split_once('.') else {
        match value {
            Some(value) => table.insert(key.to_owned(), value),
            None => table.remove(key),
        };
        return;
    };
    if value.is_none() && !table.contains_key(head) {
        return;
    }
    let below = table.entry(head.to_owned()).or_insert_with(|| Value::Table(Table::new()));
    if let Some(below) = below.as_table_mut() {
        set(below, rest, value);
    }
}
