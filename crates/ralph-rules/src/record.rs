//! The journal of a run: an ordered list of records. A record is `Seen` (a fact from the world, the user or the clock) or
//! `Decided` (a decision of the rules with its reasons). This file lists every kind; the bodies are in `record/`.
//! `upcast.rs` converts bodies written by older versions.

mod analyzer;
mod call;
mod check;
mod envelope;
mod map;
mod money;
mod person;
mod place;
mod plan;
mod proof;
mod run;
mod sandbox;
mod session;
mod skill;
mod story;
mod tree;
mod upcast;

pub use analyzer::*;
pub use call::*;
pub use check::*;
pub use envelope::{Envelope, Unreadable};
pub use map::*;
pub use money::*;
pub use person::*;
pub use place::*;
pub use plan::*;
pub use proof::*;
pub use run::*;
pub use sandbox::*;
pub use session::*;
pub use skill::*;
pub use story::*;
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
    /// How long the run had been active; does not advance while stopped, suspended or not running.
    pub ran: Ms,
    /// What happened.
    pub fact: Fact,
}

/// The two kinds of record.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A fact from the world, the user or the clock.
    Seen(Seen),
    /// A decision of the rules.
    Decided(Decision),
}

/// Every kind of fact a run can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Seen {
    /// The run began: everything it was given, read once.
    RunStarted(Box<RunStarted>),
    /// The run continues in a new process; a step that was under way counts as lost.
    Resumed(Resumed),
    /// Calls were found that the journal does not hold: it comes from an older copy of the database.
    CallsFound(CallsFound),
    /// Limits were changed by a person.
    PolicyChanged(Box<PolicyChanged>),
    /// A timer fired.
    Woke,
    /// The reservation was granted and the prompt is composed.
    Admitted(Admitted),
    /// The reservation was refused.
    Refused(Refused),
    /// The reservation was raised.
    Extended(Extended),
    /// Usage seen in the running call.
    Spent(Spent),
    /// The running call has been silent.
    Silent(Silent),
    /// The call ended.
    CallEnded(Box<CallEnded>),
    /// The call was running when ralph was killed and left no final event.
    CallLost(CallLost),
    /// The workspace was inspected after a call.
    Inspected(Inspected),
    /// Protected paths were restored, as far as possible.
    Restored(Restored),
    /// The changes since the baseline were split into work, oracle and ambiguous.
    Compared(Box<Compared>),
    /// The verification ended.
    Verified(Verified),
    /// Hunks of the change were put back, to see which ones a check notices.
    Mapped(Box<ChangeMap>),
    /// The workspace cannot be worked in: the step under way is not done.
    WorkspaceUnusable(WorkspaceUnusable),
    /// The user requested something.
    Asked(Asked),
    /// The plan was read, and ticked where a story was granted.
    Planned(Box<Planned>),
}

impl Seen {
    /// What a sandbox refused, or could not do, while a program ran in it.
    pub fn sandbox(&self) -> Option<&SandboxSeen> {
        match self {
            Seen::CallEnded(call) => call.sandbox.as_deref(),
            Seen::Verified(verified) => verified.sandbox.as_deref(),
            _ => None,
        }
    }
}

/// A decision of the rules with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What happens next.
    pub next: Next,
    /// The reasons, also used by the screen, the prompt and `explain`.
    #[serde(rename = "because")]
    pub reasons: Vec<Objection>,
}
