//! Collects the attributes of a span. What came from outside ralph passes `identifier` first, so that no free text, no path
//! and nothing of unbounded length gets into a trace.

use crate::otlp::{AnyValue, ArrayValue, KeyValue};
use ralph_rules::money::Micro;
use serde::Serialize;

/// Longest name of an agent, a model or a conversation.
const LONGEST: usize = 128;
/// Items of a list, at most.
const ITEMS: usize = 16;

/// The attributes of a span, in the order they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<KeyValue>);

impl Attributes {
    fn add(mut self, key: &'static str, value: AnyValue) -> Attributes {
        self.0.push(KeyValue { key, value });
        self
    }

    /// A word that ralph defines.
    pub fn word(self, key: &'static str, word: impl Into<String>) -> Attributes {
        self.add(key, AnyValue::Text(word.into()))
    }

    /// A word that ralph defines, if there is one.
    pub fn maybe_word(self, key: &'static str, word: Option<String>) -> Attributes {
        word.into_iter().fold(self, |all, word| all.word(key, word))
    }

    /// The name of an agent, a model or a conversation; omitted if it does not look like one.
    pub fn name(self, key: &'static str, name: Option<&str>) -> Attributes {
        name.and_then(identifier).into_iter().fold(self, |all, name| all.word(key, name))
    }

    /// A number of things.
    pub fn count(self, key: &'static str, n: impl TryInto<i64>) -> Attributes {
        self.add(key, AnyValue::Int(n.try_into().unwrap_or(i64::MAX)))
    }

    /// A number of things, if it is known.
    pub fn maybe_count(self, key: &'static str, n: Option<impl TryInto<i64>>) -> Attributes {
        n.into_iter().fold(self, |all, n| all.count(key, n))
    }

    /// Dollars.
    pub fn dollars(self, key: &'static str, amount: Micro) -> Attributes {
        self.add(key, AnyValue::Double(amount.usd()))
    }

    /// True or false.
    pub fn flag(self, key: &'static str, on: bool) -> Attributes {
        self.add(key, AnyValue::Bool(on))
    }

    /// True or false, if it is known.
    pub fn maybe_flag(self, key: &'static str, on: Option<bool>) -> Attributes {
        on.into_iter().fold(self, |all, on| all.flag(key, on))
    }

    /// True; omitted if it is not.
    pub fn mark(self, key: &'static str, on: bool) -> Attributes {
        if on { self.flag(key, true) } else { self }
    }

    /// Words that ralph defines, the first few; omitted if there are none.
    pub fn words(self, key: &'static str, words: &[String]) -> Attributes {
        if words.is_empty() {
            return self;
        }
        let values = words.iter().take(ITEMS).cloned().map(AnyValue::Text).collect();
        self.add(key, AnyValue::Array(ArrayValue { values }))
    }

    /// As a message holds them.
    pub fn into_vec(self) -> Vec<KeyValue> {
        self.0
    }
}

/// The text, if it can only be a name: agents report models and conversations, and users type them, so they may hold
/// anything. A model may be a path to a file; one that begins like a path is not passed on.
pub fn identifier(text: &str) -> Option<&str> {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._:/@+-[]".contains(c);
    (begins && text.len() <= LONGEST && text.chars().all(plain) && !text.contains("..")).then_some(text)
}

/// The name that a value has in journals.
pub fn word_of<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_pass_and_text_does_not() {
        for name in
            ["claude", "claude-opus-4-5[1m]", "qwen2.5-coder:7b", "openrouter/z-ai/glm-4.6", "gpt-5.1"]
        {
            assert_eq!(identifier(name), Some(name));
        }
        let long = "a".repeat(129);
        for text in
            ["", "fix the parser", "/home/me/llama.gguf", "~/m", "./m", "a/../b", "C:\\m", "é", "a\nb", &long]
        {
            assert_eq!(identifier(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_omitted() {
        let attributes = Attributes::default()
            .name("a", Some("not a name"))
            .maybe_word("b", None)
            .maybe_count("c", None::<u32>)
            .maybe_flag("d", None)
            .mark("e", false)
            .words("f", &[]);
        assert_eq!(attributes.into_vec(), []);
    }

    #[test]
    fn a_number_that_is_too_large_is_the_largest() {
        let attributes = Attributes::default().count("n", u64::MAX).into_vec();
        assert_eq!(attributes[0].value, AnyValue::Int(i64::MAX));
    }
}
