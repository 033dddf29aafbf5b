//! The world: where steps are begun. One file a step; each does what its record says and closes with exactly one fact.
//! `hands.rs` is the real one, the simulation brings its own.

pub mod admit;
pub mod call;
pub mod extend;
pub mod inspect;
mod listen;
pub mod proof;
pub mod recover;
mod reply;
pub mod restore;
mod scratch;
mod silence;
pub mod verify;

use ralph_rules::next::Why;
use ralph_rules::record::Seen;
use ralph_rules::state::State;
use ralph_rules::step::Step;

/// Begins steps and tells them to end.
pub trait World {
    /// Begins a step that is already written down.
    fn begin(&mut self, step: &Step, state: &State);
    /// Tells what is under way to end; it still closes with its own fact.
    fn interrupt(&mut self, why: Why);
    /// A fact is on disk: a reservation that was asked for is really held.
    fn kept(&mut self, _seen: &Seen) {}
}
