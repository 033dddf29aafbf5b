//! Tells the story of a run: the words for facts and decisions, transcripts, views, receipts, and the state a run is in.
//! The binary prints it; a terminal monitor, a web page or a report can use it the same way. Nothing here prints, reads
//! the environment or holds process-wide state: functions return data or text, or write to a writer they are given.

pub mod activity_line;
mod activity_log;
pub mod agent_output;
pub mod board;
mod call_lines;
pub mod call_receipts;
pub mod call_tail;
pub mod card;
pub mod change_data;
pub mod conditions;
mod event_parts;
pub mod explanation;
pub mod fact_text;
pub mod html_report;
mod hunk_marks;
pub mod iteration_parts;
pub mod listed_run;
pub mod live_spend;
pub mod log_json;
pub mod log_lines;
pub mod log_raw;
mod moments;
pub mod needs_you;
pub mod next_steps;
pub mod note;
pub mod overview;
pub mod plain;
mod protected_rows;
pub mod put_away;
pub mod record_json;
pub mod requests;
pub mod run_detail;
pub mod run_lines;
pub mod run_receipt;
pub mod run_state;
pub mod seen_before;
pub mod statistics;
pub mod story;
pub mod strip;
pub mod style;
pub mod text_diff;
pub mod view_fold;
pub mod view_shapes;
pub mod workspace_diff;
pub mod wrap;
