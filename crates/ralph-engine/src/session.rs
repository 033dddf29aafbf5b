//! Runs whose agent is a session that somebody else started. A hook of the client drives the run from call to call: when
//! the session stops, `ralph hook stop` closes the open call with what the session said, judges the work as always, and
//! hands over the next call. Between two hooks the run is one open call, and no process of ralph's runs.
//!
//! `binding.rs` knows which session belongs to which run, `turn.rs` closes a call with what the session said, `spent.rs`
//! reads its transcripts, `process.rs` finds its process.

mod binding;
mod kept;
mod process;
mod spent;
mod turn;

pub(crate) use binding::has_session;
pub use binding::{Binding, bound_run};
pub use process::SessionProcess;
pub use spent::{mark_now, stays_as_read};
pub(crate) use turn::{OpenCall, closed, lost, worked_between};

use ralph_rules::next::Why;
use ralph_rules::record::Attempt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a session did since it was asked last.
#[derive(Clone, Debug, Default)]
pub struct SessionTurn {
    /// What the agent said last.
    pub message: String,
    /// The prompt that it answered, if the client names it.
    pub prompt: Option<String>,
    /// Where the client writes the session's transcript.
    pub transcript: PathBuf,
    /// The model, if the client tells.
    pub model: Option<String>,
    /// Why ralph ends the call before the session does.
    pub interrupted_by: Option<Why>,
}

/// What a session is asked to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// Which call is open from now on.
    pub id: Attempt,
    /// Its prompt, unredacted.
    pub prompt: String,
}

/// Between a hook and the run that it drives: what the session did goes in, what it is asked next comes out.
#[derive(Debug, Default)]
pub struct SessionPort {
    turn: Mutex<Option<SessionTurn>>,
    handed_over: Mutex<Option<Handover>>,
}

impl SessionPort {
    /// For a hook that was told this.
    pub fn new(turn: Option<SessionTurn>) -> SessionPort {
        SessionPort { turn: Mutex::new(turn), handed_over: Mutex::default() }
    }

    /// What the session did, once: it closes one call.
    pub fn take_turn(&self) -> Option<SessionTurn> {
        locked(&self.turn).take()
    }

    /// What the session did; it still closes a call.
    pub(crate) fn turn(&self) -> Option<SessionTurn> {
        locked(&self.turn).clone()
    }

    /// Whether the session has done something that no call was closed with yet.
    pub fn has_turn(&self) -> bool {
        locked(&self.turn).is_some()
    }

    /// Hands a call over to the session.
    pub fn hand_over(&self, call: Handover) {
        *locked(&self.handed_over) = Some(call);
    }

    /// What the session is asked to do, if it has a call now.
    pub fn handed_over(&self) -> Option<Handover> {
        locked(&self.handed_over).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
