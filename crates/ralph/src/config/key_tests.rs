//! For every key and every layer: setting it changes what a run is made from and says where it was set, or it is
//! refused. A key that is accepted, shown and ignored cannot pass.

use super::key::{Combine, Key, Shape};
use super::kind::Kind;
use super::test_layers::{LAYERS, Layers, in_file, row_name, section_of};
use super::{Config, Preset, Settings, find, keys, load, schema_text, variables};
use crate::env::Env;
use crate::problem::Code;
use std::path::Path;
use toml::Value;

/// What a layer is called where a value comes from.
fn place(layer: &str, key: &Key) -> String {
    let line = if section_of(key).name.is_empty() { 2 } else { 3 };
    match layer {
        "system" => format!("system.toml:{line}"),
        "user" => format!("home/ralph/config.toml:{line}"),
        "project" => format!("ralph.toml:{line}"),
        "local" => format!("ralph.local.toml:{line}"),
        "environment" => key.variable().unwrap(),
        _ => key.flag.unwrap().name.into(),
    }
}

/// Whether the declaration says that this layer may not set the key.
fn refused(layer: &str, key: &Key, value: &str) -> bool {
    let value: Value = format!("x = {value}").parse::<toml::Table>().unwrap().remove("x").unwrap();
    let project = matches!(layer, "project" | "local");
    project && (key.combine == Combine::OwnOnly || key.kind.own_only(&value).is_some())
}

/// What the run holds without the key: the same file, where other keys must be set with it.
fn without(key: &'static Key, layer: &str) -> Settings {
    let mut layers = Layers::new();
    let needed = section_of(key).shape == Shape::PerModel;
    if needed && !matches!(key.parts().1, "input" | "output") {
        layers.set(layer, find("prices.*.input").unwrap(), "1");
    }
    layers.load().unwrap().settings
}

#[test]
fn every_key_in_every_layer_changes_the_run_or_is_refused() {
    let mut tried = 0;
    for key in keys() {
        for layer in LAYERS {
            for value in values(key) {
                let mut layers = Layers::new();
                if !layers.set(layer, key, &value) {
                    continue;
                }
                tried += 1;
                let named = format!("{} = {value} in {layer}", key.name);
                match layers.load() {
                    Err(problem) => {
                        assert!(refused(layer, key, &value), "{named}: {problem:?}");
                        let typed = matches!(layer, "environment" | "flag");
                        assert_eq!(problem.code, if typed { Code::Usage } else { Code::Config }, "{named}");
                        assert!(!problem.hints.is_empty(), "{named}");
                    }
                    Ok(config) => {
                        assert!(!refused(layer, key, &value), "{named} is accepted");
                        lands(key, layer, &value, &config);
                    }
                }
            }
        }
    }
    assert!(tried > 250, "{tried}");
}

/// Values that differ from the built-in one. Of words, every one: each has its own place where it lands.
fn values(key: &Key) -> Vec<String> {
    let words = key.kind.words().unwrap_or_default();
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match words.is_empty() {
        true => vec![key.kind.example(key.default)],
        false => words.into_iter().filter(|word| word != key.default).collect(),
    }
}

fn lands(key: &'static Key, layer: &str, value: &str, config: &Config) {
    let named = format!("{} = {value} in {layer}", key.name);
    let row = config.setting(&row_name(key)).unwrap();
    let tightens = key.combine == Combine::Tighten && matches!(layer, "project" | "local");
    let rank =
        |word: &str| key.kind.words().and_then(|words| words.iter().position(|w| format!("\"{w}\"") == word));
    if tightens && rank(value) > rank(key.default) {
        // A project's looser word is ignored, and that is said.
        assert_eq!((row.value, row.from.as_str()), (key.built_in(), "built-in"), "{named}");
        assert!(row.note.is_some_and(|note| note.contains(key.name) && config.warnings().contains(&note)));
        return;
    }
    assert_ne!(config.settings, without(key, layer), "{named} changes nothing");
    assert_eq!(row.layer, layer, "{named}");
    assert!(row.from.ends_with(&place(layer, key)), "{named}: {}", row.from);
    assert_eq!(row.value.map(|value| value.to_string()).as_deref(), Some(value), "{named}");
}

#[test]
fn what_is_shown_is_what_the_run_holds() {
    for key in keys() {
        let mut layers = Layers::new();
        layers.set("user", key, &key.kind.example(key.default));
        let config = layers.load().unwrap();
        let shown = config.rows.iter().filter_map(|row| Some((row, row.value.as_ref()?)));
        let again = shown.fold(Settings::default(), |mut settings, (row, value)| {
            let at = super::key::At::of(row);
            let change = row.key.kind.change(value).unwrap_or_else(|wrong| panic!("{}: {wrong:?}", row.name));
            change(&mut settings, &at);
            settings
        });
        assert_eq!(again, config.settings, "{}", key.name);
    }
}

