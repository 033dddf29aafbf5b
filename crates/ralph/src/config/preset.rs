//! The presets: config fragments that are built in (`presets/`). A preset only replaces built-in values; whatever a file,
//! a variable or a flag sets takes precedence over it. No preset weakens protected paths or verification.

use super::document;
use super::origin::{Layer, Origin};
use crate::problem::{Code, Problem};

/// `preset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// ralph's own values.
    Strict,
    /// As in "Ralph Architecture".
    Classic,
    /// As in "Ralph Analyzer Skill".
    Analyzer,
    /// As in "Ralph Loop Wrapper".
    Wrapper,
}

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

    /// What it sets.
    pub(super) fn layer(self) -> Result<Layer, Problem> {
        let (layer, problems) = document::read(Origin::Preset(self.name()), self.text());
        match problems.into_iter().next() {
            Some(problem) => {
                let message = format!("the preset {} is invalid: {}", self.name(), problem.message);
                Err(Problem::new(Code::Bug, message))
            }
            None => Ok(layer),
        }
    }
}
