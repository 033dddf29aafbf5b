//! The OTLP message `ExportTraceServiceRequest` in its JSON encoding, as far as ralph uses it: lowerCamelCase names, ids in
//! hexadecimal, 64-bit integers as decimal text, enumerations as numbers.

use serde::{Serialize, Serializer};
use std::fmt::Display;

/// What one request delivers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportTraceServiceRequest {
    /// One: all spans come from the same ralph.
    pub resource_spans: Vec<ResourceSpans>,
}

/// Spans of one program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSpans {
    /// The program.
    pub resource: Resource,
    /// One: the program is its own instrumentation.
    pub scope_spans: Vec<ScopeSpans>,
}

/// Whatever produced the spans.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resource {
    /// `service.name` and `service.version`.
    pub attributes: Vec<KeyValue>,
}

/// Spans of one instrumentation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScopeSpans {
    /// The instrumentation.
    pub scope: Scope,
    /// The spans.
    pub spans: Vec<Span>,
}

/// The instrumentation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// One span.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// 16 hexadecimal digits.
    pub span_id: String,
    /// 16 hexadecimal digits; none for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    /// Its name.
    pub name: String,
    /// Who is on the other side.
    pub kind: SpanKind,
    /// Nanoseconds since 1970.
    #[serde(serialize_with = "decimal")]
    pub start_time_unix_nano: u64,
    /// Nanoseconds since 1970.
    #[serde(serialize_with = "decimal")]
    pub end_time_unix_nano: u64,
    /// What is known about it.
    pub attributes: Vec<KeyValue>,
    /// Whether something went wrong; omitted if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// The kinds of span that ralph uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work of ralph's own.
    Internal = 1,
    /// Somebody else is asked to work.
    Client = 3,
}

impl Serialize for SpanKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(*self as u8)
    }
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    code: u8,
}

impl Status {
    /// Something went wrong; `error.type` says what.
    pub const ERROR: Status = Status { code: 2 };
}

/// An attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyValue {
    /// Its name.
    pub key: &'static str,
    /// Its value.
    pub value: AnyValue,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum AnyValue {
    /// Text.
    #[serde(rename = "stringValue")]
    Text(String),
    /// True or false.
    #[serde(rename = "boolValue")]
    Bool(bool),
    /// A whole number.
    #[serde(rename = "intValue", serialize_with = "decimal")]
    Int(i64),
    /// A number.
    #[serde(rename = "doubleValue")]
    Double(f64),
    /// Several values.
    #[serde(rename = "arrayValue")]
    Array(ArrayValue),
}

/// Several values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayValue {
    /// In order.
    pub values: Vec<AnyValue>,
}

/// JSON numbers cannot hold all 64-bit integers.
fn decimal<T: Display, S: Serializer>(number: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}
