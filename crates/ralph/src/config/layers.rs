//! The files, layered: read lowest first, a later value replaces an earlier one. Ceilings come only from the user's or
//! the system's own file; what is above one is lowered to it, and said.

use super::ceiling::Ceiling;
use super::file::{AgentOverride, Ceilings as CeilingKeys, File, Oracle, Preset, Rung};
use super::prices;
use super::read::{Trust, read};
use super::source::{Origin, Source};
use super::values::{Variable, View};
use super::variables;
use crate::env::Env;
use crate::problem::{Code, Problem};
use crate::views::Paths;
use ralph_engine::redact::Secret;
use ralph_rules::money::Micro;
use ralph_rules::policy::{self, Ceilings, Decline, OnViolation, Policy, Until};
use ralph_rules::prices::Prices;
use ralph_rules::record::Ms;
use std::num::NonZeroU32;
use std::path::Path;

/// All files, merged.
#[derive(Clone, Debug)]
pub struct Layers {
    merged: File,
    max_iterations: Ceiling<u32>,
    max_cost: Ceiling<Micro>,
    daily_cost: Micro,
    sources: Vec<Source>,
    prices: Prices,
    /// What the project's files ask of changed tests; only the user's own may loosen it.
    project_oracle: Option<Oracle>,
}

/// The files that are looked for, the furthest first.
pub fn places(workspace: &Path, config_home: Option<&Path>) -> Vec<Origin> {
    let mut places = vec![Origin::System("/etc/ralph/config.toml".into())];
    places.extend(config_home.map(|home| Origin::User(home.join("ralph/config.toml"))));
    places.push(Origin::Project(workspace.join("ralph.toml")));
    places.push(Origin::Local(workspace.join("ralph.local.toml")));
    places
}

/// Reads the system's, the user's and the workspace's files.
pub fn load(workspace: &Path, config_home: Option<&Path>) -> Result<Layers, Problem> {
    let mut layers = Layers::default();
    for origin in places(workspace, config_home) {
        layers.layer(origin)?;
    }
    Ok(layers)
}

impl Default for Layers {
    fn default() -> Layers {
        let Ceilings { max_iterations, max_cost, daily_cost } = Ceilings::default();
        let (max_iterations, max_cost) = (Ceiling::default(max_iterations), Ceiling::default(max_cost));
        let merged = File::default();
        Layers {
            merged,
            max_iterations,
            max_cost,
            daily_cost,
            prices: Prices::default(),
            sources: Vec::new(),
            project_oracle: None,
        }
    }
}

impl Layers {
    /// One file, if it is there.
    fn layer(&mut self, origin: Origin) -> Result<(), Problem> {
        let Some(path) = origin.path().map(Path::to_path_buf) else { return Ok(()) };
        let own = matches!(origin, Origin::System(_) | Origin::User(_));
        let trust = if own { Trust::Own } else { Trust::Project };
        let Some((mut file, text)) = read(&path, trust)? else { return Ok(()) };
        if !own {
            take(&mut self.project_oracle, file.verify.oracle.take());
        }
        let CeilingKeys { max_iterations, max_cost_usd, daily_cost_usd } = &file.ceilings;
        self.max_iterations.set(max_iterations.map(NonZeroU32::get), &path);
        self.max_cost.set(max_cost_usd.map(|usd| usd.0), &path);
        set(&mut self.daily_cost, daily_cost_usd.map(|usd| usd.0));
        self.prices = prices::over(std::mem::take(&mut self.prices), &file.prices, &path);
        self.merge(file);
        self.sources.push(Source { origin, table: text.parse().unwrap_or_default(), text });
        Ok(())
    }

    /// With the variables above every file.
    pub fn under(mut self, env: &Env) -> Result<Layers, Problem> {
        if let Some(source) = variables::source(env)? {
            let file: File = source.table.clone().try_into().map_err(|e: toml::de::Error| {
                Problem::new(Code::Usage, "a RALPH_ variable cannot be used").cause(&e)
            })?;
            if let Some(key) = file.not_yet() {
                let message = format!(
                    "{} is not supported by this version of ralph",
                    source.place(&key, Path::new(""))
                );
                return Err(Problem::new(Code::Usage, message)
                    .hint("unset it: ralph never ignores a setting silently"));
            }
            self.merge(file);
            self.sources.push(source);
        }
        Ok(self)
    }

    /// Who sets what, the furthest first.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The ceilings on iterations and cost.
    pub fn ceilings(&self) -> (u32, Micro) {
        (self.max_iterations.value, self.max_cost.value)
    }

