//! `ralph resume`: resumes a run that was interrupted, hit a limit or needs an answer. The recorded policy is kept; flags may raise limits
//! within the ceilings.

use super::auto_prune::AutoPrune;
use super::detach::Handover;
use super::refused::{can_be_recorded, in_session};
use super::resolve::{Changes, UNCONTAINED, state_inside};
use super::run::{Output, close, not_inside};
use super::watchers::{WatchedRun, watchers};
use super::{Here, agent, ask, detach, diagnostics, moved, notify, runs, sandbox, secrets, watch};
use crate::config::{Config, SandboxFlags, Sources};
use crate::print::say;
use crate::problem::{Code, Problem};
use crate::values;
use ralph_engine::home::Home;
use ralph_engine::inbox;
use ralph_engine::moved::FilesNeeded;
use ralph_engine::open;
use ralph_engine::run_deps::RunDeps;
use ralph_engine::session::Binding;
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;
use ralph_rules::record::{Ms, Request, RunStarted};
use ralph_rules::state::State;
use ralph_sandbox::policy::Mode;
use ralph_store::{Database, RunRow};
use std::path::Path;
use std::sync::Arc;

/// Arguments of `ralph resume`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// New maximum number of iterations, including those already made.
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    max_iterations: Option<u32>,
    /// New maximum cost in dollars, including what was already spent.
    #[arg(long, value_name = "USD", value_parser = values::money, allow_negative_numbers = true)]
    max_cost: Option<Micro>,
    /// New maximum duration, such as 2h.
    #[arg(long, value_name = "DUR", value_parser = values::span)]
    max_time: Option<Ms>,
    /// Hint for the agent's next prompt; a run that ended with BLOCKED or STALL needs one to continue.
    #[arg(long, value_name = "TEXT")]
    hint: Option<String>,
    /// Exit with code 75 instead of waiting for a rate limit.
    #[arg(long)]
    no_wait: bool,
    /// Continue even if a verify command cannot run.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// Allow running inside an agent that ralph started.
    #[arg(long)]
    nested: bool,
    /// Run in the background and print the run id.
    #[arg(long)]
    detach: bool,
    /// Run in the background and open the monitor on it (`ralph watch`).
    #[arg(long, conflicts_with_all = ["detach", "json", "quiet", "verbose"])]
    watch: bool,
    #[command(flatten)]
    pub output: Output,

    /// Marks the background process of `--detach`, with the id of its run.
    #[arg(long, hide = true, value_name = "ID", conflicts_with_all = ["detach", "watch"])]
    detached: Option<String>,
}

/// Resumes the run.
pub fn resume(args: &Args, here: &Here) -> Result<u8, Problem> {
    if !args.nested {
        not_inside(here)?;
    }
    if args.watch {
        watch::needs_terminal(here)?;
    }
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = match (runs::find(&store, args.run.as_deref(), here), &args.run) {
        // None of its own: this may be the workspace of a run that lost it.
        (Err(problem), None) => moved::run_here(&store, &home, here)?.ok_or(problem)?,
        (found, _) => found?,
    };
    if !row.resumable {
        let why = match row.reason.as_deref().filter(|_| row.status != "COMPLETED") {
            Some(reason) => format!("it ended with {reason}, which is final"),
            None => "it is completed".into(),
        };
        let message = format!("cannot resume run {}: {why}", runs::short(&row.id));
        return Err(Problem::new(Code::Usage, message).hint("start a new run with `ralph run`"));
    }
    let hint = args.hint.as_deref().map(ask::checked_hint).transpose()?;
    if hint.is_none() {
        needs_no_answer(&store, &row)?;
    }
    let changes = Changes {
        max_iterations: args.max_iterations,
        max_cost: args.max_cost,
        max_time: args.max_time,
        no_wait: args.no_wait,
        force: args.force,
        sandbox: args.sandbox.0.clone(),
    };
    if args.detach || args.watch {
        let stdin = hint.as_deref().filter(|_| args.hint.as_deref() == Some("-"));
        let handover = Handover { output: args.output, watch: args.watch, stdin };
        return detach::detach(handover, &row.id, Some(&row), here);
    }
    let background = args.detached.is_some();
    if background {
        // A separate session, so that the run survives its terminal.
        let _ = rustix::process::setsid();
    }
    let output = Output { json: args.output.json && !background, ..args.output };
    let which = (row.id.as_str(), moved::needed(args.run.as_ref()));
    let hint = hint.map(|text| Request::Hint { text });
    go_on(which, &changes, None, hint.into_iter().collect(), output, here)
}

/// A run that could not continue by itself would stop again: it waits for a hint, here or in its inbox.
fn needs_no_answer(store: &Database, row: &RunRow) -> Result<(), Problem> {
    let needs = State::of(&runs::records(store, &row.id)?).ending.is_some_and(|ending| ending.needs_answer());
    if !needs || !inbox::hints(store, &row.id).is_empty() {
        return Ok(());
    }
    let (short, reason) = (runs::short(&row.id), row.reason.as_deref().unwrap_or_default());
    let message = format!("run {short} ended with {reason}: it needs an answer to continue");
    Err(Problem::new(Code::Usage, message)
        .hint(format!("ralph resume {short} --hint 'what the agent should know or do differently'"))
        .hint(format!("`ralph logs {short} -i {}` shows what the agent said last", row.iterations)))
}

