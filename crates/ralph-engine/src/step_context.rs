//! What steps have in common: the run's parameters, files, processes and channels. Shared by the loop and the worker.

use crate::clock::{Clock, utc};
use crate::event_source::EventSender;
use crate::home::Home;
use crate::ledger::LedgerAccounts;
use crate::leftovers::{SUPERVISOR, TAG};
use crate::observation::Observation;
use crate::place::Place;
use crate::proof::Scope;
use crate::proof::{Around, Baseline, Comparison, Environment};
use crate::protection::Protection;
use crate::run_deps::RunDeps;
use crate::sandbox::{SandboxDeps, VerifySandbox, WorkspacePlaces};
use crate::snapshots::Snapshots;
use crate::story_plan::StoryPlan;
use crate::under_way::UnderWay;
use crate::watch::Watchers;
use ralph_rules::record::{Attempt, RunStarted};
use ralph_sandbox::policy::is_obeyed;
use ralph_supervisor::Launch;
use ralph_tree::{Index, Tree, TreePath, WalkError, is_own_file};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What steps have in common.
pub struct StepContext {
    /// What the run was started with.
    pub start: RunStarted,
    /// The directory the agent works in.
    pub workspace: PathBuf,
    /// Whether it is still there, and can be written.
    pub place: Place,
    /// The directory of the run's files.
    pub folder: PathBuf,
    /// The workspace's files.
    pub tree: Tree,
    /// ralph's state directory, where it lies in the workspace.
    pub own_dir: Option<TreePath>,
    /// The workspace as it was before each call.
    pub snapshots: Snapshots,
    /// What must not change while a step runs.
    pub protection: Protection,
    /// Adapter, supervisor, redactor.
    pub deps: RunDeps,
    /// What contains the programs of the run; none if nothing does.
    pub sandbox: Option<SandboxDeps>,
    /// The same for verify commands.
    pub verify_sandbox: Option<VerifySandbox>,
    /// Active time.
    pub clock: Clock,
    /// Screens, JSON output and views.
    pub watchers: Watchers,
    /// The process that runs now.
    pub under_way: UnderWay,
    /// The loop is told of usage when usage plus two times the most expensive turn exceeds this (micro-dollars).
    pub tell_spend_from: AtomicI64,
    /// What is reserved for the current call (micro-dollars).
    pub held: AtomicI64,
    /// The current call tests a provider that failed before: the loop is told of its first sign of life.
    pub trying: AtomicBool,
    sender: Mutex<EventSender>,
    /// What an agent printed could not be saved: why.
    unsaved_output: Mutex<Option<String>>,
    /// ralph's state directory.
    pub(crate) home: Home,
    /// The verification rooms of the workspace.
    pub rooms: PathBuf,
    /// What a restore of protected paths is changing, while it does.
    pub pending_restore: PathBuf,
    /// Remembers the contents of installed packages.
    pub(crate) package_cache: PathBuf,
    /// The files before the agent worked; known from the first call on.
    pub(crate) baseline: Mutex<Option<Arc<Baseline>>>,
    /// What lay around them.
    pub(crate) environment: Mutex<Option<Arc<Environment>>>,
    /// The rest of the repository, if the workspace is a part of one.
    pub(crate) around: Mutex<Option<Around>>,
    /// The latest comparison with them.
    pub(crate) comparison: Mutex<Option<Arc<Comparison>>>,
    /// The plan, if it is taken story by story.
    pub stories: Option<StoryPlan>,
    /// The files before the agent worked on the current story.
    pub(crate) story_baseline: Mutex<Option<Arc<Baseline>>>,
    /// The verify commands that apply now, and whether they are those of a story.
    pub(crate) scope: Mutex<Scope>,
    /// What was read-only in the workspace before the first program of this process.
    first_places: OnceLock<WorkspacePlaces>,
    latest: Mutex<Latest>,
}

/// The latest walk and its time; `None` if an earlier process made it.
struct Latest {
    index: Arc<Index>,
    at: Option<Instant>,
}

