//! Dependencies that now come from somewhere else: a directory of the workspace, a repository, or another file.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::{Table, Value as Toml};

/// Dependencies of a JSON manifest that are redirected.
pub fn json(name: &str, before: &str, now: &str) -> Vec<String> {
    let read =
        |text: &str| serde_json::from_str::<Json>(&super::json::without_comments(text)).unwrap_or_default();
    let (old, new) = (read(before), read(now));
    let mut found = Vec::new();
    let tables = [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
        "require",
        "require-dev",
    ];
    let known: BTreeMap<&str, Vec<&Json>> =
        members(&old, &tables).into_iter().fold(BTreeMap::new(), |mut known, (key, value)| {
            known.entry(key).or_default().push(value);
            known
        });
    for (key, value) in members(&new, &tables) {
        let moved = known.get(key).is_some_and(|was| !was.contains(&value));
        if moved && value.as_str().is_some_and(elsewhere) {
            found.push(key.to_owned());
        }
    }
    for path in ["/overrides", "/resolutions", "/pnpm/overrides", "/browser", "/_moduleAliases", "/alias"] {
        let was = old.pointer(path).map(flat).unwrap_or_default();
        for (key, value) in new.pointer(path).map(flat).unwrap_or_default() {
            if was.get(&key) != Some(&value) && elsewhere(&value) && !key.starts_with('.') {
                found.push(key);
            }
        }
    }
    found.extend(changed_imports(name, &old, &new));
    let paths = |manifest: &Json| -> Vec<Json> {
        let list = manifest
            .get("repositories")
            .map(|list| list.as_array().cloned().unwrap_or_default())
            .unwrap_or_default();
        list.into_iter().filter(|entry| entry.get("type").and_then(Json::as_str) == Some("path")).collect()
    };
    if paths(&new).iter().any(|entry| !paths(&old).contains(entry)) {
        found.push("repositories".to_owned());
    }
    found
}

/// `imports`: in package.json its names begin with `#`, and only one that was there can be redirected; in deno.json a
/// name may be any module's.
fn changed_imports(name: &str, old: &Json, new: &Json) -> Vec<String> {
    let was = old.get("imports").map(flat).unwrap_or_default();
    let now = new.get("imports").map(flat).unwrap_or_default();
    let own =
        |key: &str| key.starts_with(['#', '.', '/', '~']) || key.starts_with("@/") || key.starts_with("$");
    let deno = name.starts_with("deno");
    now.into_iter()
        .filter(|(key, value)| match was.get(key) {
            Some(before) => before != value && elsewhere(value),
            None => deno && elsewhere(value) && value.starts_with('.') && !own(key),
        })
        .map(|(key, _)| key)
        .collect()
}

fn members<'a>(manifest: &'a Json, tables: &[&str]) -> Vec<(&'a str, &'a Json)> {
    let objects = tables.iter().filter_map(|table| manifest.get(table)?.as_object());
    objects.flatten().map(|(key, value)| (key.as_str(), value)).collect()
}

