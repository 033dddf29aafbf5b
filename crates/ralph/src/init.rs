//! What `ralph init` knows: which stacks a repository holds (`detect.rs`, a file each in `stacks/`), and the files that
//! follow from them (`text.rs`, `templates.rs`, `ignore.rs`). `cli/init.rs` is the command that asks and writes.

pub mod commit;
pub mod detect;
pub mod found;
pub mod ignore;
mod look;
mod stacks;
pub mod templates;
pub mod text;
pub mod write;

#[cfg(test)]
mod tests;

/// Where the schema of ralph.toml lies for editors, as seen from ralph.toml. It is made by the program that reads the
/// file, so that both are of one version.
pub const SCHEMA: &str = "./.ralph/ralph.schema.json";
