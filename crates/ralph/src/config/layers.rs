//! The files, layered: read lowest first, a later value replaces an earlier one. Ceilings come only from the user's or
//! the system's own file; what is above one is lowered to it, and said.

use super::file::{AgentOverride, Ceilings as CeilingKeys, File};
use super::place;
use crate::problem::{Code, Problem};
use ralph_rules::money::Micro;
use ralph_rules::policy::{Ceilings, Decline, Policy, Until};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All files, merged.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: File,
    ceilings: Ceilings,
    set_by: String,
}

/// A limit that was above its ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered(pub String);

/// Reads the system's, the user's and the workspace's files.
pub fn load(workspace: &Path, config_home: Option<&Path>) -> Result<Layers, Problem> {
    let mut layers = Layers { set_by: "ralph's default".into(), ..Layers::default() };
    layers.trusted(Path::new("/etc/ralph/config.toml"))?;
    if let Some(home) = config_home {
        layers.trusted(&home.join("ralph/config.toml"))?;
    }
    layers.project(&workspace.join("ralph.toml"))?;
    layers.project(&workspace.join("ralph.local.toml"))?;
    Ok(layers)
}

fn read(path: &Path) -> Result<Option<File>, Problem> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => {
            let message = format!("{} cannot be read", path.display());
            return Err(Problem::new(Code::Config, message).cause(&e).hint("make it readable text, or remove it"));
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let file: File = toml::from_str(text).map_err(|e| place::mistake(path, text, &e))?;
    if let Some(key) = file.not_yet().first() {
        let message = format!("{}: `{key}` is not supported by this version of ralph", path.display());
        return Err(Problem::new(Code::Config, message).hint("remove it: ralph never ignores a setting silently"));
    }
    Ok(Some(file))
}

impl Layers {
    /// A file that may set ceilings.
    fn trusted(&mut self, path: &Path) -> Result<(), Problem> {
        let Some(file) = read(path)? else { return Ok(()) };
        self.raise(&file.ceilings, path)?;
        self.merge(file);
        Ok(())
    }

    /// A file an agent could write: it may not touch ceilings.
    fn project(&mut self, path: &PathBuf) -> Result<(), Problem> {
        let Some(file) = read(path)? else { return Ok(()) };
        let CeilingKeys { max_iterations, max_cost_usd, daily_cost_usd } = &file.ceilings;
        if max_iterations.is_some() || max_cost_usd.is_some() || daily_cost_usd.is_some() {
            let message = format!("{}: [ceilings] may not be set in a project", path.display());
            return Err(Problem::new(Code::Config, message).hint("set them in your own config.toml instead"));
        }
        self.merge(file);
        Ok(())
    }

    fn raise(&mut self, keys: &CeilingKeys, path: &Path) -> Result<(), Problem> {
        let before = self.ceilings;
        if let Some(n) = keys.max_iterations {
            self.ceilings.max_iterations = n;
        }
        if let Some(usd) = keys.max_cost_usd {
            self.ceilings.max_cost = dollars(usd, "ceilings.max_cost_usd")?;
        }
        if let Some(usd) = keys.daily_cost_usd {
            self.ceilings.daily_cost = dollars(usd, "ceilings.daily_cost_usd")?;
        }
        if before != self.ceilings {
            self.set_by = path.display().to_string();
        }
        Ok(())
    }

    fn merge(&mut self, file: File) {
        let to = &mut self.merged;
        take(&mut to.run.max_iterations, file.run.max_iterations);
        take(&mut to.run.max_cost_usd, file.run.max_cost_usd);
        take(&mut to.run.max_time, file.run.max_time);
        take(&mut to.run.timeout, file.run.timeout);
        take(&mut to.run.idle_timeout, file.run.idle_timeout);
        take(&mut to.run.max_wait, file.run.max_wait);
        take(&mut to.run.pause_between, file.run.pause_between);
        take(&mut to.run.calls_per_hour, file.run.calls_per_hour);
        take(&mut to.run.tokens_per_hour, file.run.tokens_per_hour);
        take(&mut to.agent.name, file.agent.name);
        take(&mut to.agent.model, file.agent.model);
        take(&mut to.verify.timeout, file.verify.timeout);
        take(&mut to.gate.until, file.gate.until);
        take(&mut to.gate.indicators, file.gate.indicators);
        take(&mut to.gate.promise, file.gate.promise);
        take(&mut to.gate.done_signals, file.gate.done_signals);
        take(&mut to.breaker.half_open_after, file.breaker.half_open_after);
        take(&mut to.breaker.open_after, file.breaker.open_after);
        take(&mut to.breaker.same_error, file.breaker.same_error);
        take(&mut to.breaker.saturation, file.breaker.saturation);
        take(&mut to.breaker.denials, file.breaker.denials);
        take(&mut to.breaker.decline, file.breaker.decline);
        take(&mut to.prompt.file, file.prompt.file);
        if !file.verify.commands.is_empty() {
            to.verify.commands = file.verify.commands;
        }
        to.protect.paths.extend(file.protect.paths);
        to.agents.extend(file.agents);
    }

