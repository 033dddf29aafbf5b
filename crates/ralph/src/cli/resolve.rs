//! What was typed → what it means: flags over files, ceilings over both, the agent found, the prompt read.

use super::Here;
use super::run::Args;
use crate::config::{self, Layers, parse_duration};
use crate::problem::{Code, Problem};
use ralph_agents::registry;
use ralph_engine::equipment::Equipment;
use ralph_engine::plan::Plan;
use ralph_engine::redact::{Redactor, secrets_in_env};
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;
use ralph_rules::record::{AgentChoice, Ms};
use ralph_tree::Protect;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A run, resolved.
pub struct Resolved {
    /// What it is started with.
    pub plan: Plan,
    /// What the hands work with.
    pub equipment: Equipment,
    /// What the person should know before.
    pub warnings: Vec<String>,
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
    let layers = config::load(&here.workspace, here.env.config_home.as_deref())?;
    let (policy, mut warnings) = policy(args, &layers)?;
    let (prompt, prompt_from) = prompt(args, &layers, here)?;
    let agent = agent(args, &layers, here)?;
    let equipment = equipment(&agent)?;
    let verify = if args.verify.is_empty() { layers.verify().to_vec() } else { args.verify.clone() };
    if verify.is_empty() {
        warnings.push("nothing verifies the work: completion will be unverified (add --verify 'your test command')".into());
    }
    warnings.push("nothing contains the agent: it can do whatever you can (sandbox: none)".into());
    if !agent.live_usage {
        warnings.push(format!(
            "`{}` shows its cost only at the end of a call, if at all: a single call can pass the limit",
            agent.name
        ));
    }
    let protect = Protect::DEFAULTS.iter().map(ToString::to_string);
    let protect = protect.chain(layers.protect().iter().cloned()).chain(args.protect.iter().cloned()).collect();
    let plan = Plan {
        workspace: here.workspace.clone(),
        prompt,
        prompt_from,
        agent,
        policy,
        verify,
        protect,
        zone: zone(here),
    };
    Ok(Resolved { plan, equipment, warnings })
}

fn policy(args: &Args, layers: &Layers) -> Result<(Policy, Vec<String>), Problem> {
    let (file_iterations, file_cost) = layers.limits()?;
    let cost = args.max_cost.as_deref().map(parse_money).transpose()?.or(file_cost);
    let iterations = args.max_iterations.or(file_iterations);
    let (Some(iterations), Some(cost)) = (iterations, cost) else {
        return Err(missing_limits(iterations.is_none(), cost.is_none()));
    };
    if iterations == 0 || cost <= Micro::ZERO {
        return Err(Problem::new(Code::Usage, "a limit of zero would never start")
            .hint("try --max-iterations 10 --max-cost 5"));
    }
    let mut policy = Policy::strict(iterations, cost);
    layers.shape(&mut policy);
    let duration = |flag: &str, text: &Option<String>| {
        text.as_deref()
            .map(|t| parse_duration(t).map_err(|why| Problem::new(Code::Usage, format!("{flag}: {why}"))))
            .transpose()
    };
    if let Some(ms) = duration("--max-time", &args.max_time)? {
        policy.max_time = Some(ms);
    }
    if let Some(ms) = duration("--timeout", &args.timeout)? {
        policy.timeout = ms;
    }
    if let Some(ms) = duration("--idle-timeout", &args.idle_timeout)? {
        policy.idle_timeout = ms;
    }
    if let Some(calls) = args.calls_per_hour {
        policy.calls_per_hour = (calls > 0).then_some(calls);
    }
    if let Some(promise) = &args.promise {
        policy.gate.promise.clone_from(promise);
    }
    policy.gate.promise = inner(&policy.gate.promise);
    policy.no_wait = args.no_wait;
    let lowered = layers.cap(&mut policy).into_iter().map(|l| l.0).collect();
    Ok((policy, lowered))
}

/// The inner text; a full tag is accepted.
fn inner(promise: &str) -> String {
    let text = promise.trim();
    let text = text.strip_prefix("<promise>").and_then(|t| t.strip_suffix("</promise>")).unwrap_or(text);
    text.trim().to_string()
}

