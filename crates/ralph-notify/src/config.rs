//! Who gets notes of what, and when not.

use crate::quiet::Quiet;
use crate::target::{Kind, Target};
use ralph_rules::notice::Event;
use ralph_rules::record::Ms;

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

    /// Which of the `[[notify.to]]` a target is, from 1; none if it is where traces are sent.
    pub fn number(&self, target: &Target) -> Option<usize> {
        let place = self.targets.iter().position(|one| one == target)?;
        (!matches!(target.kind, Kind::Traces(_))).then_some(place + 1)
    }

    /// What a target is, with its number: two may differ in what is secret alone.
    pub fn shown(&self, target: &Target) -> String {
        let number = self.number(target).map(|number| format!("{number} ")).unwrap_or_default();
        number + &target.shown()
    }

    /// When the quiet hours end that keep back what is due for a target at this moment; none if nothing keeps it back. A
    /// trace disturbs nobody.
    pub fn kept_until(&self, target: &Target, at: Ms) -> Option<Ms> {
        let quiet = self.quiet.filter(|_| !matches!(target.kind, Kind::Traces(_)));
        quiet?.ends(at, &self.zone)
    }
}
