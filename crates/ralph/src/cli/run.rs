//! `ralph run`: the loop, here, to an outcome.

use super::refused::{refusal, refused};
use super::resolve::{self, Resolved};
use super::watchers::{WatchedRun, watchers};
use super::{Here, detach, diagnostics, dry_run, resume, runs, secrets};
use crate::config::Preset;
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use crate::values;
use ralph_engine::open::{self, OpenError};
use ralph_engine::outcome::Outcome;
use ralph_rules::ending::Status;
use ralph_rules::money::Micro;
use ralph_rules::policy::{BreakerPolicy, Policy};
use ralph_rules::record::{AgentChoice, Ms, RunStarted};
use ralph_rules::state::State;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_view::run_state::RunState;
use std::sync::Arc;

/// What may be typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// What is to be done. Left out: PROMPT.md, or `--prompt`.
    pub task: Option<String>,
    /// Read the task from this file.
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub prompt: Option<std::path::PathBuf>,
    /// A plan that binds: a file with checkboxes, or a prd.json. Its open items contradict a claim to be done.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<String>,
    /// Agent to use.
    #[arg(long, value_name = "NAME", help = super::agent::flag_help())]
    pub agent: Option<String>,
    /// The agent's model.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// Iterations at most. No default: it must be set here or in ralph.toml.
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    pub max_iterations: Option<u32>,
    /// Dollars at most. No default: it must be set here or in ralph.toml.
    #[arg(long, value_name = "USD", value_parser = values::money, allow_negative_numbers = true)]
    pub max_cost: Option<Micro>,
    /// Active time at most, such as 2h; waits count.
    #[arg(long, value_name = "DUR", value_parser = values::span)]
    pub max_time: Option<Ms>,
    /// A command that proves the work, run by `sh -c` in the workspace; may be given several times.
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
    /// The completion promise the agent may give instead of a status block.
    #[arg(long, value_name = "TEXT", value_parser = values::promise)]
    pub promise: Option<String>,
    /// A path the agent must not touch, in gitignore syntax; may be given several times, adds to the defaults.
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
    /// Calls in any hour, over all runs; 0 is no limit.
    #[arg(long, value_name = "N", value_parser = values::count_or_none, allow_negative_numbers = true)]
    pub calls_per_hour: Option<u32>,
    /// One call at most (default 15m).
    #[arg(long, value_name = "DUR", value_parser = values::span)]
    pub timeout: Option<Ms>,
    /// Silence of the agent at most (default 5m).
    #[arg(long, value_name = "DUR", value_parser = values::span)]
    pub idle_timeout: Option<Ms>,
    /// auto or off: this version contains nothing either way, and says so.
    #[arg(long, value_name = "MODE", value_parser = ["auto", "off", "require"], hide_possible_values = true)]
    pub sandbox: Option<String>,
    /// Which numbers hold where none is set: strict (the default), classic, analyzer or wrapper.
    #[arg(long, value_name = "NAME", value_enum, hide_possible_values = true)]
    pub preset: Option<Preset>,
    /// Start anew, even where an interrupted run of the same task could go on.
    #[arg(long)]
    pub fresh: bool,
    /// Do not wait for limits: leave with exit code 75.
    #[arg(long)]
    pub no_wait: bool,
    /// Show what would be run, and the first prompt; run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Go to the background once the run has begun, and print its id.
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// Run even inside an agent that ralph itself runs.
    #[arg(long)]
    pub nested: bool,
    #[command(flatten)]
    pub output: Output,
    /// Everything after `--` goes to the agent; for `--agent command` it is the program and its arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub rest: Vec<String>,

    #[arg(long, hide = true, value_name = "NAME")]
    pub skill: Option<String>,
    #[arg(long, hide = true)]
    pub fallback: bool,
    #[arg(long, hide = true)]
    pub auto: bool,
    #[arg(long, hide = true, value_name = "MODE", value_parser = ["loop", "hook"])]
    pub mode: Option<String>,
    /// The process that `--detach` started, with the id of its run.
    #[arg(long, hide = true, value_name = "ID", conflicts_with = "detach")]
    pub detached: Option<String>,
    /// Answer yes to questions; `run` asks none.
    #[arg(long, hide = true)]
    pub yes: bool,
}

