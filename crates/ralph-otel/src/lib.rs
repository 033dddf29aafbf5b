//! A run's journal as an OpenTelemetry trace: OTLP over HTTP with JSON bodies, written by hand, because the exporter crates
//! weigh more than everything else that ralph sends. Pure: records in, bytes out; whoever delivers the bytes is elsewhere.
//!
//! One trace a run. Its id is the run's UUID and a span's id comes from the number of the record that began it, so that
//! exporting a run again gives the same ids.
//!
//! ```text
//! invoke_workflow ralph            the run, from its first record to its last
//! ├── verification                 before the first call
//! ├── iteration
//! │   ├── invoke_agent claude      one call
//! │   ├── wait                     for a usage limit, then the next attempt
//! │   ├── invoke_agent claude
//! │   └── verification
//! └── …
//! ```
//!
//! Names and attributes follow the GenAI semantic conventions; ralph's own attributes begin with `ralph.`. Values are
//! numbers, names of agents and models, and words that ralph defines: no text of a prompt, an answer, a task or an
//! output, no path and no variable of the environment.
//!
//! `journal_spans.rs` finds the spans in a journal, `span/` has the attributes of each kind, `otlp.rs` the message.

mod attributes;
mod endpoint;
mod ids;
mod journal_spans;
mod otlp;
mod provider;
mod request;
mod span;

pub use endpoint::{InvalidEndpoint, traces_url};
pub use otlp::ExportTraceServiceRequest;
pub use request::{MOST_SPANS, SPANS_PER_REQUEST, trace};

use ralph_rules::record::Record;

/// The bodies of the requests that deliver a run's trace, in order. None if the records do not begin with a run whose id
/// is a UUID. `over`: nobody works on the run any more, so what the records leave open crashed.
pub fn export(records: &[Record], over: bool) -> Vec<Vec<u8>> {
    // Only types that always serialise are in a request.
    trace(records, over).iter().filter_map(|request| serde_json::to_vec(request).ok()).collect()
}
