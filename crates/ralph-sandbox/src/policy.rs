//! Decides what a contained program sees: facts about this machine and the user's settings in, a [`Plan`](crate::Plan) out.
//! Nothing here reads a file, the clock or the environment.

mod caches;
mod container;
mod environment;
mod facts;
mod git_settings;
mod home;
mod links;
mod network;
mod planned;
mod programs;
mod secret_paths;
mod secrets;
mod settings;
mod sight;
mod sockets;
mod temporary;
mod workspace;

pub use crate::plan::ContainerEngine;
pub use environment::EnvChanges;
pub use facts::{AgentNeeds, Entry, EntryKind, Facts, GitConfig, Link};
pub use git_settings::{GIT_FILE, PASSED_GIT_SETTINGS};
pub use planned::{BroughtBack, Copied, Planned, plan_for_agent, plan_for_verification};
pub use programs::SETTINGS;
pub use secrets::{MIXED, SECRETS, holds_credentials};
pub use settings::{Container, HomeView, Mode, NetworkRule, Settings, VerifyNetwork};
pub use workspace::is_obeyed;
