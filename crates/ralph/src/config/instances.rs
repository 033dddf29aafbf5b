//! Rules for the tables that occur more than once: `[agents.NAME]`, `[prices."MODEL"]`, `[[ladder]]`, `[[pattern]]`,
//! `[[notify.to]]`.

use super::key::{Section, Shape};
use super::kind::{Kind, Mismatch};
use ralph_notify::Address;
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
        Shape::List if section.name == "notify.to" => wrong_target(instance, table),
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

/// What is wrong with a target as a whole: it must be one thing, and what belongs to a webhook is of no use elsewhere.
fn wrong_target(instance: &str, table: &Table) -> Option<String> {
    let off = |own: &str| table.get(own) == Some(&Value::Boolean(false));
    let kinds = ["desktop", "command", "webhook", "url_env", "url_file"];
    let named: Vec<&str> = kinds.into_iter().filter(|own| table.contains_key(*own) && !off(own)).collect();
    let webhook = named.iter().any(|own| !matches!(*own, "desktop" | "command"));
    let stray = ["secret_file", "format", "allow_private"].into_iter().find(|own| table.contains_key(*own));
    match (named.as_slice(), stray) {
        ([], _) => Some(format!("notify.to {instance} has none of {}", kinds.join(", "))),
        ([one, other, ..], _) => {
            Some(format!("notify.to {instance} has both `{one}` and `{other}`; write a table for each"))
        }
        (_, Some(own)) if !webhook => {
            Some(format!("notify.to {instance} has `{own}`, which only a webhook can have"))
        }
        _ => {
            let url = table.get("webhook").and_then(Value::as_str)?;
            let private = table.get("allow_private") == Some(&Value::Boolean(true));
            // Anything but that is said of the value itself.
            let wrong = Address::wrong(url, private).filter(|_| Address::wrong(url, true).is_none())?;
            Some(format!("notify.to {instance}: {wrong}"))
        }
    }
}
