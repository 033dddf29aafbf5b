//! The server as a client meets it: requests over a socket, streams, and what hostile ones get.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "server/bed.rs"]
mod bed;
#[path = "server/client.rs"]
mod client;
#[path = "server/filters.rs"]
mod filters;
#[path = "server/hostile_requests.rs"]
mod hostile_requests;
#[path = "server/streams.rs"]
mod streams;
#[path = "server/totals.rs"]
mod totals;
#[path = "server/trouble.rs"]
mod trouble;
#[path = "server/without_token.rs"]
mod without_token;
