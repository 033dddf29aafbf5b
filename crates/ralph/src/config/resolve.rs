//! Layers → one value per key. This is the only place where layers are merged: `config show` prints these values, and
//! the run's settings are made from them.

use super::ceilings;
use super::key::{Key, Section, Shape};
use super::origin::{Entry, Layer};
use super::sections::SECTIONS;
use super::setting::{Said, Setting};
use std::collections::BTreeMap;
use std::path::Path;

/// Every key in the order of the declarations, from layers given furthest first. Keys of an agent, a model or a rung are
/// there where they are set.
pub fn resolve(layers: &[Layer], workspace: &Path) -> Vec<Setting> {
    let mut settings: Vec<Setting> =
        SECTIONS.iter().flat_map(|section| in_section(section, layers, workspace)).collect();
    use_agents_own(&mut settings);
    lower_to_ceilings(&mut settings);
    settings
}

/// One setting per key; in sections that repeat, one per instance and key.
fn in_section(section: &'static Section, layers: &[Layer], workspace: &Path) -> Vec<Setting> {
    let mut instances: BTreeMap<Instance, String> = BTreeMap::new();
    for entry in layers.iter().flat_map(|layer| &layer.entries).filter(|entry| is_in(entry, section)) {
        instances.insert(Instance::of(entry), entry.instance.clone());
    }
    if section.shape == Shape::Table {
        instances = BTreeMap::from([(Instance::default(), String::new())]);
    }
    let mut settings = Vec::new();
    for (group, instance) in &instances {
        for key in section.keys {
            let said = said(key, section, group, layers, workspace);
            let name = key.name.to_string();
            match section.shape {
                Shape::Table => settings.push(Setting::built_in(key, name, String::new()).combined(said)),
                _ if said.is_empty() => {}
                _ => {
                    let name = format!("{}.{}.{}", section.name, group.name, key.parts().1);
                    settings.push(Setting::built_in(key, name, instance.clone()).combined(said));
                }
            }
        }
    }
    settings
}

/// An agent, a model or a rung; numbers sort as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Instance {
    number: usize,
    name: String,
}

impl Instance {
    fn of(entry: &Entry) -> Instance {
        let rest = entry.name.strip_prefix(entry.key.section()).and_then(|rest| rest.strip_prefix('.'));
        let name = rest.and_then(|rest| rest.rsplit_once('.')).map_or("", |(name, _)| name);
        Instance { number: name.parse().unwrap_or(0), name: name.into() }
    }
}

fn is_in(entry: &Entry, section: &Section) -> bool {
    section.keys.iter().any(|key| key.name == entry.key.name)
}

/// What the layers say of a key, the nearest first.
fn said(key: &Key, section: &Section, group: &Instance, layers: &[Layer], workspace: &Path) -> Vec<Said> {
    let mut said = Vec::new();
    for layer in layers.iter().rev() {
        let wanted = |entry: &&Entry| entry.key.name == key.name && Instance::of(entry) == *group;
        let speaks = |entry: &&Entry| !key.kind.is_silent(&entry.value);
        said.extend(
            layer.entries.iter().filter(wanted).filter(speaks).map(|e| Said::new(layer, e, workspace)),
        );
        if replaces(section, group, layer) {
            break;
        }
    }
    said
}

/// Whether this layer's table or list replaces those of all layers further away.
fn replaces(section: &Section, group: &Instance, layer: &Layer) -> bool {
    let mut own = layer.entries.iter().filter(|entry| is_in(entry, section));
    match section.shape {
        Shape::Table | Shape::PerAgent => false,
        Shape::PerModel => own.any(|entry| Instance::of(entry) == *group),
        Shape::List => own.next().is_some(),
    }
}

/// Puts the chosen agent's own model and timeout in the place of the general ones, unless those were typed.
fn use_agents_own(settings: &mut [Setting]) {
    let agent = value_of(settings, "agent.name").unwrap_or_default();
    let own: BTreeMap<String, Vec<Said>> =
        settings.iter().map(|setting| (setting.name.clone(), setting.said.clone())).collect();
    for setting in settings.iter_mut().filter(|setting| setting.key.per_agent && !setting.typed) {
        let name = format!("agents.{agent}.{}", setting.key.parts().1);
        let Some(said) = own.get(&name).and_then(|said| said.first()) else { continue };
        let mut whole = setting.clone().taken_from(said);
        whole.said.insert(0, said.clone());
        *setting = whole;
    }
}

fn lower_to_ceilings(settings: &mut [Setting]) {
    let all = settings.to_vec();
    for setting in settings.iter_mut() {
        let ceiling = setting.key.ceiling.and_then(|name| all.iter().find(|other| other.name == name));
        if let Some(ceiling) = ceiling {
            *setting = ceilings::lowered(setting.clone(), ceiling);
        }
    }
}

fn value_of(settings: &[Setting], name: &str) -> Option<String> {
    let setting = settings.iter().find(|setting| setting.name == name)?;
    setting.value.as_ref()?.as_str().map(Into::into)
}
