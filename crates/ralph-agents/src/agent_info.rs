//! Everything ralph knows about one agent CLI, in one table entry: `AgentInfo`. Each agent declares its own in its own
//! file, `registry.rs` lists them, and everything else (`--agent` help, `ralph agents`, `ralph doctor`, detection,
//! docs, tests) reads them from there.

use crate::call::{Call, Launch};
use crate::call_pricing::CallPricing;
use crate::configured_model::{ModelSources, SessionLog};
use crate::contained::Contained;
use crate::dialect::Dialect;
use crate::event_reader::EventReader;
use crate::launch::LaunchBuilder;
use crate::reader::Reader;
use serde::{Deserialize, Serialize};

/// One agent CLI.
#[derive(Debug)]
pub struct AgentInfo {
    /// The name users type after `--agent`.
    pub name: &'static str,
    /// Its product name.
    pub title: &'static str,
    /// The program to look for on the `PATH`; none where the user or ralph itself supplies it.
    pub program: Option<&'static str>,
    /// Where it can be installed from.
    pub package: Package,
    /// What to do once after installing it, such as logging in; empty where nothing is needed.
    pub setup: &'static str,
    /// How thoroughly it is tested with ralph.
    pub tier: Tier,
    /// The versions whose output the tests hold; `-` where there is none to record.
    pub tried: &'static str,
    /// The arguments that make it print its version.
    pub version_args: &'static [&'static str],
    /// How the prompt reaches it.
    pub prompt: PromptVia,
    /// What it prints, in a few words.
    pub output: &'static str,
    /// Environment variables to set for every call.
    pub env: &'static [(&'static str, &'static str)],
    /// Environment variables to remove for every call.
    pub env_remove: &'static [&'static str],
    /// Arguments by which a user chooses another output format, so that plain text may be an answer.
    pub format_flags: &'static [&'static str],
    /// Arguments that make it continue an earlier conversation.
    pub resume_flags: &'static [&'static str],
    /// What it may do without asking.
    pub permissions: Permissions,
    /// What is different for a call inside ralph's sandbox.
    pub contained: Contained,
    /// Where its credentials may be.
    pub credentials: Credentials,
    /// Hosts it needs by default for its model and its login, as far as the client or its documentation names them.
    pub hosts: &'static [&'static str],
    /// Whether it also contacts whichever model provider its user has configured.
    pub any_provider: bool,
    /// Files and directories it keeps its settings, logins and conversations in, relative to the home directory.
    pub state_dirs: &'static [&'static str],
    /// How its model is chosen and found out.
    pub model: ModelInfo,
    /// What it can report and do.
    pub abilities: Abilities,
    /// Completes the command line for one call.
    pub launch: fn(&mut LaunchBuilder<'_>),
    /// Makes the reader of one call's output.
    pub reader: fn(ReaderSetup<'_>) -> Box<dyn Reader>,
    /// How its output is recognized.
    pub detect: Detect,
}

/// Where an agent can be installed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// A package of the npm registry.
    Npm(&'static str),
    /// A package of the Python package index.
    Pip(&'static str),
    /// Nothing to install; says why.
    None(&'static str),
}

/// How thoroughly an agent is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The real CLI runs in every test run.
    First,
    /// The real CLI runs in the long test run.
    Second,
    /// Only recorded output is tested.
    Recorded,
    /// Comes with ralph, or is any program: there is no CLI to test with.
    BuiltIn,
}

/// How a prompt reaches an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptVia {
    /// On its standard input.
    Stdin,
    /// In a file that an argument names.
    File,
    /// As an argument; in a file where it is too long for one.
    Argument,
}

/// What an agent may do without asking.
#[derive(Clone, Copy, Debug)]
pub struct Permissions {
    /// The arguments ralph gives it, unless the user's own arguments decide.
    pub defaults: &'static [PermissionArgs],
    /// The same for a call that must not change anything; empty where the agent has no such mode.
    pub read_only: &'static [PermissionArgs],
    /// What follows from them, in a few words.
    pub summary: &'static str,
    /// The setting that allows more tools, where it can be named exactly; `{tools}` stands for the refused ones.
    pub allow_more: Option<&'static str>,
}

/// Arguments that give a permission.
#[derive(Clone, Copy, Debug)]
pub struct PermissionArgs {
    /// The arguments.
    pub args: &'static [&'static str],
    /// The user's arguments that decide instead.
    pub unless: &'static [&'static str],
}

/// Where credentials may be. Neither is ever read; doctor only looks whether one exists.
#[derive(Clone, Copy, Debug)]
pub struct Credentials {
    /// Environment variables.
    pub env: &'static [&'static str],
    /// Files, relative to the home directory.
    pub files: &'static [&'static str],
}

/// How a model is chosen and found out.
#[derive(Clone, Copy, Debug)]
pub struct ModelInfo {
    /// The argument that chooses it, then its other spellings; empty where there is none.
    pub flags: &'static [&'static str],
    /// Where ralph learns which model answered.
    pub reported: &'static str,
    /// Finds the model in its own settings, for one that does not report it.
    pub configured: Option<fn(&ModelSources<'_>) -> Option<String>>,
    /// Where it records which model answered, for one that does not report it.
    pub session_log: Option<&'static SessionLog>,
}

