//! What was typed → what it means: flags over variables over files, ceilings over all, the agent found, the prompt read.

use super::run::Args;
use super::{Here, agent, ladder, prompt, secrets, tasks, templates};
use crate::config::{self, Layers, Preset};
use crate::problem::{Code, Problem};
use crate::views::Paths;
use jiff::tz::TimeZone;
use ralph_engine::run_deps::RunDeps;
use ralph_engine::run_spec::RunSpec;
use ralph_rules::estimate::Estimate;
use ralph_rules::money::Micro;
use ralph_rules::policy::{Policy, Until};
use ralph_rules::record::{AgentChoice, Ms};
use ralph_tree::Protect;
use std::collections::BTreeSet;

/// Said before every run until there is a sandbox.
pub const UNCONTAINED: &str = "nothing contains the agent: it can do whatever you can (sandbox: none)";

/// A run, resolved.
pub struct Resolved {
    /// What it is started with.
    pub plan: RunSpec,
    /// What the hands work with.
    pub deps: RunDeps,
    /// What the person should know before.
    pub warnings: Vec<String>,
    /// The preset behind the numbers.
    pub preset: Preset,
    /// The plan that binds.
    pub bound: Option<tasks::Bound>,
    /// Where the views lie.
    pub views: Paths,
}

/// Limits that a resumed run may be given.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Iterations at most.
    pub max_iterations: Option<u32>,
    /// Spend at most.
    pub max_cost: Option<Micro>,
    /// Time at most.
    pub max_time: Option<Ms>,
    /// Do not wait.
    pub no_wait: bool,
}

impl Resolved {
    /// The limits, as changes to an interrupted run of the same task.
    pub fn changes(&self) -> Changes {
        let policy = &self.plan.policy;
        Changes {
            max_iterations: Some(policy.max_iterations),
            max_cost: Some(policy.max_cost),
            max_time: policy.max_time,
            no_wait: policy.no_wait,
        }
    }
}

/// Resolves what was typed.
pub fn resolve(args: &Args, here: &Here) -> Result<Resolved, Problem> {
    if here.workspace.to_str().is_none() {
        let message =
            format!("the path {} is not UTF-8 text, which a run cannot record", here.workspace.display());
        return Err(
            Problem::new(Code::Usage, message).hint("rename the directory, or work in another checkout")
        );
    }
    let layers = config::load(&here.workspace, here.env.config_home.as_deref())?;
    let layers = layers.under(&here.env)?.over(args.preset)?;
    let (mut policy, mut warnings) = policy(args, &layers)?;
    warnings.extend(here.env.strange());
    let (prompt, prompt_from) = prompt::prompt(args, &layers, here)?;
    let chosen = agent::choose(args, &layers, here)?;
    let history = history(&chosen, here);
    if let Some(history) = &history {
        policy.estimate = history.reservation();
    }
    let ladder = ladder::ladder(&chosen, args, &layers, here)?;
    let prompting = templates::prompting(&layers, here)?;
    let redactor = secrets::redactor(&layers, &here.workspace, here)?;
    let deps = agent::deps(&chosen, &ladder, &layers, redactor, here)?;
    let verify = verify(args, &layers, &policy)?;
    if verify.is_empty() {
        warnings.push(
            "nothing verifies the work: completion will be unverified (add --verify 'your test command')"
                .into(),
        );
    }
    let bound = tasks::bound(args, &layers, here)?;
    warnings.extend(bound.as_ref().and_then(tasks::Bound::warning));
    warnings.push(UNCONTAINED.into());
    warnings.extend(blind(&chosen, &ladder));
    let protect = Protect::DEFAULTS.iter().map(ToString::to_string);
    let protect = protect
        .chain(layers.protect().iter().cloned())
        .chain(args.protect.iter().cloned())
        .collect::<Vec<_>>();
    let views = views(&layers, &protect, here)?;
    let plan = RunSpec {
        workspace: here.workspace.clone(),
        prompt,
        prompt_from,
        agent: chosen,
        ladder,
        prompting,
        policy,
        history,
        verify,
        protect,
        oracle_paths: layers.oracle_paths().to_vec(),
        zone: zone(here),
        own_files: views.outside(),
        tasks: bound.as_ref().map(|bound| (bound.file.clone(), bound.path.clone())),
    };
    Ok(Resolved { plan, deps, warnings, preset: layers.preset(), bound, views })
}

