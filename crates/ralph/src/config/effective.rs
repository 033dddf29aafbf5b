//! What holds, key by key, and who said so: the same layers as a run uses, looked at one by one.

use super::keys::{KEYS, Key, Kind, Who};
use super::layers::Layers;
use super::source::{Origin, Source};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Value;

/// One key as it stands.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its row in the table.
    pub key: &'static Key,
    /// Its name, with the agent's name in it where it has one.
    pub name: String,
    /// What holds; none where nothing does.
    pub value: Option<Value>,
    /// Everybody who sets it, the nearest first: layer, place, value.
    pub said: Vec<(&'static str, String, Value)>,
    /// Why less holds than was asked for.
    pub lowered: Option<String>,
}

impl Setting {
    /// Where what holds comes from.
    pub fn from(&self) -> String {
        match (self.key.who, self.said.as_slice()) {
            (_, []) => "built-in".into(),
            (Who::Adds, all) => all.iter().map(|(_, place, _)| place.as_str()).collect::<Vec<_>>().join(", "),
            (_, [(_, place, _), ..]) => place.clone(),
        }
    }
}

/// Every key, in the order of the table.
pub fn settings(layers: &Layers, workspace: &Path) -> Vec<Setting> {
    let mut all = Vec::new();
    let shown = |key: &&Key| {
        !key.name.starts_with("ladder.") && !key.name.starts_with("prices.") && key.kind != Kind::Open
    };
    for key in KEYS.iter().filter(shown) {
        match key.name.strip_prefix("agents.*.") {
            None => all.push(setting(key, key.name.to_string(), layers, workspace)),
            Some(own) => {
                let named = agents(layers).into_iter().map(|agent| format!("agents.{agent}.{own}"));
                let set = named.map(|name| setting(key, name, layers, workspace));
                all.extend(set.filter(|setting| !setting.said.is_empty()));
            }
        }
    }
    all
}

/// One key, by its own name.
pub fn setting(key: &'static Key, name: String, layers: &Layers, workspace: &Path) -> Setting {
    let said: Vec<(&'static str, String, Value)> = sources(layers)
        .filter_map(|source| {
            let value = source.get(&name)?;
            Some((source.origin.word(), source.place(&name, workspace), value.clone()))
        })
        .filter(|(_, _, value)| !silent(key, value))
        .collect();
    let value = match key.who {
        Who::Adds => Some(Value::Array(
            said.iter().rev().filter_map(|(_, _, v)| v.as_array()).flatten().cloned().collect(),
        )),
        _ => said.first().map(|(_, _, value)| value.clone()).or_else(|| default(key)),
    };
    let lowered = layers.lowered(&name);
    let value = lowered.as_ref().map(|(value, _)| value.clone()).or(value);
    Setting { key, name, value, said, lowered: lowered.map(|(_, why)| why) }
}

/// The nearest first.
fn sources(layers: &Layers) -> impl Iterator<Item = &Source> {
    layers.sources().iter().rev()
}

/// An empty list of commands says nothing: the next layer's counts.
fn silent(key: &Key, value: &Value) -> bool {
    key.kind == Kind::Texts && !key.name.starts_with("agents.") && value.as_array().is_some_and(Vec::is_empty)
}

/// What holds where nobody says anything.
pub fn default(key: &Key) -> Option<Value> {
    format!("x = {}", key.default).parse::<toml::Table>().ok()?.remove("x")
}

fn agents(layers: &Layers) -> BTreeSet<String> {
    let tables = layers.sources().iter().filter_map(|source| source.get("agents")?.as_table());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// The files that were looked for, and whether they are there.
pub fn files(
    layers: &Layers,
    workspace: &Path,
    config_home: Option<&Path>,
) -> Vec<(&'static str, std::path::PathBuf, bool)> {
    let wanted = super::layers::places(workspace, config_home);
    let there = |origin: &Origin| layers.sources().iter().any(|source| source.origin == *origin);
    wanted
        .into_iter()
        .filter_map(|origin| Some((origin.word(), origin.path()?.to_path_buf(), there(&origin))))
        .collect()
}
