//! The `toml ralph` block of a skill: four keys, read like a config file's. What it sets ranks below every config file and
//! above presets; `skills/` finds the block in its SKILL.md.

use super::document;
use super::key::{Key, Section, Shape};
use super::kind::Kind;
use super::origin::{Entry, Layer, Origin};
use super::sections::find;
use crate::nearest::nearest;
use crate::problem::Problem;
use std::path::Path;
use toml::Value;
use toml::de::{DeTable, DeValue};

/// The keys of a block. Apart from `kinds`, each is a key of ralph.toml under a shorter name.
pub(super) const SKILL: Section = Section {
    name: "",
    about: "What a skill sets, in the `toml ralph` block of its SKILL.md.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "verify",
            Kind::Commands(|s, _, commands| s.verify = commands),
            "Commands that verify its work.",
        ),
        Key::new(
            "max_iterations",
            Kind::Count(|s, _, n| s.max_iterations = Some(n)),
            "Maximum number of iterations.",
        ),
        Key::new("max_cost_usd", Kind::Dollars(|s, _, usd| s.max_cost = Some(usd)), "Maximum cost of a run."),
        Key::new("kinds", Kind::Texts(|_, _, _| {}), "Kinds of task it is for."),
    ],
};

/// The key of ralph.toml that a key of the block sets.
const SETS: [(&str, &str); 3] = [
    ("verify", "verify.commands"),
    ("max_iterations", "run.max_iterations"),
    ("max_cost_usd", "run.max_cost_usd"),
];

/// Kinds of task that a skill can be for.
pub const KINDS: [&str; 6] = ["feature", "bug", "refactor", "test", "chore", "docs"];

/// What a skill sets.
#[derive(Clone, Debug, Default)]
pub struct SkillValues {
    skill: String,
    entries: Vec<Entry>,
    /// Kinds of task it is for.
    pub kinds: Vec<String>,
    promise: Option<String>,
}

impl SkillValues {
    /// Reads a block. `text` is the whole file up to the end of the block with everything before the block blank, so that
    /// lines and columns are those of the file.
    pub fn read(skill: &str, path: &Path, text: &str) -> (SkillValues, Vec<Problem>) {
        let origin = Origin::Skill(skill.into());
        let (Layer { entries, .. }, mut problems) = document::read_table(origin, path, text, &SKILL);
        let mut values = SkillValues { skill: skill.into(), ..SkillValues::default() };
        for entry in entries {
            let sets = SETS.iter().find(|(own, _)| *own == entry.key.name).and_then(|(_, name)| find(name));
            match sets {
                Some(key) => values.entries.push(Entry { key, name: key.name.into(), ..entry }),
                None => values.kinds = texts(&entry.value),
            }
        }
        problems.extend(unknown_kinds(path, text));
        (values, problems)
    }

    /// Without a block.
    pub fn of(skill: &str) -> SkillValues {
        SkillValues { skill: skill.into(), ..SkillValues::default() }
    }

    /// Whether it sets verify commands.
    pub fn verifies(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.key.name == "verify.commands" && !texts(&entry.value).is_empty())
    }

    /// With these verify commands, where it sets none.
    #[must_use]
    pub fn verified_by(mut self, commands: Vec<String>) -> SkillValues {
        if let Some(key) = find("verify.commands").filter(|_| !self.verifies() && !commands.is_empty()) {
            let commands = commands.into_iter().map(Value::String).collect();
            self.entries.push(Entry::new(key, Value::Array(commands)));
        }
        self
    }

    /// With its promise, which takes precedence over every other layer: the skill's text tells the agent to give it.
    #[must_use]
    pub fn promising(self, promise: Option<String>) -> SkillValues {
        SkillValues { promise, ..self }
    }

    /// What ranks below every config file.
    pub(super) fn below(&self) -> Layer {
        Layer { origin: Origin::Skill(self.skill.clone()), entries: self.entries.clone() }
    }

    /// What ranks above the flags.
    pub(super) fn above(&self) -> Layer {
        let promise = self.promise.clone().zip(find("gate.promise"));
        let entries = promise.map(|(text, key)| Entry::new(key, Value::String(text)));
        Layer { origin: Origin::Skill(self.skill.clone()), entries: entries.into_iter().collect() }
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(Into::into)).collect()
}

/// The kinds that nobody knows, each at its place.
fn unknown_kinds(path: &Path, text: &str) -> Vec<Problem> {
    let Ok(places) = DeTable::parse(text) else { return Vec::new() };
    let Some(DeValue::Array(kinds)) = places.get_ref().get("kinds").map(|place| place.get_ref()) else {
        return Vec::new();
    };
    let wrong = kinds.iter().filter_map(|kind| {
        let word = kind.get_ref().as_str().filter(|word| !KINDS.contains(word))?;
        let hint = match nearest(word, KINDS) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("kinds are: {}", KINDS.join(", ")),
        };
        let what = format!("`kinds` contains an unknown kind, \"{word}\"");
        Some(super::mistake::at(path, text, kind.span().start, &what).hint(hint))
    });
    wrong.collect()
}
