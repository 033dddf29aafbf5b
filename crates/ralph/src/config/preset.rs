//! The presets: plain config fragments, kept beside this file and built in. A preset only replaces the built-in numbers;
//! whatever a file or a flag sets explicitly wins over it. None waives protected paths, BLOCKED or a verification.

use super::file::{File, Preset};
use super::source::{Origin, Source};
use crate::problem::{Code, Problem};

impl Preset {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Strict => "strict",
            Preset::Classic => "classic",
            Preset::Analyzer => "analyzer",
            Preset::Wrapper => "wrapper",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Preset::Strict => include_str!("presets/strict.toml"),
            Preset::Classic => include_str!("presets/classic.toml"),
            Preset::Analyzer => include_str!("presets/analyzer.toml"),
            Preset::Wrapper => include_str!("presets/wrapper.toml"),
        }
    }

    /// Its fragment.
    pub(super) fn file(self) -> Result<File, Problem> {
        toml::from_str(self.text()).map_err(|error| {
            Problem::new(Code::Bug, format!("the preset {} cannot be read", self.name())).cause(&error)
        })
    }

    /// Its fragment as a layer.
    pub(super) fn source(self) -> Source {
        let table = self.text().parse().unwrap_or_default();
        Source { origin: Origin::Preset(self.name()), table, text: String::new() }
    }
}
