//! What the hands work with, found out by the face: ralph never looks at the environment from in here.

use crate::redact::Redactor;
use ralph_agents::Agent;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What the hands work with.
#[derive(Clone)]
pub struct Equipment {
    /// The binary that tends: ralph itself.
    pub tender: PathBuf,
    /// The arguments that make it tend.
    pub tender_args: Vec<OsString>,
    /// The agent's adapter.
    pub agent: Arc<dyn Agent>,
    /// Removes known secrets and key shapes from everything that is kept.
    pub redactor: Arc<Redactor>,
    /// Variables that agents and verification must not inherit.
    pub env_remove: Vec<OsString>,
    /// Variables that the user's config gives this agent. Not in the journal: they may be keys.
    pub agent_env: Vec<(OsString, OsString)>,
    /// From TERM to KILL.
    pub end_grace: Duration,
    /// From a final result until a lingering agent is ended.
    pub final_grace: Duration,
    /// ralph's version, for the journal.
    pub version: String,
}
