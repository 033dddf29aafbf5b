//! The clients that take the plugin: where their program is, and what their own `plugin` command says. ralph changes their
//! settings through that command only. `client/claude.rs` and `client/codex.rs` know its words, `client/ask.rs` runs it.

pub mod ask;
mod claude;
mod codex;
mod codex_hooks;

use crate::cli::Here;
use crate::config;
use crate::problem::{Code, Problem};
use ask::{Asked, Refused};
use ralph_agents::AgentInfo;
use std::path::{Path, PathBuf};

/// A client with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// All of them, in the order they are shown.
pub const CLIENTS: [Client; 2] = [Client::Claude, Client::Codex];

/// Where a client keeps that the plugin is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// Every project of yours.
    User,
    /// Everybody in this project: a file that is committed.
    Project,
    /// Only you, in this project.
    Local,
}

impl Scope {
    /// As clients and users write it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
        }
    }

    fn named(name: &str) -> Option<Scope> {
        [Scope::User, Scope::Project, Scope::Local].into_iter().find(|scope| scope.name() == name)
    }
}

/// The plugin as a client lists it, once for each place.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Where it is kept that it is on.
    pub scope: Scope,
    /// The project, unless it is on in all of them.
    pub project: Option<PathBuf>,
    /// The version that was registered.
    pub version: String,
    /// Whether it is on.
    pub enabled: bool,
}

/// What a client says about the hooks of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hooks {
    /// They run.
    Run,
    /// It waits for its user to trust them, and passes over them in silence until then.
    Untrusted,
    /// They are switched off, by this.
    Off(String),
    /// It cannot be asked.
    Unknown(&'static str),
}

impl Client {
    /// What ralph knows about it as an agent.
    pub fn info(self) -> &'static AgentInfo {
        match self {
            Client::Claude => &ralph_agents::claude::INFO,
            Client::Codex => &ralph_agents::codex::INFO,
        }
    }

    /// Its program, as a run would find it.
    pub fn program(self, here: &Here) -> Option<PathBuf> {
        let info = self.info();
        let settings = config::load_files(&here.workspace, &here.env).map(|config| config.settings);
        let own = settings.ok().and_then(|settings| settings.agents.get(info.name)?.command.clone());
        let name = own.or(info.program.map(Into::into))?;
        here.env.which(&name, &here.workspace)
    }

    /// It, to be asked, or what to do where it is not installed.
    pub fn found(self, here: &Here) -> Result<Found, Problem> {
        let info = self.info();
        let missing = || {
            Problem::new(Code::Unavailable, format!("{} is not installed", info.title))
                .hint(format!("{}, then run this command again", info.install()))
        };
        let program = self.program(here).ok_or_else(missing)?;
        Ok(Found { client: self, program, dir: here.workspace.clone() })
    }
}

/// A client that is installed.
pub struct Found {
    /// Which.
    pub client: Client,
    program: PathBuf,
    dir: PathBuf,
}

impl Found {
    /// The folder that the marketplace named ralph comes from, if there is one.
    pub fn marketplace(&self) -> Result<Option<PathBuf>, Refused> {
        match self.client {
            Client::Claude => claude::marketplace(self),
            Client::Codex => codex::marketplace(self),
        }
    }

    /// Where the plugin is registered.
    pub fn registrations(&self) -> Result<Vec<Registration>, Refused> {
        match self.client {
            Client::Claude => claude::registrations(self),
            Client::Codex => codex::registrations(self),
        }
    }

    /// Those that count in this directory.
    pub fn here(&self, all: &[Registration]) -> Vec<Registration> {
        let counts = |one: &&Registration| one.project.as_ref().is_none_or(|dir| *dir == self.dir);
        all.iter().filter(counts).cloned().collect()
    }

    /// Registers the folder as a marketplace.
    pub fn add_marketplace(&self, root: &Path) -> Result<(), Refused> {
        self.ask(&["plugin", "marketplace", "add", &root.to_string_lossy(), "--json"]).map(drop)
    }

    /// And takes it back.
    pub fn remove_marketplace(&self) -> Result<(), Refused> {
        self.ask(&["plugin", "marketplace", "remove", super::plugin::NAME, "--json"]).map(drop)
    }

    /// Switches the plugin on, as this version of it.
    pub fn add(&self, scope: Scope, version: &str) -> Result<(), Refused> {
        match self.client {
            Client::Claude => claude::add(self, scope, version),
            Client::Codex => codex::add(self),
        }
    }

    /// And takes it back.
    pub fn remove(&self, scope: Scope) -> Result<(), Refused> {
        match self.client {
            Client::Claude => claude::remove(self, scope),
            Client::Codex => codex::remove(self),
        }
    }

    /// What it says about the hooks of a plugin that is registered and on.
    pub fn hooks(&self, here: &Here) -> Hooks {
        match self.client {
            Client::Claude => claude::hooks(self, here),
            Client::Codex => codex_hooks::hooks(self),
        }
    }

    fn ask(&self, args: &[&str]) -> Result<Asked, Refused> {
        ask::ask(&self.program, &self.dir, args)
    }
}
