//! Rules for the tables that occur more than once: `[agents.NAME]`, `[prices."MODEL"]`, `[[ladder]]`, `[[pattern]]`.

use super::key::{Section, Shape};
use super::kind::{Kind, Mismatch};
use ralph_rules::prices::normal;
use toml::{Table, Value};

/// Each rung costs an iteration when it is tried: a longer ladder is a mistake.
const RUNGS: usize = 10;
/// Entries of any other list.
const ENTRIES: usize = 64;

/// How many entries a list may have.
pub fn most_entries(section: &Section) -> usize {
    if section.name == "ladder" { RUNGS } else { ENTRIES }
}

/// What is wrong with the name of an agent or a model.
pub fn wrong_name(section: &Section, name: &str) -> Option<Mismatch> {
    match section.shape {
        Shape::PerAgent => {
            // The rule for agents' names is that of every key that holds one.
            let Mismatch { what, hint } =
                Kind::Agent(|_, _, _| ()).change(&Value::String(name.into())).err()?;
            Some(Mismatch { what: format!("`{}.{name}` {what}", section.name), hint })
        }
        Shape::PerModel if normal(name).is_empty() => {
            Some(Mismatch::new(format!("{name:?} is not the name of a model")))
        }
        _ => None,
    }
}

/// The keys that every entry of a list must have.
fn required(section: &Section) -> &'static [&'static str] {
    match section.name {
        "pattern" => &["name", "phrases", "means"],
        "analyzer" => &["name", "command"],
        _ => &[],
    }
}

/// What is missing in a table.
pub fn incomplete(section: &Section, instance: &str, table: &Table) -> Option<String> {
    match section.shape {
        Shape::PerModel => {
            let missing = ["input", "output"].into_iter().find(|own| !table.contains_key(*own))?;
            Some(format!(
                "`{}.{instance}` has no `{missing}`; both input and output are required",
                section.name
            ))
        }
        Shape::List => match required(section) {
            [] => table.is_empty().then(|| format!("rung {instance} changes nothing")),
            keys => {
                let missing = keys.iter().find(|own| !table.contains_key(**own))?;
                Some(format!("{} {instance} has no `{missing}`", section.name))
            }
        },
        _ => None,
    }
}
