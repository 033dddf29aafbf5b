//! The span of an iteration: its attempts, the waits between them, reviews and verifications of its work.

use super::{Begun, Kind, Span};
use crate::attributes::Attributes;
use ralph_rules::money::Micro;
use ralph_rules::record::Ms;

/// An iteration under way, or left by a process that may be resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenIteration {
    /// The record that began it.
    pub begun: Begun,
    /// Its number, from 1.
    pub number: u32,
    /// The rung of the ladder that works.
    pub rung: u32,
    /// Calls, reviews included.
    pub calls: u32,
    /// What they cost.
    pub cost: Micro,
    /// Files that its latest call changed.
    pub files: Option<u32>,
    /// Whether the verification of its work passed.
    pub verified: Option<bool>,
    /// The reasons of what was decided about it.
    pub codes: Vec<String>,
    /// When it ended, unless it is continued.
    pub ended: Option<Ms>,
    /// Whether a span belongs to it.
    pub used: bool,
}

impl OpenIteration {
    /// One that begins with this record.
    pub fn new(begun: Begun, number: u32, rung: u32) -> OpenIteration {
        OpenIteration {
            begun,
            number,
            rung,
            calls: 0,
            cost: Micro::ZERO,
            files: None,
            verified: None,
            codes: Vec::new(),
            ended: None,
            used: false,
        }
    }

    /// The span; `last` is the last record's time. None if nothing happened in it: its reservation was refused.
    pub fn close(self, run: Begun, run_id: &str, last: Ms) -> Option<Span> {
        let attributes = Attributes::default()
            .name("ralph.run.id", Some(run_id))
            .count("ralph.iteration.number", self.number)
            .count("ralph.iteration.calls", self.calls)
            .count("ralph.iteration.rung", self.rung)
            .dollars("ralph.iteration.cost_usd", self.cost)
            .maybe_count("ralph.iteration.files_changed", self.files)
            .maybe_flag("ralph.iteration.verified", self.verified)
            .words("ralph.decision.codes", &self.codes)
            .mark("ralph.unfinished", self.ended.is_none());
        self.used.then(|| Span {
            kind: Kind::Iteration,
            name: "iteration".into(),
            begun: self.begun,
            end: self.ended.unwrap_or(last),
            parent: Some((Kind::Run, run.seq)),
            attributes,
            error: None,
        })
    }
}