    /// What a limit is lowered to, and why, where it is above a ceiling.
    pub fn lowered(&self, key: &str) -> Option<(toml::Value, String)> {
        let (iterations, cost) = self.limits();
        match key {
            "run.max_iterations" => {
                let mut number = iterations?;
                let why = self.max_iterations.lower("max_iterations", &mut number)?;
                Some((toml::Value::Integer(number.into()), why))
            }
            "run.max_cost_usd" => {
                let mut amount = cost?;
                let why = self.max_cost.lower("max_cost", &mut amount)?;
                Some((toml::Value::Float(amount.usd()), why))
            }
            _ => None,
        }
    }

    fn merge(&mut self, file: File) {
        let to = &mut self.merged;
        take(&mut to.preset, file.preset);
        take(&mut to.plan.file, file.plan.file);
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
        take(&mut to.verify.oracle, file.verify.oracle);
        take(&mut to.gate.until, file.gate.until);
        take(&mut to.gate.indicators, file.gate.indicators);
        take(&mut to.gate.promise, file.gate.promise);
        take(&mut to.gate.exit_signals, file.gate.exit_signals);
        take(&mut to.gate.done_signals, file.gate.done_signals);
        take(&mut to.gate.marker_file, file.gate.marker_file);
        take(&mut to.breaker.half_open_after, file.breaker.half_open_after);
        take(&mut to.breaker.open_after, file.breaker.open_after);
        take(&mut to.breaker.same_error, file.breaker.same_error);
        take(&mut to.breaker.saturation, file.breaker.saturation);
        take(&mut to.breaker.denials, file.breaker.denials);
        take(&mut to.breaker.decline, file.breaker.decline);
        take(&mut to.breaker.cooldown, file.breaker.cooldown);
        take(&mut to.views.status, file.views.status);
        take(&mut to.views.progress, file.views.progress);
        take(&mut to.views.session, file.views.session);
        take(&mut to.views.analysis, file.views.analysis);
        take(&mut to.prompt.file, file.prompt.file);
        take(&mut to.prompt.templates, file.prompt.templates);
        take(&mut to.prompt.context, file.prompt.context);
        if !file.ladder.is_empty() {
            to.ladder = file.ladder;
        }
        if !file.verify.commands.is_empty() {
            to.verify.commands = file.verify.commands;
        }
        to.protect.paths.extend(file.protect.paths);
        to.redact.files.extend(file.redact.files);
        to.redact.env.extend(file.redact.env);
        take(&mut to.protect.on_violation, file.protect.on_violation);
        to.verify.oracle_paths.extend(file.verify.oracle_paths);
        for (name, over) in file.agents {
            let to = to.agents.entry(name).or_default();
            take(&mut to.command, over.command);
            take(&mut to.args, over.args);
            take(&mut to.model, over.model);
            take(&mut to.timeout, over.timeout);
            to.env.extend(over.env);
        }
    }

    /// With the numbers of a preset below everything that is set: the one asked for, else the files'.
    pub fn over(self, asked: Option<Preset>) -> Result<Layers, Problem> {
        let preset = asked.or(self.merged.preset).unwrap_or(Preset::Strict);
        let set = File { preset: Some(preset), ..self.merged };
        let mut layers = Layers { merged: preset.file()?, ..self };
        layers.merge(set);
        if preset != Preset::Strict {
            layers.sources.insert(0, preset.source());
        }
        Ok(layers)
    }

    /// The preset whose numbers hold where nothing else is set.
    pub fn preset(&self) -> Preset {
        self.merged.preset.unwrap_or(Preset::Strict)
    }

    /// What models cost.
    pub fn prices(&self) -> Prices {
        self.prices.clone()
    }

    /// The plan's file.
    pub fn plan_file(&self) -> Option<&str> {
        self.merged.plan.file.as_deref()
    }

    /// Who works.
    pub fn agent_name(&self) -> Option<&str> {
        self.merged.agent.name.as_deref()
    }

    /// The model, whoever works.
    pub fn model(&self) -> Option<&str> {
        self.merged.agent.model.as_deref()
    }

    /// What is set for one agent.
    pub fn agent(&self, name: &str) -> Option<&AgentOverride> {
        self.merged.agents.get(name)
    }

    /// The variables that an agent gets.
    pub fn agent_env(&self, name: &str) -> Vec<(String, String)> {
        let over = self.merged.agents.get(name);
        over.into_iter().flat_map(|o| &o.env).map(|(name, value)| variable(name, value)).collect()
    }

    /// The variables that any agent gets.
    pub fn agents_env(&self) -> Vec<(String, String)> {
        let all = self.merged.agents.values().flat_map(|over| &over.env);
        all.map(|(name, value)| variable(name, value)).collect()
    }

    /// Files whose values are secret.
    pub fn redact_files(&self) -> &[String] {
        &self.merged.redact.files
    }

    /// Variables that are secret, whatever their names say.
    pub fn redact_env(&self) -> &[String] {
        &self.merged.redact.env
    }

    /// The verify commands.
    pub fn verify(&self) -> &[String] {
        &self.merged.verify.commands
    }

