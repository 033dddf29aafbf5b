//! Settings → a run: the policy, the agent found on this machine, the prompt read, the paths protected.

use super::auto_prune::AutoPrune;
use super::run::Args;
use super::{
    Here, agent, ladder, named_skill, output_files, prompt, review, sandbox, secrets, start_warnings, tasks,
    templates,
};
use crate::config::{Flags, Preset, Settings, Sources};
use crate::problem::{Code, Problem};
use crate::skills::Skill;
use crate::views::Paths;
use jiff::tz::TimeZone;
use ralph_engine::run_deps::RunDeps;
use ralph_engine::run_spec::RunSpec;
use ralph_rules::estimate::Estimate;
use ralph_rules::grade::Grade;
use ralph_rules::money::Micro;
use ralph_rules::policy::{Policy, Until};
use ralph_rules::record::{AgentChoice, Ms};
use ralph_sandbox::policy::Mode;
use ralph_tree::Protect;
use std::path::Path;

/// Said before every run without a sandbox.
pub const UNCONTAINED: &str = "no sandbox: the agent can do anything you can";

/// A run, resolved.
pub struct Resolved {
    /// What it starts with.
    pub plan: RunSpec,
    /// What the run needs besides.
    pub deps: RunDeps,
    /// What to say before the run starts.
    pub warnings: Vec<String>,
    /// The preset in use.
    pub preset: Preset,
    /// The plan file.
    pub bound: Option<tasks::Bound>,
    /// Where the views are written.
    pub views: Paths,
    /// What is deleted when it has ended.
    pub prune: AutoPrune,

    /// The settings that come from its skill.
    pub from_skill: Vec<String>,
}

/// Limits that a resumed run may be given.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Maximum number of iterations.
    pub max_iterations: Option<u32>,
    /// Maximum cost.
    pub max_cost: Option<Micro>,
    /// Maximum duration.
    pub max_time: Option<Ms>,
    /// Do not wait.
    pub no_wait: bool,
    /// Continue even if a verify command cannot run.
    pub force: bool,
    /// Another sandbox.
    pub sandbox: Flags,
}

impl Resolved {
    /// The limits and the sandbox, as changes to an interrupted run of the same task.
    pub fn changes(&self, args: &Args) -> Changes {
        let policy = &self.plan.policy;
        Changes {
            max_iterations: Some(policy.max_iterations),
            max_cost: Some(policy.max_cost),
            max_time: policy.max_time,
            no_wait: policy.no_wait,
            force: policy.start_anyway,
            sandbox: args.settings.of_sandbox(),
        }
    }
}

/// Resolves the arguments and settings of `ralph run`.
pub fn resolve(args: &Args, here: &Here) -> Result<Resolved, Problem> {
    can_hold_a_run(here)?;
    let skill = named_skill::of_run(args, here)?;
    let values = skill.as_ref().map(|skill| skill.values(&here.workspace, &here.env));
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let config = sources.skill(values.as_ref()).variables(&here.env).flags(&args.settings).load()?;
    let settings = &config.settings;
    sandbox::network_is_possible(&args.settings, &config)?;
    let mut policy = policy(args, settings)?;
    let mut warnings = config.warnings();
    warnings.extend(start_warnings::surroundings(here).into_iter().chain(sandbox::unenforced(&config)));
    let (prompt, prompt_from) = prompt::prompt(args, settings, here)?;
    let chosen = ladder::first(args, &config, here)?;
    let history = history(&chosen, skill.as_ref().map(|skill| skill.name.as_str()), here);
    policy.estimate = history.as_ref().map_or(policy.estimate, Estimate::reservation);
    let ladder = ladder::ladder(&chosen, args, &config, here)?;
    let review = review::reviewer(&config, here)?;
    let redactor = secrets::redactor(settings, &here.workspace, here)?;
    let mut deps = agent::deps((&chosen, &ladder, review.as_ref()), settings, redactor, here)?;
    // Taken story by story, each story has a command of its own.
    if !args.stories && !settings.stories {
        warnings.extend(start_warnings::unverified(settings, review.is_some()));
    }
    let bound = tasks::bound(settings, here)?;
    let stories = tasks::stories(args, settings, bound.as_ref())?;
    warnings.extend(bound.as_ref().and_then(tasks::Bound::warning));
    deps.sandbox.take_if(|request| request.settings.mode == Mode::Off);
    warnings.extend(deps.sandbox.is_none().then(|| UNCONTAINED.into()));
    warnings.extend(start_warnings::blind(&chosen, &ladder, review.as_ref()));
    warnings.extend(start_warnings::unpriced(&deps, (&chosen, &ladder, review.as_ref())));
    let part = start_warnings::part_of_repository(&here.workspace);
    warnings.extend(part.into_iter().chain(state_inside(&here.workspace, here)));
    let protect = [protect(settings), named_skill::protected(skill.as_ref(), here)].concat();
    let views = views(settings, &protect, here)?;
    deps.metrics = views.metrics.clone();
    let plan = RunSpec {
        workspace: here.workspace.clone(),
        prompt,
        prompt_from,
        agent: chosen,
        ladder,
        review,
        prompting: templates::prompting(settings, here)?,
        policy,
        history,
        verify: settings.verify.clone(),
        protect,
        oracle_paths: settings.oracle_paths.clone(),
        work_paths: settings.work_paths.clone(),
        setup: settings.verify_setup.clone(),
        zone: zone(here),
        own_files: views.outside(),
        output_files: output_files::output_files(&here.workspace),
        tasks: bound.as_ref().map(|bound| (bound.file.clone(), bound.path.clone())),
        session: None,
        skill: skill.as_ref().map(Skill::given),
        analyzers: settings.analyzers.values().cloned().collect(),
        rotate: !ladder::rotation(&config)?.is_empty(),
        stories,
    };
    let (prune, from_skill) = (AutoPrune::of(&config), named_skill::taken(&config));
    Ok(Resolved { plan, deps, warnings, preset: settings.preset, bound, views, prune, from_skill })
}

