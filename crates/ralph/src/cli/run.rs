//! `ralph run`: runs the agent in this workspace until there is an outcome.

use super::detach::Handover;
use super::refused::{can_be_recorded, refused};
use super::resolve::{self, Resolved};
use super::watchers::{WatchedRun, watchers};
use super::{
    Here, auto, detach, diagnostics, dry_run, fallback, mode_hook, moved, named_skill, notify, prompt,
    resume, runs, sandbox, secrets, watch,
};
use crate::config::Flags;
use crate::env::SESSION;
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::moved::FilesNeeded;
use ralph_engine::open::{self, Departure, OpenError};
use ralph_rules::ending::Status;
use ralph_rules::money::Micro;
use ralph_rules::policy::{BreakerPolicy, Policy};
use ralph_rules::record::{AgentChoice, ReviewGiven, RunStarted};
use ralph_rules::state::State;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_view::run_state::{RunState, was_cut_off};
use std::sync::Arc;

/// Arguments of `ralph run`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The task, or - to read it from stdin (default: the contents of PROMPT.md).
    #[arg(conflicts_with = "prompt")]
    pub task: Option<String>,
    /// The task as it was read from stdin.
    #[arg(skip)]
    pub from_stdin: Option<String>,
    /// Why the skill that was named cannot be used, where the run falls back to one iteration without it.
    #[arg(skip)]
    pub broken_skill: Option<String>,
    /// Flags that are settings, declared in `config/sections/`.
    #[command(flatten)]
    pub settings: Flags,
    /// Skill whose method the agent follows (`ralph skills list` shows them).
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// Start over instead of resuming an interrupted run of the same task.
    #[arg(long)]
    pub fresh: bool,
    /// Start even if a verify command cannot run.
    #[arg(long)]
    pub force: bool,
    /// Exit with code 75 instead of waiting for a rate limit.
    #[arg(long)]
    pub no_wait: bool,
    /// Show the settings and the first prompt without running anything.
    #[arg(long)]
    pub dry_run: bool,
    /// Run in the background and print the run id.
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// Run in the background and open the monitor on it (`ralph watch`).
    #[arg(long, conflicts_with_all = ["dry_run", "detach", "json", "quiet", "verbose"])]
    pub watch: bool,
    /// Take the plan story by story, and tick each when it is proven.
    #[arg(long)]
    pub stories: bool,
    /// Allow running inside an agent that ralph started.
    #[arg(long)]
    pub nested: bool,
    #[command(flatten)]
    pub output: Output,
    /// Arguments for the agent; with `--agent command`, the program and its arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub rest: Vec<String>,

    /// Make one iteration if ralph itself cannot run a loop: database unusable, baseline that does not end, broken skill.
    #[arg(long)]
    pub fallback: bool,
    /// Let `ralph advise` decide: loop, one iteration, or do not start (exit 2).
    #[arg(long)]
    pub auto: bool,
    /// How to work: loop (a new call each iteration) or hook (one session of Claude Code) (default: loop).
    #[arg(long, value_name = "MODE", value_parser = ["loop", "hook"], hide_possible_values = true)]
    pub mode: Option<String>,
    /// Marks the background process of `--detach`, with the id of its run.
    #[arg(long, hide = true, value_name = "ID", conflicts_with_all = ["detach", "watch"])]
    pub detached: Option<String>,
    /// Accepted for scripts; `run` asks no questions.
    #[arg(long, hide = true)]
    pub yes: bool,
}

/// What a run prints.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Output {
    /// Print records and activities as JSON lines, the result last.
    #[arg(long)]
    pub json: bool,
    /// Print only the final receipt.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print more of what the agent does, and ralph's own log.
    #[arg(short, long)]
    pub verbose: bool,
}

impl Args {
    /// A run in the background prints no JSON lines; `ralph logs --json` has them.
    fn output(&self) -> Output {
        Output { json: self.output.json && self.detached.is_none(), ..self.output }
    }
}

