//! Who gets notes of what, and when not.

use crate::quiet::Quiet;
use crate::target::Target;
use ralph_rules::notice::Event;

/// Who gets notes of what, and when not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// What is noted.
    pub on: Vec<Event>,
    /// When nobody is disturbed.
    pub quiet: Option<Quiet>,
    /// The user's time zone, an IANA name.
    pub zone: String,
    /// Who gets notes.
    pub targets: Vec<Target>,
}

impl Config {
    /// The target with this id.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.id() == id)
    }
}