    /// The agent's name, model and overrides.
    pub fn agent(&self) -> (Option<&str>, Option<&str>, &BTreeMap<String, AgentOverride>) {
        let agent = &self.merged.agent;
        (agent.name.as_deref(), agent.model.as_deref(), &self.merged.agents)
    }

    /// The verify commands.
    pub fn verify(&self) -> &[String] {
        &self.merged.verify.commands
    }

    /// The protected globs, besides the defaults.
    pub fn protect(&self) -> &[String] {
        &self.merged.protect.paths
    }

    /// The prompt's file.
    pub fn prompt_file(&self) -> Option<&str> {
        self.merged.prompt.file.as_deref()
    }

    /// The two limits that have no default.
    pub fn limits(&self) -> Result<(Option<u32>, Option<Micro>), Problem> {
        let cost = self.merged.run.max_cost_usd.map(|usd| dollars(usd, "run.max_cost_usd")).transpose()?;
        Ok((self.merged.run.max_iterations, cost))
    }

    /// Puts the files' numbers into a policy.
    pub fn shape(&self, policy: &mut Policy) {
        let (run, gate, breaker) = (&self.merged.run, &self.merged.gate, &self.merged.breaker);
        policy.max_time = run.max_time.map(|d| d.0);
        set(&mut policy.timeout, run.timeout.map(|d| d.0));
        set(&mut policy.idle_timeout, run.idle_timeout.map(|d| d.0));
        set(&mut policy.max_wait, run.max_wait.map(|d| d.0));
        set(&mut policy.pause_between, run.pause_between.map(|d| d.0));
        set(&mut policy.verify_timeout, self.merged.verify.timeout.map(|d| d.0));
        set(&mut policy.calls_per_hour, run.calls_per_hour.map(|n| (n > 0).then_some(n)));
        policy.tokens_per_hour = run.tokens_per_hour;
        set(&mut policy.gate.indicators, gate.indicators);
        set(&mut policy.gate.done_signals, gate.done_signals);
        set(&mut policy.gate.promise, gate.promise.clone());
        set(
            &mut policy.gate.until,
            gate.until.map(|u| match u {
                super::file::Until::Claimed => Until::Claimed,
                super::file::Until::Verified => Until::Verified,
            }),
        );
        set(&mut policy.breaker.half_open_after, breaker.half_open_after);
        set(&mut policy.breaker.open_after, breaker.open_after);
        set(&mut policy.breaker.same_error, breaker.same_error);
        set(&mut policy.breaker.saturation, breaker.saturation);
        set(&mut policy.breaker.denials, breaker.denials);
        set(
            &mut policy.breaker.decline,
            breaker.decline.map(|d| match d {
                super::file::Decline::Warn => Decline::Warn,
                super::file::Decline::Open => Decline::Open,
            }),
        );
    }

    /// Lowers what is above a ceiling, and says so.
    pub fn cap(&self, policy: &mut Policy) -> Vec<Lowered> {
        let mut lowered = Vec::new();
        let Ceilings { max_iterations, max_cost, daily_cost } = self.ceilings;
        if policy.max_iterations > max_iterations {
            lowered.push(Lowered(format!(
                "max_iterations {} is above the ceiling of {max_iterations} ({}); it is lowered to it",
                policy.max_iterations, self.set_by
            )));
            policy.max_iterations = max_iterations;
        }
        if policy.max_cost > max_cost {
            lowered.push(Lowered(format!(
                "max_cost {} is above the ceiling of {max_cost} ({}); it is lowered to it",
                policy.max_cost, self.set_by
            )));
            policy.max_cost = max_cost;
        }
        policy.daily_cost = daily_cost;
        lowered
    }
}

fn take<T>(to: &mut Option<T>, from: Option<T>) {
    if from.is_some() {
        *to = from;
    }
}

fn set<T>(to: &mut T, from: Option<T>) {
    if let Some(value) = from {
        *to = value;
    }
}

fn dollars(usd: f64, key: &str) -> Result<Micro, Problem> {
    Micro::from_usd(usd)
        .ok_or_else(|| Problem::new(Code::Config, format!("{key}: {usd} is no amount of money")).hint("write it like 5.00"))
}
