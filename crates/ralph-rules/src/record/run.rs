//! How a run began, went on and was changed.

use super::{AnalyzerGiven, Ms, PlanGiven, PlanSeen, SandboxGiven, SessionGiven, SkillGiven, StoriesGiven};
use crate::estimate::Estimate;
use crate::money::{Micro, Usage};
use crate::policy::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything a run was given, read once at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The run's id (UUIDv7).
    pub run: String,
    /// The rules' number at the start.
    pub rules: u32,
    /// ralph's version.
    pub version: String,
    /// Absolute path of the workspace.
    pub workspace: String,
    /// The user's prompt, unchanged.
    pub prompt: String,
    /// Where the prompt came from: a file name, [`FROM_ARGUMENT`], [`FROM_STDIN`], or [`THROWAWAY`].
    pub prompt_from: String,
    /// Who works.
    pub agent: AgentChoice,
    /// The numbers the run obeys.
    pub policy: Policy,
    /// The commands that prove the work.
    pub verify: Vec<String>,
    /// The protected globs.
    pub protect: Vec<String>,
    /// The user's time zone, for the calendar day of the budget.
    pub zone: String,
    /// What contains the agent, in words; `none` in journals from before there was a sandbox.
    pub sandbox: String,
    /// The commit the workspace was at, where it is a repository.
    pub base: Option<String>,
    /// The tree before the run.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// The plan that binds, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanGiven>,
    /// What the marker file looked like before the run; only a later one is the agent's claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker_before: Option<String>,
    /// Who works where the run is stuck: the rungs above `agent`, in the order they are climbed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladder: Vec<AgentChoice>,
    /// How prompts are made.
    #[serde(default, skip_serializing_if = "Prompting::is_default")]
    pub prompting: Prompting,
    /// What earlier runs took, where there were any: the policy's estimate comes from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Estimate>,
    /// Globs that add to the oracle or take out of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle_paths: Vec<String>,
    /// Scripts that the verification runs, in journals of the rules before 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
    /// Globs for what is work although its name says otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work_paths: Vec<String>,
    /// Commands that prepare a verification room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Files in the workspace that ralph writes itself, beside those in `.ralph/`: they are nobody's work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_files: Vec<String>,
    /// Who reviews finished work, if anybody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewGiven>,
    /// How far the clock was behind what an earlier run had recorded, if it was set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_behind: Option<Ms>,
    /// The session that does the work, if it is one that somebody else started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionGiven>,
    /// The skill, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillGiven>,
    /// The journal is kept in memory only: the run leaves no record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unrecorded: bool,
    /// The user's own checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub analyzers: Vec<AnalyzerGiven>,
    /// `agent` and those of `ladder` take turns, one iteration each, instead of being climbed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rotate: bool,
    /// The plan is taken story by story, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stories: Option<StoriesGiven>,
    /// What contains the agent and the verification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained: Option<Box<SandboxGiven>>,
}

/// Who reviews finished work, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewGiven {
    /// The reviewer.
    pub agent: AgentChoice,
    /// Reviews in one run, at most.
    pub rounds: u32,
}

/// Where a prompt came from that was typed.
pub const FROM_ARGUMENT: &str = "argument";
/// Where a prompt came from that was read from stdin.
pub const FROM_STDIN: &str = "stdin";
/// Where the prompt of a run came from whose workspace is deleted when it has ended.
pub const THROWAWAY: &str = "ralph demo";

/// The file that a prompt came from, if it was one.
pub fn prompt_file(prompt_from: &str) -> Option<&str> {
    let file = ![FROM_ARGUMENT, FROM_STDIN, THROWAWAY, ""].contains(&prompt_from);
    file.then_some(prompt_from)
}

impl RunStarted {
    /// Whether the workspace is deleted when the run has ended.
    pub fn is_throwaway(&self) -> bool {
        self.prompt_from == THROWAWAY
    }

    /// Who works on this rung; 0 is the agent the run began with, one too high is the highest.
    pub fn rung(&self, rung: u32) -> &AgentChoice {
        let highest = self.ladder.len().min(rung as usize);
        highest.checked_sub(1).and_then(|at| self.ladder.get(at)).unwrap_or(&self.agent)
    }

    /// Who is called: the reviewer, or the agent of this rung.
    pub fn caller(&self, rung: u32, review: bool) -> &AgentChoice {
        let reviewer = self.review.as_ref().filter(|_| review);
        reviewer.map_or_else(|| self.rung(rung), |review| &review.agent)
    }

    /// The workspace is here from now on, and with it whatever lies in it.
    pub fn moved_to(&mut self, workspace: &str) {
        if let Some(plan) = &mut self.plan
            && let Some(inside) = plan.path.strip_prefix(&self.workspace)
            && inside.starts_with('/')
        {
            plan.path = format!("{workspace}{inside}");
        }
        workspace.clone_into(&mut self.workspace);
    }

