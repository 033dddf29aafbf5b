//! Where a setting comes from: a file with its line, a variable, a preset, or ralph itself.

use std::path::{Path, PathBuf};

/// One layer that sets something.
#[derive(Clone, Debug)]
pub struct Source {
    /// Which.
    pub origin: Origin,
    /// What it sets.
    pub table: toml::Table,
    /// Its text, for the line a key stands in; empty where it is no file.
    pub text: String,
}

/// A layer's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The preset of this name.
    Preset(&'static str),
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
}

impl Origin {
    /// In one word, for scripts.
    pub fn word(&self) -> &'static str {
        match self {
            Origin::Preset(_) => "preset",
            Origin::System(_) => "system",
            Origin::User(_) => "user",
            Origin::Project(_) => "project",
            Origin::Local(_) => "local",
            Origin::Environment => "environment",
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
}

impl Source {
    /// The value of a key, named with dots.
    pub fn get(&self, key: &str) -> Option<&toml::Value> {
        let mut parts = key.split('.');
        let mut value = self.table.get(parts.next()?)?;
        for part in parts {
            value = value.as_table()?.get(part)?;
        }
        Some(value)
    }

    /// Where it says so: `ralph.toml:3`, `RALPH_MODEL`, `preset classic`.
    pub fn place(&self, key: &str, workspace: &Path) -> String {
        match (&self.origin, self.origin.path()) {
            (Origin::Preset(name), _) => format!("preset {name}"),
            (_, Some(path)) => {
                let shown = path.strip_prefix(workspace).unwrap_or(path).display().to_string();
                match super::place::line_of(&self.text, key) {
                    Some(line) => format!("{shown}:{line}"),
                    None => shown,
                }
            }
            _ => super::keys::find(key).and_then(super::keys::Key::variable).unwrap_or_default(),
        }
    }
}
