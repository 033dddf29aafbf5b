//! Step Call: starts the agent under the supervisor, reads its output to the end, and reports the result in one fact.
//! Deadlines and budgets are not decided here: the step reports usage and silence, and the rules interrupt it. Closes
//! with `CallEnded`.

use crate::call_directory;
use crate::ledger;
use crate::leftovers::end_after;
use crate::observation::Observation;
use crate::sandbox::{CalledAgent, Contained, Program, SandboxDeps};
use crate::step_context::StepContext;
use crate::transcript::Kept;
use crate::verification::{Replacements, Room};
use crate::world::listen::{Files, Listener};
use crate::world::scratch::Scratch;
use crate::world::{reply, silence};
use ralph_agents::{Activity, Call, Exit, Reply};
use ralph_diagnostics::Discard;
use ralph_rules::money::Micro;
use ralph_rules::next::Why;
use ralph_rules::prompt::protocol;
use ralph_rules::record::{Attempt, CallEnded, ConversationTotals, Ms, SandboxSeen, Seen};
use ralph_supervisor::{How, Input, Launch, NotStarted, ProcessHandle, Pump};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

/// Shown when the agent's supervisor was killed.
const SUPERVISOR_LOST: &str = "ralph: the agent's supervisor was killed or stopped; ralph ended the agent's processes. \
     From now on, changes to protected paths and tests in this run count as the agent's, not yours";

/// Inputs of the step.
pub struct CallRequest {
    /// Which attempt.
    pub id: Attempt,
    /// The prompt, unredacted.
    pub prompt: String,
    /// The rung of the ladder that is called.
    pub rung: u32,
    /// The reviewer is called instead: what it writes in the workspace is thrown away.
    pub review: bool,
    /// What the run may still spend: given to the agent as its own budget, as a second safeguard.
    pub left: Option<Micro>,
    /// The conversation that was continued last, and its totals.
    pub conversation: Option<(String, ConversationTotals)>,
    /// Report usage when it, plus two times the most expensive turn, exceeds this.
    pub tell_spend_from: Micro,
    /// Report silence after this long.
    pub silence: Ms,
}

/// How a call ended, before it is translated for the rules.
pub(crate) struct Ended {
    /// Rung, and whether the reviewer was called.
    pub(crate) caller: (u32, bool),
    /// Totals of the conversation before this call, if it continued one.
    pub(crate) before: Option<(String, ConversationTotals)>,
    /// The agent said nothing and used no tool.
    pub(crate) idle: bool,
    pub(crate) reply: Reply,
    pub(crate) exit: Exit,
    pub(crate) interrupted_by: Option<Why>,
    pub(crate) kept: Kept,
    pub(crate) spent: Option<ralph_agents::Spent>,
    pub(crate) outlived: u32,
    pub(crate) ms: Ms,
    /// Where the agent recorded its conversations.
    pub(crate) records: Option<PathBuf>,
    /// What its sandbox refused, or could not do.
    pub(crate) sandbox: Option<Box<SandboxSeen>>,
}

/// Calls the agent.
pub fn call(ctx: &StepContext, request: &CallRequest) -> Observation {
    let (id, caller) = (request.id, (request.rung, request.review));
    // In another directory at the workspace's path an agent must not begin.
    let lost = ctx.place.lost().map(ToOwned::to_owned);
    ctx.commands_begin(true);
    let ended = lost.map_or_else(|| listen(ctx, request), Err);
    ctx.commands_ended();
    let ended = ended.unwrap_or_else(|why| not_started(ctx, caller, &why));
    let held = Micro(ctx.held.load(Ordering::Relaxed));
    observation(ctx, reply::call_ended(ctx, id, held, ended))
}

/// The closing fact with its settlement.
pub(crate) fn observation(ctx: &StepContext, ended: CallEnded) -> Observation {
    let settle = ledger::settle(&ctx.ledger_accounts(), ended.id, ended.charged, &ended.usage);
    Observation { settle: Some(settle), ..Seen::CallEnded(Box::new(ended)).into() }
}

