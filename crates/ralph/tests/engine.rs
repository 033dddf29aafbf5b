//! The real binary with real processes: every fault that a run must survive, as a script or a person would see it. The
//! agent is the scripted one (`ralph agent-sim --help` has its language). `bed` is the place they run in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "engine/accept_trouble.rs"]
mod accept_trouble;
#[path = "engine/answers.rs"]
mod answers;
#[path = "engine/attacks.rs"]
mod attacks;
#[path = "engine/bed.rs"]
mod bed;
#[path = "engine/changed_rules.rs"]
mod changed_rules;
#[path = "engine/full_disk.rs"]
mod full_disk;
#[path = "engine/honest_snapshots.rs"]
mod honest_snapshots;
#[path = "engine/inside.rs"]
mod inside;
#[path = "engine/limits.rs"]
mod limits;
#[path = "engine/moved.rs"]
mod moved;
#[path = "engine/net.rs"]
mod net;
#[path = "engine/outcomes.rs"]
mod outcomes;
#[path = "engine/output.rs"]
mod output;
#[path = "engine/overrides.rs"]
mod overrides;
#[path = "engine/own_state.rs"]
mod own_state;
#[path = "engine/people.rs"]
mod people;
#[path = "engine/places.rs"]
mod places;
#[path = "engine/processes.rs"]
mod processes;
#[path = "engine/protection.rs"]
mod protection;
#[path = "engine/recovery.rs"]
mod recovery;
#[path = "engine/reviews.rs"]
mod reviews;
#[path = "engine/run_change.rs"]
mod run_change;
#[path = "engine/scenarios.rs"]
mod scenarios;
#[path = "engine/secrets.rs"]
mod secrets;
#[path = "engine/signals.rs"]
mod signals;
#[path = "engine/surroundings.rs"]
mod surroundings;
#[path = "engine/undo.rs"]
mod undo;
