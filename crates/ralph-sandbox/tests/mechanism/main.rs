//! The box as a whole process: what its program sees, how it ends, and who is left. As root and as an ordinary user.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod ends;
mod kills;
mod kit;
mod landlock;
mod layers;
mod limits;
mod links;
mod mounts;
mod probe;
mod room;
mod sockets;
