//! What the declaration of a key consists of. The declarations themselves are in `sections/`.

use super::kind::Kind;
use std::path::Path;

/// One key: everything that is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// With its section: `run.max_iterations`. `*` stands for the name of an agent or a model.
    pub name: &'static str,
    /// What it may hold, and where that lands in the settings.
    pub kind: Kind,
    /// What it does.
    pub doc: &'static str,
    /// Its built-in value as TOML; empty for none.
    pub default: &'static str,
    /// The flag of `ralph run` that sets it.
    pub flag: Option<Flag>,
    /// How layers that set it are combined.
    pub combine: Combine,
    /// The key that limits it.
    pub ceiling: Option<&'static str>,
    /// `agents.NAME.` with the same last part replaces it, unless a flag or a variable sets it.
    pub per_agent: bool,
}

/// A flag of `ralph run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// With its dashes.
    pub name: &'static str,
    /// What stands for its value in help.
    pub value: &'static str,
}

/// How layers that set the same key are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The nearest layer wins.
    Nearest,
    /// All layers add up.
    AddsUp,
    /// The nearest layer wins, but a project's file may only make it stricter.
    Tighten,
    /// The nearest layer wins, and a project's file may not set it at all.
    OwnOnly,
}

/// A table of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name; empty for the top level.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// How it is written.
    pub shape: Shape,
    /// Its keys.
    pub keys: &'static [Key],
}

/// How a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `[run]`.
    Table,
    /// `[agents.NAME]`: each key is combined on its own.
    PerAgent,
    /// `[prices."MODEL"]`: the nearest layer's table for a model replaces all others.
    PerModel,
    /// `[[ladder]]`: the nearest layer's list replaces all others.
    List,
}

/// What a setter needs to know besides the value.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The agent, the model or the number of the rung; empty for ordinary keys.
    pub instance: &'a str,
    /// The file that sets it.
    pub file: Option<&'a Path>,
    /// Whether any layer sets it; otherwise the value is the built-in one.
    pub is_set: bool,
}

impl Key {
    /// A key that every layer may set; the nearest wins.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Key {
        let (default, flag, ceiling) = ("", None, None);
        Key { name, kind, doc, default, flag, combine: Combine::Nearest, ceiling, per_agent: false }
    }

    /// With a built-in value, as TOML.
    pub const fn default(self, default: &'static str) -> Key {
        Key { default, ..self }
    }

    /// With a flag, and so with a variable.
    pub const fn flag(self, name: &'static str, value: &'static str) -> Key {
        Key { flag: Some(Flag { name, value }), ..self }
    }

    /// Combined in this way.
    pub const fn combine(self, combine: Combine) -> Key {
        Key { combine, ..self }
    }

    /// Limited by another key.
    pub const fn ceiling(self, ceiling: &'static str) -> Key {
        Key { ceiling: Some(ceiling), ..self }
    }

    /// Replaced by the value for the chosen agent.
    pub const fn per_agent(self) -> Key {
        Key { per_agent: true, ..self }
    }

    /// The variable that sets it: the flag's name in capitals.
    pub fn variable(&self) -> Option<String> {
        let flag = self.flag?.name.strip_prefix("--")?;
        Some(format!("RALPH_{}", flag.replace('-', "_").to_uppercase()))
    }

    /// The name of its section, without the `*` for an agent or a model.
    pub fn section(&self) -> &'static str {
        self.parts().0.trim_end_matches(".*")
    }

    /// Its section and its own name.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.rsplit_once('.').unwrap_or(("", self.name))
    }

    /// The first sentence of its documentation, without the full stop.
    pub fn summary(&self) -> &'static str {
        self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.')
    }

    /// Its built-in value.
    pub fn built_in(&self) -> Option<toml::Value> {
        format!("x = {}", self.default).parse::<toml::Table>().ok()?.remove("x")
    }

    /// Who may set it in a config file, as a sentence; empty where every file may and the nearest wins.
    pub fn rule(&self) -> &'static str {
        match self.combine {
            Combine::Nearest => "",
            Combine::AddsUp => "The values of all layers add up.",
            Combine::Tighten => "A project's file can only make it stricter.",
            Combine::OwnOnly => "A project's file cannot set it.",
        }
    }
}

impl Section {
    /// Its name as a heading: `[agents.NAME]`, `[[ladder]]`.
    pub fn heading(&self) -> String {
        match self.shape {
            Shape::Table => format!("[{}]", self.name),
            Shape::PerAgent => format!("[{}.NAME]", self.name),
            Shape::PerModel => format!("[{}.\"MODEL\"]", self.name),
            Shape::List => format!("[[{}]]", self.name),
        }
    }

    /// The key with this last part.
    pub fn key(&self, own: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.parts().1 == own)
    }

    /// The last parts of its keys.
    pub fn own_names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.parts().1)
    }
}
