//! `package.json` and its kin: the scripts and the runners' own keys. Members keep their order and their text, because
//! the order of `exports` means something.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::manifest::{Found, ManifestSplit};

/// Which members belong to the oracle.
#[derive(Debug)]
pub struct Keys {
    /// Members of the whole document.
    pub whole: &'static [&'static str],
    /// An object inside it, and its members.
    pub nested: (&'static str, &'static [&'static str]),
    /// A list whose entries may be added by the work, but not dropped.
    pub only_grows: &'static str,
}

/// npm's and Composer's manifests.
pub const PACKAGE: Keys = Keys {
    whole: &[
        "scripts",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "tap",
        "nyc",
        "c8",
        "karma",
        "test",
        "tests",
        "eslintConfig",
        "eslintIgnore",
        "prettier",
        "stylelint",
        "config",
        "babel",
        "lint-staged",
        "husky",
        "simple-git-hooks",
        "pre-commit",
        "wireit",
        "xo",
        "standard",
        "tsd",
        "packageManager",
        "volta",
        "directories",
        "devEngines",
        "jasmine",
        "cypress",
        "playwright",
        "qunit",
        "remarkConfig",
        "commitlint",
        "size-limit",
        "nx",
        "turbo",
        "scripts-descriptions",
        "mutator",
        "stryker",
        "tsup",
        "browserslist",
    ],
    nested: ("", &[]),
    only_grows: "workspaces",
};

/// Deno's.
pub const DENO: Keys = Keys {
    whole: &[
        "tasks",
        "test",
        "lint",
        "fmt",
        "bench",
        "exclude",
        "nodeModulesDir",
        "unstable",
        "vendor",
        "lock",
    ],
    nested: (
        "compilerOptions",
        &["strict", "noImplicitAny", "strictNullChecks", "checkJs", "types", "noUncheckedIndexedAccess"],
    ),
    only_grows: "workspace",
};

/// TypeScript's settings.
pub const COMPILER: Keys = Keys {
    whole: &[
        "exclude",
        "include",
        "files",
        "extends",
        "references",
        "ts-node",
        "vueCompilerOptions",
        "typeAcquisition",
    ],
    nested: (
        "compilerOptions",
        &[
            "strict",
            "noImplicitAny",
            "strictNullChecks",
            "strictFunctionTypes",
            "strictBindCallApply",
            "strictPropertyInitialization",
            "noImplicitThis",
            "useUnknownInCatchVariables",
            "alwaysStrict",
            "noUnusedLocals",
            "noUnusedParameters",
            "exactOptionalPropertyTypes",
            "noImplicitReturns",
            "noFallthroughCasesInSwitch",
            "noUncheckedIndexedAccess",
            "noImplicitOverride",
            "noPropertyAccessFromIndexSignature",
            "allowUnusedLabels",
            "allowUnreachableCode",
            "skipLibCheck",
            "skipDefaultLibCheck",
            "checkJs",
            "allowJs",
            "noEmitOnError",
            "suppressImplicitAnyIndexErrors",
            "noCheck",
            "types",
            "typeRoots",
            "plugins",
            "strictBuiltinIteratorReturn",
            "isolatedDeclarations",
            "erasableSyntaxOnly",
            "noUncheckedSideEffectImports",
        ],
    ),
    only_grows: "",
};

#[derive(Default)]
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                // The last of two members with one name counts, as for everybody.
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                let mut places = std::collections::BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    match places.get(&key).and_then(|at: &usize| members.get_mut(*at)) {
                        Some(member) => member.1 = value,
                        None => {
                            places.insert(key.clone(), members.len());
                            members.push((key, value));
                        }
                    }
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Read)
    }
}

impl Members {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(other, _)| other == key).map(|(_, raw)| raw.as_ref())
    }

    fn values(&self, fits: impl Fn(&str) -> bool) -> Option<Vec<(&str, Value)>> {
        let mut values: Vec<(&str, Value)> = Vec::new();
        for (key, raw) in self.0.iter().filter(|(key, _)| fits(key)) {
            values.push((key, serde_json::from_str(raw.get()).ok()?));
        }
        values.sort_by(|a, b| a.0.cmp(b.0));
        Some(values)
    }

    /// These members, with the other's in place of those that fit.
    fn mixed(&self, other: &Members, fits: impl Fn(&str) -> bool) -> Members {
        let kept = self.0.iter().filter_map(|(key, raw)| {
            let raw = if fits(key) { other.get(key)?.to_owned() } else { raw.clone() };
            Some((key.clone(), raw))
        });
        let more = other.0.iter().filter(|(key, _)| fits(key) && self.get(key).is_none());
        Members(kept.chain(more.map(|(key, raw)| (key.clone(), raw.clone()))).collect())
    }

    fn text(&self) -> Option<String> {
        let member = |(key, raw): &(String, Box<RawValue>)| {
            Some(format!("  {}: {}", serde_json::to_string(key).ok()?, raw.get()))
        };
        let members: Option<Vec<String>> = self.0.iter().map(member).collect();
        Some(format!("{{\n{}\n}}\n", members?.join(",\n")))
    }
}

