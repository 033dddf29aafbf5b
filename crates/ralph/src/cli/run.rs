//! `ralph run`: the loop, here, to an outcome.

use super::resolve::{self, Resolved};
use super::{Here, resume, runs, say};
use crate::problem::{Code, Problem};
use crate::show::{Human, Json, Mode};
use ralph_engine::open::{self, OpenError};
use ralph_engine::outcome::Outcome;
use ralph_engine::watch::Watcher;
use ralph_store::{RunFilter, RunRow, Store};

/// What may be typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// What is to be done. Left out: PROMPT.md, or `--prompt`.
    pub task: Option<String>,
    /// Read the task from this file.
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub prompt: Option<std::path::PathBuf>,
    /// Who works: claude, command (any program, after `--`) or sim.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The agent's model.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// Iterations at most. No default: it must be set here or in ralph.toml.
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// Dollars at most. No default: it must be set here or in ralph.toml.
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<String>,
    /// Active time at most, such as 2h; waits count.
    #[arg(long, value_name = "DUR")]
    pub max_time: Option<String>,
    /// A command that proves the work, run by `sh -c` in the workspace; may be given several times.
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
    /// The completion promise the agent may give instead of a status block.
    #[arg(long, value_name = "TEXT")]
    pub promise: Option<String>,
    /// A path the agent must not touch, in gitignore syntax; may be given several times, adds to the defaults.
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
    /// Calls in any hour, over all runs; 0 is no limit.
    #[arg(long, value_name = "N")]
    pub calls_per_hour: Option<u32>,
    /// One call at most (default 15m).
    #[arg(long, value_name = "DUR")]
    pub timeout: Option<String>,
    /// Silence of the agent at most (default 5m).
    #[arg(long, value_name = "DUR")]
    pub idle_timeout: Option<String>,
    /// auto or off: this version contains nothing either way, and says so.
    #[arg(long, value_name = "MODE")]
    pub sandbox: Option<String>,
    /// Preset of rules; only `strict`, the default, so far.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Start anew, even where an interrupted run of the same task could go on.
    #[arg(long)]
    pub fresh: bool,
    /// Do not wait for limits: leave with exit code 75.
    #[arg(long)]
    pub no_wait: bool,
    /// Show what would be run, and the first prompt; run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Run even inside an agent that ralph itself runs.
    #[arg(long)]
    pub nested: bool,
    #[command(flatten)]
    pub output: Output,
    /// Everything after `--` goes to the agent; for `--agent command` it is the program and its arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub rest: Vec<String>,

    #[arg(long, hide = true, value_name = "FILE")]
    pub plan: Option<String>,
    #[arg(long, hide = true, value_name = "NAME")]
    pub skill: Option<String>,
    #[arg(long, hide = true)]
    pub fallback: bool,
    #[arg(long, hide = true)]
    pub auto: bool,
    #[arg(long, hide = true, value_name = "MODE")]
    pub mode: Option<String>,
    #[arg(long, hide = true)]
    pub detach: bool,
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
    /// Flags of the contract that this version does not honour are refused, never ignored.
    fn not_yet(&self) -> Option<&'static str> {
        let set = [
            (self.plan.is_some(), "--plan"),
            (self.skill.is_some(), "--skill"),
            (self.fallback, "--fallback"),
            (self.auto, "--auto"),
            (self.mode.as_deref().is_some_and(|m| m != "loop"), "--mode hook"),
            (self.detach, "--detach"),
            (self.sandbox.as_deref() == Some("require"), "--sandbox require (nothing can be contained yet, so it"),
            (self.preset.as_deref().is_some_and(|p| p != "strict"), "--preset other than strict"),
        ];
        set.into_iter().find(|(on, _)| *on).map(|(_, flag)| flag)
    }
}

/// Runs the loop.
pub fn run(args: Args, here: &Here) -> Result<u8, Problem> {
    match guarded(args.clone(), here) {
        Err(problem) if args.output.json => {
            super::print(&(refusal(&problem).to_string() + "\n"));
            Err(problem)
        }
        other => other,
    }
}

fn guarded(args: Args, here: &Here) -> Result<u8, Problem> {
    if let Some(flag) = args.not_yet() {
        let flag = if flag.contains('(') { format!("{flag} is refused)") } else { format!("{flag} is not supported") };
        return Err(Problem::new(Code::Usage, format!("{flag} by this version of ralph"))
            .hint("leave it out: ralph never ignores a flag silently"));
    }
    if let Some(outer) = here.env.inside_run.as_ref().filter(|_| !args.nested) {
        let message = format!("this is inside run {}: a loop in a loop spends twice", runs::short(outer));
        return Err(Problem::new(Code::Usage, message).hint("pass --nested if you really mean it"));
    }
    let resolved = resolve::resolve(&args, here)?;
    if args.dry_run {
        super::print(&resolve::dry_run(&resolved));
        return Ok(0);
    }
    if !args.fresh {
        if let Some(row) = unfinished(&resolved, here)? {
            say(&format!("Going on with run {}, which was interrupted (`--fresh` starts anew).\n", runs::short(&row.id)));
            return resume::go_on(&row.id, &resolved.changes(), args.output, here);
        }
    }
    begin(resolved, args.output, here)
}

