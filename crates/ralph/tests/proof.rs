//! Proof that cannot be talked round: the real binary and a scripted agent that goes through `proof/cases/`, in six
//! stacks. No attempt to be called done without the work ends `proven` or `tested`, unless it is work that deals with the
//! check itself, and then the receipt carries a sign; honest work ends in the grade it has earned.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "proof/around.rs"]
mod around;
#[path = "engine/bed.rs"]
#[allow(dead_code)] // the engine's tests use the rest of it
mod bed;
#[path = "proof/case.rs"]
mod case;
#[path = "proof/map.rs"]
mod map;
#[path = "proof/outside.rs"]
mod outside;
#[path = "proof/receipts.rs"]
mod receipts;
#[path = "proof/stacks.rs"]
mod stacks;
#[path = "proof/verdict.rs"]
mod verdict;