fn read(text: &str) -> Option<Members> {
    serde_json::from_str(text).ok()
}

/// Takes a changed document apart; none if one side is no JSON object.
pub fn split(keys: &Keys, before: &str, now: &str) -> Option<Found> {
    let (old, new) = (read(&without_comments(before))?, read(&without_comments(now))?);
    let dropped = dropped(keys, &old, &new);
    let whole = |key: &str| keys.whole.contains(&key);
    let inner = |key: &str| keys.nested.1.contains(&key);
    let nested = |members: &Members| -> Option<Members> {
        members.get(keys.nested.0).map_or_else(|| Some(Members::default()), |raw| read(raw.get()))
    };
    let (old_nested, new_nested) = (nested(&old)?, nested(&new)?);
    let same_oracle = old.values(whole)? == new.values(whole)?
        && old_nested.values(inner)? == new_nested.values(inner)?
        && dropped.is_empty();
    let rest = |key: &str| !whole(key) && key != keys.nested.0;
    let same_rest = old.values(rest)? == new.values(rest)?
        && old_nested.values(|key| !inner(key))? == new_nested.values(|key| !inner(key))?;
    if same_oracle {
        return Some(ManifestSplit::Rest.into());
    }
    if same_rest {
        return Some(ManifestSplit::Oracle.into());
    }
    let mix = |rest: &Members,
               rest_nested: &Members,
               oracle: &Members,
               oracle_nested: &Members|
     -> Option<Members> {
        let mut made = rest.mixed(oracle, whole);
        set(&mut made, keys.nested.0, &rest_nested.mixed(oracle_nested, inner))?;
        Some(made)
    };
    let mut without = mix(&new, &new_nested, &old, &old_nested)?;
    if !dropped.is_empty() {
        put_back_entries(keys, &mut without, &dropped)?;
    }
    let only = mix(&old, &old_nested, &new, &new_nested)?;
    let split = ManifestSplit::Both { without_oracle: without.text()?, oracle_only: only.text()? };
    let why = (!dropped.is_empty()).then(|| "workspace members dropped".to_owned());
    Some(Found { split, why, needs_rest: false })
}

/// Replaces a nested object; an empty one that was not there is not made.
fn set(members: &mut Members, key: &str, nested: &Members) -> Option<()> {
    if key.is_empty() || nested.0.is_empty() && members.get(key).is_none() {
        return Some(());
    }
    let raw = RawValue::from_string(nested.text()?).ok()?;
    match members.0.iter_mut().find(|(other, _)| other == key) {
        Some(member) => member.1 = raw,
        None => members.0.push((key.to_owned(), raw)),
    }
    Some(())
}

/// The entries of a list that may only grow; npm's may be inside an object.
fn entries(keys: &Keys, members: &Members) -> Vec<Value> {
    let value = members.get(keys.only_grows).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let list = value.map(|value| value.get("packages").cloned().unwrap_or(value));
    list.and_then(|list| list.as_array().cloned()).unwrap_or_default()
}

fn dropped(keys: &Keys, old: &Members, new: &Members) -> Vec<Value> {
    let now = entries(keys, new);
    entries(keys, old).into_iter().filter(|entry| !now.contains(entry)).collect()
}

fn put_back_entries(keys: &Keys, made: &mut Members, dropped: &[Value]) -> Option<()> {
    let mut list = entries(keys, made);
    list.extend(dropped.iter().cloned());
    let raw = RawValue::from_string(serde_json::to_string(&list).ok()?).ok()?;
    made.0.retain(|(key, _)| key != keys.only_grows);
    made.0.push((keys.only_grows.to_owned(), raw));
    Some(())
}

/// The text without comments and without commas before a closing bracket, as some tools allow them.
pub fn without_comments(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                made.push(c);
                while let Some(c) = chars.next() {
                    made.push(c);
                    match c {
                        '\\' => made.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|&c| c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '}' | ']' => {
                let end = made.trim_end().len();
                if made.get(..end).is_some_and(|made| made.ends_with(',')) {
                    made.truncate(end.saturating_sub(1));
                }
                made.push(c);
            }
            '\u{feff}' => {}
            c => made.push(c),
        }
    }
    made
}

#[cfg(test)]
mod tests;
