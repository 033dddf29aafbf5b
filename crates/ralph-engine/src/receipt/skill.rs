//! The skill in a receipt, with the criteria that nothing but the agent's word stands for.

use ralph_rules::criteria;
use ralph_rules::state::State;
use serde::{Deserialize, Serialize};

/// The skill of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceiptSkill {
    /// Its name.
    pub name: String,
    /// BLAKE3 of its SKILL.md, in hex.
    pub hash: String,
    /// Its completion criteria.
    pub criteria: Vec<String>,
    /// Those that no verify command checked.
    pub not_checked: Vec<String>,
}

impl ReceiptSkill {
    /// That of a run, where it has one.
    pub fn of(state: &State) -> Option<ReceiptSkill> {
        let given = criteria::skill(state)?;
        Some(ReceiptSkill {
            name: given.name.clone(),
            hash: given.hash.clone(),
            criteria: given.criteria.clone(),
            not_checked: criteria::not_checked(state),
        })
    }

    /// As rows of a receipt.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let skill = match (self.criteria.len(), self.not_checked.len()) {
            (0, _) => self.name.clone(),
            (all, open) => format!("{}; {} of {all} criteria checked by a command", self.name, all - open),
        };
        let open = self.not_checked.iter().map(|criterion| ("not checked", criterion.clone()));
        std::iter::once(("skill", skill)).chain(open).collect()
    }
}
