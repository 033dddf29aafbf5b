//! The proof: whether the passing verification needs the work. The changes since the baseline are split into work,
//! oracle and ambiguous (step `Compare`); then the verify commands run in rooms made of the baseline plus chosen sets,
//! each room only if the answer depends on it, and rooms with the same contents once.
//!
//! `order.rs` holds the order of runs for a baseline that failed, passed, or had no tests yet. A verification that
//! failed where the answer would go against the agent is repeated once, because it may be flaky.

mod canary;
mod order;

use crate::grade::Grade;
use crate::objection::Objection;
use crate::record::{Check, RoomSets};
use crate::state::{Checks, ProofState, State};
use order::Order;

/// What the proof needs next, or what it shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ProofStep {
    /// Split the changes into the three sets.
    Compare,
    /// Run the commands there.
    Verify(Check),
    /// The answer.
    Conclude(Conclusion),
}

/// What a proof shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    /// A grade, with what it rests on.
    Graded(Grade, Vec<Objection>),
    /// Only changed checks turned a failing verification green.
    OracleChanged(Vec<Objection>),
    /// The passing verification does not count.
    Refused(Objection),
}

/// A value, or what has to be done to know it.
type Answer<T> = Result<T, ProofStep>;

/// The next step of the proof of the current files. Called when the gate is satisfied and verification passed.
pub fn proof(state: &State) -> ProofStep {
    proof_of(state.trees.now, &state.proof, &state.checks)
}

/// The next step of the proof of these files, outside a run.
pub fn proof_of(tree: u128, proof: &ProofState, checks: &Checks) -> ProofStep {
    let Some(compared) = proof.of_tree(tree) else {
        return if proof.may_compare() { ProofStep::Compare } else { keeps_changing(proof) };
    };
    Order { compared, proof, checks }.answer().map_or_else(|step| step, ProofStep::Conclude)
}

/// Nobody knows which files were verified: a person has to look.
fn keeps_changing(proof: &ProofState) -> ProofStep {
    let files = proof.changed_since.clone();
    ProofStep::Conclude(Conclusion::Graded(Grade::Unclear, vec![Objection::FilesKeepChanging { files }]))
}

/// The reason for a step of the proof.
pub fn wanted(check: Check) -> Objection {
    match check {
        Check::InRoom(sets) => Objection::RoomWanted { sets },
        _ => Objection::RoomLacks,
    }
}

fn run_in(sets: RoomSets) -> ProofStep {
    ProofStep::Verify(Check::InRoom(sets))
}
