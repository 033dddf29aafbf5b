//! Lines of which only the start matters: the introduction, whose long lists of tools and commands follow what is used
//! of it, and a tool's result, which follows once more in another form. What comes after the wanted fields is left
//! unread; most of a long session's bytes are there.

use crate::claude::event::Message;
use crate::json::Field;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Something that is known before its line ends.
pub trait LinePrefix<'a>: Default {
    /// Takes the value of this key, or passes over it.
    fn take<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
    /// Whether everything is known.
    fn complete(&self) -> bool;
}

/// Reads the start of a line; `None` where the line ends or breaks before all is known.
pub fn read_prefix<'a, T: LinePrefix<'a>>(line: &'a str) -> Option<T> {
    let mut found = T::default();
    let mut source = serde_json::Deserializer::from_str(line);
    // Leaving early is an error to the parser; what counts is what was found.
    let _ = (&mut source).deserialize_map(Until(&mut found));
    found.complete().then_some(found)
}

/// `system` with subtype `init`.
#[derive(Default)]
pub struct Introduction<'a> {
    /// Conversation id.
    pub session_id: Field<'a>,
    /// Model.
    pub model: Field<'a>,
}

impl<'a> LinePrefix<'a> for Introduction<'a> {
    fn take<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "session_id" => self.session_id = map.next_value()?,
            "model" => self.model = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }

    fn complete(&self) -> bool {
        self.session_id.0.is_some() && self.model.0.is_some()
    }
}

/// `user`: what the tools gave back.
#[derive(Default)]
pub struct User<'a> {
    /// The results.
    pub message: Option<Message<'a>>,
}

impl<'a> LinePrefix<'a> for User<'a> {
    fn take<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "message" => self.message = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }

    fn complete(&self) -> bool {
        self.message.is_some()
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct Until<'s, T>(&'s mut T);

impl<'de, T: LinePrefix<'de>> Visitor<'de> for Until<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while !self.0.complete() {
            match map.next_key::<Key<'de>>()? {
                Some(Key(key)) => self.0.take(&key, &mut map)?,
                None => break,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_start_is_not_looked_at() {
        let line = r#"{"type":"system","session_id":"s","tools":["a"],"model":"m","slash_commands":[brok"#;
        let found: Introduction<'_> = read_prefix(line).unwrap();
        assert!(found.session_id.is("s") && found.model.is("m"));
        let line = r#"{"type":"user","message":{"content":[{"type":"tool_result"}]},"tool_use_result":{"#;
        assert_eq!(read_prefix::<User<'_>>(line).unwrap().message.unwrap().content.0.len(), 1);
    }

    #[test]
    fn a_line_that_breaks_at_its_start_is_none() {
        for line in ["", "{", "[]", "{}", r#"{"session_id":"s"}"#, r#"{"session_id":"s","model":null}"#] {
            assert!(read_prefix::<Introduction<'_>>(line).is_none(), "{line}");
        }
        assert!(
            read_prefix::<User<'_>>(r#"{"type":"user","message":{"content":[{"type":"tool_res"#).is_none()
        );
    }
}