/// Runs the loop.
pub fn run(args: &Args, here: &Here) -> Result<u8, Problem> {
    if !args.nested {
        not_inside(here)?;
    }
    if args.watch {
        watch::needs_terminal(here)?;
    }
    let args = &fallback::without_broken_skill(prompt::typed(args, here)?, here);
    let mut resolved = resolve::resolve(args, here)?;
    let changes = resolved.changes(args);
    fallback::once_without_skill(args, &mut resolved);
    if args.auto {
        auto::heed(&mut resolved, args.output(), here)?;
    }
    if args.dry_run {
        match args.output.json {
            true => print_json(&dry_run::value(&resolved, &sandbox::of_run(&resolved, here)?))?,
            false => print(&dry_run::text(&resolved, &sandbox::of_run(&resolved, here)?)),
        }
        return Ok(0);
    }
    if args.mode.as_deref() == Some("hook") {
        return mode_hook::run(args, resolved, here);
    }
    if args.detached.is_some() {
        // A separate session, so that the run survives its terminal.
        let _ = rustix::process::setsid();
    }
    if args.fallback
        && !args.detach
        && !args.watch
        && let Some(why) = fallback::unusable_state(here)
    {
        return fallback::run_unrecorded(resolved, &why, args.output(), here);
    }
    let background = args.detach || args.watch;
    let handover = Handover { output: args.output, watch: args.watch, stdin: args.from_stdin.as_deref() };
    match unfinished(&resolved, here)?.filter(|_| !args.fresh) {
        Some((row, start)) => {
            same_as_begun(&row, &start, &resolved)?;
            if background {
                return detach::detach(handover, &row.id, Some(&row), here);
            }
            let short = runs::short(&row.id);
            say(&format!("Resuming run {short}, which was interrupted (use --fresh to start over).\n"));
            let task = Some(resolved.plan.prompt.as_str());
            let which = (row.id.as_str(), FilesNeeded::Half);
            resume::go_on(which, &changes, task, Vec::new(), args.output(), here)
        }
        None => {
            let id = args.detached.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
            match background {
                true => detach::detach(handover, &id, None, here),
                false => begin(&id, resolved, args.output(), here),
            }
        }
    }
}

/// A resumed run keeps its settings apart from limits; other settings given now would be ignored, so they are refused.
fn same_as_begun(row: &RunRow, start: &RunStarted, resolved: &Resolved) -> Result<(), Problem> {
    let plan = &resolved.plan;
    let limits = |policy: &Policy| Policy {
        max_iterations: 0,
        max_cost: Micro::ZERO,
        daily_cost: Micro::ZERO,
        estimate: Micro::ZERO,
        max_time: None,
        no_wait: false,
        start_anyway: false,
        fallback: false,
        breaker: BreakerPolicy { cooldown: None, ..policy.breaker.clone() },
        ..policy.clone()
    };
    let ladder = |rungs: &[AgentChoice]| -> Vec<AgentChoice> {
        // A different login does not change the ladder.
        rungs.iter().map(|rung| AgentChoice { account: String::new(), ..rung.clone() }).collect()
    };
    let reviewer = |review: &Option<ReviewGiven>| -> Option<ReviewGiven> {
        let without_login = |agent: AgentChoice| AgentChoice { account: String::new(), ..agent };
        review.clone().map(|given| ReviewGiven { agent: without_login(given.agent), ..given })
    };
    // The journal holds what was given without secrets.
    let redactor = &resolved.deps.redactor;
    let differs = [
        (!secrets::same(&start.verify, &plan.verify, redactor), "different verify commands"),
        // The run adds what git's config and protected links name.
        (!start.protect.starts_with(&plan.protect), "different protected paths"),
        (
            start.plan.as_ref().map(|p| &p.file) != plan.tasks.as_ref().map(|(file, _)| file),
            "a different plan",
        ),
        (start.stories.is_some() != plan.stories.is_some(), "another way to take its plan (--stories)"),
        (start.agent.model != plan.agent.model, "a different model"),
        (!secrets::same(&start.agent.args, &plan.agent.args, redactor), "different agent arguments"),
        (!secrets::same(&ladder(&start.ladder), &ladder(&plan.ladder), redactor), "a different ladder"),
        (!secrets::same(&reviewer(&start.review), &reviewer(&plan.review), redactor), "a different reviewer"),
        (start.rotate != plan.rotate, "a different rotation of agents"),
        (!secrets::same(&start.analyzers, &plan.analyzers, redactor), "different analyzers"),
        (!secrets::same(&start.prompting, &plan.prompting, redactor), "different prompt templates"),
        (named_skill::differs(start, plan), "a different skill"),
        (
            limits(&start.policy) != limits(&plan.policy),
            "a different timeout, rate limit, promise or threshold",
        ),
    ];
    let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) else { return Ok(()) };
    let short = runs::short(&row.id);
    let message = format!("an interrupted run of this task, {short}, was started with {what}");
    Err(Problem::new(Code::Usage, message)
        .hint(format!("resume it with its own settings: `ralph resume {short}`"))
        .hint("or start over with the current ones: add --fresh"))
}

