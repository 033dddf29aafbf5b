//! What every step may need, shared with the threads that carry steps out.

use crate::clock::{Clock, utc};
use crate::event_source::EventSender;
use crate::ledger::LedgerAccounts;
use crate::observation::Observation;
use crate::oracle::baseline::Baseline;
use crate::protection::Protection;
use crate::run_deps::RunDeps;
use crate::snapshots::Snapshots;
use crate::under_way::UnderWay;
use crate::watch::Watchers;
use ralph_agents::Activity;
use ralph_rules::record::{Attempt, RunStarted};
use ralph_supervisor::{Exit, How, Launch};
use ralph_tree::{Index, Tree, WalkError};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What every step may need.
pub struct StepContext {
    /// What the run was given.
    pub start: RunStarted,
    /// Where the agent works.
    pub workspace: PathBuf,
    /// The run's files.
    pub folder: PathBuf,
    /// The workspace's files.
    pub tree: Tree,
    /// The workspace as it was before each call.
    pub snapshots: Snapshots,
    /// What must not change while a step runs.
    pub protection: Protection,
    /// Adapter, supervisor, redactor.
    pub deps: RunDeps,
    /// Active time.
    pub clock: Clock,
    /// Sees what the agent does.
    pub watchers: Watchers,
    /// The process under way.
    pub under_way: UnderWay,
    /// Usage, two dearest turns ahead, above which the loop is told (micro-dollars).
    pub tell_spend_from: AtomicI64,
    /// What is really held for the call under way (micro-dollars).
    pub held: AtomicI64,
    /// The call under way tries a provider that failed: its first sign of life is told.
    pub trying: AtomicBool,
    sender: Mutex<EventSender>,
    /// The oracle before the agent; known from the first call on.
    base: Mutex<Option<Baseline>>,
    latest: Mutex<Latest>,
}

/// The latest walk, and when it was; none for one that an earlier process made.
struct Latest {
    index: Arc<Index>,
    at: Option<Instant>,
}

impl StepContext {
    /// A ctx whose workspace was just walked; or, after a crash, with the walk before the step that was under way.
    #[allow(clippy::too_many_arguments)] // a plain list of what it holds
    pub fn new(
        start: RunStarted,
        folder: PathBuf,
        (tree, snapshots): (Tree, Snapshots),
        index: Index,
        deps: RunDeps,
        clock: Clock,
        watchers: Watchers,
        sender: EventSender,
    ) -> StepContext {
        StepContext {
            workspace: PathBuf::from(&start.workspace),
            // A process that comes after a crash may have to prove before it calls.
            base: Mutex::new(Baseline::load(&folder)),
            start,
            folder,
            tree,
            snapshots,
            protection: Protection::default(),
            deps,
            clock,
            watchers,
            under_way: UnderWay::default(),
            tell_spend_from: AtomicI64::new(0),
            held: AtomicI64::new(0),
            trying: AtomicBool::new(false),
            sender: Mutex::new(sender),
            latest: Mutex::new(Latest { index: Arc::new(index), at: None }),
        }
    }

    /// Where this run's money is booked now.
    pub fn ledger_accounts(&self) -> LedgerAccounts {
        LedgerAccounts::of(&self.start, utc())
    }

    /// Speaks into the loop's event_source.
    pub fn send(&self, observation: impl Into<Observation>) {
        // Nobody hears only when the loop has ended; then there is nothing left to tell.
        let _ = self.sender.lock().unwrap_or_else(PoisonError::into_inner).send(observation.into());
    }

    /// Walks the workspace. A workspace that is gone is an empty one: everything in it was deleted. One that cannot
    /// be looked at, tried again, counts as gone too: to take it for unchanged would hide what happened.
    pub fn walk(&self) -> Arc<Index> {
        let began = Instant::now();
        let mut latest = self.latest();
        let index = (0..WALKS).find_map(|_| match self.tree.walk(Some(&latest.index)) {
            Err(WalkError::Root { .. }) => Some(Index::default()),
            walked => walked.ok(),
        });
        let index = index.unwrap_or_else(|| {
            tracing::warn!(workspace = %self.workspace.display(), "the workspace cannot be read; it counts as empty");
            Index::default()
        });
        tracing::debug!(took = ?began.elapsed(), "walked the workspace");
        *latest = Latest { index: Arc::new(index), at: Some(Instant::now()) };
        Arc::clone(&latest.index)
    }

    /// The latest walk, made anew where it is older than this.
    pub fn walked_within(&self, age: Duration) -> Arc<Index> {
        let latest = self.latest();
        if latest.at.is_some_and(|at| at.elapsed() <= age) {
            return Arc::clone(&latest.index);
        }
        drop(latest);
        self.walk()
    }

    /// Puts the workspace aside before an iteration's call. A net that cannot be spread is no reason not to work, but
    /// it is said.
    pub fn take_snapshot(&self, iteration: u32) {
        let why = match self.snapshots.before(iteration, &self.index()) {
            Ok(_) => return,
            Err(error) => error,
        };
        let text = format!(
            "ralph: the workspace could not be put aside ({why}); `ralph undo` cannot come back here"
        );
        self.watchers.activity(&Activity::Noise { text });
    }

    /// The oracle before the agent, where it is known.
    pub fn oracle(&self) -> MutexGuard<'_, Option<Baseline>> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest walk.
    pub fn index(&self) -> Arc<Index> {
        Arc::clone(&self.latest().index)
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A program in the workspace, under the supervisor, tagged with the run.
    pub fn launch(&self, program: impl Into<OsString>, iteration: u32) -> Launch {
        let mut launch = Launch::new(&self.deps.supervisor, program, &self.workspace);
        launch.supervisor_args.clone_from(&self.deps.supervisor_args);
        launch.env_remove.clone_from(&self.deps.env_remove);
        launch.env.push((TAG.into(), self.start.run.clone().into()));
        launch.env.push(("RALPH_ITERATION".into(), iteration.to_string().into()));
        launch.limits.final_grace = self.deps.final_grace;
        launch.limits.end_grace = self.deps.end_grace;
        launch
    }

    /// The path of a run's file, such as `001.a1.prompt.md`.
    pub fn file(&self, id: Attempt, what: &str) -> (String, PathBuf) {
        let name = format!("{id}.{what}");
        let path = self.folder.join(&name);
        (name, path)
    }
}

/// Ends the processes of a run that its supervisor could not: it died, or they withstood it. They are found by the run's
/// tag; the result says how many there were.
pub fn sweep_after(exit: &Exit, run: &str) -> u32 {
    if exit.how != How::SupervisorLost && exit.left == 0 {
        return 0;
    }
    u32::try_from(ralph_supervisor::sweep(TAG, run)).unwrap_or(u32::MAX)
}

/// How often a walk is tried.
const WALKS: u32 = 3;

/// The variable by which ralph's processes are known, also after a crash.
pub const TAG: &str = "RALPH_RUN";
