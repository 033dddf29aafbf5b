//! Finds out what a backend really holds here, by running a small program in a plan that tries to get out.
//!
//! The program is ralph itself as `__probe`. It changes nothing in the workspace: it opens protected files for writing without
//! writing, and removes directories that are not empty, which the kernel answers differently where they are pinned.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::report::Failure;
use crate::{Backend, Plan, container, path_json};

/// What can be promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// Nothing is written outside, nothing hidden is read, no capability is held.
    Files,
    /// Protected paths in the workspace are neither written nor moved.
    ProtectedPaths,
    /// Processes outside are not seen.
    Processes,
    /// The network outside is not reached; promised only if the plan does not open it.
    Network,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Promise::Files => "files",
            Promise::ProtectedPaths => "protected paths",
            Promise::Processes => "processes",
            Promise::Network => "network",
        })
    }
}

/// What held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// All that held, whether the backend promises it or not.
    pub promises: Vec<Promise>,
    /// What of the plan could not be done.
    pub notes: Vec<String>,
}

/// Why a backend is not to be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHeld {
    /// It could not be built.
    #[error("{0}")]
    NotBuilt(Failure),
    /// The probe itself could not be started or did not answer.
    #[error("the probe failed: {0}")]
    NotProbed(String),
    /// What the probe needs could not be made, as on a full disk: that says nothing about the backend.
    #[error("the probe cannot be made: {0}")]
    NotMade(String),
    /// It was built, and something that it promises did not hold.
    #[error("{} did not hold: {}", .promise, .attack)]
    Broken {
        /// What was promised.
        promise: Promise,
        /// What the probe could do.
        attack: String,
    },
}

/// Builds a plan once and tries it. `own_program` is ralph, or a test program, that runs `__box`, `__init` and `__probe`.
///
/// # Errors
/// If the plan cannot be built, or something that its backend promises does not hold.
pub fn probe(own_program: &Path, plan: &Plan) -> Result<Held, NotHeld> {
    let promised = promised(plan);
    if let Backend::Container(it) = &plan.backend {
        // An image need not be able to run ralph, so its shell is the probe.
        let notes = container::try_out(plan, it, &[]).map_err(|why| NotHeld::NotProbed(why.to_string()))?;
        return Ok(Held { promises: promised, notes });
    }
    let (found, notes) = crate::linux::try_plan(own_program, plan)?;
    if let Some(broken) = found.iter().find(|attack| promised.contains(&attack.breaks)) {
        return Err(NotHeld::Broken { promise: broken.breaks, attack: broken.did.clone() });
    }
    let mut promises = vec![Promise::Files, Promise::ProtectedPaths, Promise::Processes];
    if plan.network != crate::Network::Open {
        promises.push(Promise::Network);
    }
    promises.retain(|promise| !found.iter().any(|attack| attack.breaks == *promise));
    Ok(Held { promises, notes })
}

/// What a plan's backend promises.
#[must_use]
pub fn promised(plan: &Plan) -> Vec<Promise> {
    let mut all = vec![Promise::Files];
    if plan.backend != Backend::Landlock {
        all.extend([Promise::ProtectedPaths, Promise::Processes]);
    }
    if plan.network != crate::Network::Open {
        all.push(Promise::Network);
    }
    all
}

/// Runs as the probe inside; `args` are those after `__probe`: a file with its tasks. To be called before anything else in `main`.
#[must_use]
pub fn run_probe(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let tasks = args.into_iter().next().and_then(|file| std::fs::read(file).ok());
    let tasks = tasks.and_then(|text| serde_json::from_slice(&text).ok());
    let answered = tasks.is_some_and(|tasks: Tasks| {
        let found = crate::linux::attack(&tasks);
        serde_json::to_writer(std::io::stdout(), &found).is_ok()
    });
    if answered { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the probe is to try.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tasks {
    /// Directories to leave a file in, where it would be found from outside.
    #[serde(with = "path_json::list")]
    pub outside: Vec<PathBuf>,
    /// Files and directories that are hidden.
    #[serde(with = "path_json::list")]
    pub hidden: Vec<PathBuf>,
    /// Paths that are protected.
    #[serde(with = "path_json::list")]
    pub protected: Vec<PathBuf>,
    /// The workspace, up to which their parents are pinned.
    #[serde(with = "path_json")]
    pub workspace: PathBuf,
    /// A port of the loopback outside that somebody listens at.
    pub port: Option<u16>,
    /// Whether capabilities for files are allowed.
    pub file_capabilities: bool,
}

/// Something that the probe could do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attack {
    /// What it breaks.
    pub breaks: Promise,
    /// What was done, in a few words.
    pub did: String,
}
