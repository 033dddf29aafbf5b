//! The steps of the loop, one file each: a step does what its record says and closes with exactly one fact.
//! `live_world.rs` starts them in a real run; the simulation has a world of its own.

pub mod admit;
pub mod analyze;
pub mod call;
pub mod compare;
pub mod extend;
pub mod inspect;
mod listen;
pub mod map;
pub mod plan;
pub mod recover;
pub(crate) mod reply;
pub mod restore;
pub mod room;
mod scratch;
mod silence;
pub mod verify;

use crate::session::Handover;
use ralph_rules::next::Why;
use ralph_rules::record::Seen;
use ralph_rules::state::State;
use ralph_rules::step::Step;

/// Starts and interrupts steps.
pub trait World {
    /// Starts a step whose decision is on disk.
    fn begin(&mut self, step: &Step, state: &State);
    /// Interrupts the current step; it still closes with its own fact.
    fn interrupt(&mut self, why: Why);
    /// The call that began, if a session has it that works on when this process has ended.
    fn handed_over(&self) -> Option<Handover> {
        None
    }
    /// A fact is on disk, and with it the reservation it asked for.
    fn kept(&mut self, _seen: &Seen) {}
}
