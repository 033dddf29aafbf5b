//! The span of a wait: for a limit, an outage, a pause, or a person.

use super::{Begun, Kind, Span};
use crate::attributes::Attributes;
use ralph_rules::record::Ms;

/// Nothing is under way since this record. If the rules answer at once, that was no wait.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenWait {
    /// The record after which nothing was begun.
    pub begun: Begun,
    /// What is waited for.
    pub reason: Option<String>,
}

impl OpenWait {
    /// The span.
    pub fn close(
        self,
        parent: (Kind, u64),
        iteration: Option<u32>,
        run_id: &str,
        at: Ms,
        unfinished: bool,
    ) -> Span {
        let attributes = Attributes::default()
            .name("ralph.run.id", Some(run_id))
            .maybe_count("ralph.iteration.number", iteration)
            .maybe_word("ralph.wait.reason", self.reason)
            .mark("ralph.unfinished", unfinished);
        Span {
            kind: Kind::Wait,
            name: "wait".into(),
            begun: self.begun,
            end: at,
            parent: Some(parent),
            attributes,
            error: None,
        }
    }
}
