//! Token counts as the provider writes them, read in one pass with the message that holds them: every message has them,
//! so they are not parsed twice. A value of another shape counts as none and never spoils the message.

use crate::json::Field;
use ralph_rules::money::Usage;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Tokens, where they were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage(pub Option<Usage>);

impl<'de> Deserialize<'de> for TokenUsage {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(TokenUsageVisitor)
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

struct TokenUsageVisitor;

impl<'de> Visitor<'de> for TokenUsageVisitor {
    type Value = TokenUsage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tokens")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TokenUsage, A::Error> {
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
        Ok(TokenUsage(Some(used)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<TokenUsage, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(TokenUsage(None))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<TokenUsage, E> {
        Ok(TokenUsage(None))
    }

    fn visit_unit<E: Error>(self) -> Result<TokenUsage, E> {
        Ok(TokenUsage(None))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<TokenUsage, E> {
        Ok(TokenUsage(None))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<TokenUsage, E> {
        Ok(TokenUsage(None))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<TokenUsage, E> {
        Ok(TokenUsage(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<TokenUsage, E> {
        Ok(TokenUsage(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_in_many_coats_and_nothing_else_is_one() {
        let read = |text: &str| serde_json::from_str::<TokenUsage>(text).unwrap().0;
        let told = r#"{"input_tokens":1,"output_tokens":"2","x":{"a":[1]},"cache_read_input_tokens":3.7,
            "cache_creation_input_tokens":null}"#;
        assert_eq!(read(told), Some(Usage { input: 1, output: 2, cache_read: 3, cache_write: 0 }));
        assert_eq!(read("{}"), Some(Usage::default()));
        for text in ["null", "1", "-1", "1.5", "true", "\"none\"", "[{}]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
