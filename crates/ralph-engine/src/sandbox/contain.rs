//! One contained program: its directories and plan before it starts, the answers of its network's gate while it runs, and what
//! is brought back and deleted after it has ended.

use super::bring_back::Login;
use super::call_dirs::CallDirs;
use super::facts::{facts, needs, own_state};
use super::layers::KeptLayers;
use super::{Program, SandboxDeps, container};
use crate::home::Home;
use crate::verification::tree_copy;
use ralph_diagnostics::Discard;
use ralph_rules::record::SandboxSeen;
use ralph_sandbox::gate::{Gate, HostRule, SystemResolver, proxy_variables};
use ralph_sandbox::policy::{
    Copied, Facts, GIT_FILE, Planned, Settings, plan_for_agent, plan_for_verification,
};
use ralph_sandbox::{Backend, Mount, Network};
use ralph_supervisor::{Exit, How, Launch, SandboxLaunch};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A larger file of an agent's state is not copied where no layer shows it.
const SEED_FILE: u64 = 1 << 20;

/// A program that may be started contained. To be kept until it has ended.
pub struct Contained {
    logins: Vec<Login>,
    layers: Vec<(PathBuf, PathBuf)>,
    gate: Option<Gate>,
    /// Knows which notes are worth a line.
    deps: SandboxDeps,
    /// The program of the engine that runs it, if it is in a container.
    engine: Option<PathBuf>,
    /// Why not every protected path was held.
    too_many: Option<String>,
    // Last: the gate and the login's copy need what is in them.
    dirs: CallDirs,
}

/// A plan with the directories that it needs.
pub(super) struct Prepared {
    pub(super) planned: Planned,
    facts: Facts,
    pub(super) dirs: CallDirs,
}

impl SandboxDeps {
    /// Makes the plan of a program and the directories that it needs.
    pub(super) fn prepare(&self, program: &Program<'_>) -> io::Result<Prepared> {
        let dirs = CallDirs::make(&self.surroundings.home)?;
        let layers = KeptLayers::of(&self.surroundings, program.workspace, &dirs.dropped())?;
        if let Some(dir) = program.writes {
            Home::create_private_dir(dir)?;
        }
        let facts = facts(self, program, (&dirs, &layers))?;
        let settings = self.settings_for(program);
        let mut planned = match &program.agent {
            Some(agent) => {
                let needs = needs(agent, &self.surroundings, &facts.workspace);
                plan_for_agent(&facts, &settings, &needs)
            }
            None => plan_for_verification(&facts, &settings),
        };
        if let Backend::Container(it) = &mut planned.plan.backend {
            container::label(it, program, &dirs);
        }
        planned.directories.iter().try_for_each(|dir| Home::create_private_dir(dir))?;
        if let Some(text) = &planned.git_file {
            std::fs::write(facts.tmp.join(GIT_FILE), text)?;
        }
        Ok(Prepared { planned, facts, dirs })
    }

    /// What is set, for this program. A copy of the workspace has links to dependency folders in the workspace itself, which
    /// a container shows only if it is told to.
    fn settings_for(&self, program: &Program<'_>) -> Settings {
        let mut settings = self.settings.clone();
        if self.is_container() && program.works_in != program.workspace {
            settings.readable.push(program.workspace.to_string_lossy().into_owned());
        }
        settings
    }

    /// Whether programs run in an image: it has programs of its own, and shows nothing that is mounted here for one program.
    pub fn is_container(&self) -> bool {
        matches!(self.backend, Backend::Container(_))
    }