impl StepContext {
    /// `index` is a walk made just now or, after a crash, the one before the interrupted step.
    #[allow(clippy::too_many_arguments)] // a plain list of what it holds
    pub fn new(
        home: &Home,
        start: RunStarted,
        folder: PathBuf,
        (place, tree, snapshots): (Place, Tree, Snapshots),
        index: Index,
        (deps, sandbox): (RunDeps, Option<SandboxDeps>),
        clock: Clock,
        watchers: Watchers,
        sender: EventSender,
    ) -> StepContext {
        let own_dir = home.within(Path::new(&start.workspace));
        let verify_sandbox = sandbox
            .clone()
            .map(|deps| VerifySandbox::new(deps, Path::new(&start.workspace), WorkspacePlaces::default()));
        let baseline = Baseline::load(&folder).map(|baseline| baseline.without(own_dir.as_ref()));
        StepContext {
            workspace: PathBuf::from(&start.workspace),
            own_dir,
            under_way: UnderWay::of_run(&folder),
            // After a crash, a verification may come before the next call.
            baseline: Mutex::new(baseline.map(Arc::new)),
            environment: Mutex::new(Environment::load(&folder).map(Arc::new)),
            around: Mutex::new(Around::load(&folder, Path::new(&start.workspace), home)),
            comparison: Mutex::new(None),
            stories: StoryPlan::of(&start, &folder),
            story_baseline: Mutex::new(Baseline::load_of_story(&folder).map(Arc::new)),
            scope: Mutex::new(Scope::of_run(&start)),
            home: home.clone(),
            rooms: home.rooms(Path::new(&start.workspace)),
            package_cache: home.package_cache(Path::new(&start.workspace)),
            first_places: OnceLock::new(),
            pending_restore: home.pending_restore(Path::new(&start.workspace)),
            start,
            place,
            folder,
            tree,
            snapshots,
            protection: Protection::default(),
            deps,
            sandbox,
            verify_sandbox,
            clock,
            watchers,
            tell_spend_from: AtomicI64::new(0),
            held: AtomicI64::new(0),
            trying: AtomicBool::new(false),
            sender: Mutex::new(sender),
            unsaved_output: Mutex::new(None),
            latest: Mutex::new(Latest { index: Arc::new(index), at: None }),
        }
    }

    /// The ledger accounts that this run's spending is booked to now.
    pub fn ledger_accounts(&self) -> LedgerAccounts {
        LedgerAccounts::of(&self.start, utc())
    }

    /// Sends an observation to the loop.
    pub fn send(&self, observation: impl Into<Observation>) {
        let observation = self.place.after(observation.into());
        // Fails only after the loop has ended, when no observation matters any more.
        let _ = self.sender.lock().unwrap_or_else(PoisonError::into_inner).send(observation);
    }

    /// Walks the workspace. One that cannot be read after several attempts counts as empty, because to call it unchanged
    /// would hide what happened. One that is lost stays as it was seen last: nobody deleted what is in it, and the step
    /// that walks it ends with that fact instead of its own.
    pub fn walk(&self) -> Arc<Index> {
        let began = Instant::now();
        let mut latest = self.latest();
        if self.place.lost().is_some() {
            return Arc::clone(&latest.index);
        }
        let index = (0..WALKS).find_map(|_| match self.tree.walk(Some(&latest.index)) {
            Err(WalkError::Root { .. }) => Some(Index::default()),
            walked => walked.ok(),
        });
        let index = index.unwrap_or_else(|| {
            tracing::warn!(workspace = %self.workspace.display(), "the workspace cannot be read; it counts as empty");
            Index::default()
        });
        tracing::debug!(took = ?began.elapsed(), "walked the workspace");
        // It may have gone away while it was walked.
        if self.place.lost().is_some() {
            return Arc::clone(&latest.index);
        }
        *latest = Latest { index: Arc::new(index), at: Some(Instant::now()) };
        Arc::clone(&latest.index)
    }

    /// The latest walk, or a new one if it is older than `age`.
    pub fn walked_within(&self, age: Duration) -> Arc<Index> {
        let latest = self.latest();
        if latest.at.is_some_and(|at| at.elapsed() <= age) {
            return Arc::clone(&latest.index);
        }
        drop(latest);
        self.walk()
    }

