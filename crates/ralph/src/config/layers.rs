//! The files, layered: read lowest first, a later value replaces an earlier one. Ceilings come only from the user's or
//! the system's own file; what is above one is lowered to it, and said.

use super::file::{AgentOverride, Ceilings as CeilingKeys, File, Preset, Rung};
use super::read::{Trust, read};
use crate::problem::Problem;
use ralph_rules::money::Micro;
use ralph_rules::policy::{Ceilings, Decline, OnViolation, Policy, Until};
use ralph_rules::record::Ms;
use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::Path;

/// All files, merged.
#[derive(Clone, Debug)]
pub struct Layers {
    merged: File,
    max_iterations: Ceiling<u32>,
    max_cost: Ceiling<Micro>,
    daily_cost: Micro,
}

/// A number that nothing below may exceed, and who set it.
#[derive(Clone, Debug)]
struct Ceiling<T> {
    value: T,
    set_by: String,
}

impl<T: PartialOrd + Display + Copy> Ceiling<T> {
    fn default(value: T) -> Ceiling<T> {
        Ceiling { value, set_by: "ralph's default".into() }
    }

    fn set(&mut self, value: Option<T>, path: &Path) {
        if let Some(value) = value {
            *self = Ceiling { value, set_by: format!("set by {}", path.display()) };
        }
    }

    /// Lowers what is above it, and says so.
    fn lower(&self, name: &str, wanted: &mut T) -> Option<String> {
        let Ceiling { value, set_by } = self;
        let above = *wanted > *value;
        let said =
            format!("{name} {wanted} is above the ceiling of {value} ({set_by}); it is lowered to {value}");
        above.then(|| {
            *wanted = *value;
            said
        })
    }
}

/// Reads the system's, the user's and the workspace's files.
pub fn load(workspace: &Path, config_home: Option<&Path>) -> Result<Layers, Problem> {
    let mut layers = Layers::default();
    layers.own(Path::new("/etc/ralph/config.toml"))?;
    if let Some(home) = config_home {
        layers.own(&home.join("ralph/config.toml"))?;
    }
    for name in ["ralph.toml", "ralph.local.toml"] {
        if let Some(file) = read(&workspace.join(name), Trust::Project)? {
            layers.merge(file);
        }
    }
    Ok(layers)
}

impl Default for Layers {
    fn default() -> Layers {
        let Ceilings { max_iterations, max_cost, daily_cost } = Ceilings::default();
        let (max_iterations, max_cost) = (Ceiling::default(max_iterations), Ceiling::default(max_cost));
        Layers { merged: File::default(), max_iterations, max_cost, daily_cost }
    }
}

impl Layers {
    /// A file that may set ceilings.
    fn own(&mut self, path: &Path) -> Result<(), Problem> {
        let Some(file) = read(path, Trust::Own)? else { return Ok(()) };
        let CeilingKeys { max_iterations, max_cost_usd, daily_cost_usd } = &file.ceilings;
        self.max_iterations.set(max_iterations.map(NonZeroU32::get), path);
        self.max_cost.set(max_cost_usd.map(|usd| usd.0), path);
        set(&mut self.daily_cost, daily_cost_usd.map(|usd| usd.0));
        self.merge(file);
        Ok(())
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
        take(&mut to.protect.on_violation, file.protect.on_violation);
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
        Ok(layers)
    }