/// The commands that prove the work.
fn verify(args: &Args, layers: &Layers, policy: &Policy) -> Result<Vec<String>, Problem> {
    let verify = if args.verify.is_empty() { layers.verify().to_vec() } else { args.verify.clone() };
    if verify.iter().any(|command| command.trim().is_empty()) {
        return Err(Problem::new(Code::Usage, "an empty verify command proves nothing")
            .hint("give a command that fails while the work is not done, like --verify 'cargo test'"));
    }
    if verify.is_empty() && policy.gate.until == Until::Verified {
        return Err(Problem::new(Code::Config, "gate.until = \"verified\" needs something to verify with")
            .hint("add --verify 'your test command', or commands under [verify]"));
    }
    Ok(verify)
}

fn policy(args: &Args, layers: &Layers) -> Result<(Policy, Vec<String>), Problem> {
    let (iterations, cost) = layers.limits();
    let (iterations, cost) = (args.max_iterations.or(iterations), args.max_cost.or(cost));
    let (Some(iterations), Some(cost)) = (iterations, cost) else {
        return Err(missing_limits(iterations.is_none(), cost.is_none()));
    };
    let mut policy = Policy::strict(iterations, cost);
    layers.shape(&mut policy);
    let own = layers.agent(agent::name(args, layers)).and_then(|over| over.timeout);
    policy.timeout = args.timeout.or(own.map(|limit| limit.0)).unwrap_or(policy.timeout);
    policy.max_time = args.max_time.or(policy.max_time);
    policy.idle_timeout = args.idle_timeout.unwrap_or(policy.idle_timeout);
    if let Some(calls) = args.calls_per_hour {
        policy.calls_per_hour = (calls > 0).then_some(calls);
    }
    if let Some(promise) = &args.promise {
        policy.gate.promise.clone_from(promise);
    }
    policy.no_wait = args.no_wait;
    let lowered = layers.cap(&mut policy);
    Ok((policy, lowered))
}

fn missing_limits(iterations: bool, cost: bool) -> Problem {
    let missing = match (iterations, cost) {
        (true, true) => "--max-iterations and --max-cost are not set",
        (true, false) => "--max-iterations is not set",
        _ => "--max-cost is not set",
    };
    Problem::new(Code::Usage, format!("{missing}; an unattended loop needs both limits"))
        .hint("add them: ralph run … --max-iterations 10 --max-cost 5")
        .hint("or write them into ralph.toml:\n\n      [run]\n      max_iterations = 10\n      max_cost_usd = 5.0")
}

/// What runs of this agent here took so far. Without them, or where they cannot be read, the default holds.
fn history(agent: &AgentChoice, here: &Here) -> Option<Estimate> {
    let store = here.home().ok()?.store_if_any().ok()??;
    ralph_engine::history::estimate(&store, &here.workspace.to_string_lossy(), agent)
}

/// Agents that cannot be ended by their cost.
fn blind(chosen: &AgentChoice, ladder: &[AgentChoice]) -> Vec<String> {
    let blind = std::iter::once(chosen).chain(ladder).filter(|a| !a.live_usage).map(|a| a.name.as_str());
    let words = |name| {
        format!(
            "`{name}` shows its cost only at the end of a call, if at all: a single call can pass the limit"
        )
    };
    blind.collect::<BTreeSet<&str>>().into_iter().map(words).collect()
}

/// Where the views lie: over nothing that is somebody's, and nowhere that is protected.
fn views(layers: &Layers, protect: &[String], here: &Here) -> Result<Paths, Problem> {
    let wrong = |(message, hint): (String, String)| Problem::new(Code::Config, message).hint(hint);
    let views = layers.views();
    views.check(&here.workspace).map_err(wrong)?;
    let protected = Protect::new(protect).map_err(|e| Problem::new(Code::Usage, e.to_string()))?;
    match views.outside().iter().find(|path| protected.protects(path.as_bytes(), false)) {
        None => Ok(views),
        Some(path) => {
            let message = format!("the view {path} would lie in a protected path");
            Err(wrong((message, "choose a place under [views] that nothing protects".into())))
        }
    }
}

/// The user's zone: TZ, else the system's, else UTC.
pub fn zone(here: &Here) -> String {
    let system = TimeZone::system();
    let asked = here.env.zone.clone().filter(|name| TimeZone::get(name).is_ok());
    asked.or_else(|| system.iana_name().map(Into::into)).unwrap_or_else(|| "UTC".into())
}
