//! JSON objects that keep the order of their keys, as Claude prints them, so that a reader that relies
//! on the first key fails here. Used by everything in `output`.

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON object under construction.
#[derive(Clone, Debug, Default)]
pub struct Object(String);

impl Object {
    /// An empty object.
    pub fn new() -> Object {
        Object::default()
    }

    /// Adds one key at the end.
    pub fn put(mut self, key: &str, value: impl Serialize) -> Object {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&json(&key));
        self.0.push(':');
        self.0.push_str(&json(&value));
        self
    }

    /// Adds the key only where there is a value.
    pub fn maybe(self, key: &str, value: Option<impl Serialize>) -> Object {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    /// Adds all keys of another object at the end.
    pub fn join(mut self, other: &Object) -> Object {
        if !self.0.is_empty() && !other.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&other.0);
        self
    }

    /// The object as one line of text.
    pub fn text(&self) -> String {
        format!("{{{}}}", self.0)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.text()).map_err(Error::custom)?.serialize(serializer)
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_order_and_objects_nest() {
        let inner = Object::new().put("z", 1).put("a", [Object::new().put("q", "\"x\"")]);
        let outer =
            Object::new().put("type", "t").maybe("gone", None::<u8>).put("b", inner).put("nan", f64::NAN);
        assert_eq!(outer.text(), r#"{"type":"t","b":{"z":1,"a":[{"q":"\"x\""}]},"nan":null}"#);
        assert_eq!(Object::new().text(), "{}");
    }
}
