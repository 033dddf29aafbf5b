//! Proof that cannot be talked round: the real binary, a scripted agent that cheats in every way of `proof/cases/`, and
//! honest ones beside it. No cheat ends COMPLETED under `guard`; honest work does.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "engine/bed.rs"]
#[allow(dead_code)] // the engine's tests use the rest of it
mod bed;
#[path = "proof/case.rs"]
mod case;
#[path = "proof/cheats.rs"]
mod cheats;
