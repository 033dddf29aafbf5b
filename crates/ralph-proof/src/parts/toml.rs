//! `Cargo.toml` and `pyproject.toml`: tables that say which tests there are and how they run.

use toml::{Table, Value};

use super::manifest::{Found, ManifestSplit};

/// Paths of keys, a dot between.
pub type Keys = &'static [&'static str];

/// Cargo: test targets, the library's own switches, what `cargo test` builds.
pub const CARGO: Keys = &[
    "test",
    "bench",
    "lib.test",
    "lib.doctest",
    "lib.harness",
    "lib.bench",
    "lib.path",
    "lib.proc-macro",
    "package.autotests",
    "package.autobenches",
    "package.autoexamples",
    "package.autobins",
    "package.autolib",
    "package.metadata.nextest",
    "package.rust-version",
    "package.workspace",
    "package.default-run",
    "package.forced-target",
    "package.default-target",
    "profile",
    "lints",
    "workspace.lints",
    "workspace.exclude",
    "workspace.default-members",
    "workspace.metadata.nextest",
    "package.metadata.cargo-nextest",
    "badges",
];

/// Python: runners, linters, task runners, and plug-ins that a runner loads by itself.
pub const PYTHON: Keys = &[
    "tool.pytest",
    "tool.coverage",
    "tool.tox",
    "tool.nox",
    "tool.ruff",
    "tool.mypy",
    "tool.pyright",
    "tool.pylint",
    "tool.flake8",
    "tool.isort",
    "tool.black",
    "tool.hatch.envs",
    "tool.hatch.scripts",
    "tool.poe",
    "tool.taskipy",
    "tool.pdm.scripts",
    "tool.poetry.scripts.test",
    "tool.poetry.plugins",
    "tool.unittest",
    "tool.bandit",
    "tool.mutmut",
    "tool.nose2",
    "tool.pytest-enabler",
    "tool.doit",
    "tool.rye.scripts",
    "tool.basedpyright",
    "tool.ty",
    "tool.uv.sources",
    "tool.interrogate",
    "tool.codespell",
    "tool.pydocstyle",
    "tool.yapf",
    "tool.vulture",
    "tool.pytype",
    "tool.pyre",
    "tool.cibuildwheel",
    "tool.robot",
    "tool.behave",
    "tool.hypothesis",
    "tool.django-stubs",
    "project.entry-points",
];

/// Takes a changed document apart; none if one side is no TOML.
pub fn split(keys: Keys, before: &str, now: &str) -> Option<Found> {
    let (old, new) = (before.parse::<Table>().ok()?, now.parse::<Table>().ok()?);
    let gone = dropped_members(&old, &new);
    let untested = untested(&new).into_iter().any(|target| !untested(&old).contains(&target));
    if untested {
        let why = Some("targets left out of the tests".to_owned());
        return Some(Found { split: ManifestSplit::Oracle, why, needs_rest: false });
    }
    if gone.is_empty() && keys.iter().all(|key| get(&old, key) == get(&new, key)) {
        return Some(ManifestSplit::Rest.into());
    }
    if without(keys, &old) == without(keys, &new) {
        return Some(ManifestSplit::Oracle.into());
    }
    let mut made = mixed(keys, &new, &old);
    if !gone.is_empty() {
        let mut members = members(&made);
        members.extend(gone.iter().cloned());
        set(&mut made, "workspace.members", Some(Value::Array(members)));
    }
    let split = ManifestSplit::Both {
        without_oracle: toml::to_string(&made).ok()?,
        oracle_only: toml::to_string(&mixed(keys, &old, &new)).ok()?,
    };
    let why = (!gone.is_empty()).then(|| "workspace members dropped".to_owned());
    Some(Found { split, why, needs_rest: false })
}

/// One document with the other's values at these keys.
fn mixed(keys: Keys, rest: &Table, oracle: &Table) -> Table {
    let mut made = without(keys, rest);
    for key in keys {
        if let Some(value) = get(oracle, key) {
            set(&mut made, key, Some(value.clone()));
        }
    }
    made
}

