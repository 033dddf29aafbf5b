//! The configuration: `flags > RALPH_* > ralph.local.toml > ralph.toml > the user's config.toml > the system's >
//! built-in`. Preferences: the last one wins. Constraints (ceilings, protected paths): lower layers may only tighten.

mod ceiling;
mod duration;
pub mod effective;
mod file;
pub mod keys;
mod layers;
mod place;
mod preset;
#[cfg(test)]
mod preset_tests;
mod prices;
mod read;
mod schema;
mod source;
#[cfg(test)]
mod table_tests;
mod values;
mod variables;

pub use duration::parse_duration;
pub use file::Preset;

pub use file::Rung;
pub use layers::{Layers, load};
pub use schema::{about, schema_text};
