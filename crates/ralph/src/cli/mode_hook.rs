//! `ralph run --mode hook`: starts a session of Claude Code for one task, in which ralph's hooks judge every stop. The
//! plugin is passed to this session only; nothing is installed. `session.rs` runs the session, `again.rs` verifies the work
//! once more when no process of it is left.

mod again;
mod session;

use super::hook::{line_of_start, not_kept, open_run};
use super::refused::can_be_recorded;
use super::resolve::Resolved;
use super::run::Args;
use super::{Here, diagnostics, run, runs};
use crate::env::{Env, SESSION};
use crate::plain::plain;
use crate::print::{print, say};
use crate::problem::{Code, Problem};
use crate::views::Views;
use again::Again;
use ralph_agents::Client;
use ralph_engine::home::Home;
use ralph_engine::open::{self, Departure};
use ralph_engine::outcome::{Outcome, last_ending, outcome};
use ralph_engine::session::{Binding, SessionPort, SessionProcess, SessionTurn, mark_now};
use ralph_engine::watch::Watcher;
use ralph_rules::next::Why;
use ralph_rules::record::{Request, SessionGiven};
use ralph_rules::state::State;
use ralph_view::run_receipt::receipt;
use session::Session;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the session to its end, and tells what came of it.
pub fn run(args: &Args, resolved: Resolved, here: &Here) -> Result<u8, Problem> {
    possible(args, &resolved)?;
    let home = here.home()?;
    can_be_recorded(&home)?;
    let style = here.err_style();
    for warning in resolved.warnings.iter().filter(|_| !args.output.quiet) {
        say(&format!("{} {}\n", style.warn("warning:"), plain(warning)));
    }
    let id = uuid::Uuid::now_v7().to_string();
    let binding = Binding {
        run: id.clone(),
        client: Client::Claude.agent().into(),
        // A session of its own, so the run's id serves as the session's.
        session: id.clone(),
        transcript: transcript(&id, here).to_string_lossy().into_owned(),
        process: SessionProcess::default(),
    };
    let again = Again::of(&resolved, here)?;
    let session = Session::of(&resolved, &id, here)?;
    binding.keep(&home).map_err(|error| not_kept(&error))?;
    let (call, state) = match start(resolved, &binding, here) {
        Ok(Departure::HandedOver(call, state)) => (call, state),
        other => {
            binding.release(&home);
            return run::close(other, args.output, &id, here);
        }
    };
    if let Some(start) = state.start.as_deref().filter(|_| !args.output.quiet) {
        say(&format!("ralph: {}\n", plain(&line_of_start(start))));
    }
    let ran = session.run(&call, &state, args.output.quiet);
    session.clean_up();
    // A process that it left behind could change the work after it was verified.
    let _ = ralph_supervisor::sweep(SESSION, &id);
    let ended = ended(&id, &home, here);
    binding.release(&home);
    let Ended { mut result, state, never } = ended?;
    again.verify(&mut result, &id, here);
    match ran.err().or(never) {
        // The line that says what failed is the result.
        Some(problem) if args.output.json => Err(with_result(problem, result)),
        Some(problem) => {
            print(&receipt(&result, &state, here.out_style()));
            Err(problem)
        }
        None => {
            match args.output.json {
                true => print(&format!("{}\n", serde_json::to_string(&result).unwrap_or_default())),
                false => print(&receipt(&result, &state, here.out_style())),
            }
            Ok(result.exit_code)
        }
    }
}

fn with_result(problem: Problem, result: Outcome) -> Problem {
    let result = Outcome {
        exit_code: problem.code as u8,
        error: result.error.or_else(|| Some(problem.message.clone())),
        ..result
    };
    Problem { result: serde_json::to_value(result).ok().map(Box::new), ..problem }
}

