//! Which layer sets something, and what it sets.

use super::key::Key;
use std::path::{Path, PathBuf};
use toml::Value;

/// A layer: a file, the variables, the flags, a skill or a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The preset of this name.
    Preset(&'static str),
    /// The skill of this name.
    Skill(String),
    /// The system's file.
    System(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// `ralph.toml`.
    Project(PathBuf),
    /// `ralph.local.toml`.
    Local(PathBuf),
    /// `RALPH_*`.
    Environment,
    /// Flags of `ralph run`.
    Flags,
}

impl Origin {
    /// In one word, for scripts.
    pub fn word(&self) -> &'static str {
        match self {
            Origin::Preset(_) => "preset",
            Origin::Skill(_) => "skill",
            Origin::System(_) => "system",
            Origin::User(_) => "user",
            Origin::Project(_) => "project",
            Origin::Local(_) => "local",
            Origin::Environment => "environment",
            Origin::Flags => "flag",
        }
    }

    /// Its file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::System(path) | Origin::User(path) | Origin::Project(path) | Origin::Local(path) => {
                Some(path)
            }
            _ => None,
        }
    }

    /// Whether an agent could have written it: the files in the workspace.
    pub fn is_project(&self) -> bool {
        matches!(self, Origin::Project(_) | Origin::Local(_))
    }

    /// Whether the user typed it for this command.
    pub fn is_typed(&self) -> bool {
        matches!(self, Origin::Environment | Origin::Flags)
    }
}

/// A layer and everything it sets.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Which.
    pub origin: Origin,
    /// What it sets, in the order it is written.
    pub entries: Vec<Entry>,
}

/// One key that a layer sets.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its declaration.
    pub key: &'static Key,
    /// Its full name, with the agent, the model or the number of the rung in it.
    pub name: String,
    /// The agent, the model or the number of the rung, as written.
    pub instance: String,
    /// The value.
    pub value: Value,
    /// The line of the file.
    pub line: Option<usize>,
}

impl Entry {
    /// An ordinary key outside of any file.
    pub fn new(key: &'static Key, value: Value) -> Entry {
        Entry { key, name: key.name.into(), instance: String::new(), value, line: None }
    }

    /// Where it is set: `ralph.toml:3`, `RALPH_MODEL`, `--model`, `skill tdd`, `preset classic`.
    pub fn place(&self, origin: &Origin, workspace: &Path) -> String {
        match origin {
            Origin::Preset(name) => format!("preset {name}"),
            Origin::Skill(name) => format!("skill {name}"),
            Origin::Environment => self.key.variable().unwrap_or_default(),
            Origin::Flags => self.key.flag.map(|flag| flag.name.to_string()).unwrap_or_default(),
            Origin::System(path) | Origin::User(path) | Origin::Project(path) | Origin::Local(path) => {
                let shown = path.strip_prefix(workspace).unwrap_or(path).display();
                self.line.map_or_else(|| shown.to_string(), |line| format!("{shown}:{line}"))
            }
        }
    }
}
