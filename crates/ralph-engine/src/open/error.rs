//! Why a run did not start, or stopped abruptly.

use crate::circuit::{OpenBreaker, Unusable};
use crate::journal::JournalError;
use crate::outcome::Outcome;
use crate::run::Unwritable;
use crate::sandbox::NoSandbox;
use crate::session::Binding;
use ralph_store::StoreError;
use ralph_tree::{BadGlob, LockError, WalkError};
use std::io;

/// Why a run did not start, or stopped abruptly.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another run is active in this workspace.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The workspace's breaker is open.
    #[error("the breaker of this workspace is open: {}", .0.why)]
    CircuitOpen(Box<OpenBreaker>),
    /// There is no such run.
    #[error("there is no run {0}")]
    NoSuchRun(String),
    /// A session works on a run in this workspace.
    #[error("run {} is in a session of {} here (process {})", .0.run, .0.client, .0.process.pid)]
    InSession(Box<Binding>),
    /// The run is over for good.
    #[error("run {run} is over: {reason}")]
    Over {
        /// Which run.
        run: String,
        /// How it ended.
        reason: String,
    },
    /// A protected glob cannot be read.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// The workspace cannot be read.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The store cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal cannot be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// The journal could no longer be written while the run was active.
    #[error("{error}")]
    Cut {
        /// What is known of the run so far; the real cost of its last call is not.
        outcome: Box<Outcome>,
        /// Why.
        #[source]
        error: Unwritable,
    },
    /// The sandbox that the settings ask for cannot be had.
    #[error(transparent)]
    Sandbox(#[from] NoSandbox),
    /// The state directory or a thread could not be created.
    #[error("{what}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl From<Unusable> for OpenError {
    fn from(error: Unusable) -> OpenError {
        match error {
            Unusable::Store(error) => error.into(),
            Unusable::Unwritable(error) => error.into(),
        }
    }
}

/// An error of the system while this was tried.
pub(super) fn system(what: &str) -> impl FnOnce(io::Error) -> OpenError + '_ {
    move |source| OpenError::System { what: what.into(), source }
}
