//! The supervisor against real processes: how programs end, who dies with them, what becomes of every byte.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value
)]

mod attacks;
mod common;
mod endings;
mod gone;
mod line_splitter;
mod orders;
mod overlay;
mod room;
mod sandbox;
mod streams;
mod tags;
mod trees;