/// A run that a session works on is the session's for as long as that lives, and nobody's hooks continue it afterwards.
fn leave_session(id: &str, home: &Home) -> Result<(), Problem> {
    match Binding::of_run(home, id) {
        Some(binding) if binding.process.is_alive() => Err(in_session(&binding)),
        Some(binding) => {
            binding.release(home);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Whether every agent of a run can be started on this machine.
fn agents_are_there(start: &RunStarted, workspace: &Path, here: &Here) -> Result<(), Problem> {
    let reviewer = start.review.as_ref().map(|review| &review.agent);
    for agent in std::iter::once(&start.agent).chain(&start.ladder).chain(reviewer) {
        let program = &agent.program;
        here.env.which(program, workspace).ok_or_else(|| agent::missing(&agent.name, program))?;
    }
    Ok(())
}

/// The policy with what was typed, within the user's ceilings.
fn changed(policy: &Policy, changes: &Changes, config: &Config, here: &Here) -> Policy {
    let mut policy = Policy { no_wait: changes.no_wait || policy.no_wait, ..policy.clone() };
    policy.max_iterations = changes.max_iterations.unwrap_or(policy.max_iterations);
    policy.max_cost = changes.max_cost.unwrap_or(policy.max_cost);
    policy.max_time = changes.max_time.or(policy.max_time);
    policy.start_anyway |= changes.force;
    for lowered in config.cap(&mut policy) {
        say(&format!("{} {lowered}\n", here.err_style().warn("warning:")));
    }
    policy
}

/// Resumes this run with these limits, where so many of its files are; `typed` is its task if it was given again, `requests` are made at once.
pub fn go_on(
    (id, needed): (&str, FilesNeeded),
    changes: &Changes,
    typed: Option<&str>,
    requests: Vec<Request>,
    output: Output,
    here: &Here,
) -> Result<u8, Problem> {
    let home = here.home()?;
    can_be_recorded(&home)?;
    leave_session(id, &home)?;
    let records = runs::records(&runs::store(&home)?, id)?;
    let state = State::of(&records);
    let start = state.start.as_deref();
    let start = start.ok_or_else(|| {
        Problem::new(Code::Journal, format!("the journal of run {} has no start record", runs::short(id)))
    })?;
    let workspace = &moved::workspace(start, needed, &home, here)?;
    let sources = Sources::files(workspace, here.env.config_home.as_deref());
    let config = sources.sandbox_variables(&here.env).flags(&changes.sandbox).load()?;
    let redactor = secrets::redactor(&config.settings, workspace, here)?;
    let start = secrets::whole(start.clone(), &redactor, typed);
    let accepts = requests.contains(&Request::Accept);
    let anew = changes.sandbox.is_set("sandbox.mode");
    let contained = if anew { config.settings.sandbox.mode != Mode::Off } else { start.contained.is_some() };
    sandbox::network_has_effect(&changes.sandbox, contained)?;
    sandbox::network_fits_mode(&config)?;
    if let Some(begun) = start.contained.as_deref().filter(|_| !anew) {
        sandbox::network_is_kept(&changes.sandbox, begun)?;
    }
    let in_image = match anew {
        true => config.settings.sandbox.mode == Mode::Container,
        false => start.contained.as_ref().is_some_and(|given| given.is_container()),
    };
    // Accepting calls no agent, and an image has its own.
    if !accepts && !in_image {
        agents_are_there(&start, workspace, here)?;
    }
    let mut deps =
        agent::deps((&start.agent, &start.ladder, start.review.as_ref()), &config.settings, redactor, here)?;
    if let Some(request) = &mut deps.sandbox {
        request.anew = anew;
        request.add_commands(start.verify.iter().map(String::as_str));
    }
    let change = |policy: &Policy| changed(policy, changes, &config, here);
    if start.contained.is_none() && !anew && !output.quiet && !accepts {
        say(&format!("{} {UNCONTAINED}\n", here.err_style().warn("warning:")));
    }
    for warning in
        secrets::lost(&start).iter().chain(&state_inside(workspace, here)).filter(|_| !output.quiet)
    {
        say(&format!("{} {warning}\n", here.err_style().warn("warning:")));
    }
    let whole = |start, deps: &RunDeps| secrets::whole(start, &deps.redactor, typed);
    let views = config.settings.views.clone().only(&start.own_files);
    deps.metrics = views.metrics.clone();
    let redactor = Arc::clone(&deps.redactor);
    let run = WatchedRun { id, records: &records, workspace, views, redactor };
    let (watchers, terminal) = watchers(run, output, &home, here);
    let _log = diagnostics::keep_log(&home.run(id), &deps.redactor, here);
    let which = (id, Some(workspace.as_path()), records);
    let notes = notify::background(&home, here);
    let ended = open::resume(&home, which, (change, requests), |_| deps, whole, watchers);
    drop(terminal);
    notes.finish();
    let code = close(ended, output, id, here)?;
    AutoPrune::of(&config).after_run(id, workspace, output, here);
    Ok(code)
}