/// `5`, `5.00` or `$5`.
pub fn parse_money(text: &str) -> Result<Micro, Problem> {
    let number = text.trim().trim_start_matches('$').parse::<f64>().ok();
    number.and_then(Micro::from_usd).ok_or_else(|| {
        Problem::new(Code::Usage, format!("`{text}` is no amount of money")).hint("write it like 5 or 2.50")
    })
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

fn prompt(args: &Args, layers: &Layers, here: &Here) -> Result<(String, String), Problem> {
    if let Some(task) = args.task.as_ref().filter(|t| !t.trim().is_empty()) {
        return Ok((task.clone(), "argument".into()));
    }
    let named = args.prompt.clone().or_else(|| layers.prompt_file().map(PathBuf::from));
    let file = named.clone().unwrap_or_else(|| PathBuf::from("PROMPT.md"));
    let text = std::fs::read_to_string(here.workspace.join(&file)).map_err(|error| {
        let problem = match named {
            Some(_) => Problem::new(Code::Usage, format!("the prompt {} cannot be read", file.display())).cause(&error),
            None => Problem::new(Code::Usage, "there is no task, and no PROMPT.md here"),
        };
        problem.hint("give the task as an argument: ralph run \"Make the tests pass\" …, or in a file: --prompt FILE")
    })?;
    if text.trim().is_empty() {
        return Err(Problem::new(Code::Usage, format!("the prompt {} is empty", file.display()))
            .hint("write into it what is to be done"));
    }
    Ok((text, file.display().to_string()))
}

fn agent(args: &Args, layers: &Layers, here: &Here) -> Result<AgentChoice, Problem> {
    let (file_name, file_model, overrides) = layers.agent();
    let name = args.agent.as_deref().or(file_name).unwrap_or("claude");
    let adapter = registry::find(name).map_err(|e| unknown_agent(&e))?;
    let over = overrides.get(name);
    let model = args.model.clone().or_else(|| over.and_then(|o| o.model.clone())).or(file_model.map(Into::into));
    let mut rest = over.map(|o| o.args.clone()).unwrap_or_default();
    rest.extend(args.rest.iter().cloned());
    let program = match (name, over.and_then(|o| o.command.clone())) {
        ("sim", None) => std::env::current_exe().map(|p| p.display().to_string()).unwrap_or_else(|_| "ralph".into()),
        ("command", None) if rest.is_empty() => {
            return Err(Problem::new(Code::Usage, "--agent command needs a program")
                .hint("name it after --: ralph run --agent command … -- ./my-agent --flag"));
        }
        ("command", None) => rest.remove(0),
        (_, Some(command)) => command,
        (_, None) => name.to_string(),
    };
    let found = here.env.which(&program).ok_or_else(|| missing_agent(name, &program))?;
    let found = if found.is_absolute() { found } else { here.workspace.join(found) };
    let can = adapter.can();
    Ok(AgentChoice {
        name: name.into(),
        program: found.display().to_string(),
        model,
        args: rest,
        live_usage: can.live_usage,
        shows_tool_start: can.shows_tool_start,
        system_prompt: can.system_prompt,
    })
}

fn unknown_agent(error: &registry::UnknownAgent) -> Problem {
    Problem::new(Code::Usage, error.to_string()).hint(format!("agents of this version: {}", registry::NAMES.join(", ")))
}

fn missing_agent(name: &str, program: &str) -> Problem {
    let problem = Problem::new(Code::Unavailable, format!("the agent's program `{program}` is not installed or not executable"));
    match name {
        "claude" => problem
            .hint("install Claude Code: npm install -g @anthropic-ai/claude-code, then log in with `claude`")
            .hint("or use another agent: --agent command … -- PROGRAM"),
        _ => problem.hint("check its name and that it is on your PATH"),
    }
}

/// What the hands work with, for an agent that was chosen.
pub fn equipment(agent: &AgentChoice) -> Result<Equipment, Problem> {
    let adapter = registry::find(&agent.name).map_err(|e| unknown_agent(&e))?;
    let tender = std::env::current_exe()
        .map_err(|e| Problem::new(Code::Bug, "ralph cannot find its own program").cause(&e))?;
    Ok(Equipment {
        tender,
        tender_args: vec!["__tend".into()],
        agent: Arc::from(adapter),
        redactor: Arc::new(Redactor::new(secrets_in_env(crate::env::Env::all()).into_iter())),
        env_remove: Vec::new(),
        end_grace: Duration::from_secs(5),
        final_grace: Duration::from_secs(10),
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// The user's zone: TZ, else the system's, else UTC.
fn zone(here: &Here) -> String {
    let system = jiff::tz::TimeZone::system();
    here.env.zone.clone().or_else(|| system.iana_name().map(Into::into)).unwrap_or_else(|| "UTC".into())
}

/// What would be run.
pub fn dry_run(resolved: &Resolved) -> String {
    let plan = &resolved.plan;
    let policy = &plan.policy;
    let mut text = String::new();
    let _ = writeln!(text, "workspace       {}", plan.workspace.display());
    let _ = writeln!(text, "agent           {} ({})", plan.agent.name, plan.agent.program);
    let _ = writeln!(text, "limits          {} iterations, {}, {} a day over all runs", policy.max_iterations, policy.max_cost, policy.daily_cost);
    let _ = writeln!(text, "reserved a call {} at first (no history is used yet)", policy.estimate.min(policy.max_cost));
    let verify = if plan.verify.is_empty() { "nothing".into() } else { plan.verify.join(" && ") };
    let _ = writeln!(text, "verified by     {verify}");
    let _ = writeln!(text, "protected       {}", plan.protect.join(" "));
    for warning in &resolved.warnings {
        let _ = writeln!(text, "warning         {warning}");
    }
    let _ = writeln!(text, "\nFirst prompt ({}):\n\n{}", plan.prompt_from, plan.prompt.trim_end());
    text
}
