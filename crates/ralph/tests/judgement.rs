//! Whole runs, judged: the real binary with the scripted agent, each asserting outcome, reason, exit code and number of
//! iterations. What the rules decide is tabled in the rules crate; this is that it reaches a person.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "judgement/agents_word.rs"]
mod agents_word;
#[path = "engine/bed.rs"]
#[allow(dead_code)] // the other target uses the rest
mod bed;
#[path = "judgement/extending.rs"]
mod extending;
#[path = "judgement/gate.rs"]
mod gate;
#[path = "judgement/json_replies.rs"]
mod json_replies;
#[path = "judgement/plan.rs"]
mod plan;
#[path = "judgement/presets.rs"]
mod presets;
#[path = "judgement/status_rows.rs"]
mod status_rows;
#[path = "judgement/stories.rs"]
mod stories;
