//! Skills: methods for a loop, written as SKILL.md files that agents understand as well.
//!
//! `search.rs` finds them, `document.rs` reads them (with `front_matter.rs` and `markdown.rs`, all pure), `skill.rs` says
//! what a run takes from one, `built_in.rs` has ralph's own. The settings of a skill are read by `config/skill_block.rs`.
//!
//! Hook mode starts a loop with `/NAME "task" --persist`: `find` gives the skill or the error to show, `Skill::values` and
//! `Skill::is_loop_ready` say whether a loop can use it, and `cli::resolve` makes the run once `Args::skill` is set.
//! `built_in::BUILT_IN` has the texts for a plugin folder.

pub mod built_in;
mod document;
mod fault;
mod front_matter;
mod markdown;
mod quoted;
mod scalar;
mod search;
mod skill;
#[cfg(test)]
mod tests;

pub use search::{Found, all, find, locate, unknown};
pub use skill::Skill;
