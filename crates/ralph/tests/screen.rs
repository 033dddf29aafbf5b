//! The live view as a terminal shows it: the real binary in a pseudo-terminal, its bytes played into an emulator, keys
//! typed as a person would. What is seen is compared with `snapshots/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "screen/attached.rs"]
mod attached;
#[path = "screen/ends.rs"]
mod ends;
#[path = "screen/panels.rs"]
mod panels;
#[path = "screen/questions.rs"]
mod questions;
#[path = "screen/session.rs"]
mod session;
#[path = "screen/terminal.rs"]
mod terminal;
#[path = "screen/tmux.rs"]
mod tmux;
#[path = "screen/watched.rs"]
mod watched;
