//! `package.json` and its kin: the scripts and the runners' own keys. Members keep their order and their text, because
//! the order of `exports` means something.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The oracle's keys.
const KEYS: &[&str] = &[
    "scripts",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "nyc",
    "c8",
    "karma",
    "tasks",
    "test",
    "eslintConfig",
    "config",
    "babel",
];

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
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Read)
    }
}

fn is_oracle(key: &str) -> bool {
    KEYS.contains(&key)
}

/// The part, with what is only layout taken out. The last of two members with one name counts, as for everybody.
pub fn part(text: &str) -> Option<Vec<(String, serde_json::Value)>> {
    let Members(members) = serde_json::from_str(text).ok()?;
    let mut part: Vec<(String, serde_json::Value)> = Vec::new();
    for (key, raw) in members.into_iter().filter(|(key, _)| is_oracle(key)) {
        part.retain(|(other, _)| *other != key);
        part.push((key, serde_json::from_str(raw.get()).ok()?));
    }
    part.sort_by(|a, b| a.0.cmp(&b.0));
    Some(part)
}

/// The new members, with the baseline's in place of the oracle's.
pub fn put_back(baseline: &str, now: &str) -> Option<String> {
    let Members(old) = serde_json::from_str(baseline).ok()?;
    let Members(new) = serde_json::from_str(now).ok()?;
    let kept = new.iter().filter(|(key, _)| !is_oracle(key));
    let back = old.iter().filter(|(key, _)| is_oracle(key));
    let members: Option<Vec<String>> = kept
        .chain(back)
        .map(|(key, raw)| Some(format!("{}: {}", serde_json::to_string(key).ok()?, raw.get())))
        .collect();
    Some(format!("{{\n{}\n}}\n", members?.join(",\n")))
}
