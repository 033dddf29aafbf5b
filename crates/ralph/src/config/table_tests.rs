//! The table of keys beside what is really parsed: neither may know a key that the other does not.

use super::file::{File, Preset};
use super::keys::{KEYS, Key, Kind, find};
use super::{effective, load, schema_text};
use crate::env::{Env, VARIABLES};
use std::collections::{BTreeMap, BTreeSet};

/// The names serde would have accepted in a section: it lists them when it meets one that it does not know.
fn parsed(section: &str) -> BTreeSet<String> {
    let text = match section {
        "" => "zzz = 1".to_string(),
        "ladder" => "[[ladder]]\nzzz = 1".to_string(),
        section => format!("[{section}]\nzzz = 1").replace('*', "claude"),
    };
    let message = toml::from_str::<File>(&text).unwrap_err().message().to_string();
    assert!(message.starts_with("unknown field `zzz`"), "{section}: {message}");
    message.split('`').skip(3).step_by(2).map(ToString::to_string).collect()
}

#[test]
fn the_table_has_every_key_that_is_parsed_and_no_other() {
    let mut sections: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for key in KEYS {
        let (section, own) = key.parts();
        sections.entry(section).or_default().insert(own.to_string());
        sections.entry("").or_default().insert(key.name.split('.').next().unwrap().to_string());
    }
    for (section, names) in sections {
        assert_eq!(names, parsed(section), "[{section}]");
    }
}

fn file_with(key: &Key, value: &str) -> String {
    match key.parts() {
        ("", own) => format!("{own} = {value}\n"),
        ("prices.*", "input") => format!("[prices.sonnet]\ninput = {value}\noutput = 1\n"),
        ("prices.*", "output") => format!("[prices.sonnet]\ninput = 1\noutput = {value}\n"),
        ("prices.*", own) => format!("[prices.sonnet]\ninput = 1\noutput = 1\n{own} = {value}\n"),
        ("ladder", "args") => format!("[[ladder]]\nargs = {value}\nmodel = \"m\"\n"),
        ("ladder", own) => {
            format!("[[ladder]]\n{own} = {}\n", if own == "agent" { "\"claude\"" } else { value })
        }
        (section, own) => format!("[{section}]\n{own} = {value}\n").replace('*', "claude"),
    }
}

#[test]
fn what_the_table_says_a_key_may_hold_is_accepted() {
    for key in KEYS.iter().filter(|key| key.kind != Kind::Open) {
        for value in [key.example(), key.default.to_string()].iter().filter(|value| !value.is_empty()) {
            let text = file_with(key, value);
            toml::from_str::<File>(&text).unwrap_or_else(|e| panic!("{text}{e}"));
        }
        if let Kind::OneOf(words) = key.kind {
            for word in words {
                toml::from_str::<File>(&file_with(key, &format!("\"{word}\""))).unwrap();
            }
            assert!(toml::from_str::<File>(&file_with(key, "\"zzz\"")).is_err());
        }
    }
}

#[test]
fn the_defaults_are_those_of_the_strict_preset() {
    let strict = Preset::Strict.source();
    let mut seen = 0;
    for key in KEYS {
        if let Some(value) = strict.get(key.name) {
            assert_eq!(Some(value), effective::default(key).as_ref(), "{}", key.name);
            seen += 1;
        }
    }
    assert!(seen >= 15, "{seen}");
}

#[test]
fn every_flag_has_its_variable_and_every_variable_its_key() {
    let named: BTreeSet<String> = KEYS.iter().filter_map(Key::variable).collect();
    let known: BTreeSet<String> = VARIABLES.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(named, known);
}

#[test]
fn keys_are_found_by_name_and_agents_by_any() {
    for name in ["run.timeout", "preset", "agents.claude.model", "agents.x.env"] {
        assert!(find(name).is_some(), "{name}");
    }
    for name in ["", "run", "run.", "agents..model", "agents.a.b.model", "timeout"] {
        assert!(find(name).is_none(), "{name}");
    }
}

#[test]
fn whatever_is_set_is_shown_with_its_place() {
    for key in KEYS.iter().filter(|key| {
        key.kind != Kind::Open && !key.name.starts_with("ladder.") && !key.name.starts_with("prices.")
    }) {
        let text = format!("# a comment\n{}", file_with(key, &key.example()));
        if toml::from_str::<File>(&text).unwrap().not_yet().is_some() {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("config");
        std::fs::create_dir_all(home.join("ralph")).unwrap();
        std::fs::write(home.join("ralph/config.toml"), &text).unwrap();
        let layers = load(dir.path(), Some(&home)).unwrap().under(&Env::default()).unwrap();
        let name = key.name.replace('*', "claude");
        let setting = effective::settings(&layers, dir.path()).into_iter().find(|s| s.name == name).unwrap();
        let line = if key.parts().0.is_empty() { 2 } else { 3 };
        assert!(
            setting.from().ends_with(&format!("config/ralph/config.toml:{line}")),
            "{name}: {}",
            setting.from()
        );
        assert_eq!(
            setting.value,
            format!("x = {}", key.example()).parse::<toml::Table>().unwrap().remove("x")
        );
    }
}

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/config.schema.json");
    crate::fresh::compare(path, &schema_text());
}
