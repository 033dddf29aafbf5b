//! Starting and resuming runs: take the workspace's lock, end processes that an earlier run left behind, record what the
//! run was given, and drive it. Recovery after a crash is part of taking the lock, not a command of its own.

mod error;
mod files_before;
mod left_behind;
mod lock;

pub use self::error::OpenError;
use self::error::system;
use self::files_before::{before_the_crash, before_the_loss, files_before};
use self::left_behind::{keep_receipt, take_last_snapshot};
use self::lock::take_lock;
pub use self::lock::{PRUNE, driver, drives};
use crate::circuit;
use crate::clock::{Clock, utc};
use crate::drive::drive;
use crate::event_source::ChannelEvents;
use crate::home::Home;
use crate::journal;
use crate::leftovers;
use crate::live_world::LiveWorld;
use crate::metrics::MetricsWriter;
use crate::moved;
use crate::observation::Observation;
use crate::outcome::{Outcome, cut, outcome};
use crate::place::Place;
use crate::protection::PACKS;
use crate::recount::Pricing;
use crate::reset_time::day_of;
use crate::run::{Left, Run, Unwritable};
use crate::run_deps::RunDeps;
use crate::run_spec::RunSpec;
use crate::sandbox::{self, CalledAgent, SandboxDeps, Site, WorkspacePlaces};
use crate::session::{self, Handover};
use crate::snapshots::{Snapshots, walk_without_drafts};
use crate::step_context::StepContext;
use crate::verification::{BYTECODE, tree_copy};
use crate::watch::{Watcher, Watchers};
use crate::{bound_files, hidden_views, inbox, recount, signals};
use ralph_diagnostics::Discard;
use ralph_rules::RULES;
use ralph_rules::next::Why;
use ralph_rules::objection::Objection;
use ralph_rules::policy::Policy;
use ralph_rules::record::{
    Asked, Ms, PlanGiven, PolicyChanged, Record, Request, Resumed, RunStarted, SandboxGiven, Seen,
};
use ralph_rules::state::{Phase, State};
use ralph_snapshots::PendingRestore;
use ralph_store::{RunFilter, Store};
use ralph_tree::{BadGlob, Index, LockError, Protect, Tree, WorkspaceLock, git_facts, named_globs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a process is done with a run.
#[derive(Clone, Debug)]
pub enum Departure {
    /// The run ended.
    Ended(Box<Outcome>),
    /// A session that somebody else started has the call now; with the state of the run.
    HandedOver(Handover, Box<State>),
}

/// A clock that is corrected by less than this was not set back.
const CLOCK_SLACK: Ms = 2_000;

/// Starts a new run and drives it to its end.
pub fn start(
    home: &Home,
    id: &str,
    plan: RunSpec,
    deps: RunDeps,
    watchers: Vec<Box<dyn Watcher>>,
) -> Result<Departure, OpenError> {
    let store = home.store()?;
    start_in(home, &store, (id, true), plan, deps, watchers)
}

/// The same with a journal in memory, for where no database can be used: `home` is a directory that is deleted afterwards.
pub fn start_unrecorded(
    home: &Home,
    id: &str,
    plan: RunSpec,
    deps: RunDeps,
    watchers: Vec<Box<dyn Watcher>>,
) -> Result<Departure, OpenError> {
    start_in(home, &ralph_store::Memory::new(), (id, false), plan, deps, watchers)
}

fn start_in(
    home: &Home,
    store: &dyn Store,
    (id, recorded): (&str, bool),
    mut plan: RunSpec,
    deps: RunDeps,
    watchers: Vec<Box<dyn Watcher>>,
) -> Result<Departure, OpenError> {
    recount::after_restore(home, store, Pricing { prices: &deps.prices, zone: &plan.zone })?;
    let lock = take_lock(home, store, &plan.workspace, id)?;
    // Whoever starts a run continues from what is there: an undo that was cut short is over.
    PendingRestore::load(&home.pending_restore(&plan.workspace)).done();
    not_open(store, &plan.workspace, &plan.policy)?;
    plan.own_files = hidden_views::hide(home, store, &plan.workspace, plan.own_files);
    plan.own_files.append(&mut plan.output_files);
    let newest = store.runs(&RunFilter { limit: Some(1), ..RunFilter::default() })?;
    let mut started = run_started(id, plan, &deps);
    started.unrecorded = !recorded;
    started.clock_behind = newest.first().and_then(|run| behind(run.updated));
    let workspace = PathBuf::from(&started.workspace);
    let place = Place::open(&workspace, &lock).map_err(system("cannot open the workspace"))?;
    let tree = tree_of(home, &workspace, &started)?;
    let index = walk_without_drafts(&tree, Index::load(&home.index(&workspace)).as_ref())?;
    let (tree, index) = protecting_named(home, &mut started, tree, index)?;
    started.tree = index.id();
    let contained = chosen(&deps, &started, &index)?;
    if let Some((given, _)) = &contained {
        started.contained_by(given);
    }
    let contained = contained.and_then(|(_, deps)| deps);
    let facts = vec![Seen::RunStarted(Box::new(started.clone())).into()];
    go(home, store, started, State::default(), facts, (place, tree, index), (deps, contained), watchers)
}

/// What git's config and protected links name is protected for the run, also where it does not exist yet: whoever makes a file that
/// a config includes gives orders to git.
fn protecting_named(
    home: &Home,
    started: &mut RunStarted,
    tree: Tree,
    index: Index,
) -> Result<(Tree, Index), OpenError> {
    let workspace = PathBuf::from(&started.workspace);
    let named = named_globs(&workspace, &index, tree.protect());
    if named.is_empty() {
        return Ok((tree, index));
    }
    started.protect.extend(named);
    let tree = tree_of(home, &workspace, started)?;
    let index = walk_without_drafts(&tree, Some(&index))?;
    Ok((tree, index))
}

/// The sandbox of a run that is to be contained, chosen by trying.
fn chosen(
    deps: &RunDeps,
    started: &RunStarted,
    index: &Index,
) -> Result<Option<(SandboxGiven, Option<SandboxDeps>)>, OpenError> {
    let Some(request) = &deps.sandbox else { return Ok(None) };
    let places = WorkspacePlaces::of(Path::new(&started.workspace), index, None);
    let choice = sandbox::choose(request, &site(deps, started, &places))?;
    Ok(Some((choice.given, choice.deps)))
}

/// Where the sandbox of a run is tried.
fn site<'a>(deps: &RunDeps, started: &'a RunStarted, places: &'a WorkspacePlaces) -> Site<'a> {
    // A session is its client's: only the verification is contained.
    let agent = CalledAgent { info: deps.agent.agent, program: &started.agent.program };
    let agent = deps.session.is_none().then_some(agent);
    Site { workspace: Path::new(&started.workspace), places, agent }
}

/// The sandbox of a run that goes on: the one that it had, unless a person chose another now; with what is to be recorded.
fn kept_or_chosen(
    deps: &RunDeps,
    started: &RunStarted,
    index: &Index,
    accepted: bool,
) -> Result<(Option<SandboxDeps>, Option<Box<SandboxGiven>>), OpenError> {
    match (&deps.sandbox, &started.contained) {
        (Some(request), Some(given)) if !request.anew => {
            let places = WorkspacePlaces::of(Path::new(&started.workspace), index, None);
            let kept = sandbox::kept(request, given, &site(deps, started, &places))?;
            // Accepting calls no agent.
            if let Some(kept) = kept.as_ref().filter(|_| !accepted) {
                kept.still_holds(given, &site(deps, started, &places))?;
            }
            Ok((kept, None))
        }
        // What began without a sandbox goes on without one.
        (Some(request), None) if !request.anew => Ok((None, None)),
        _ => {
            let chosen = chosen(deps, started, index)?;
            Ok(chosen.map_or((None, None), |(given, deps)| (deps, Some(Box::new(given)))))
        }
    }
}

/// What a run that is not over was started with.
fn start_of_open_run(id: &str, state: &State) -> Result<RunStarted, OpenError> {
    match &state.start {
        Some(started) if state.phase != Phase::Over => Ok(started.as_ref().clone()),
        _ => {
            let reason = state.ending.map_or_else(String::new, |e| e.name().into());
            Err(OpenError::Over { run: id.into(), reason })
        }
    }
}

/// Whoever answers a run has looked at what opened the breaker.
fn reset_breaker_of(id: &str, store: &dyn Store, workspace: &Path) -> Result<(), OpenError> {
    if circuit::open_breaker(store, workspace)?.is_some_and(|open| open.run.as_deref() == Some(id)) {
        circuit::reset_breaker(store, workspace)?;
    }
    Ok(())
}

/// Resumes a run that is not over, of whose records some may be known, where its workspace was moved to if that is named.
/// `change` may raise its limits, `requests` are made of it at once; `whole` restores secrets in what the run was given,
/// which the journal does not hold.
pub fn resume(
    home: &Home,
    (id, moved_to, known): (&str, Option<&Path>, Vec<Record>),
    (change, requests): (impl FnOnce(&Policy) -> Policy, Vec<Request>),
    deps: impl FnOnce(&RunStarted) -> RunDeps,
    whole: impl FnOnce(RunStarted, &RunDeps) -> RunStarted,
    watchers: Vec<Box<dyn Watcher>>,
) -> Result<Departure, OpenError> {
    let store = home.store()?;
    let row = store.run(id)?.ok_or_else(|| OpenError::NoSuchRun(id.into()))?;
    let moved_to = moved_to.filter(|there| *there != Path::new(&row.workspace));
    let workspace = moved_to.map_or_else(|| PathBuf::from(&row.workspace), Path::to_path_buf);
    let lock = take_lock(home, &store, &workspace, id)?;
    let place = Place::open(&workspace, &lock).map_err(system("cannot open the workspace"))?;
    // Read under the lock: its previous holder may have written more.
    let records = journal::read_on(&store, id, known)?;
    let state = State::of(&records);
    let started = start_of_open_run(id, &state)?;
    let answers = requests.iter().any(|request| matches!(request, Request::Hint { .. }));
    let accepted = requests.contains(&Request::Accept);
    let hints = inbox::hints(&store, id);
    if answers || !hints.is_empty() {
        reset_breaker_of(id, &store, &workspace)?;
    }
    not_open(&store, &workspace, &started.policy)?;
    let started = match moved_to {
        Some(new) => follow(home, started, new)?,
        None => started,
    };
    let deps = deps(&started);
    let started = whole(started, &deps);
    let tree = tree_of(home, &workspace, &started)?;
    let left = Index::load(&home.index(&workspace));
    let now = walk_without_drafts(&tree, left.as_ref())?;
    let index = files_before(home, (id, &workspace), &state, left, now);
    let plan = started.plan.as_ref().map(|given| bound_files::seen(given, &deps.redactor));
    let version = deps.version.clone();
    // Noted once: the run's times stay ahead of the clock until it has caught up.
    let clock_behind = behind(state.at).filter(|_| state.clock_behind.is_none());
    let moved = moved_to.map(|_| started.workspace.clone());
    let left_session = state.in_session && deps.session.is_none();
    let by_hook = deps.session.is_some();
    let (sandbox, contained) = kept_or_chosen(&deps, &started, &index, accepted)?;
    let mut started = started;
    contained.iter().for_each(|given| started.contained_by(given));
    let resumed = Resumed {
        version,
        rules: RULES,
        plan,
        workspace: moved,
        clock_behind,
        left_session,
        by_hook,
        contained,
    };
    let resumed = Seen::Resumed(resumed);
    let mut facts = vec![Observation { done: inbox::outdated(&store, id), ..resumed.into() }];
    facts.extend(unbooked_costs(home, &store, &records, (&state, &started), &deps)?);
    drop(records);
    let policy = change(&started.policy);
    if policy != started.policy {
        facts.push(Seen::PolicyChanged(Box::new(PolicyChanged { policy })).into());
    }
    facts.extend(hints);
    facts.extend(requests.into_iter().map(|request| Seen::Asked(Asked { request }).into()));
    let ended = go(home, &store, started, state, facts, (place, tree, index), (deps, sandbox), watchers);
    if moved_to.is_some() && ended.is_ok() {
        moved::forget(home, &store, Path::new(&row.workspace));
    }
    ended
}

/// Costs that the journal does not hold: of calls before the database was restored, and of a session between two calls.
fn unbooked_costs(
    home: &Home,
    store: &dyn Store,
    records: &[Record],
    (state, started): (&State, &RunStarted),
    deps: &RunDeps,
) -> Result<Vec<Observation>, OpenError> {
    let pricing = Pricing { prices: &deps.prices, zone: &started.zone };
    recount::after_restore(home, store, pricing)?;
    let found = recount::found(home, store, records, started, pricing)?;
    let found = found.map(|found| Seen::CallsFound(found).into());
    let between = deps
        .session
        .as_deref()
        .and_then(|port| session::worked_between(state, started, port, &deps.prices, records.len()));
    Ok(found.into_iter().chain(between).collect())
}

/// The workspace's files, without those that ralph writes itself.
pub fn tree_of(home: &Home, workspace: &Path, start: &RunStarted) -> Result<Tree, BadGlob> {
    let tree = Tree::new(workspace, Protect::new(&start.protect)?).leaving_out(&start.own_files);
    Ok(tree.leaving_out_dir(home.within(workspace).as_ref()))
}

#[allow(clippy::too_many_arguments)] // start and resume end here with everything they found out
fn go(
    home: &Home,
    store: &dyn Store,
    started: RunStarted,
    state: State,
    facts: Vec<Observation>,
    (place, tree, index): (Place, Tree, Index),
    (deps, sandbox): (RunDeps, Option<SandboxDeps>),
    watchers: Vec<Box<dyn Watcher>>,
) -> Result<Departure, OpenError> {
    let id = started.run.clone();
    let folder = home.run(&id);
    let snapshots = Snapshots::of(home, Path::new(&started.workspace), &id);
    Home::create_private_dir(&folder).map_err(system("cannot create the run's folder"))?;
    moved::remember(&folder, Path::new(&started.workspace));
    let clock = Clock::from(state.ran + in_session_since(&state, &deps));
    let (event_source, sender) = ChannelEvents::new(clock.clone());
    let (watchers, watcher_threads) = Watchers::start(watchers);
    let taken = facts.iter().flat_map(|fact| &fact.done).max().copied();
    let reading = inbox::read(home, &id, taken, sender.clone());
    let for_signals = (sender.clone(), clock.clone());
    let ctx = Arc::new(StepContext::new(
        home,
        started,
        folder,
        (place, tree, snapshots),
        index,
        (deps, sandbox),
        clock,
        watchers.clone(),
        sender,
    ));
    if let Some(moment) = before_the_crash(home, &state, &id).or_else(|| before_the_loss(&ctx)) {
        ctx.protection.restore_from(moment.repositories);
    }
    let world = LiveWorld::new(Arc::clone(&ctx), store).map_err(system("cannot start a thread"))?;
    let signal_thread = signals::listen(for_signals.0, for_signals.1, ctx.under_way.clone())
        .map_err(system("signal handlers could not be installed"))?;
    copy_database_daily(home, &ctx.start.zone);
    let metrics = MetricsWriter::start(home, &ctx.start, &ctx.deps.metrics);
    let mut run = Run::new(&id, state, store, Box::new(world), Box::new(event_source), watchers)
        .redacting(Arc::clone(&ctx.deps.redactor))
        .noting(ctx.deps.notes.clone());
    for fact in facts {
        run.flush()?;
        run.note(fact);
    }
    let left = drive(&mut run);
    if left.is_err() {
        // Nothing can be recorded any more, so nothing may keep running.
        ctx.under_way.end(Why::Person, Duration::ZERO);
    }
    ctx.index().save(&home.index(&ctx.workspace)).discard("save the index of the workspace");
    tree_copy::remove(&ctx.folder.join(BYTECODE)).discard("remove the bytecode of verifications");
    let goes_on = matches!(left, Ok(Left::HandedOver(_)));
    if !goes_on {
        tree_copy::remove(&ctx.folder.join(PACKS)).discard("remove the copies of indexes of packs");
    }
    // Of a workspace that is lost nothing can be read, and nothing may be written at its path.
    if ctx.place.lost().is_none() && !goes_on {
        take_last_snapshot(home, store, &ctx);
        metrics.finish(store, &id);
    }
    let (state, reasons) = run.finish();
    if !goes_on {
        keep_receipt(store, &ctx, &state, &reasons);
    }
    drop((reading, ctx));
    watcher_threads.close();
    drop(signal_thread);
    departure(left, state, &reasons, store)
}

fn departure(
    left: Result<Left, Unwritable>,
    state: State,
    reasons: &[Objection],
    store: &dyn Store,
) -> Result<Departure, OpenError> {
    match left {
        Ok(Left::HandedOver(call)) => Ok(Departure::HandedOver(call, Box::new(state))),
        Ok(Left::Ended(ending)) => {
            store.truncate().discard("truncate the write-ahead log");
            Ok(Departure::Ended(Box::new(outcome(&state, ending, reasons))))
        }
        Err(error) => Err(OpenError::Cut { outcome: Box::new(cut(&state, &error)), error }),
    }
}

/// While a session has the call, the run is active.
fn in_session_since(state: &State, deps: &RunDeps) -> Ms {
    match state.phase {
        Phase::Calling { .. } if state.calls.in_session && deps.session.is_some() => {
            utc().saturating_sub(state.at).max(0)
        }
        _ => 0,
    }
}

/// Copies the database once a day, on a thread of its own; if it fails, the next run tries again.
fn copy_database_daily(home: &Home, zone: &str) {
    let (home, day) = (home.clone(), day_of(utc(), zone).replace('-', ""));
    let copy = move || {
        if let Ok(Some(store)) = home.store_if_any() {
            store.daily_copy(&day).discard("copy the database");
        }
    };
    std::thread::Builder::new()
        .name("copy".into())
        .spawn(copy)
        .discard("start the thread that copies the database");
}

/// A workspace that was moved: what is kept of it follows, and so does the run.
fn follow(home: &Home, mut run: RunStarted, new: &Path) -> Result<RunStarted, OpenError> {
    let old = PathBuf::from(&run.workspace);
    // A run that has not noticed yet still works on its files.
    if let Some(who) = WorkspaceLock::holder(&home.locks(), &old).filter(|who| who.contains(&run.run)) {
        return Err(LockError::Held { workspace: old, who, elsewhere: false }.into());
    }
    let _ = leftovers::end_of_earlier_process(home, &run.run, new);
    moved::follow(home, &run.run, &old, new)
        .map_err(system("cannot bring what is kept of the workspace to its new path"))?;
    run.moved_to(&new.to_string_lossy());
    Ok(run)
}

/// How far the clock is behind a moment that was recorded before, if it was set back. Small corrections are common.
fn behind(recorded: Ms) -> Option<Ms> {
    let behind = recorded.saturating_sub(utc());
    (behind > CLOCK_SLACK).then_some(behind)
}

/// No run starts while the workspace's breaker is open.
fn not_open(store: &dyn Store, workspace: &Path, policy: &Policy) -> Result<(), OpenError> {
    match circuit::still_open(store, workspace, policy.breaker.cooldown)? {
        None => Ok(()),
        Some(open) => Err(OpenError::CircuitOpen(Box::new(open))),
    }
}

fn run_started(id: &str, plan: RunSpec, deps: &RunDeps) -> RunStarted {
    let tasks = plan.tasks.map(|(file, path)| {
        let given = PlanGiven { file, path: path.to_string_lossy().into_owned(), ..PlanGiven::default() };
        PlanGiven { seen: bound_files::seen(&given, &deps.redactor), ..given }
    });
    let marker = plan.policy.gate.marker_file.as_deref();
    let marker_before = marker.and_then(|file| bound_files::marker(&plan.workspace, file));
    RunStarted {
        run: id.into(),
        rules: RULES,
        version: deps.version.clone(),
        workspace: plan.workspace.to_string_lossy().into_owned(),
        prompt: plan.prompt,
        prompt_from: plan.prompt_from,
        agent: plan.agent,
        policy: plan.policy,
        verify: plan.verify.clone(),
        protect: plan.protect,
        zone: plan.zone,
        sandbox: "none".into(),
        base: git_facts(&plan.workspace).head,
        tree: 0,
        plan: tasks,
        marker_before,
        ladder: plan.ladder,
        prompting: plan.prompting,
        history: plan.history,
        oracle_paths: plan.oracle_paths,
        scripts: Vec::new(),
        work_paths: plan.work_paths,
        setup: plan.setup,
        own_files: plan.own_files,
        review: plan.review,
        clock_behind: None,
        session: plan.session,
        skill: plan.skill,
        unrecorded: false,
        analyzers: plan.analyzers,
        rotate: plan.rotate,
        stories: plan.stories,
        contained: None,
    }
}