/// Refuses a workspace that a run could not record, or would damage.
fn can_hold_a_run(here: &Here) -> Result<(), Problem> {
    if here.workspace.to_str().is_none() {
        let message =
            format!("the path {} is not UTF-8 text, so a run cannot record it", here.workspace.display());
        return Err(
            Problem::new(Code::Usage, message).hint("rename the directory, or work in another checkout")
        );
    }
    if here.home().is_ok_and(|home| home.is_at(&here.workspace)) {
        let message = "this is ralph's own state directory, so a run here would overwrite its journal";
        return Err(Problem::new(Code::Usage, message).hint("run in the directory of your project"));
    }
    Ok(())
}

/// The policy, where the settings allow a run at all.
fn policy(args: &Args, settings: &Settings) -> Result<Policy, Problem> {
    let (Some(iterations), Some(cost)) = (settings.max_iterations, settings.max_cost) else {
        return Err(missing_limits(settings.max_iterations.is_none(), settings.max_cost.is_none()));
    };
    if let Some(message) = lacks_verify(settings) {
        return Err(Problem::new(Code::Config, message)
            .hint("add --verify 'your test command', or set commands under [verify]"));
    }
    Ok(Policy {
        no_wait: args.no_wait,
        start_anyway: args.force,
        fallback: args.fallback,
        ..settings.policy(iterations, cost)
    })
}

/// Why the settings need a verify command, where there is none.
pub fn lacks_verify(settings: &Settings) -> Option<String> {
    let gate = &settings.policy.gate;
    match settings.verify.is_empty() {
        true if gate.require > Grade::Unbroken => {
            Some(format!("gate.require = \"{}\" needs a verify command", gate.require))
        }
        true if gate.until == Until::Verified => {
            Some("gate.until = \"verified\" needs a verify command".into())
        }
        _ => None,
    }
}

fn missing_limits(iterations: bool, cost: bool) -> Problem {
    let missing = match (iterations, cost) {
        (true, true) => "--max-iterations and --max-cost are not set",
        (true, false) => "--max-iterations is not set",
        _ => "--max-cost is not set",
    };
    Problem::new(Code::Usage, format!("{missing}; an unattended run needs both limits"))
        .hint("add them: ralph run … --max-iterations 10 --max-cost 5")
        .hint(
            "or set them in ralph.toml:\n\n      [run]\n      max_iterations = 10\n      max_cost_usd = 5.0",
        )
}

/// What earlier runs of this agent with this skill here cost; none if there are none or they cannot be read.
fn history(agent: &AgentChoice, skill: Option<&str>, here: &Here) -> Option<Estimate> {
    let store = here.home().ok()?.store_if_any().ok()??;
    ralph_engine::history::estimate(&store, &here.workspace.to_string_lossy(), agent, skill)
}

/// A warning if ralph's state lies in the workspace.
pub fn state_inside(workspace: &Path, here: &Here) -> Option<String> {
    let within = here.home().ok()?.within(workspace)?;
    Some(format!(
        "ralph's state is in this workspace, in {within}: ralph leaves it out, but an agent without a sandbox can delete it \
         (set XDG_STATE_HOME to a directory outside)"
    ))
}

/// The protected paths, the built-in ones first.
pub fn protect(settings: &Settings) -> Vec<String> {
    Protect::DEFAULTS.iter().map(ToString::to_string).chain(settings.protect.iter().cloned()).collect()
}

/// Where the views are written: never over another file, never in a protected path.
pub fn views(settings: &Settings, protect: &[String], here: &Here) -> Result<Paths, Problem> {
    let wrong = |(message, hint): (String, String)| Problem::new(Code::Config, message).hint(hint);
    let views = settings.views.clone();
    views.check(&here.workspace).map_err(wrong)?;
    let protected = Protect::new(protect).map_err(|e| Problem::new(Code::Usage, e.to_string()))?;
    match views.outside().iter().find(|path| protected.protects(path.as_bytes(), false)) {
        None => Ok(views),
        Some(path) => {
            let message = format!("the view {path} is in a protected path");
            Err(wrong((message, "choose another path under [views]".into())))
        }
    }
}

/// The user's time zone: TZ, otherwise the system's, otherwise UTC.
pub fn zone(here: &Here) -> String {
    let system = TimeZone::system();
    let asked = here.env.zone.clone().filter(|name| TimeZone::get(name).is_ok());
    asked.or_else(|| system.iana_name().map(Into::into)).unwrap_or_else(|| "UTC".into())
}
