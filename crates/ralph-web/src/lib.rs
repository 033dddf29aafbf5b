//! The page: a server on this machine that shows every run of its user, and a small API behind it. Start at [`Server`].
//!
//! One thread serves (`connections.rs`, `routes.rs`), one follows all runs for the streams (`feed.rs`), one reads for
//! requests (`reader.rs`). `access.rs` says who may ask, `security_headers.rs` what browsers may do with the answers. This
//! is the only crate with an async runtime.

mod access;
mod activity;
mod answer;
mod assets;
mod bounded;
mod connections;
mod control;
mod event_queue;
mod events;
mod feed;
mod followed_board;
mod kept_events;
mod metrics;
mod query;
mod reader;
mod routes;
mod run_address;
mod run_parts;
mod runs;
mod security_headers;
mod server;
mod statistics;
mod stream;
mod token;

pub use routes::OPENAPI;
pub use server::{RedactorOf, ServeError, Server, ServerSettings, Stop};
pub use token::{Token, TokenError};
