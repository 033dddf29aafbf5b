//! One key as it stands: its value in force, and every layer that sets it.

use super::key::{At, Combine, Key};
use super::origin::{Entry, Layer, Origin};
use std::path::{Path, PathBuf};
use toml::Value;

/// One key as it stands.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its declaration.
    pub key: &'static Key,
    /// Its name, with the agent, the model or the number of the rung in it.
    pub name: String,
    /// The agent, the model or the number of the rung.
    pub instance: String,
    /// The value in force; none where it is not set.
    pub value: Option<Value>,
    /// The layer it comes from, in one word.
    pub layer: &'static str,
    /// Where it comes from: `ralph.toml:3`, `RALPH_MODEL`, `--model`, `preset classic`, `built-in`.
    pub from: String,
    /// The file it comes from.
    pub file: Option<PathBuf>,
    /// Whether a flag or a variable sets it.
    pub typed: bool,
    /// Every layer that sets it, the nearest first.
    pub said: Vec<Said>,
    /// Why another value is in force than the nearest layer asks for.
    pub note: Option<String>,
}

/// What one layer says of a key.
#[derive(Clone, Debug)]
pub struct Said {
    /// The layer in one word.
    pub layer: &'static str,
    /// Where.
    pub place: String,
    /// The value.
    pub value: Value,
    pub(super) origin: Origin,
}

impl Said {
    /// What an entry of a layer says.
    pub(super) fn new(layer: &Layer, entry: &Entry, workspace: &Path) -> Said {
        let place = entry.place(&layer.origin, workspace);
        let origin = layer.origin.clone();
        Said { layer: origin.word(), place, value: entry.value.clone(), origin }
    }
}

impl<'a> At<'a> {
    /// What the setter of this setting's key needs to know.
    pub(super) fn of(row: &'a Setting) -> At<'a> {
        At { instance: &row.instance, file: row.file.as_deref(), is_set: !row.said.is_empty() }
    }
}

impl Setting {
    /// The built-in value, before any layer was looked at.
    pub(super) fn built_in(key: &'static Key, name: String, instance: String) -> Setting {
        Setting {
            key,
            name,
            instance,
            value: key.built_in(),
            layer: "built-in",
            from: "built-in".into(),
            file: None,
            typed: false,
            said: Vec::new(),
            note: None,
        }
    }

    /// The value as it may be shown.
    pub fn shown(&self) -> Option<Value> {
        self.value.as_ref().map(|value| self.key.kind.shown(value))
    }

    /// With everything that layers say, the nearest first, combined as the key declares.
    pub(super) fn combined(self, said: Vec<Said>) -> Setting {
        let setting = Setting { said, ..self };
        match setting.key.combine {
            Combine::Nearest | Combine::OwnOnly => match setting.said.first().cloned() {
                Some(said) => setting.taken_from(&said),
                None => setting,
            },
            Combine::AddsUp => setting.added_up(),
            Combine::Tighten => setting.tightened(),
        }
    }

    /// With the value of one layer.
    pub(super) fn taken_from(self, said: &Said) -> Setting {
        Setting {
            value: Some(said.value.clone()),
            layer: said.layer,
            from: said.place.clone(),
            file: said.origin.path().map(Path::to_path_buf),
            typed: said.origin.is_typed(),
            ..self
        }
    }

    /// Lists: the furthest layer's items first. Tables: the nearest layer wins name by name.
    fn added_up(self) -> Setting {
        let Some(nearest) = self.said.first().cloned() else { return self };
        let furthest_first = self.said.iter().rev().map(|said| said.value.clone());
        let value = furthest_first.reduce(|sum, more| match (sum, more) {
            (Value::Array(sum), Value::Array(more)) => Value::Array(sum.into_iter().chain(more).collect()),
            (Value::Table(sum), Value::Table(more)) => Value::Table(sum.into_iter().chain(more).collect()),
            (_, more) => more,
        });
        let places: Vec<String> = self.said.iter().map(|said| said.place.clone()).collect();
        Setting { value, from: places.join(", "), ..self.taken_from(&nearest) }
    }

    /// Layer by layer, the furthest first: a project's file counts only if it is stricter than what is in force.
    fn tightened(self) -> Setting {
        let said: Vec<Said> = self.said.iter().rev().cloned().collect();
        said.iter().fold(self, |setting, said| {
            let rank = |value: &Value| setting.key.kind.strictness(value);
            let in_force = setting.value.as_ref().and_then(rank);
            match said.origin.is_project() && rank(&said.value) > in_force {
                false => Setting { note: None, ..setting.taken_from(said) },
                true => {
                    let note = looser(&setting, said);
                    Setting { note: Some(note), ..setting }
                }
            }
        })
    }
}

fn looser(setting: &Setting, said: &Said) -> String {
    let in_force = setting.value.as_ref().map(ToString::to_string).unwrap_or_default();
    format!(
        "{} = {} ({}) is ignored: a project's file can only make it stricter than {in_force} ({}); set it in your own \
         config.toml if you mean it",
        setting.name, said.value, said.place, setting.from
    )
}
