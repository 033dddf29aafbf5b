//! `[otel]`: where traces of runs are sent. A project's file, which an agent could have written, must not send anything
//! anywhere.

use crate::config::header::beside;
use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::Kind;

pub const OTEL: Section = Section {
    name: "otel",
    about: "Traces of your runs for an OpenTelemetry collector, as OTLP over HTTP.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "otel.endpoint",
            Kind::OtlpEndpoint(|s, _, url| s.otel.traces_url = Some(url)),
            "Address of the collector; /v1/traces is appended unless it is there. A trace holds times, costs, tokens, names \
             of agents and models, and the reasons of decisions, but no text, no paths and no variables.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "otel.headers",
            Kind::Headers(|s, at, headers| s.otel.headers = beside(headers, at.file)),
            "Headers of each request. A value is text, or \"env:NAME\" or \"file:PATH\" for one that is kept in a variable or \
             in a file beside this one.",
        )
        .combine(Combine::OwnOnly),
    ],
};
