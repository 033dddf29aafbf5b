//! The spans of a run, shared out over requests of bounded size.

use crate::attributes::Attributes;
use crate::ids::Ids;
use crate::journal_spans::JournalSpans;
use crate::otlp::{self, ExportTraceServiceRequest, Resource, ResourceSpans, Scope, ScopeSpans};
use ralph_rules::record::{Fact, Record, Seen};

/// Spans in one request: with at most some 2 kB each, a body stays below the limits of collectors.
pub const SPANS_PER_REQUEST: usize = 256;
/// Spans of one run; further ones are left out, and the run's span says how many.
pub const MOST_SPANS: usize = 100_000;

/// The requests that deliver a run's trace, the run's own span first. None if the records do not begin with a run whose id
/// is a UUID. `over`: nobody works on the run any more, so what the records leave open crashed.
pub fn trace(records: &[Record], over: bool) -> Vec<ExportTraceServiceRequest> {
    let Some(Record { seq, at, fact: Fact::Seen(Seen::RunStarted(start)), .. }) = records.first() else {
        return Vec::new();
    };
    let Some(ids) = Ids::of_run(&start.run) else { return Vec::new() };
    let spans = JournalSpans::new(start, *seq, *at).of(records, over);
    let version = version(records).unwrap_or(&start.version);
    let mut spans = spans.into_iter().map(|span| span.write(ids)).peekable();
    let mut requests = Vec::new();
    while spans.peek().is_some() {
        requests.push(request(spans.by_ref().take(SPANS_PER_REQUEST).collect(), version));
    }
    requests
}

/// The version of the ralph that worked on the run last, if it was resumed.
fn version(records: &[Record]) -> Option<&str> {
    records.iter().rev().find_map(|record| match &record.fact {
        Fact::Seen(Seen::Resumed(resumed)) => Some(resumed.version.as_str()),
        _ => None,
    })
}

fn request(spans: Vec<otlp::Span>, version: &str) -> ExportTraceServiceRequest {
    let attributes =
        Attributes::default().word("service.name", "ralph").name("service.version", Some(version)).into_vec();
    let scope = Scope { name: "ralph", version: env!("CARGO_PKG_VERSION") };
    let scope_spans = vec![ScopeSpans { scope, spans }];
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans { resource: Resource { attributes }, scope_spans }],
    }
}
