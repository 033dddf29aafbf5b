//! What the configuration resolves to: one typed value that a run is made from. Every key lands in one of these fields,
//! by the setter in its declaration (`sections/`). Nothing else writes them.

use super::Preset;
use super::header::Headers;
use super::key::At;
use crate::views::Paths;
use ralph_engine::redact::Secret;
use ralph_notify::{Format, Quiet};
use ralph_rules::claim::UserPattern;
use ralph_rules::money::{Micro, Price};
use ralph_rules::notice::Event;
use ralph_rules::policy::{Ceilings, MINUTE, Policy};
use ralph_rules::prices::{Prices, Row, normal};
use ralph_rules::record::{AnalyzerGiven, Ms};
use ralph_sandbox::policy;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All settings of one workspace, after every layer was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The preset whose values are used where no other layer sets one.
    pub preset: Preset,
    /// The limits, thresholds and rules that go into the run's policy.
    pub policy: Policy,
    /// `run.max_iterations`, which has no default.
    pub max_iterations: Option<u32>,
    /// `run.max_cost_usd`, which has no default.
    pub max_cost: Option<Micro>,
    /// The limits on limits.
    pub ceilings: Ceilings,
    /// The agent's name.
    pub agent: String,
    /// Agents that take turns; none: one agent works.
    pub rotate: Vec<String>,
    /// The agent's model.
    pub model: Option<String>,
    /// What is set for single agents, by name.
    pub agents: BTreeMap<String, AgentSettings>,
    /// Agents to switch to when the run is stuck, by the number of the rung.
    pub ladder: BTreeMap<usize, Rung>,
    /// Who reviews finished work.
    pub review: ReviewSettings,
    /// Commands that verify the work.
    pub verify: Vec<String>,
    /// Globs that add to the test files ralph knows.
    pub oracle_paths: Vec<String>,
    /// Globs for what is work although its name says otherwise.
    pub work_paths: Vec<String>,
    /// Commands that prepare a verification room.
    pub verify_setup: Vec<String>,
    /// Globs that add to the protected paths.
    pub protect: Vec<String>,
    /// Files whose values are secret.
    pub redact_files: Vec<String>,
    /// Variables whose values are secret.
    pub redact_env: Vec<String>,
    /// How the agent and the verification are contained.
    pub sandbox: policy::Settings,
    /// The file with the task.
    pub prompt_file: String,
    /// The directory with prompt templates.
    pub templates: Option<String>,
    /// Whether prompts have a context section.
    pub context: bool,
    /// The plan file.
    pub plan: Option<String>,
    /// Whether the plan is taken story by story.
    pub stories: bool,
    /// Iterations a story gets.
    pub story_attempts: u32,
    /// Where the views are written.
    pub views: Paths,
    /// How long the files of runs are kept; none: forever.
    pub keep_runs: Option<Ms>,
    /// The user's own phrases, by their number.
    pub patterns: BTreeMap<usize, UserPattern>,
    /// The user's own checks, by their number.
    pub analyzers: BTreeMap<usize, AnalyzerGiven>,
    /// Where traces are sent.
    pub otel: OtelSettings,
    /// Who hears about runs.
    pub notify: NotifySettings,
    /// The user's prices, by the model's normal name.
    own_prices: BTreeMap<String, OwnPrice>,
}

/// `[agents.NAME]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentSettings {
    /// Its program, if not the usual one.
    pub command: Option<String>,
    /// Arguments before those typed after `--`.
    pub args: Vec<String>,
    /// Its model.
    pub model: Option<String>,
    /// Variables it gets.
    pub env: BTreeMap<String, Secret>,
    /// Maximum time per call.
    pub timeout: Option<Ms>,
}

/// One `[[ladder]]` entry. What it omits stays as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rung {
    /// Another agent.
    pub agent: Option<String>,
    /// Another model.
    pub model: Option<String>,
    /// Further arguments.
    pub args: Vec<String>,
}

/// `[review]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewSettings {
    /// The reviewer; none: nobody reviews.
    pub agent: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Reviews in one run, at most.
    pub rounds: u32,
}

impl Default for ReviewSettings {
    fn default() -> ReviewSettings {
        ReviewSettings { agent: None, model: None, rounds: 2 }
    }
}

/// `[otel]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtelSettings {
    /// The address that traces are posted to; none: nowhere.
    pub traces_url: Option<String>,
    /// Headers of each request.
    pub headers: Headers,
}

/// `[notify]`.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifySettings {
    /// What is noted.
    pub on: Vec<Event>,
    /// When nothing is sent.
    pub quiet: Option<Quiet>,
    /// Who gets notes, by number.
    pub to: BTreeMap<usize, NotifyTarget>,
}

/// One `[[notify.to]]` entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotifyTarget {
    /// On the desktop.
    pub desktop: bool,
    /// A program and its arguments; empty for none.
    pub command: Vec<String>,
    /// The address of a webhook.
    pub webhook: Option<Secret>,
    /// The variable with it.
    pub url_env: Option<String>,
    /// The file with it.
    pub url_file: Option<String>,
    /// The file with the secret.
    pub secret_file: Option<String>,
    /// What the body looks like.
    pub format: Format,
    /// Whether it may be in a private network.
    pub allow_private: bool,
    /// The file that says so; other files are relative to it.
    pub said_in: PathBuf,
}

