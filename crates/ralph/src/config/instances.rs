//! Rules for the tables that occur more than once: `[agents.NAME]`, `[prices."MODEL"]` and `[[ladder]]`.

use super::key::{Section, Shape};
use super::kind::{Kind, Mismatch};
use ralph_rules::prices::normal;
use toml::{Table, Value};

/// Each rung costs an iteration when it is tried: a longer ladder is a mistake.
pub const MAX_RUNGS: usize = 10;

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
        Shape::List if table.is_empty() => Some(format!("rung {instance} changes nothing")),
        _ => None,
    }
}
