//! Tokens as the provider writes them, read in one go with the message they stand in: every message tells them, so
//! they are not looked at twice. What is no such account is none, and never a fault of the message.

use crate::json::Field;
use ralph_rules::money::Usage;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Tokens, where they were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used(pub Option<Usage>);

impl<'de> Deserialize<'de> for Used {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(UsedVisitor)
    }
}

/// The names that count.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Name {
    InputTokens,
    OutputTokens,
    CacheReadInputTokens,
    CacheCreationInputTokens,
    #[serde(other)]
    Other,
}

struct UsedVisitor;

impl<'de> Visitor<'de> for UsedVisitor {
    type Value = Used;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tokens")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Used, A::Error> {
        let mut used = Usage::default();
        while let Some(name) = map.next_key()? {
            let place = match name {
                Name::InputTokens => &mut used.input,
                Name::OutputTokens => &mut used.output,
                Name::CacheReadInputTokens => &mut used.cache_read,
                Name::CacheCreationInputTokens => &mut used.cache_write,
                Name::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = map.next_value::<Field<'de>>()?.count().unwrap_or(0);
        }
        Ok(Used(Some(used)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Used, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Used(None))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Used, E> {
        Ok(Used(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Used, E> {
        Ok(Used(None))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Used, E> {
        Ok(Used(None))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Used, E> {
        Ok(Used(None))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Used, E> {
        Ok(Used(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Used, E> {
        Ok(Used(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_in_many_coats_and_nothing_else_is_one() {
        let read = |text: &str| serde_json::from_str::<Used>(text).unwrap().0;
        let told = r#"{"input_tokens":1,"output_tokens":"2","x":{"a":[1]},"cache_read_input_tokens":3.7,
            "cache_creation_input_tokens":null}"#;
        assert_eq!(read(told), Some(Usage { input: 1, output: 2, cache_read: 3, cache_write: 0 }));
        assert_eq!(read("{}"), Some(Usage::default()));
        for text in ["null", "1", "-1", "1.5", "true", "\"none\"", "[{}]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