    /// Globs for the oracle, besides what is known by name.
    pub fn oracle_paths(&self) -> &[String] {
        &self.merged.verify.oracle_paths
    }

    /// The protected globs, besides the defaults.
    pub fn protect(&self) -> &[String] {
        &self.merged.protect.paths
    }

    /// Where the views lie.
    pub fn views(&self) -> Paths {
        let (views, usual) = (&self.merged.views, Paths::default());
        let at = |view: &Option<View>, usual: String| view.as_ref().map_or(usual, |view| view.0.clone());
        Paths {
            status: at(&views.status, usual.status),
            progress: at(&views.progress, usual.progress),
            session: at(&views.session, usual.session),
            analysis: at(&views.analysis, usual.analysis),
        }
    }

    /// The prompt's file.
    pub fn prompt_file(&self) -> Option<&str> {
        self.merged.prompt.file.as_deref()
    }

    /// The directory of the user's own templates.
    pub fn templates(&self) -> Option<&str> {
        self.merged.prompt.templates.as_deref()
    }

    /// Whether prompts carry a context section.
    pub fn context(&self) -> bool {
        self.merged.prompt.context.unwrap_or(true)
    }

    /// Who works where the run is stuck; the nearest file's ladder counts as a whole.
    pub fn ladder(&self) -> &[Rung] {
        &self.merged.ladder
    }

    /// After how long an open breaker closes by itself.
    pub fn cooldown(&self) -> Option<Ms> {
        self.merged.breaker.cooldown.map(|limit| limit.0)
    }

    /// The two limits that have no default.
    pub fn limits(&self) -> (Option<u32>, Option<Micro>) {
        let run = &self.merged.run;
        (number(run.max_iterations), run.max_cost_usd.map(|usd| usd.0))
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
        policy.tokens_per_hour = run.tokens_per_hour.filter(|n| *n > 0);
        set(&mut policy.gate.explicit_alone, gate.indicators.map(|n| n == 0));
        set(&mut policy.gate.indicators, gate.indicators.filter(|n| *n > 0));
        set(&mut policy.gate.exit_signals, number(gate.exit_signals));
        set(&mut policy.gate.done_signals, number(gate.done_signals));
        policy.gate.marker_file = gate.marker_file.clone().map(|file| file.0);
        set(&mut policy.gate.promise, gate.promise.clone().map(|p| p.0));
        set(
            &mut policy.gate.until,
            gate.until.map(|u| match u {
                super::file::Until::Claimed => Until::Claimed,
                super::file::Until::Verified => Until::Verified,
            }),
        );
        set(&mut policy.breaker.half_open_after, number(breaker.half_open_after));
        set(&mut policy.breaker.open_after, breaker.open_after);
        set(&mut policy.breaker.same_error, number(breaker.same_error));
        set(&mut policy.breaker.saturation, breaker.saturation);
        set(&mut policy.breaker.denials, breaker.denials);
        policy.breaker.cooldown = self.cooldown();
        set(
            &mut policy.on_violation,
            self.merged.protect.on_violation.map(|on| match on {
                super::file::OnViolation::Abort => OnViolation::Abort,
                super::file::OnViolation::Restore => OnViolation::Restore,
            }),
        );
        set(
            &mut policy.breaker.decline,
            breaker.decline.map(|d| match d {
                super::file::Decline::Warn => Decline::Warn,
                super::file::Decline::Open => Decline::Open,
            }),
        );
    }

    /// Lowers what is above a ceiling, and says so.
    pub fn cap(&self, policy: &mut Policy) -> Vec<String> {
        policy.daily_cost = self.daily_cost;
        let iterations = self.max_iterations.lower("max_iterations", &mut policy.max_iterations);
        let cost = self.max_cost.lower("max_cost", &mut policy.max_cost);
        let looser = self.guard(policy);
        iterations.into_iter().chain(cost).chain(looser).collect()
    }

    /// What changed tests lead to: the user's own word, which a project may only tighten.
    fn guard(&self, policy: &mut Policy) -> Option<String> {
        let own = self.merged.verify.oracle.unwrap_or(Oracle::Guard);
        let asked = self.project_oracle.unwrap_or(own);
        policy.oracle = match own.max(asked) {
            Oracle::Guard => policy::Oracle::Guard,
            Oracle::Flag => policy::Oracle::Flag,
            Oracle::Allow => policy::Oracle::Allow,
        };
        (asked < own).then(|| {
            format!(
                "verify.oracle = \"{}\" of this project is looser than \"{}\" and does not count; set it in your own \
                 config.toml if the task is to rewrite tests",
                asked.word(),
                own.word()
            )
        })
    }
}

/// A variable as an agent is given it.
fn variable(name: &Variable, value: &Secret) -> (String, String) {
    (name.0.clone(), value.expose_text().unwrap_or_default().to_owned())
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

fn number(n: Option<NonZeroU32>) -> Option<u32> {
    n.map(NonZeroU32::get)
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
