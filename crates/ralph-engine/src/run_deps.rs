//! What the hands work with, found out by the face: ralph never looks at the environment from in here.

use crate::redact::Redactor;
use ralph_agents::AgentInfo;
use ralph_rules::prices::Prices;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What the hands work with.
#[derive(Clone)]
pub struct RunDeps {
    /// The binary that tends: ralph itself.
    pub supervisor: PathBuf,
    /// The arguments that make it tend.
    pub supervisor_args: Vec<OsString>,
    /// The agent the run begins with.
    pub agent: AgentBinding,
    /// Those of the ladder's rungs.
    pub rungs: Vec<AgentBinding>,
    /// Git, where it is installed: only to look at commits that were made.
    pub git: Option<PathBuf>,
    /// What models cost.
    pub prices: Prices,
    /// Removes known secrets and key shapes from everything that is kept.
    pub redactor: Arc<Redactor>,
    /// Variables that agents and verification must not inherit.
    pub env_remove: Vec<OsString>,
    /// From TERM to KILL.
    pub end_grace: Duration,
    /// From a final result until a lingering agent is ended.
    pub final_grace: Duration,
    /// ralph's version, for the journal.
    pub version: String,
}

/// An agent that may be called.
#[derive(Clone)]
pub struct AgentBinding {
    /// Its adapter.
    pub agent: &'static AgentInfo,
    /// Variables that the user's config gives it. Not in the journal: they may be keys.
    pub env: Vec<(OsString, OsString)>,
}

impl RunDeps {
    /// Who works on a rung; 0 is the agent the run began with, one too high is the highest.
    pub fn on(&self, rung: u32) -> &AgentBinding {
        let highest = self.rungs.len().min(rung as usize);
        highest.checked_sub(1).and_then(|at| self.rungs.get(at)).unwrap_or(&self.agent)
    }
}
