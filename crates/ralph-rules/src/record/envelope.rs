//! The record as text: `{seq, at, ran, v, kind, body}`. The store keeps these fields apart; views and
//! `--json` print them together.

use super::{BODY_VERSION, Decision, Fact, Ms, Record, Seen, upcast};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A record on its way to or from disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Position in the run.
    pub seq: u64,
    /// When, UTC.
    pub at: Ms,
    /// Active time.
    pub ran: Ms,
    /// Version of the body.
    pub v: u32,
    /// The kind, e.g. `call_ended` or `decided`.
    pub kind: String,
    /// The body, by kind.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

/// A record that this version cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Position in the run.
    pub seq: u64,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "record {} cannot be read: {}", self.seq, self.why)
    }
}

impl std::error::Error for Unreadable {}

impl From<&Record> for Envelope {
    fn from(record: &Record) -> Envelope {
        let (kind, body) = match &record.fact {
            Fact::Decided(decision) => ("decided".into(), value(decision)),
            Fact::Seen(seen) => split(value(seen)),
        };
        Envelope { seq: record.seq, at: record.at, ran: record.ran, v: BODY_VERSION, kind, body }
    }
}

impl TryFrom<Envelope> for Record {
    type Error = Unreadable;

    fn try_from(envelope: Envelope) -> Result<Record, Unreadable> {
        let Envelope { seq, at, ran, v, kind, body } = envelope;
        let unreadable = |why: String| Unreadable { seq, why };
        let body = upcast::lift(v, &kind, body).map_err(unreadable)?;
        let fact = if kind == "decided" {
            serde_json::from_value::<Decision>(body).map(Fact::Decided)
        } else {
            // The kind first: what follows is then read straight into its type.
            let body = (!body.is_null()).then_some(("body", body));
            let tagged = std::iter::once(("kind", Value::String(kind))).chain(body);
            Seen::deserialize(MapDeserializer::new(tagged)).map(Fact::Seen)
        };
        Ok(Record { seq, at, ran, fact: fact.map_err(|e| unreadable(e.to_string()))? })
    }
}

impl Record {
    /// Reads a record whose body is text. A body of today's version goes straight into its type: a journal may have a
    /// hundred thousand of them.
    pub fn read((seq, at, ran): (u64, Ms, Ms), v: u32, kind: &str, body: &str) -> Result<Record, Unreadable> {
        let unreadable = |e: serde_json::Error| Unreadable { seq, why: e.to_string() };
        if v != BODY_VERSION {
            let body = serde_json::from_str(body).map_err(unreadable)?;
            return Record::try_from(Envelope { seq, at, ran, v, kind: kind.into(), body });
        }
        let fact = if kind == "decided" {
            serde_json::from_str(body).map(Fact::Decided)
        } else {
            let body = Some(body).filter(|body| *body != "null");
            Seen::deserialize(MapAccessDeserializer::new(Tagged { kind: Some(kind), body })).map(Fact::Seen)
        };
        Ok(Record { seq, at, ran, fact: fact.map_err(unreadable)? })
    }
}

/// A fact as the map that serde reads it from: its kind first, so that the body's type is known, then its body.
struct Tagged<'a> {
    kind: Option<&'a str>,
    body: Option<&'a str>,
}

impl<'de> MapAccess<'de> for Tagged<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let key = match (self.kind, self.body) {
            (Some(_), _) => "kind",
            (None, Some(_)) => "body",
            (None, None) => return Ok(None),
        };
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        if let Some(kind) = self.kind.take() {
            return seed.deserialize(kind.into_deserializer());
        }
        let mut body = serde_json::Deserializer::from_str(self.body.take().unwrap_or("null"));
        let value = seed.deserialize(&mut body)?;
        body.end()?;
        Ok(value)
    }
}

/// Record bodies hold only types that always serialise; were one not to, an empty body would be refused on reading.
fn value<T: Serialize>(body: &T) -> Value {
    serde_json::to_value(body).unwrap_or(Value::Null)
}

fn split(tagged: Value) -> (String, Value) {
    let Value::Object(mut fields) = tagged else { return (String::new(), Value::Null) };
    let kind = match fields.remove("kind") {
        Some(Value::String(kind)) => kind,
        _ => String::new(),
    };
    (kind, fields.remove("body").unwrap_or(Value::Null))
}