impl Default for NotifySettings {
    fn default() -> NotifySettings {
        let on = vec![Event::Completed, Event::Stopped, Event::Blocked, Event::Waiting, Event::Crashed];
        NotifySettings { on, quiet: None, to: BTreeMap::new() }
    }
}

/// `[prices."MODEL"]`, in micro-dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnPrice {
    /// The model as it was written, and the file it was written in.
    model: String,
    source: String,
    /// Fresh input.
    pub input: Micro,
    /// Output.
    pub output: Micro,
    /// Input read from the cache; as fresh input if omitted.
    pub cache_read: Option<Micro>,
    /// Input written to the cache; as fresh input if omitted.
    pub cache_write: Option<Micro>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            preset: Preset::Strict,
            policy: Policy::strict(0, Micro::ZERO),
            max_iterations: None,
            max_cost: None,
            ceilings: Ceilings::default(),
            agent: "claude".into(),
            rotate: Vec::new(),
            model: None,
            agents: BTreeMap::new(),
            ladder: BTreeMap::new(),
            review: ReviewSettings::default(),
            verify: Vec::new(),
            oracle_paths: Vec::new(),
            work_paths: Vec::new(),
            verify_setup: Vec::new(),
            protect: Vec::new(),
            redact_files: Vec::new(),
            redact_env: Vec::new(),
            sandbox: policy::Settings::default(),
            prompt_file: "PROMPT.md".into(),
            templates: None,
            context: true,
            plan: None,
            stories: false,
            story_attempts: 5,
            views: Paths::default(),
            keep_runs: Some(30 * 24 * 60 * MINUTE),
            patterns: BTreeMap::new(),
            analyzers: BTreeMap::new(),
            otel: OtelSettings::default(),
            notify: NotifySettings::default(),
            own_prices: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// The policy of a run with these two limits.
    pub fn policy(&self, max_iterations: u32, max_cost: Micro) -> Policy {
        let mut policy = Policy { max_iterations, max_cost, ..self.policy.clone() };
        policy.gate.patterns = self.patterns.values().cloned().collect();
        policy
    }

    /// The variables that an agent gets.
    pub fn agent_env(&self, name: &str) -> Vec<(String, String)> {
        self.agents.get(name).map(AgentSettings::variables).unwrap_or_default()
    }

    /// The variables that any agent gets.
    pub fn agents_env(&self) -> Vec<(String, String)> {
        self.agents.values().flat_map(AgentSettings::variables).collect()
    }

    /// The built-in prices with the user's over them.
    pub fn prices(&self) -> Prices {
        self.own_prices.values().fold(Prices::default(), |prices, own| prices.with(own.row()))
    }

    /// The settings of the agent that a key is for.
    pub(super) fn agent_mut(&mut self, at: &At<'_>) -> &mut AgentSettings {
        self.agents.entry(at.instance.to_string()).or_default()
    }

    /// The rung that a key is for.
    pub(super) fn rung_mut(&mut self, at: &At<'_>) -> &mut Rung {
        self.ladder.entry(at.instance.parse().unwrap_or_default()).or_default()
    }

    /// The pattern that a key is for.
    pub(super) fn pattern_mut(&mut self, at: &At<'_>) -> &mut UserPattern {
        self.patterns.entry(at.instance.parse().unwrap_or_default()).or_default()
    }

    /// The analyzer that a key is for.
    pub(super) fn analyzer_mut(&mut self, at: &At<'_>) -> &mut AnalyzerGiven {
        let new = || AnalyzerGiven { timeout: MINUTE / 2, ..AnalyzerGiven::default() };
        self.analyzers.entry(at.instance.parse().unwrap_or_default()).or_insert_with(new)
    }

    /// The target of notes that a key is for.
    pub(super) fn notify_mut(&mut self, at: &At<'_>) -> &mut NotifyTarget {
        let target = self.notify.to.entry(at.instance.parse().unwrap_or_default()).or_default();
        target.said_in = at.file.map(PathBuf::from).unwrap_or_default();
        target
    }

    /// The price of the model that a key is for.
    pub(super) fn price_mut(&mut self, at: &At<'_>) -> &mut OwnPrice {
        let price = self.own_prices.entry(normal(at.instance)).or_default();
        price.model = at.instance.to_string();
        price.source = at.file.map(|path| path.display().to_string()).unwrap_or_default();
        price
    }
}

impl AgentSettings {
    fn variables(&self) -> Vec<(String, String)> {
        let text = |value: &Secret| value.expose_text().unwrap_or_default().to_owned();
        self.env.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }
}

impl OwnPrice {
    fn row(&self) -> Row {
        let (read, write) = (self.cache_read.unwrap_or(self.input), self.cache_write.unwrap_or(self.input));
        let price =
            Price { input: self.input.0, output: self.output.0, cache_read: read.0, cache_write: write.0 };
        Row { model: self.model.clone(), price, long: None, source: self.source.clone(), as_of: None }
    }
}
