//! Runs in a session that somebody else started, as its client drives them: each hook is a process of its own that gets
//! JSON on stdin. `session.rs` is the client: it writes a transcript as Claude Code does, and the hooks' input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "hook/alive.rs"]
mod alive;
#[path = "hook/flow.rs"]
mod flow;
#[path = "hook/hostile.rs"]
mod hostile;
#[path = "hook/mode.rs"]
mod mode;
#[path = "hook/money.rs"]
mod money;
#[path = "hook/own_work.rs"]
mod own_work;
#[path = "hook/people.rs"]
mod people;
#[path = "hook/session.rs"]
mod session;
#[path = "hook/skills.rs"]
mod skills;
#[path = "hook/starting.rs"]
mod starting;
#[path = "hook/stories.rs"]
mod stories;