/// An object's texts by the path of their keys.
fn flat(value: &Json) -> BTreeMap<String, String> {
    fn add(prefix: &str, value: &Json, depth: usize, found: &mut BTreeMap<String, String>) {
        match value {
            Json::String(text) => {
                found.insert(prefix.to_owned(), text.clone());
            }
            Json::Bool(false) => {
                found.insert(prefix.to_owned(), "./false".to_owned());
            }
            Json::Object(object) if depth < 8 => {
                for (key, value) in object {
                    let path = if prefix.is_empty() { key.clone() } else { format!("{prefix} > {key}") };
                    add(&path, value, depth + 1, found);
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    add("", value, 0, &mut found);
    found
}

/// Whether a version names a place instead.
fn elsewhere(version: &str) -> bool {
    let begins = [
        "file:",
        "link:",
        "portal:",
        "patch:",
        "npm:",
        "workspace:",
        "git+",
        "git:",
        "git@",
        "github:",
        "http:",
        "https:",
        ".",
        "/",
    ];
    begins.iter().any(|begin| version.starts_with(begin))
}

/// Dependencies of a TOML manifest that are redirected.
pub fn toml(name: &str, before: &str, now: &str) -> Vec<String> {
    if !matches!(name, "cargo.toml" | "pyproject.toml") {
        return Vec::new();
    }
    let (Ok(old), Ok(new)) = (before.parse::<Table>(), now.parse::<Table>()) else { return Vec::new() };
    let mut found = Vec::new();
    let (was, is) = (dependencies(&old, 0), dependencies(&new, 0));
    for (key, value) in &is {
        let Some(before) = was.get(key) else { continue };
        if place(value).is_some() && place(value) != place(before) {
            found.push(key.clone());
        }
    }
    for key in ["patch", "replace"] {
        if let Some(now) = new.get(key).filter(|now| old.get(key) != Some(now)) {
            let names = now.as_table().map(|table| table.keys().cloned().collect::<Vec<_>>().join(", "));
            found.push(format!("{key} {}", names.unwrap_or_default()));
        }
    }
    found.extend(direct_references(&old, &new));
    found
}

/// Every dependency of a document, by name.
fn dependencies(table: &Table, depth: usize) -> BTreeMap<String, Toml> {
    let mut found = BTreeMap::new();
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        if key.ends_with("dependencies") {
            found.extend(inner.iter().map(|(name, value)| (name.clone(), value.clone())));
        } else if depth < 5 {
            for (name, value) in dependencies(inner, depth + 1) {
                found.entry(name).or_insert(value);
            }
        }
    }
    found
}

fn place(dependency: &Toml) -> Option<&Toml> {
    ["path", "git", "url", "file", "package"].iter().find_map(|key| dependency.get(key))
}

/// Python's `name @ file:///…` for a name that was there without a place.
fn direct_references(old: &Table, new: &Table) -> Vec<String> {
    let list = |table: &Table| -> Vec<String> {
        let list = super::toml::get(table, "project.dependencies")
            .and_then(Toml::as_array)
            .cloned()
            .unwrap_or_default();
        list.iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect()
    };
    let name = |entry: &str| {
        entry
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.'))
            .next()
            .unwrap_or_default()
            .to_lowercase()
    };
    let was = list(old);
    let redirected = list(new).into_iter().filter(|entry| entry.contains('@') && !was.contains(entry));
    redirected
        .filter(|entry| was.iter().any(|before| name(before) == name(entry)))
        .map(|entry| name(&entry))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages() {
        let old = r##"{"dependencies":{"a":"1"},"imports":{"#x":"./x.js"}}"##;
        let redirects = |now: &str| json("package.json", old, now);
        assert!(
            redirects(
                r##"{"dependencies":{"a":"2","b":"file:./b"},"imports":{"#x":"./x.js","#y":"./y.js"}}"##
            )
            .is_empty()
        );
        assert_eq!(redirects(r##"{"devDependencies":{"a":"file:./a"}}"##), ["a"]);
        assert_eq!(redirects(r##"{"overrides":{"b":{"c":"file:./c"}}}"##), ["b > c"]);
        assert_eq!(redirects(r##"{"imports":{"#x":"./y.js"}}"##), ["#x"]);
        assert_eq!(redirects(r##"{"browser":{"assert":"./a.js"}}"##), ["assert"]);
        assert!(redirects(r##"{"overrides":{"b":"^2.0.0"}}"##).is_empty());
        assert_eq!(
            json("deno.json", "{}", r##"{"imports":{"@std/assert":"./a.ts","@/":"./src/"}}"##),
            ["@std/assert"]
        );
        assert_eq!(
            json("composer.json", "{}", r##"{"repositories":[{"type":"path","url":"x"}]}"##),
            ["repositories"]
        );
    }

    #[test]
    fn crates_and_distributions() {
        let old = "[dependencies]\na = \"1\"\n[target.'cfg(unix)'.dependencies]\nb = \"1\"\n";
        assert!(toml("cargo.toml", old, &format!("{old}c = {{ path = \"c\" }}\n")).is_empty());
        assert_eq!(toml("cargo.toml", old, &old.replace("a = \"1\"", "a = { path = \"a\" }")), ["a"]);
        assert_eq!(toml("cargo.toml", old, &old.replace("b = \"1\"", "b = { git = \"x\" }")), ["b"]);
        assert_eq!(
            toml("cargo.toml", old, &format!("{old}[patch.crates-io]\na = {{ path = \"a\" }}\n")),
            ["patch crates-io"]
        );
        let old = "[project]\ndependencies = [\"a>=1\"]\n";
        assert_eq!(toml("pyproject.toml", old, &old.replace("a>=1", "a @ file:///x")), ["a"]);
        assert!(toml("pyproject.toml", old, &old.replace("a>=1", "a>=2")).is_empty());
    }
}
