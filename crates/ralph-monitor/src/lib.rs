//! A monitor in the terminal: all runs of this user, and one in depth. It reads the store through `ralph_view::board` and
//! never a process, so a run is seen whoever started it; leaving the monitor stops nothing.
//!
//! `model` is what is shown and what keys do to it, `draw` makes a screen of it; both are pure. `terminal` takes the terminal
//! and gives it back, `paint` writes what changed, `worker` does what takes long, `app` is the loop.

mod app;
mod clock_times;
pub mod draw;
pub mod job;
pub mod key;
mod marks;
pub mod model;
pub mod page;
pub mod page_lines;
pub mod paint;
mod read_page;
mod reading;
pub mod row;
pub mod terminal;
mod worker;

pub use app::{WatchError, WatchSettings, watch};
pub use worker::{MakeDiff, Redact, Texts};
