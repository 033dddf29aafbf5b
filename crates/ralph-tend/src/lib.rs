//! The tender stands between ralph and everything ralph runs: the agent and the verification commands.
//!
//! Two halves. [`tend`] is the small program `ralph __tend`: it starts the real program, adopts every
//! descendant, and leaves only when all of them are dead. [`start`] is ralph's side of it: it starts a
//! tender and returns a [`Tended`] (to give orders from any thread) and a [`Pump`] (which one thread runs).
//! Mechanisms only: which deadline ends what is for the rules to say.

mod clear;
mod clock;
mod exit;
mod feed;
mod launch;
mod layer;
mod lines;
mod pump;
mod tag;
mod tended;
mod tender;
mod wire;

pub use exit::{Exit, How, NotStarted};
pub use launch::{Input, Launch, Limits, StartError, start};
pub use layer::Layer;
pub use lines::{Line, LineSplitter};
pub use pump::{Pump, Sink};
pub use tag::{find, sweep};
pub use tended::Tended;
pub use tender::tend;