/// How a run talks.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Output {
    /// Records and activities as JSON lines on stdout, the result last.
    #[arg(long)]
    pub json: bool,
    /// Only the closing receipt.
    #[arg(short, long)]
    pub quiet: bool,
    /// More of what the agent does.
    #[arg(short, long)]
    pub verbose: bool,
}

impl Args {
    /// In the background nobody reads JSON lines: the journal has them.
    fn output(&self) -> Output {
        Output { json: self.output.json && self.detached.is_none(), ..self.output }
    }

    /// Flags of the contract that this version does not honour are refused, never ignored.
    fn not_yet(&self) -> Option<&'static str> {
        let set = [
            (self.skill.is_some(), "--skill"),
            (self.fallback, "--fallback"),
            (self.auto, "--auto"),
            (self.mode.as_deref() == Some("hook"), "--mode hook"),
            (self.sandbox.as_deref() == Some("require"), "--sandbox require"),
        ];
        set.into_iter().find(|(on, _)| *on).map(|(_, flag)| flag)
    }
}

/// Runs the loop.
pub fn run(args: &Args, here: &Here) -> Result<u8, Problem> {
    guarded(args, here).inspect_err(|problem| {
        if args.output.json {
            print(&(refusal(problem).to_string() + "\n"));
        }
    })
}

fn guarded(args: &Args, here: &Here) -> Result<u8, Problem> {
    if let Some(flag) = args.not_yet() {
        return Err(Problem::new(Code::Usage, format!("{flag} is not supported by this version of ralph"))
            .hint("leave it out: ralph never ignores a flag silently"));
    }
    if !args.nested {
        not_inside(here)?;
    }
    let resolved = resolve::resolve(args, here)?;
    if args.dry_run {
        match args.output.json {
            true => print_json(&dry_run::value(&resolved))?,
            false => print(&dry_run::text(&resolved)),
        }
        return Ok(0);
    }
    if args.detached.is_some() {
        // A session of its own: the terminal it was typed in may go.
        let _ = rustix::process::setsid();
    }
    match unfinished(&resolved, here)?.filter(|_| !args.fresh) {
        Some((row, start)) => {
            same_as_begun(&row, &start, &resolved)?;
            if args.detach {
                return detach::detach(args, &row.id, Some(&row), here);
            }
            let short = runs::short(&row.id);
            say(&format!("Going on with run {short}, which was interrupted (`--fresh` starts anew).\n"));
            let task = Some(resolved.plan.prompt.as_str());
            resume::go_on(&row.id, &resolved.changes(), task, args.output(), here)
        }
        None => {
            let id = args.detached.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
            match args.detach {
                true => detach::detach(args, &id, None, here),
                false => begin(&id, resolved, args.output(), here),
            }
        }
    }
}

/// A run goes on as it was begun, apart from its limits: what was typed otherwise now would be ignored.
fn same_as_begun(row: &RunRow, start: &RunStarted, resolved: &Resolved) -> Result<(), Problem> {
    let plan = &resolved.plan;
    let limits = |policy: &Policy| Policy {
        max_iterations: 0,
        max_cost: Micro::ZERO,
        daily_cost: Micro::ZERO,
        estimate: Micro::ZERO,
        max_time: None,
        no_wait: false,
        breaker: BreakerPolicy { cooldown: None, ..policy.breaker.clone() },
        ..policy.clone()
    };
    let ladder = |rungs: &[AgentChoice]| -> Vec<AgentChoice> {
        // Another login is no other ladder.
        rungs.iter().map(|rung| AgentChoice { account: String::new(), ..rung.clone() }).collect()
    };
    // The journal holds what was given without secrets.
    let redactor = &resolved.deps.redactor;
    let differs = [
        (!secrets::same(&start.verify, &plan.verify, redactor), "another verification"),
        (start.protect != plan.protect, "other protected paths"),
        (
            start.plan.as_ref().map(|p| &p.file) != plan.tasks.as_ref().map(|(file, _)| file),
            "another plan, or none",
        ),
        (start.agent.model != plan.agent.model, "another model"),
        (!secrets::same(&start.agent.args, &plan.agent.args, redactor), "other arguments for the agent"),
        (!secrets::same(&ladder(&start.ladder), &ladder(&plan.ladder), redactor), "another ladder"),
        (!secrets::same(&start.prompting, &plan.prompting, redactor), "other prompt templates"),
        (limits(&start.policy) != limits(&plan.policy), "another time-out, rate, promise or threshold"),
    ];
    let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) else { return Ok(()) };
    let short = runs::short(&row.id);
    let message = format!("run {short} of this task was interrupted, but it began with {what}");
    Err(Problem::new(Code::Usage, message)
        .hint(format!("go on with it as it was begun: `ralph resume {short}`"))
        .hint("or start anew with what you typed now: add --fresh"))
}

