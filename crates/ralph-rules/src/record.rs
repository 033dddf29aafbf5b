//! What is written down: a run is a list of records in one order. A record is `Seen` (a fact the world, a
//! person or the clock brought) or `Decided` (what the rules answered, with its because). This file lists
//! every kind; the bodies are grouped in `record/`. `upcast.rs` lifts bodies written by older versions.

mod call;
mod check;
mod envelope;
mod money;
mod person;
mod plan;
mod run;
mod tree;
mod upcast;

pub use call::*;
pub use check::*;
pub use envelope::{Envelope, Unreadable};
pub use money::*;
pub use person::*;
pub use plan::*;
pub use run::*;
pub use tree::*;

use crate::next::Next;
use crate::objection::Objection;
use serde::{Deserialize, Serialize};

/// Milliseconds: since 1970 UTC for `at`, of activity for `ran`.
pub type Ms = i64;

/// The version of the record bodies this code writes.
pub const BODY_VERSION: u32 = 1;

/// One entry of a run's journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Position in the run, from 1.
    pub seq: u64,
    /// When it was written, UTC; never goes back within a run.
    pub at: Ms,
    /// How long the run had been active; stands still while stopped, suspended or not running.
    pub ran: Ms,
    /// What happened.
    pub fact: Fact,
}

/// The two kinds of record.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The world, a person or the clock brought it.
    Seen(Seen),
    /// The rules answered it.
    Decided(Decision),
}

/// Every kind of fact a run can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Seen {
    /// The run began: everything it was given, read once.
    RunStarted(Box<RunStarted>),
    /// The run goes on in a new process; an open step counts as lost.
    Resumed(Resumed),
    /// Limits were changed by a person.
    PolicyChanged(Box<PolicyChanged>),
    /// The clock spoke.
    Woke,
    /// The reservation was granted and the prompt is composed.
    Admitted(Admitted),
    /// Something the run cannot know by itself said no.
    Refused(Refused),
    /// The reservation was raised.
    Extended(Extended),
    /// Usage seen in the running call.
    Spent(Spent),
    /// The running call has been silent.
    Silent(Silent),
    /// The call closed.
    CallEnded(Box<CallEnded>),
    /// The call was open when ralph died and left no closing event.
    CallLost(CallLost),
    /// The workspace was looked at after a call.
    Inspected(Inspected),
    /// Protected paths were put back, as far as possible.
    Restored(Restored),
    /// The verification closed.
    Verified(Verified),
    /// A person asked for something.
    Asked(Asked),
}

/// An answer of the rules with the facts behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What now.
    pub next: Next,
    /// Why: the same objects go to the screen, the prompt and `explain`.
    #[serde(rename = "because")]
    pub reasons: Vec<Objection>,
}
