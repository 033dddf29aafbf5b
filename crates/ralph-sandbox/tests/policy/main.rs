//! What the policy decides, as tables: what is seen of which path, in which mode, for whom.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod container;
mod environment;
mod layers;
mod links;
mod paths;
mod sockets;
mod surroundings;