/// What an agent can report and do; banner, doctor and rules depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // a list of independent yes/no facts
pub struct Abilities {
    /// Shows usage while it works, so a call can be ended by cost.
    pub live_usage: bool,
    /// Reports what it cost in dollars.
    pub cost: bool,
    /// Shows when a tool starts, so a long build is not mistaken for silence.
    pub shows_tool_start: bool,
    /// Has a budget limit of its own.
    pub native_budget: bool,
    /// Can continue an earlier conversation.
    pub resumes: bool,
    /// Takes the protocol text as an appended system prompt (otherwise it goes into the prompt's footer).
    pub system_prompt: bool,
}

/// No ability at all; entries name only what is true.
pub const NO_ABILITIES: Abilities = Abilities {
    live_usage: false,
    cost: false,
    shows_tool_start: false,
    native_budget: false,
    resumes: false,
    system_prompt: false,
};

/// How an agent's output is recognized.
#[derive(Clone, Copy, Debug)]
pub enum Detect {
    /// By its events.
    Events(fn(&[u8]) -> EventCount),
    /// By a line near its beginning that starts like this.
    Banner(&'static str),
    /// Not at all: it has no output of its own.
    Never,
}

/// The events of one agent found in a sample; the greater one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventCount {
    /// How many.
    pub events: u32,
    /// One of them is of a kind that no other agent with the same format prints.
    pub distinctive: bool,
}

/// What a reader is made from.
#[derive(Debug)]
pub struct ReaderSetup<'c> {
    /// The call, where there is one.
    pub call: Option<&'c Call>,
    /// What to send on stdin before closing it.
    pub stdin: String,
    /// Plain text without any event may be an answer.
    pub may_be_text: bool,
    /// How its usage is priced.
    pub pricing: CallPricing,
}

impl AgentInfo {
    /// The command line for one call.
    pub fn launch(&'static self, call: &Call) -> Launch {
        let mut builder = LaunchBuilder::new(self, call);
        (self.launch)(&mut builder);
        builder.finish()
    }

    /// A fresh reader for one call's output.
    pub fn reader(&self, call: &Call) -> Box<dyn Reader> {
        let stdin = if self.prompt == PromptVia::Stdin { call.prompt.clone() } else { String::new() };
        (self.reader)(ReaderSetup {
            call: Some(call),
            stdin,
            may_be_text: call.sets(self.format_flags),
            pricing: CallPricing::of(call, self.resume_flags),
        })
    }

    /// A reader of an output that exists already, in whatever format the agent has.
    pub fn offline_reader(&self) -> Box<dyn Reader> {
        let (stdin, pricing) = (String::new(), CallPricing::default());
        (self.reader)(ReaderSetup { call: None, stdin, may_be_text: true, pricing })
    }

    /// How ralph talks to it: the prompt's way in, the answer's way out.
    pub fn transport(&self) -> String {
        let prompt = match self.prompt {
            PromptVia::Stdin => "stdin",
            PromptVia::File => "file",
            PromptVia::Argument => "argument or file",
        };
        format!("{prompt}, {}", self.output)
    }

    /// How to install it, in one line.
    pub fn install(&self) -> String {
        let install = match self.package {
            Package::Npm(package) => format!("npm install -g {package}"),
            Package::Pip(package) => format!("pip install {package}"),
            Package::None(why) => why.to_owned(),
        };
        if self.setup.is_empty() { install } else { format!("{install}, then {}", self.setup) }
    }

    /// The command that logs in, if one is needed.
    pub fn login(&self) -> Option<&'static str> {
        self.setup.split('`').nth(1)
    }

    /// The setting by which a user allows it a tool it was refused; `{tools}` stands for the tools' names.
    pub fn allow_setting(&self) -> String {
        let own = || format!("the agent's own permission flags in `agents.{}.args` of ralph.toml", self.name);
        self.permissions.allow_more.map_or_else(own, str::to_owned)
    }
}

impl Tier {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Tier::First => "real CLI in every test run",
            Tier::Second => "real CLI in the long test run",
            Tier::Recorded => "recorded output",
            Tier::BuiltIn => "built in",
        }
    }
}

/// The reader of an agent whose events are in dialect `D`; for `AgentInfo::reader`.
pub fn event_reader<D: Dialect>(setup: ReaderSetup<'_>) -> Box<dyn Reader> {
    Box::new(EventReader::<D>::new(setup))
}

#[cfg(test)]
mod tests {
    use crate::registry::find;

    #[test]
    fn the_login_is_the_command_in_the_setup() {
        let login = |name| find(name).unwrap().login();
        assert_eq!(
            (login("codex"), login("claude"), login("goose"), login("sim")),
            (Some("codex login"), Some("claude"), Some("goose configure"), None)
        );
    }

    #[test]
    fn allowing_more_tools_keeps_those_allowed_before() {
        let claude = find("claude").unwrap().allow_setting().replace("{tools}", "WebFetch");
        assert!(claude.contains("WebSearch,WebFetch\"]"), "{claude}");
        assert!(find("codex").unwrap().allow_setting().contains("agents.codex.args"));
    }
}
