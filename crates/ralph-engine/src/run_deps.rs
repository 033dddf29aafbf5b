//! What a run depends on. The command line resolves it; the engine itself never reads the environment.

use crate::metrics::MetricsPaths;
use crate::notes::NoteMaker;
use crate::proof::Places;
use crate::redact::Redactor;
use crate::sandbox::SandboxRequest;
use crate::session::SessionPort;
use ralph_agents::AgentInfo;
use ralph_rules::prices::Prices;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a run depends on.
#[derive(Clone)]
pub struct RunDeps {
    /// The binary that supervises processes: ralph itself.
    pub supervisor: PathBuf,
    /// The arguments that make it a supervisor.
    pub supervisor_args: Vec<OsString>,
    /// The agent the run starts with.
    pub agent: AgentBinding,
    /// The agents of the ladder's rungs.
    pub rungs: Vec<AgentBinding>,
    /// The agent that reviews finished work, if one does.
    pub reviewer: Option<AgentBinding>,
    /// Git, if it is installed: used to inspect commits made during a step.
    pub git: Option<PathBuf>,
    /// Prices of models.
    pub prices: Prices,
    /// Removes known secrets, and what looks like a key, from everything that is stored.
    pub redactor: Arc<Redactor>,
    /// Where runner configuration and Python packages may lie outside the workspace.
    pub places: Places,
    /// Where metrics and reports are written.
    pub metrics: MetricsPaths,
    /// Makes notes for people who are not watching, if anybody wants them.
    pub notes: Option<Arc<dyn NoteMaker>>,
    /// Variables that agents and verification must not inherit.
    pub env_remove: Vec<OsString>,
    /// Time between SIGTERM and SIGKILL.
    pub end_grace: Duration,
    /// Time between a final result and ending an agent that does not exit.
    pub final_grace: Duration,
    /// ralph's version, for the journal.
    pub version: String,

    /// The sandbox that programs are to run in; none where nothing is contained.
    pub sandbox: Option<SandboxRequest>,

    /// The hook that drives the run, if its agent is a session that somebody else started.
    pub session: Option<Arc<SessionPort>>,
}

/// An agent that may be called.
#[derive(Clone)]
pub struct AgentBinding {
    /// Its adapter.
    pub agent: &'static AgentInfo,
    /// Variables that the user's config gives it. Not in the journal: they may be keys.
    pub env: Vec<(OsString, OsString)>,
    /// The model that its arguments or its own settings choose, for its price.
    pub configured_model: Option<String>,
    /// Where it records its conversations, if their model is to be read from there.
    pub records: Option<PathBuf>,
}

impl RunDeps {
    /// The agent that is called: the reviewer, or the one of a rung.
    pub fn caller(&self, rung: u32, review: bool) -> &AgentBinding {
        self.reviewer.as_ref().filter(|_| review).unwrap_or_else(|| self.on(rung))
    }

    /// The agent of a rung; 0 is the one the run starts with, a number too high means the highest.
    pub fn on(&self, rung: u32) -> &AgentBinding {
        let highest = self.rungs.len().min(rung as usize);
        highest.checked_sub(1).and_then(|at| self.rungs.get(at)).unwrap_or(&self.agent)
    }
}
