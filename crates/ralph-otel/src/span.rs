//! A span before it is written, and the attributes of each kind.

pub mod call;
pub mod iteration;
pub mod run;
pub mod verification;
pub mod wait;

use crate::attributes::Attributes;
use crate::ids::Ids;
use crate::otlp::{self, SpanKind, Status};
use ralph_rules::record::Ms;

/// What went wrong where a process was gone before the span was over.
const CRASHED: &str = "crashed";

/// What a span stands for. The numbers are part of the spans' ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The whole run.
    Run = 1,
    /// An iteration with all its attempts.
    Iteration = 2,
    /// One call of an agent.
    Call = 3,
    /// One verification.
    Verification = 4,
    /// Nothing was done until a limit had passed or a person said so.
    Wait = 5,
}

/// The record that began a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its number.
    pub seq: u64,
    /// Its time.
    pub at: Ms,
}

/// A span that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What it stands for.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The record that began it.
    pub begun: Begun,
    /// When it ended.
    pub end: Ms,
    /// The span around it; none for the run.
    pub parent: Option<(Kind, u64)>,
    /// What is known about it.
    pub attributes: Attributes,
    /// What went wrong, in one word.
    pub error: Option<String>,
}

impl Span {
    /// As a message holds it.
    pub fn write(self, ids: Ids) -> otlp::Span {
        let attributes = self.attributes.maybe_word("error.type", self.error.clone());
        otlp::Span {
            trace_id: ids.trace(),
            span_id: ids.span(self.kind, self.begun.seq),
            parent_span_id: self.parent.map(|(kind, seq)| ids.span(kind, seq)),
            name: self.name,
            kind: if self.kind == Kind::Call { SpanKind::Client } else { SpanKind::Internal },
            start_time_unix_nano: nanoseconds(self.begun.at),
            end_time_unix_nano: nanoseconds(self.end.max(self.begun.at)),
            attributes: attributes.into_vec(),
            status: self.error.map(|_| Status::ERROR),
        }
    }
}

fn nanoseconds(at: Ms) -> u64 {
    u64::try_from(at).unwrap_or(0).saturating_mul(1_000_000)
}
