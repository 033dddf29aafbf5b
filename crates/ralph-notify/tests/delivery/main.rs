//! Delivery for real: receivers that fail, hang, redirect and answer late, and deliverers that are killed at every point.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod another_implementation;
mod answers;
mod background;
mod child;
mod killed;
mod receiver;
mod scene;
