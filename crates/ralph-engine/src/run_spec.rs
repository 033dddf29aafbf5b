//! What a run is started with, fully resolved from flags, files and ceilings. The command line makes it, `open.rs`
//! records it as `RunStarted`.

use ralph_rules::estimate::Estimate;
use ralph_rules::policy::Policy;
use ralph_rules::record::{
    AgentChoice, AnalyzerGiven, Prompting, ReviewGiven, SessionGiven, SkillGiven, StoriesGiven,
};
use std::path::PathBuf;

/// What a run is started with.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Where the agent works; absolute.
    pub workspace: PathBuf,
    /// The user's prompt.
    pub prompt: String,
    /// Where it came from: a file name, or `argument`.
    pub prompt_from: String,
    /// The agent to start with.
    pub agent: AgentChoice,
    /// The agents to escalate to when the run is stuck.
    pub ladder: Vec<AgentChoice>,
    /// Who reviews finished work, if anybody does.
    pub review: Option<ReviewGiven>,
    /// How prompts are made.
    pub prompting: Prompting,
    /// Limits and thresholds.
    pub policy: Policy,
    /// What earlier runs took, if there were any; the policy's cost estimate comes from it.
    pub history: Option<Estimate>,
    /// The verify commands.
    pub verify: Vec<String>,
    /// The protected globs, defaults included.
    pub protect: Vec<String>,
    /// Globs that add to the oracle or take out of it.
    pub oracle_paths: Vec<String>,
    /// Globs for what is work although its name says otherwise.
    pub work_paths: Vec<String>,
    /// Commands that prepare a verification room.
    pub setup: Vec<String>,
    /// The user's time zone, an IANA name.
    pub zone: String,
    /// Files in the workspace that ralph writes itself, beside those in `.ralph/`.
    pub own_files: Vec<String>,
    /// Files in the workspace that the output of this process goes to.
    pub output_files: Vec<String>,
    /// The plan that binds, as the user named it and where it really is.
    pub tasks: Option<(String, PathBuf)>,
    /// The session that does the work, if it is one that somebody else started.
    pub session: Option<SessionGiven>,
    /// The skill, where one was named.
    pub skill: Option<SkillGiven>,
    /// The user's own checks.
    pub analyzers: Vec<AnalyzerGiven>,
    /// `agent` and those of `ladder` take turns.
    pub rotate: bool,
    /// The plan is taken story by story, if it is.
    pub stories: Option<StoriesGiven>,
}
