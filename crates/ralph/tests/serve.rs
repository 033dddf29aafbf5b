//! `ralph serve` as a person starts it, with runs of the scripted agent: the command, what the API says of real runs, what
//! hostile output becomes, and what others' checkers think of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "serve/checkers.rs"]
mod checkers;
#[path = "../../ralph-web/tests/server/client.rs"]
#[allow(dead_code)] // shared with the server's own tests
mod client;
#[path = "serve/command.rs"]
mod command;
#[path = "serve/control.rs"]
mod control;
#[path = "serve/hostile_output.rs"]
mod hostile_output;
#[path = "serve/reviews.rs"]
mod reviews;
#[path = "commands/scene.rs"]
#[allow(dead_code)] // shared with the tests of whole commands
mod scene;
#[path = "serve/served.rs"]
mod served;
#[path = "serve/shapes.rs"]
mod shapes;