/// The document without these keys, and without tables that are empty then.
fn without(keys: Keys, table: &Table) -> Table {
    let mut made = table.clone();
    for key in keys {
        if get(&made, key).is_some() {
            set(&mut made, key, None);
            remove_empty(&mut made, key);
        }
    }
    made
}

/// Removes what stands above a removed key, if nothing else is in it.
fn remove_empty(table: &mut Table, key: &str) {
    let mut above = key;
    while let Some((parent, _)) = above.rsplit_once('.') {
        above = parent;
        if get(table, above).and_then(Value::as_table).is_some_and(Table::is_empty) {
            set(table, above, None);
        }
    }
}

fn members(table: &Table) -> Vec<Value> {
    get(table, "workspace.members").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn dropped_members(old: &Table, new: &Table) -> Vec<Value> {
    let now = members(new);
    members(old).into_iter().filter(|member| !now.contains(member)).collect()
}

/// Programs and examples that are not built for tests, by name.
fn untested(table: &Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for kind in ["bin", "example"] {
        for target in table.get(kind).and_then(Value::as_array).into_iter().flatten() {
            let name = target.get("name").and_then(Value::as_str).unwrap_or_default();
            let off = |key: &str| target.get(key).and_then(Value::as_bool) == Some(false);
            if kind == "bin" && off("test") || off("harness") {
                found.push((kind.to_owned(), name.to_owned()));
            }
        }
    }
    found
}

/// The value at a path of keys.
pub fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(keys: Keys, before: &str, now: &str) -> ManifestSplit {
        split(keys, before, now).unwrap().split
    }

    #[test]
    fn cargo() {
        let old = "[package]\nname = \"a\"\n[dependencies]\n";
        assert_eq!(parts(CARGO, old, &format!("{old}x = \"1\"\n")), ManifestSplit::Rest);
        for more in [
            "[lib]\ntest = false\n",
            "[[bench]]\nname = \"b\"\nharness = false\n",
            "[[test]]\nname = \"t\"\nharness = false\n",
            "[profile.test]\ndebug-assertions = false\n",
            "[lints.rust]\nunsafe_code = \"allow\"\n",
            "[[bin]]\nname = \"a\"\ntest = false\n",
        ] {
            assert_eq!(parts(CARGO, old, &format!("{old}{more}")), ManifestSplit::Oracle, "{more}");
        }
        let now = format!("{old}x = \"1\"\n[lib]\ntest = false\n[[test]]\nname = \"t\"\nharness = false\n");
        let ManifestSplit::Both { without_oracle, oracle_only } = parts(CARGO, old, &now) else {
            panic!("not both")
        };
        assert!(
            without_oracle.contains("x = ")
                && !without_oracle.contains("harness")
                && !without_oracle.contains("lib"),
            "{without_oracle}"
        );
        assert!(oracle_only.contains("harness") && !oracle_only.contains("x = "), "{oracle_only}");
        assert!(split(CARGO, old, "[").is_none());
    }

    #[test]
    fn members_may_only_grow() {
        let old = "[workspace]\nmembers = [\"a\", \"b\"]\n";
        assert_eq!(parts(CARGO, old, &old.replace("\"b\"", "\"b\", \"c\"")), ManifestSplit::Rest);
        let ManifestSplit::Both { without_oracle, .. } =
            parts(CARGO, old, "[workspace]\nmembers = [\"a\"]\n")
        else {
            panic!("not both")
        };
        assert!(without_oracle.contains("\"b\""), "{without_oracle}");
    }

    #[test]
    fn python() {
        let old = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-x\"\n";
        assert_eq!(parts(PYTHON, old, &old.replace("\"a\"", "\"b\"")), ManifestSplit::Rest);
        assert_eq!(parts(PYTHON, old, &old.replace("-x", "-k no")), ManifestSplit::Oracle);
        let now = old.replace("-x", "-k no").replace("\"a\"", "\"b\"");
        let ManifestSplit::Both { without_oracle, oracle_only } = parts(PYTHON, old, &now) else {
            panic!("not both")
        };
        assert!(without_oracle.contains("-x") && without_oracle.contains("\"b\""));
        assert!(oracle_only.contains("-k no") && oracle_only.contains("\"a\""));
    }
}