    /// The preset whose numbers hold where nothing else is set.
    pub fn preset(&self) -> Preset {
        self.merged.preset.unwrap_or(Preset::Strict)
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
        over.into_iter().flat_map(|o| &o.env).map(|(name, value)| (name.0.clone(), value.clone())).collect()
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
        iterations.into_iter().chain(cost).collect()
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

fn number(n: Option<NonZeroU32>) -> Option<u32> {
    n.map(NonZeroU32::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace and a config home with these files; `~` stands for the config home.
    fn layers(files: &[(&str, &str)]) -> Result<Layers, Problem> {
        let dir = tempfile::tempdir().unwrap();
        let (workspace, home) = (dir.path().join("workspace"), dir.path().join("config"));
        for (name, text) in files {
            let path = match name.strip_prefix("~/") {
                Some(name) => home.join("ralph").join(name),
                None => workspace.join(name),
            };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        load(&workspace, Some(&home))
    }

    #[test]
    fn the_nearest_file_wins() {
        let files = [
            (
                "~/config.toml",
                "[run]\nmax_iterations = 2\nmax_cost_usd = 2\ntimeout = \"2m\"\n[agent]\nmodel = \"own\"",
            ),
            ("ralph.toml", "[run]\nmax_iterations = 3\nmax_cost_usd = 3.5\n[verify]\ncommands = [\"a\"]"),
            ("ralph.local.toml", "[run]\nmax_iterations = 4\n[verify]\ncommands = [\"b\", \"c\"]"),
        ];
        let layers = layers(&files).unwrap();
        assert_eq!(layers.limits(), (Some(4), Some(Micro(3_500_000))));
        assert_eq!((layers.verify(), layers.model()), (&["b".to_string(), "c".to_string()][..], Some("own")));
        let mut policy = Policy::strict(4, Micro(1));
        layers.shape(&mut policy);
        assert_eq!(policy.timeout, 120_000);
    }

    #[test]
    fn what_is_set_wins_over_a_preset_wherever_it_is_set() {
        let files = [
            ("~/config.toml", "[breaker]\nopen_after = 2\n[gate]\nindicators = 3"),
            ("ralph.toml", "preset = \"wrapper\"\n[gate]\npromise = \"DONE\"\n[plan]\nfile = \"TODO.md\""),
        ];
        let shaped = |asked| {
            let mut policy = Policy::strict(4, Micro(1));
            let over = layers(&files).unwrap().over(asked).unwrap();
            over.shape(&mut policy);
            (over.preset(), policy)
        };
        let (preset, policy) = shaped(None);
        assert_eq!(
            (preset, policy.breaker.half_open_after, policy.breaker.open_after),
            (Preset::Wrapper, 5, 2)
        );
        assert_eq!((policy.gate.indicators, policy.gate.explicit_alone), (3, false));
        assert_eq!((policy.gate.promise.as_str(), policy.breaker.saturation), ("DONE", 0));
        let (preset, policy) = shaped(Some(Preset::Classic));
        assert_eq!(
            (preset, policy.breaker.half_open_after, policy.breaker.open_after),
            (Preset::Classic, 3, 2)
        );
        assert_eq!(layers(&files).unwrap().plan_file(), Some("TODO.md"));
    }

    #[test]
    fn what_is_set_for_one_agent_is_merged_key_by_key() {
        let files = [
            ("~/config.toml", "[agents.claude]\nmodel = \"opus\"\ntimeout = \"5m\""),
            ("ralph.toml", "[agents.claude]\nargs = [\"--x\"]"),
        ];
        let layers = layers(&files).unwrap();
        let claude = layers.agent("claude").unwrap();
        assert_eq!((claude.model.as_deref(), claude.timeout.map(|t| t.0)), (Some("opus"), Some(300_000)));
        assert_eq!(claude.args.as_deref(), Some(&["--x".to_string()][..]));
    }

    #[test]
    fn protected_paths_of_all_files_add_up() {
        let files =
            [("~/config.toml", "[protect]\npaths = [\"a\"]"), ("ralph.toml", "[protect]\npaths = [\"b\"]")];
        assert_eq!(layers(&files).unwrap().protect(), ["a", "b"]);
    }

    #[test]
    fn what_is_above_a_ceiling_is_lowered_and_said() {
        let mut policy = Policy::strict(300, Micro(30_000_000));
        let said = layers(&[("~/config.toml", "[ceilings]\nmax_iterations = 7")]).unwrap().cap(&mut policy);
        assert_eq!((policy.max_iterations, policy.max_cost), (7, Micro(10_000_000)));
        assert!(said[0].starts_with("max_iterations 300 is above the ceiling of 7 (set by /"), "{said:?}");
        assert!(said[0].ends_with("ralph/config.toml); it is lowered to 7"), "{said:?}");
        assert_eq!(
            said[1],
            "max_cost $30.00 is above the ceiling of $10.00 (ralph's default); it is lowered to $10.00"
        );
        let raised =
            layers(&[("~/config.toml", "[ceilings]\nmax_iterations = 500\ndaily_cost_usd = 1")]).unwrap();
        let mut policy = Policy::strict(300, Micro(1));
        assert!(raised.cap(&mut policy).is_empty());
        assert_eq!((policy.max_iterations, policy.daily_cost), (300, Micro(1_000_000)));
    }

    #[test]
    fn a_project_may_end_what_the_user_lets_go_on() {
        let own = ("~/config.toml", "[protect]\non_violation = \"restore\"");
        let stricter = ("ralph.toml", "[protect]\non_violation = \"abort\"");
        for (files, wanted) in
            [(&[own][..], OnViolation::Restore), (&[own, stricter][..], OnViolation::Abort)]
        {
            let mut policy = Policy::strict(1, Micro(1));
            layers(files).unwrap().shape(&mut policy);
            assert_eq!(policy.on_violation, wanted);
        }
    }

    #[test]
    fn a_project_may_only_tighten() {
        for text in [
            "[ceilings]\nmax_iterations = 100",
            "[ceilings]\ndaily_cost_usd = 1",
            "[protect]\npaths = [\"!.env\"]",
            "[protect]\non_violation = \"restore\"",
        ] {
            assert!(layers(&[("ralph.toml", text)]).is_err(), "{text}");
            assert!(layers(&[("ralph.local.toml", text)]).is_err(), "{text}");
            assert!(layers(&[("~/config.toml", text)]).is_ok(), "{text}");
        }
    }
}
