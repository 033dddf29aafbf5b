//! What a person or a script sees of a run on this terminal: records and activities in, text out. The words come from
//! `ralph-view`.

mod json_lines;
mod live_screen;
mod terminal_lines;

pub use json_lines::JsonLines;
pub use live_screen::{KeyTargets, LinePrinter, LiveScreen, StderrLines, Terminal, TerminalGuard};
pub use ralph_view::fact_text::{ago, seconds};
pub use terminal_lines::{CallsLastHour, TerminalLines, Verbosity};
