//! The gate: its rules and its reading of requests as tables, and whole connections through it with real sockets.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod addresses;
mod connections;
mod ends;
mod kit;
mod limits;
mod namespace;
mod requests;
mod rules;