/// The compiler does not report a field that is only written, so a key could land where no command looks. The commands
/// name the settings `settings`, an agent's `own` and a rung `rung`.
#[test]
fn every_field_of_the_settings_is_read_by_a_command() {
    let declared = include_str!("settings.rs");
    let mut sources = declared.split_once("impl Settings").unwrap().1.to_string();
    read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"), &mut sources);
    let mut checked = 0;
    for (name, variables) in [
        ("Settings", ["settings.", "self."]),
        ("AgentSettings", ["own.", "self."]),
        ("Rung", ["rung.", "rung."]),
    ] {
        let (_, fields) = declared.split_once(&format!("pub struct {name} {{")).unwrap();
        let (fields, _) = fields.split_once("\n}").unwrap();
        let fields = fields.lines().filter(|line| !line.contains("//"));
        for field in
            fields.filter_map(|line| Some(line.trim().trim_start_matches("pub ").split_once(": ")?.0))
        {
            let read = variables.iter().any(|variable| {
                let text = format!("{variable}{field}");
                sources.match_indices(&text).any(|(at, _)| {
                    let after = &sources[at + text.len()..];
                    !after.starts_with(|c: char| c == '_' || c.is_alphanumeric()) && !after.starts_with(" = ")
                })
            });
            assert!(read, "no command reads {name}.{field}");
            checked += 1;
        }
    }
    assert!(checked >= 28, "{checked}");
}

fn read_sources(dir: &Path, into: &mut String) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => read_sources(&path, into),
            false => into.push_str(&std::fs::read_to_string(path).unwrap_or_default()),
        }
    }
}

#[test]
fn the_built_in_values_are_those_a_run_has_without_any_layer() {
    assert_eq!(Layers::new().load().unwrap().settings, Settings::default());
}

#[test]
fn what_a_key_is_documented_to_hold_is_accepted() {
    for key in keys() {
        for value in [key.kind.example(key.default), key.default.to_string()] {
            if value.is_empty() {
                continue;
            }
            let checked = Layers::with(&[("user", &in_file(key, &value))]).check();
            assert!(checked.problems.is_empty(), "{} = {value}: {:?}", key.name, checked.problems);
        }
        assert!(key.doc.ends_with('.'), "{} has no sentence", key.name);
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    for key in keys() {
        for wrong in ["{ a = 1 }", "-1.5", "[[1]]", "1979-05-27"] {
            let checked = Layers::with(&[("user", &in_file(key, wrong))]).check();
            assert_eq!(checked.problems.len(), 1, "{} = {wrong}", key.name);
            assert!(checked.problems[0].message.contains(&format!("`{}`", row_name(key))), "{}", key.name);
        }
    }
}

#[test]
fn the_defaults_are_those_of_the_strict_preset() {
    let strict = Preset::Strict.layer().unwrap();
    for entry in &strict.entries {
        assert_eq!(Some(&entry.value), entry.key.built_in().as_ref(), "{}", entry.name);
    }
    assert!(strict.entries.len() >= 15, "{}", strict.entries.len());
}

#[test]
fn every_variable_has_its_flag() {
    let all: Vec<(String, String)> = variables().collect();
    assert!(all.len() >= 15);
    for (name, about) in all {
        let flag = name.trim_start_matches("RALPH_").to_lowercase().replace('_', "-");
        assert!(about.contains(&format!("same as --{flag}")), "{name}: {about}");
    }
}

#[test]
fn keys_are_found_by_name_and_agents_by_any() {
    for name in [
        "run.timeout",
        "preset",
        "agents.claude.model",
        "agents.x.env",
        "prices.gpt-5.1.input",
        "ladder.2.model",
    ] {
        assert!(find(name).is_some(), "{name}");
    }
    for name in [
        "",
        "run",
        "run.",
        "agents..model",
        "agents.a.b.model",
        "timeout",
        "ladder.x.model",
        "ladder.0.model",
    ] {
        assert!(find(name).is_none(), "{name}");
    }
}

#[test]
fn every_ceiling_and_every_agents_own_key_exists() {
    for key in keys() {
        assert!(key.ceiling.is_none_or(|ceiling| find(ceiling).is_some()), "{}", key.name);
        let own = format!("agents.*.{}", key.parts().1);
        assert!(!key.per_agent || find(&own).is_some(), "{own}");
        let strict = |words: &[&str]| {
            key.default == format!("\"{}\"", words[0])
                || ["sandbox.mode", "sandbox.network", "gate.require"].contains(&key.name)
        };
        if key.combine == Combine::Tighten {
            let words = matches!(key.kind, Kind::OneOf(_)).then(|| key.kind.words()).flatten();
            let is_switch = matches!(key.kind, Kind::Switch(_));
            assert!(is_switch || words.is_some_and(|words| strict(&words)), "{}", key.name);
        }
    }
}

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/config.schema.json");
    crate::fresh::compare(path, &schema_text());
}

#[test]
fn a_workspace_without_any_file_has_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let config = load(dir.path(), &Env::default()).unwrap();
    assert!(config.files.iter().any(|file| file.layer == "project" && !file.exists));
}