    /// Makes a launch start its program contained.
    ///
    /// # Errors
    /// If the plan or its directories cannot be made: the program must not be started then.
    pub fn contain(&self, launch: &mut Launch, program: &Program<'_>) -> io::Result<Contained> {
        let Prepared { mut planned, facts, dirs } = self.prepare(program)?;
        if let Backend::Container(it) = &mut planned.plan.backend {
            container::complete(it, launch, &self.settings);
        }
        make_state(program, self);
        planned.seeds.iter().try_for_each(seed)?;
        let plan = dirs.plan();
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&plan)?;
        file.write_all(&serde_json::to_vec(&planned.plan).map_err(io::Error::other)?)?;
        let (gate, for_box) = match &planned.plan.network {
            Network::Gate { forward } => {
                let rules =
                    planned.hosts.iter().map(|host| host.parse::<HostRule>()).collect::<Result<_, _>>();
                let rules = rules.map_err(io::Error::other)?;
                let (gate, for_box) = Gate::start(rules, forward.clone(), SystemResolver)?;
                (Some(gate), Some(Arc::new(for_box)))
            }
            _ => (None, None),
        };
        set_environment(launch, &planned, &facts);
        launch.sandbox = Some(SandboxLaunch { plan, gate: for_box });
        let layers = planned.plan.mounts.iter().filter_map(|mount| match mount {
            Mount::Layer { at, upper, .. } => Some((at.clone(), upper.clone())),
            _ => None,
        });
        let layers = layers.collect();
        let engine = match &planned.plan.backend {
            Backend::Container(it) => Some(it.program.clone()),
            _ => None,
        };
        let logins = planned.brought_back.into_iter().map(Login::before).collect();
        let too_many = program.places.too_many();
        Ok(Contained { logins, layers, gate, deps: self.clone(), engine, too_many, dirs })
    }
}

impl Contained {
    /// The program has ended: brings back logins, and tells what was refused.
    pub fn ended(self, exit: &Exit) -> SandboxSeen {
        // A box that was killed could not remove its container.
        if let Some(engine) = self.engine.as_ref().filter(|_| exit.how != How::Ended) {
            container::remove_of_call(engine, self.dirs.base());
        }
        let logins = self.logins.iter().filter_map(Login::bring_back);
        let mut notes = self.deps.worth_saying(&exit.notes);
        notes.extend(logins);
        notes.extend(
            self.too_many.map(|why| format!("protected paths: {why}; the rest is compared after each step")),
        );
        let refused = self.gate.as_ref().map(Gate::refused).unwrap_or_default();
        let mut hosts: Vec<String> = Vec::new();
        for refused in refused.hosts {
            let host = format!("{}:{} ({})", refused.host, refused.port, refused.reason);
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        notes.retain(|note| !self.deps.said.contains(note));
        SandboxSeen { hosts_refused: hosts, notes }
    }

    /// Where something really is that the program saw at this path and may have written.
    pub fn written(&self, path: &Path) -> PathBuf {
        let covering = self.layers.iter().filter(|(at, _)| path.starts_with(at));
        let nearest = covering.max_by_key(|(at, _)| at.as_os_str().len());
        let below = nearest.and_then(|(at, upper)| Some(upper.join(path.strip_prefix(at).ok()?)));
        below.unwrap_or_else(|| path.to_path_buf())
    }
}

/// The program gets exactly what the policy passes on, and what this call gives it.
fn set_environment(launch: &mut Launch, planned: &Planned, facts: &Facts) {
    let mut env: BTreeMap<OsString, OsString> =
        planned.env.apply(&facts.env).into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    if let Network::Gate { forward } = &planned.plan.network {
        env.extend(proxy_variables(forward).into_iter().map(|(name, value)| (name.into(), value.into())));
    }
    for name in std::mem::take(&mut launch.env_remove) {
        env.remove(&name);
    }
    env.extend(std::mem::take(&mut launch.env));
    launch.env_clear = true;
    launch.env = env.into_iter().collect();
}

/// Makes the directories of the agent's state that it would make itself: where home is read-only inside, it could not.
fn make_state(program: &Program<'_>, deps: &SandboxDeps) {
    let own = program.agent.iter().flat_map(|agent| own_state(agent.info, &deps.surroundings));
    own.for_each(|dir| Home::create_private_dir(&dir).discard("make a directory of the agent's state"));
}

/// Copies the small files of a directory, where they are not there already.
fn seed(Copied { from, to }: &Copied) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten() {
        let target = to.join(entry.file_name());
        let small = entry.metadata().is_ok_and(|it| it.is_file() && it.len() <= SEED_FILE);
        if small && std::fs::symlink_metadata(&target).is_err() {
            tree_copy::file(&entry.path(), &target)?;
        }
    }
    Ok(())
}