/// A loop in a loop is refused.
pub fn not_inside(here: &Here) -> Result<(), Problem> {
    let Some(outer) = &here.env.inside_run else { return Ok(()) };
    let message = format!("this is inside run {}: a loop in a loop spends twice", runs::short(outer));
    Err(Problem::new(Code::Usage, message).hint("pass --nested if you really mean it"))
}

/// Starts the resolved run.
pub fn begin(id: &str, resolved: Resolved, output: Output, here: &Here) -> Result<u8, Problem> {
    let style = here.err_style();
    for warning in resolved.warnings.iter().filter(|_| !output.quiet) {
        say(&format!("{} {}\n", style.warn("warning:"), plain(warning)));
    }
    let home = here.home()?;
    let (workspace, views) = (resolved.plan.workspace.clone(), resolved.views);
    let redactor = Arc::clone(&resolved.deps.redactor);
    let run = WatchedRun { id, records: &[], workspace: &workspace, views, redactor };
    let (watchers, terminal) = watchers(run, output, &home, here);
    let _log = diagnostics::keep_log(&home.run(id), &resolved.deps.redactor, here);
    let ended = open::start(&home, id, resolved.plan, resolved.deps, watchers);
    drop(terminal);
    close(ended, output, id, here)
}

/// Prints the result and gives the exit code.
pub fn close(
    ended: Result<Outcome, OpenError>,
    output: Output,
    id: &str,
    here: &Here,
) -> Result<u8, Problem> {
    let outcome = ended.map_err(|error| refused(&error, id, here))?;
    if output.json {
        let line = serde_json::to_string(&outcome)
            .map_err(|e| Problem::new(Code::Bug, "the result cannot be written").cause(&e))?;
        print(&(line + "\n"));
    }
    Ok(outcome.exit_code)
}

/// An interrupted or crashed run of the same task; not one that ended at a limit, nor one that is under way.
fn unfinished(resolved: &Resolved, here: &Here) -> Result<Option<(RunRow, RunStarted)>, Problem> {
    let home = here.home()?;
    let Some(store) = home.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(None) };
    let filter = RunFilter {
        workspace: Some(here.workspace.to_string_lossy().into_owned()),
        resumable: Some(true),
        ..RunFilter::default()
    };
    for row in runs::seen_now(store.runs(&filter).map_err(|e| runs::broken(&e))?, &home) {
        let unfinished = [RunState::Ended(Status::Interrupted), RunState::Crashed];
        if !RunState::named(&row.status).is_some_and(|state| unfinished.contains(&state)) {
            continue;
        }
        let records = runs::records(&store, &row.id)?;
        let plan = &resolved.plan;
        let start = State::of(records.first()).start.map(|start| *start);
        let redactor = &resolved.deps.redactor;
        let same = |start: &RunStarted| {
            secrets::same(&start.prompt, &plan.prompt, redactor) && start.agent.name == plan.agent.name
        };
        if let Some(start) = start.filter(same) {
            return Ok(Some((row, start)));
        }
    }
    Ok(None)
}