fn listen(ctx: &StepContext, request: &CallRequest) -> Result<Ended, String> {
    if !request.review {
        return attempt(ctx, request, None).map(|(ended, _)| ended);
    }
    let (unchanged, dir) = (Replacements::default().hiding(ctx.own_dir.as_ref()), review_dir(ctx));
    let mut room =
        Room::with_replacements(&ctx.workspace, &unchanged, &dir).map_err(|why| why.to_string())?;
    if ctx.sandbox.as_ref().is_some_and(SandboxDeps::is_container) {
        room.without_mounts().map_err(|why| why.to_string())?;
    }
    let (ended, mount_refused) = attempt(ctx, request, Some(&room))?;
    if !mount_refused {
        return Ok(ended);
    }
    room.mount_refused().map_err(|why| why.to_string())?;
    // Nothing ran, so nothing is in them; an attempt makes its files anew.
    for what in ["out.jsonl", "times", "err"] {
        std::fs::remove_file(ctx.file(request.id, what).1).discard("remove the files of a refused mount");
    }
    attempt(ctx, request, Some(&room)).map(|(ended, _)| ended)
}

/// Where the workspace that a reviewer sees is prepared.
pub(crate) fn review_dir(ctx: &StepContext) -> PathBuf {
    ctx.folder.join("review")
}

/// What the adapter is asked to launch.
fn what_to_call(ctx: &StepContext, request: &CallRequest, scratch: &Scratch) -> Call {
    let choice = ctx.start.caller(request.rung, request.review);
    Call {
        prompt: request.prompt.clone(),
        // A reviewer claims nothing: its prompt says how it answers.
        system: if request.review { String::new() } else { protocol(&ctx.start) },
        read_only: request.review,
        model: choice.model.clone(),
        program: Some(choice.program.clone()),
        args: choice.args.clone(),
        budget: request.left,
        scratch: scratch.path(),
        prices: ctx.deps.prices.clone(),
        contained: ctx.sandbox.is_some(),
    }
}

/// Makes the launch of an agent start it contained, if the run is.
fn contain(
    ctx: &StepContext,
    launch: &mut Launch,
    scratch: &Scratch,
    (rung, review): (u32, bool),
) -> Result<Option<Contained>, String> {
    let Some(sandbox) = &ctx.sandbox else { return Ok(None) };
    let (binding, choice) = (ctx.deps.caller(rung, review), ctx.start.caller(rung, review));
    let (places, works_in, writes) = (ctx.read_only_places(), launch.cwd.clone(), scratch.path());
    let program = Program {
        workspace: &ctx.workspace,
        works_in: &works_in,
        places: &places,
        writes: Some(writes.as_ref()),
        agent: Some(CalledAgent { info: binding.agent, program: &choice.program }),
    };
    let contained = sandbox.contain(launch, &program);
    contained.map(Some).map_err(|error| format!("the sandbox cannot be prepared: {error}"))
}

/// Runs the program to its end; true if the system refused the mount of its room.
fn attempt(
    ctx: &StepContext,
    request: &CallRequest,
    room: Option<&Room<'_>>,
) -> Result<(Ended, bool), String> {
    let binding = ctx.deps.caller(request.rung, request.review);
    let choice = ctx.start.caller(request.rung, request.review);
    let (agent, scratch) = (&binding.agent, Scratch::of(ctx));
    let call = what_to_call(ctx, request, &scratch);
    let line = agent.launch(&call);
    scratch.fill(&line).map_err(|e| e.to_string())?;
    // A reviewer claims nothing.
    if !request.review {
        scratch.describe(ctx);
    }
    let mut launch = launch(ctx, &line, (&binding.env, &scratch), request.id);
    if let Some(room) = room {
        room.enter(&mut launch);
    }
    let contained = contain(ctx, &mut launch, &scratch, (request.rung, request.review))?;
    // The files first: an agent whose output cannot be kept is not started.
    let files = Files::open(ctx, request.id).map_err(|e| e.to_string())?;
    let (process, pump) = ralph_supervisor::start(launch).map_err(|e| e.to_string())?;
    tracing::debug!(attempt = %request.id, program = %line.program, "started the agent");
    ctx.under_way.started(&process);
    let mut listener = Listener::new(ctx, &process, agent.reader(&call), files);
    listener.start();
    let exit = run_to_end(ctx, (&process, pump), &mut listener, (request.silence, choice.shows_tool_start));
    ctx.under_way.ended();
    let outlived = end_leftovers(ctx, &exit);
    let written = |path: &PathBuf| contained.as_ref().map_or_else(|| path.clone(), |it| it.written(path));
    let records = binding.records.as_ref().map(written);
    let interrupted_by = ctx.under_way.interrupted_by().filter(|_| exit.how == How::Told);
    let seen = seen_exit(&exit, interrupted_by);
    tracing::debug!(how = ?exit.how, code = exit.code, signal = exit.signal, outlived, ms = exit.ms, "the agent ended");
    let redactor = &ctx.deps.redactor;
    let (mut reply, kept, spent, idle) =
        listener.close(seen, |reader| scratch.report(&line.reports, redactor, reader));
    if let Some(error) = &kept.trouble {
        ctx.note_unsaved_output(request.id, error);
    }
    if let (Some(why), Some(failure)) = (&exit.not_started, &mut reply.failure) {
        failure.message = why.to_string();
    }
    let ms = Ms::try_from(exit.ms).unwrap_or(Ms::MAX);
    let (caller, before) = ((request.rung, request.review), request.conversation.clone());
    let refused = matches!(exit.not_started, Some(NotStarted::Overlay { .. }));
    let sandbox = contained.and_then(|contained| contained.ended(&exit).if_any());
    let exit = seen;
    let ended = Ended {
        caller,
        before,
        idle,
        reply,
        exit,
        interrupted_by,
        kept,
        spent,
        outlived,
        ms,
        records,
        sandbox,
    };
    Ok((ended, refused))
}