fn possible(args: &Args, resolved: &Resolved) -> Result<(), Problem> {
    let agent = resolved.plan.agent.name.as_str();
    if agent != Client::Claude.agent() {
        return Err(Problem::new(Code::Usage, format!("--mode hook starts Claude Code, not `{agent}`"))
            .hint("add --agent claude, or omit --mode hook")
            .hint("in Codex, hooks work in sessions that you start: `ralph hook install codex`"));
    }
    if args.detach || args.watch || args.detached.is_some() {
        return Err(Problem::new(Code::Usage, "--mode hook does not run in the background")
            .hint("omit --detach and --watch, or omit --mode hook"));
    }
    // A session is always a new run that is recorded, and shows what its client shows.
    let set = [(args.fallback, "--fallback"), (args.fresh, "--fresh"), (args.output.verbose, "--verbose")];
    match set.into_iter().find(|(on, _)| *on) {
        None => Ok(()),
        Some((_, flag)) => Err(Problem::new(
            Code::Usage,
            format!("{flag} does not apply to a session that --mode hook starts"),
        )
        .hint(format!("omit {flag}, or omit --mode hook"))),
    }
}

/// Where Claude Code will write the transcript; its hooks tell it too, so this counts only if it dies before them.
fn transcript(id: &str, here: &Here) -> PathBuf {
    let own = Env::variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let own = own.or_else(|| here.env.home.as_ref().map(|home| home.join(".claude"))).unwrap_or_default();
    let name = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let project: String = here.workspace.to_string_lossy().chars().map(name).collect();
    own.join("projects").join(project).join(format!("{id}.jsonl"))
}

fn start(resolved: Resolved, binding: &Binding, here: &Here) -> Result<Departure, open::OpenError> {
    let Resolved { mut plan, mut deps, views, .. } = resolved;
    let Ok(home) = here.home() else { return Err(open::OpenError::NoSuchRun(binding.run.clone())) };
    plan.session = Some(SessionGiven {
        client: binding.client.clone(),
        id: binding.session.clone(),
        transcript: binding.transcript.clone(),
        mark: mark_now(Client::Claude, Path::new(&binding.transcript)),
        ..SessionGiven::default()
    });
    // A session stays what it is: it cannot be exchanged for a stronger agent.
    plan.ladder.clear();
    deps.rungs.clear();
    deps.session = Some(Arc::new(SessionPort::default()));
    let watchers: Vec<Box<dyn Watcher>> =
        vec![Box::new(Views::new(&plan.workspace, views, &[], &home, None))];
    let _log = diagnostics::keep_log(&home.run(&binding.run), &deps.redactor, here);
    open::start(&home, &binding.run, plan, deps, watchers)
}

/// How the run ended, as its journal tells.
struct Ended {
    result: Outcome,
    state: State,
    /// The hook that was not called.
    never: Option<Problem>,
}

/// Finds out how the run ended. One that the session left open is interrupted, so that it can be resumed.
fn ended(id: &str, home: &Home, here: &Here) -> Result<Ended, Problem> {
    let mut never = None;
    // A run that reached a limit has ended, too, although it can be resumed.
    if let Some(found) = open_run::find(home, id)?.filter(|found| found.state.ending.is_none()) {
        never = never_called(&found.state, home, id);
        let binding = Binding::of_run(home, id).unwrap_or_default();
        let turn = SessionTurn {
            transcript: PathBuf::from(&binding.transcript),
            interrupted_by: Some(Why::Person),
            ..SessionTurn::default()
        };
        open_run::open(found, Some(turn), vec![Request::Stop { after: false, signal: 2 }], here)?;
    }
    let records = runs::records(&runs::store(home)?, id)?;
    let state = State::of(&records);
    let Some((ending, why)) = last_ending(&records) else {
        return Err(Problem::new(
            Code::Journal,
            format!("run {} has no end in its journal", runs::short(id)),
        ));
    };
    let result = outcome(&state, ending, why);
    Ok(Ended { result, state, never })
}

/// A hook that was not called is the difference between checked and unchecked work, so it is named.
fn never_called(state: &State, home: &Home, id: &str) -> Option<Problem> {
    if state.calls.done > 0 {
        return None;
    }
    let prompted = Binding::of_run(home, id).is_some_and(|binding| binding.process.pid != 0);
    let hook = if prompted { "hook Stop" } else { "hooks UserPromptSubmit and Stop" };
    let resume = format!("`ralph resume {}` continues without hooks, as a loop", runs::short(id));
    let problem =
        Problem::new(Code::Unavailable, format!("Claude Code never called the {hook}: nothing was verified"));
    Some(match prompted {
        true => problem.hint(format!("the session ended before the agent stopped; {resume}")),
        false => problem
            .hint("hooks are off: look for disableAllHooks in its settings, for managed settings, and for --bare or --safe-mode")
            .hint(resume),
    })
}
