//! A value that must not be shown. Whoever prints it by accident prints `***`, and it cannot be serialised at all:
//! what is to be compared or searched for has to be asked for by name (`expose`).

use serde::{Deserialize, Deserializer};
use std::fmt;

/// A value that must not be shown.
///
/// ```
/// # use ralph_engine::redact::Secret;
/// let key = Secret::new("hunter2hunter2");
/// assert_eq!(format!("{key} {key:?}"), "*** ***");
/// ```
///
/// ```compile_fail
/// # use ralph_engine::redact::Secret;
/// serde_json::to_string(&Secret::new("hunter2hunter2"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes the value in.
    pub fn new(value: impl Into<Vec<u8>>) -> Secret {
        Secret(value.into())
    }

    /// The value itself. Nothing that comes of it may be printed or kept.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The value as text, where it is text.
    pub fn expose_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl AsRef<[u8]> for Secret {
    fn as_ref(&self) -> &[u8] {
        self.expose()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Secrets come in from files, they never go out to one.
impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Secret::new)
    }
}
