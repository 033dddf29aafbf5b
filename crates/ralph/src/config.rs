//! The configuration: flags over `RALPH_*` variables over `ralph.local.toml` over `ralph.toml` over the user's
//! `config.toml` over the system's over a skill over a preset over the built-in values.
//!
//! `sections/` declares every key once: what it may hold, how layers combine, where it lands. `document.rs`,
//! `variables.rs` and `flags.rs` read the layers, `resolve.rs` merges them into one value per key with its origin, and
//! `loaded.rs` puts those values into the `Settings` that a run is made from.

mod ceilings;
mod document;
mod duration;
mod file_text;
mod flags;
mod header;
mod instances;
mod key;
#[cfg(test)]
mod key_tests;
mod kind;
mod loaded;
mod mistake;
#[cfg(test)]
mod mistake_tests;
mod origin;
mod preset;
#[cfg(test)]
mod preset_tests;
mod project_hides;
mod resolve;
#[cfg(test)]
mod resolve_tests;
#[cfg(test)]
mod sandbox_tests;
mod schema;
mod sections;
mod setting;
mod settings;
mod skill_block;
#[cfg(test)]
mod test_layers;
mod variables;

pub use duration::parse_duration;
pub use file_text::read as read_text;
pub use flags::{ANALYZE_FLAGS, Flags, SANDBOX_FLAGS, SandboxFlags};
pub use header::HeaderValue;
pub use key::{Combine, Key, Section, Shape};
pub use loaded::{Checked, Config, Sources};
pub use mistake::at as mistake_at;
#[cfg(test)]
pub use mistake::line_and_column;
pub use preset::Preset;
pub use schema::schema_text;
pub use sections::{SECTIONS, find, keys};
pub use setting::Setting;
pub use settings::{NotifyTarget, OtelSettings, Rung, Settings};
pub use skill_block::SkillValues;
pub use variables::variables;

use crate::env::Env;
use crate::problem::Problem;
use std::path::Path;

/// What the user's own file and the system's say: for what concerns no workspace.
pub fn load_own(env: &Env) -> Result<Config, Problem> {
    Sources::own_files(env.config_home.as_deref()).load()
}

/// What the files say.
pub fn load_files(workspace: &Path, env: &Env) -> Result<Config, Problem> {
    Sources::files(workspace, env.config_home.as_deref()).load()
}

/// What the files and the variables say: the configuration of a run without flags.
pub fn load(workspace: &Path, env: &Env) -> Result<Config, Problem> {
    Sources::files(workspace, env.config_home.as_deref()).variables(env).load()
}
