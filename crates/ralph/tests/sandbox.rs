//! Whole runs with the sandbox on: the real binary, an agent that is a shell script, and everything judged from outside. Run
//! as whoever runs the tests and, as root, once more as an ordinary user. A machine without a sandbox fails them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "sandbox/caches.rs"]
mod caches;
#[path = "sandbox/container.rs"]
mod container;
#[path = "sandbox/ends.rs"]
mod ends;
#[path = "sandbox/git_user.rs"]
mod git_user;
#[path = "sandbox/held.rs"]
mod held;
#[path = "sandbox/linked_home.rs"]
mod linked_home;
#[path = "sandbox/modes.rs"]
mod modes;
#[path = "sandbox/place.rs"]
mod place;
#[path = "sandbox/temporary.rs"]
mod temporary;
#[path = "sandbox/verify.rs"]
mod verify;
