//! Tells the story of a run: the words for facts and decisions, transcripts, views, receipts, and the state a run is in.
//! The binary prints it; a terminal monitor, a web page or a report can use it the same way. Nothing here prints, reads
//! the environment or holds process-wide state: functions return data or text, or write to a writer they are given.

pub mod agent_output;
pub mod call_receipts;
mod event_parts;
pub mod explanation;
pub mod fact_text;
mod hunk_marks;
pub mod log_json;
pub mod log_lines;
pub mod log_raw;
mod moments;
mod next_steps;
pub mod plain;
mod protected_rows;
pub mod record_json;
pub mod run_lines;
pub mod run_receipt;
pub mod run_state;
pub mod story;
pub mod style;
pub mod text_diff;
pub mod transcript;
pub mod view_fold;
pub mod view_shapes;
pub mod workspace_diff;
pub mod wrap;