    /// Walks the workspace before a call. What changed since the last step is the user's, and becomes part of the
    /// baseline. After a supervisor was lost it is nobody's: protected paths stay as they were confirmed last, so that
    /// the next inspection compares with that.
    pub fn walk_before_call(&self, age: Duration) -> Arc<Index> {
        let before = self.index();
        if self.deps.session.as_ref().is_some_and(|port| port.has_turn()) {
            // The session has worked already, and this call is closed with what it did.
            self.call_begins_around(false);
            return before;
        }
        let now = self.walked_within(age);
        // A session lives while ralph verifies, so that what changes meanwhile may be its work.
        let nobodys = self.under_way.loss().happened() || self.deps.session.is_some();
        self.call_begins_around(!nobodys);
        if !nobodys {
            self.user_changed(&before, &now);
            return now;
        }
        let merged = Arc::new(now.with_protected_of(&before));
        self.latest().index = Arc::clone(&merged);
        merged
    }

    /// A person asked to stop while a step without a process is under way.
    pub fn is_interrupted(&self) -> bool {
        self.under_way.interrupted_by().is_some()
    }

    /// An attempt's transcript is incomplete because it could not be written: no further call is paid for.
    pub fn note_unsaved_output(&self, id: Attempt, error: &std::io::Error) {
        let what = format!(
            "what the agent printed in {id} could not all be saved to {}: {error}; make room for it and resume",
            self.folder.display()
        );
        *self.unsaved_output.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// Why an earlier transcript is incomplete, if one is.
    pub fn unsaved_output(&self) -> Option<String> {
        self.unsaved_output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The latest walk.
    pub fn index(&self) -> Arc<Index> {
        Arc::clone(&self.latest().index)
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A launch of a program in the workspace, under the supervisor, tagged with the run.
    pub fn launch(&self, program: impl Into<OsString>, iteration: u32) -> Launch {
        let mut launch = Launch::new(&self.deps.supervisor, program, &self.workspace);
        launch.supervisor_args.clone_from(&self.deps.supervisor_args);
        launch.env_remove.clone_from(&self.deps.env_remove);
        launch.env.push((TAG.into(), self.start.run.clone().into()));
        launch.env.push(("RALPH_ITERATION".into(), iteration.to_string().into()));
        launch.record = Some(self.folder.join(SUPERVISOR));
        launch.limits.final_grace = self.deps.final_grace;
        launch.limits.end_grace = self.deps.end_grace;
        launch
    }

    /// What of the workspace the programs of a step must not write, as it was walked last.
    pub fn read_only_places(&self) -> WorkspacePlaces {
        match &self.sandbox {
            Some(_) => {
                let places = |first| WorkspacePlaces::of(&self.workspace, &self.index(), first);
                let first = self.first_places.get_or_init(|| places(None));
                let now = places(Some(first));
                // Settings of other programs that the agent makes itself it may go on to write: its end names them.
                let is_read_only =
                    |name: &&String| !is_obeyed(name.as_bytes()) || first.entries.contains(*name);
                let entries = now.entries.iter().filter(is_read_only).cloned().collect();
                WorkspacePlaces { plan_file: self.plan_in_workspace(), entries, ..now }
            }
            None => WorkspacePlaces::default(),
        }
    }

    /// The plan that binds, relative to the workspace, if it is in it.
    fn plan_in_workspace(&self) -> Option<PathBuf> {
        let plan = Path::new(&self.start.plan.as_ref()?.path).canonicalize().ok()?;
        Some(plan.strip_prefix(self.workspace.canonicalize().ok()?).ok()?.to_path_buf())
    }

    /// Whether ralph itself writes a path of the workspace.
    pub fn is_own(&self, path: &[u8]) -> bool {
        let own_dir = self.own_dir.as_ref().is_some_and(|dir| dir.as_bytes() == path);
        own_dir || self.start.own_files.iter().any(|own| is_own_file(own.as_bytes(), path))
    }

    /// The path of a run's file, such as `001.a1.prompt.md`.
    pub fn file(&self, id: Attempt, what: &str) -> (String, PathBuf) {
        let name = format!("{id}.{what}");
        let path = self.folder.join(&name);
        (name, path)
    }
}

/// Attempts to walk the workspace.
const WALKS: u32 = 3;
