//! Ceilings: numbers that nothing below may exceed.

use std::fmt::Display;
use std::path::Path;

/// A number that nothing below may exceed, and who set it.
#[derive(Clone, Debug)]
pub struct Ceiling<T> {
    /// The number.
    pub value: T,
    /// Who set it, in words.
    pub set_by: String,
}

impl<T: PartialOrd + Display + Copy> Ceiling<T> {
    /// ralph's own number.
    pub fn default(value: T) -> Ceiling<T> {
        Ceiling { value, set_by: "ralph's default".into() }
    }

    /// Set by a file, where it says so.
    pub fn set(&mut self, value: Option<T>, path: &Path) {
        if let Some(value) = value {
            *self = Ceiling { value, set_by: format!("set by {}", path.display()) };
        }
    }

    /// Lowers what is above it, and says so.
    pub fn lower(&self, name: &str, wanted: &mut T) -> Option<String> {
        let Ceiling { value, set_by } = self;
        let above = *wanted > *value;
        let said =
            format!("{name} {wanted} is above the ceiling of {value} ({set_by}); it is lowered to {value}");
        above.then(|| {
            *wanted = *value;
            said
        })
    }
}