/// Starts the resolved run.
pub fn begin(resolved: Resolved, output: Output, here: &Here) -> Result<u8, Problem> {
    let style = here.err_style();
    for warning in &resolved.warnings {
        say(&format!("{} {warning}\n", style.warn("warning:")));
    }
    let id = uuid::Uuid::now_v7().to_string();
    let watchers = watchers(output, here);
    let ended = open::start(&here.home()?, &id, resolved.plan, resolved.equipment, watchers);
    close(ended, output, &id, here)
}

/// Who watches a run: the person, or a script.
pub fn watchers(output: Output, here: &Here) -> Vec<Box<dyn Watcher>> {
    use std::io::IsTerminal;
    let terminal = std::io::stderr().is_terminal() && !here.env.dumb;
    let mode = match (output.quiet, output.verbose) {
        (true, _) => Mode::Quiet,
        (_, true) => Mode::Verbose,
        _ => Mode::Calm,
    };
    let mut watchers: Vec<Box<dyn Watcher>> = vec![Box::new(Human::new(mode, terminal, here.err_style()))];
    if output.json {
        watchers.push(Box::new(Json::default()));
    }
    watchers
}

/// Prints the result and gives the exit code.
pub fn close(ended: Result<Outcome, OpenError>, output: Output, id: &str, here: &Here) -> Result<u8, Problem> {
    let outcome = ended.map_err(|error| refused(&error, id, here))?;
    if output.json {
        let line = serde_json::to_string(&outcome)
            .map_err(|e| Problem::new(Code::Bug, "the result cannot be written").cause(&e))?;
        super::print(&(line + "\n"));
    }
    Ok(outcome.exit_code)
}

/// An interrupted or crashed run of the same task; not one that ended at a limit.
fn unfinished(resolved: &Resolved, here: &Here) -> Result<Option<RunRow>, Problem> {
    let Some(store) = here.home()?.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(None) };
    let filter = RunFilter {
        workspace: Some(here.workspace.to_string_lossy().into_owned()),
        limit: Some(1),
        ..RunFilter::default()
    };
    let newest = store.runs(&filter).map_err(|e| runs::broken(&e))?.into_iter().next();
    let Some(row) = newest.filter(|r| r.resumable && matches!(r.status.as_str(), "INTERRUPTED" | "RUNNING" | "WAITING" | "PAUSED"))
    else {
        return Ok(None);
    };
    let records = runs::records(&store, &row.id)?;
    let same = ralph_rules::state::State::of(records.first())
        .start
        .is_some_and(|start| start.prompt == resolved.plan.prompt && start.agent.name == resolved.plan.agent.name);
    Ok(same.then_some(row))
}

/// Why a run did not start, in the words and exit codes of the contract.
fn refused(error: &OpenError, id: &str, here: &Here) -> Problem {
    let resume = format!("`ralph resume {}` goes on once that is mended", runs::short(id));
    match error {
        OpenError::Lock(_) => Problem::new(Code::Busy, "another ralph works in this workspace")
            .cause(error)
            .hint("`ralph status` shows what it does, `ralph stop` stops it"),
        OpenError::CircuitOpen(open) => Problem::new(Code::Breaker, format!("the breaker of this workspace is open ({})", open.reason))
            .cause(error)
            .hint(format!("see what happened: `ralph explain {}`", runs::short(&open.run)))
            .hint("check that the prompt is clear, the plan has open tasks and the verification can pass")
            .hint("then close it: `ralph circuit reset`"),
        OpenError::Glob(_) => Problem::new(Code::Usage, "a protected path cannot be read").cause(error),
        OpenError::NoSuchRun(_) | OpenError::Over { .. } => Problem::new(Code::Usage, error.to_string())
            .hint("start a new run with `ralph run`"),
        OpenError::Walk(_) => Problem::new(Code::Busy, format!("the workspace {} cannot be looked at", here.workspace.display())).cause(error),
        OpenError::Store(_) | OpenError::Journal(_) => {
            Problem::new(Code::Journal, "ralph's database cannot be used").cause(error)
        }
        OpenError::Unwritable(_) => Problem::new(Code::Journal, "the journal cannot be written").cause(error).hint(resume),
        OpenError::System { .. } => Problem::new(Code::Busy, "the run could not be set up").cause(error),
    }
}

/// The result line of a run that never started.
fn refusal(problem: &Problem) -> serde_json::Value {
    let open = problem.code == Code::Breaker;
    let (status, reason) = if open { ("ABORTED", "CIRCUIT_OPEN") } else { ("ERROR", "REFUSED") };
    serde_json::json!({
        "v": 1, "type": "result", "runId": null, "status": status, "reason": reason,
        "exitCode": problem.code as u8, "iterations": 0, "costUSD": 0.0, "costIsComplete": true,
        "durationSeconds": 0.0, "verificationPassed": false, "error": problem.message,
        "details": {"causes": problem.causes, "hints": problem.hints},
    })
}