/// Refuses to run inside an agent or a verify command that ralph started.
pub fn not_inside(here: &Here) -> Result<(), Problem> {
    let marks = [(&here.env.inside_run, "RALPH_RUN"), (&here.env.inside_session, SESSION)];
    let Some((outer, mark)) = marks.into_iter().find_map(|(run, mark)| Some((run.as_ref()?, mark))) else {
        return Ok(());
    };
    let message =
        format!("ralph is already running here: this is inside run {} ({mark} is set)", runs::short(outer));
    Err(Problem::new(Code::Usage, message).hint("to start a run within a run anyway, add --nested"))
}

/// Starts the resolved run.
pub fn begin(id: &str, resolved: Resolved, output: Output, here: &Here) -> Result<u8, Problem> {
    let style = here.err_style();
    for warning in resolved.warnings.iter().chain(&cut_short(here)).filter(|_| !output.quiet) {
        say(&format!("{} {}\n", style.warn("warning:"), plain(warning)));
    }
    let home = here.home()?;
    can_be_recorded(&home)?;
    let (workspace, views, prune) = (resolved.plan.workspace.clone(), resolved.views, resolved.prune);
    let redactor = Arc::clone(&resolved.deps.redactor);
    let run = WatchedRun { id, records: &[], workspace: &workspace, views, redactor };
    let (watchers, terminal) = watchers(run, output, &home, here);
    let _log = diagnostics::keep_log(&home.run(id), &resolved.deps.redactor, here);
    let notes = notify::background(&home, here);
    let ended = open::start(&home, id, resolved.plan, resolved.deps, watchers);
    drop(terminal);
    notes.finish();
    let code = close(ended, output, id, here)?;
    prune.after_run(id, &workspace, output, here);
    Ok(code)
}

/// A warning if the last run here was killed and another one begins: nobody looked at what its last call did.
fn cut_short(here: &Here) -> Option<String> {
    let store = runs::store(&here.home().ok()?).ok()?;
    let row = runs::find(&store, None, here).ok()?;
    let short = runs::short(&row.id);
    RunState::named(&row.status).is_some_and(|state| was_cut_off(state, &row)).then(|| {
        format!(
            "run {short} was killed, and what it changed last was not inspected: it counts as yours from now on (first \
             `ralph resume {short}` or `ralph undo {short}`, if it should not)"
        )
    })
}

/// Prints the result and gives the exit code.
pub fn close(
    ended: Result<Departure, OpenError>,
    output: Output,
    id: &str,
    here: &Here,
) -> Result<u8, Problem> {
    // Only a hook hands a run over.
    let Departure::Ended(outcome) = ended.map_err(|error| refused(&error, id, here))? else { return Ok(0) };
    if output.json {
        let line = serde_json::to_string(&outcome)
            .map_err(|e| Problem::new(Code::Bug, "cannot write the result as JSON").cause(&e))?;
        print(&(line + "\n"));
    }
    Ok(outcome.exit_code)
}

/// An interrupted or crashed run of the same task; not one that hit a limit, nor one that is active.
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
            secrets::same(&start.prompt, &plan.prompt, redactor)
                && start.agent.name == plan.agent.name
                && moved::is_in_place(start, FilesNeeded::Half, &home)
        };
        if let Some(start) = start.filter(same) {
            return Ok(Some((row, start)));
        }
    }
    Ok(None)
}