/// Reads the program's output to its end, and reports when it is silent for too long.
fn run_to_end(
    ctx: &StepContext,
    (process, pump): (&ProcessHandle, Pump),
    listener: &mut Listener<'_>,
    limit: (Ms, bool),
) -> ralph_supervisor::Exit {
    let tools = Arc::clone(&listener.tools);
    std::thread::scope(|scope| {
        let (_open, over) = channel::<()>();
        let watched = process.clone();
        scope.spawn(move || silence::watch(ctx, &watched, &tools, limit, &over));
        pump.run(listener)
    })
}

/// How the program ended, as its reader judges it.
fn seen_exit(exit: &ralph_supervisor::Exit, interrupted_by: Option<Why>) -> Exit {
    Exit {
        code: exit.code,
        signal: exit.signal,
        not_started: exit.not_started.is_some(),
        by_us: interrupted_by.is_some() || exit.how == How::Lingered,
    }
}

/// Ends what the supervisor could not, and returns how many processes outlived the agent.
fn end_leftovers(ctx: &StepContext, exit: &ralph_supervisor::Exit) -> u32 {
    if exit.supervisor_lost {
        ctx.watchers.activity(&Activity::Noise { text: SUPERVISOR_LOST.into() });
    }
    exit.outlived.saturating_add(end_after(exit, &ctx.start.run, ctx.under_way.loss()))
}

fn launch(
    ctx: &StepContext,
    line: &ralph_agents::Launch,
    (env, scratch): (&[(OsString, OsString)], &Scratch),
    id: Attempt,
) -> Launch {
    let mut launch = ctx.launch(&line.program, id.iteration);
    // Running the tests must not leave byte code in protected directories, where it counts as tampering.
    launch.env.push(("PYTHONPYCACHEPREFIX".into(), scratch.byte_code().into()));
    launch.env.push((call_directory::VARIABLE.into(), scratch.path().into()));
    launch.args = line.args.iter().map(Into::into).collect();
    launch.env.extend(line.env.iter().map(|(k, v)| (k.into(), v.into())));
    // Last, so that the user's own settings win.
    launch.env.extend(env.iter().cloned());
    launch.env_remove.extend(line.env_remove.iter().map(Into::into));
    launch.stdin = Input::Pipe;
    launch
}

/// The transcript or the supervisor could not be opened: nothing ran.
fn not_started(ctx: &StepContext, caller: (u32, bool), why: &str) -> Ended {
    let reply = reply::never_ran(why);
    ctx.under_way.ended();
    let exit = Exit { not_started: true, ..Exit::default() };
    let kept = Kept::default();
    Ended {
        caller,
        before: None,
        idle: true,
        reply,
        exit,
        interrupted_by: None,
        kept,
        spent: None,
        outlived: 0,
        ms: 0,
        records: None,
        sandbox: None,
    }
}