    /// Another sandbox is used from now on.
    pub fn contained_by(&mut self, sandbox: &SandboxGiven) {
        self.sandbox = match self.session {
            None => sandbox.words(),
            Some(_) => format!("none (the session is its client's); verification: {}", sandbox.words()),
        };
        self.contained = Some(Box::new(sandbox.clone()));
    }

    /// The highest rung.
    pub fn rungs(&self) -> u32 {
        u32::try_from(self.ladder.len()).unwrap_or(u32::MAX)
    }
}

/// How prompts are made: read once at the start, so that every later prompt can be made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompting {
    /// From the second iteration on a context section follows the task.
    pub context: bool,
    /// The user's own templates by name; the others are ralph's.
    #[serde(default)]
    pub templates: BTreeMap<String, String>,
}

impl Default for Prompting {
    fn default() -> Prompting {
        Prompting { context: true, templates: BTreeMap::new() }
    }
}

impl Prompting {
    fn is_default(&self) -> bool {
        *self == Prompting::default()
    }
}

/// Which agent, how it was started, and what it can report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentChoice {
    /// The adapter's name.
    pub name: String,
    /// The program that is started.
    pub program: String,
    /// Model, where one was chosen.
    pub model: Option<String>,
    /// Arguments the user passes on.
    pub args: Vec<String>,
    /// Shows usage while it works: a call can be ended by cost.
    pub live_usage: bool,
    /// Shows when tools start: silence during a tool is no silence.
    pub shows_tool_start: bool,
    /// Takes the protocol as a system prompt; else it goes into the prompt's footer.
    pub system_prompt: bool,
    /// One call of it at most, where that differs from the run's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Ms>,
    /// The setting that allows it a tool, `{tools}` standing for their names.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub allow: String,
    /// Tells one account of its provider from another, where it shows; runs share what they know of a provider by it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub account: String,
}

impl AgentChoice {
    /// Its name, and its model where one was chosen.
    pub fn title(&self) -> String {
        match &self.model {
            Some(model) => format!("{} ({model})", self.name),
            None => self.name.clone(),
        }
    }
}

/// The run goes on in a new process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// ralph's version now.
    pub version: String,
    /// The rules' number now.
    pub rules: u32,
    /// How the bound plan stands now, where one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSeen>,
    /// Where the workspace is from now on, if it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// How far the clock was behind this run's last record, if it was set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_behind: Option<Ms>,

    /// The session that did the work is gone: from now on ralph calls the agent itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_session: bool,
    /// A hook of the session that does the work continues it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hook: bool,
    /// What contains the programs from now on, if a person chose another sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained: Option<Box<SandboxGiven>>,
}

/// A person changed limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyChanged {
    /// The numbers from now on.
    pub policy: Policy,
}

/// Costs of calls that the journal does not hold: the database was restored from an older copy, or a session worked while
/// ralph had no call open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsFound {
    /// How many.
    pub calls: u32,
    /// The last iteration among them.
    pub last: u32,
    /// What they cost, on each calendar day.
    pub days: BTreeMap<String, Micro>,
    /// Their tokens.
    pub usage: Usage,
    /// How many of them have no known price and are counted as the estimate.
    pub unpriced: u32,
    /// Of a session: what is carried on to its next call, below zero by what is charged with this (`SessionMark::carry`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carry: Option<i64>,
}

impl CallsFound {
    /// What they cost together.
    pub fn cost(&self) -> Micro {
        self.days.values().copied().sum()
    }
}

/// Which attempt of which iteration: the id of a call, its reservation and its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Attempt within it, from 1.
    pub attempt: u32,
}

impl Attempt {
    /// The attempt of a name such as `001.a1`.
    pub fn of_name(name: &str) -> Option<Attempt> {
        let (iteration, attempt) = name.split_once(".a")?;
        let id = Attempt { iteration: iteration.parse().ok()?, attempt: attempt.parse().ok()? };
        (id.to_string() == name).then_some(id)
    }
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:03}.a{}", self.iteration, self.attempt)
    }
}

/// What a run may spend at most, by whom it is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The run's cap.
    pub run: Micro,
    /// The day's cap over all runs.
    pub day: Micro,
    /// Calls in any hour over all runs; none is no limit.
    pub calls_per_hour: Option<u32>,
    /// Tokens in any hour over all runs; none is no limit.
    pub tokens_per_hour: Option<u64>,
}

/// A span of an hour, the rate windows' length.
pub const HOUR: Ms = 3_600_000;

/// Tree ids as 32 hex digits: JSON numbers cannot hold them.
pub mod tree_id {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// As hex.
    #[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
    pub fn serialize<S: Serializer>(id: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{id:032x}"))
    }

    /// From hex.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(|_| D::Error::custom("a tree id is 32 hex digits"))
    }
}
