//! Delivers in the background: one thread looks for new targets, rows of old ones, and crashes; one thread a target
//! delivers, so that a receiver that hangs holds up nobody else. When the process ends, what is under way is left to the
//! next deliverer. A configuration or a database that cannot be read is tried again.

use crate::config::Config;
use crate::crashes::note_crashes;
use crate::deliver::{Delivery, TraceMaker};
use crate::rows::Notes;
use crate::sender::Sender;
use crate::start_gate::StartGate;
use crate::target::Target;
use crate::upkeep::{follow_quiet_hours, prune, removed};
use ralph_diagnostics::Discard;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_store::{OutboxFilter, OutboxState, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Reads the configuration as it is now; none where it cannot be read.
pub type Loader = Arc<dyn Fn() -> Option<Config> + Send + Sync>;

/// How often a target's thread looks for rows.
const LOOK: Duration = Duration::from_millis(500);
/// How often somebody looks for crashes and for rows of targets that are gone; and for the first time: a run that is being
/// resumed has no process yet.
const CRASHES: Duration = Duration::from_secs(30);
const FIRST_LOOK: Duration = Duration::from_secs(2);
/// How long marking a program may take at the end of the process, once nothing else is waited for.
const MARKING: Duration = Duration::from_millis(500);
/// How often closed notes are looked through for old ones.
const PRUNES: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a target must be missing from the configuration before its rows are closed: an editor may have emptied the file
/// for a moment.
const REALLY_GONE: Duration = Duration::from_secs(1);

/// Delivers in the background until it is dropped.
pub struct Deliverer {
    shared: Arc<Shared>,
    main: Option<JoinHandle<()>>,
}

struct Shared {
    home: Home,
    load: Loader,
    traces: Option<TraceMaker>,
    stop: AtomicBool,
    /// The configuration as it was read last: a target may get other settings and keep its id.
    configured: Mutex<Config>,
    /// Those that cannot be delivered to from this process.
    unreachable: Mutex<BTreeSet<String>>,
    /// Closed when this ends.
    gate: StartGate,
    /// Deliveries under way. A program's row is closed before the program is started, so rows alone do not tell.
    in_flight: AtomicUsize,
    /// The targets are known, or cannot be for now.
    ready: AtomicBool,
    turn: Mutex<u64>,
    wake: Condvar,
    name: String,
}

impl Deliverer {
    /// Starts the threads. Nothing is opened and nothing is read before this returns.
    pub fn start(home: &Home, load: Loader, traces: Option<TraceMaker>) -> Deliverer {
        let shared = Arc::new(Shared {
            home: home.clone(),
            load,
            traces,
            stop: AtomicBool::new(false),
            configured: Mutex::default(),
            unreachable: Mutex::default(),
            gate: StartGate::default(),
            in_flight: AtomicUsize::new(0),
            ready: AtomicBool::new(false),
            turn: Mutex::default(),
            wake: Condvar::new(),
            name: owner(),
        });
        let main = Arc::clone(&shared);
        let main = std::thread::Builder::new().name("notify".into()).spawn(move || main.run());
        Deliverer { shared, main: main.ok() }
    }

    /// Waits until everything that is due was tried and no delivery is under way, at most so long. What is left is
    /// delivered by somebody else; no program is marked as started and then not started.
    pub fn finish(self, longest: Duration) {
        let until = Instant::now() + longest;
        let Ok(Some(store)) = self.shared.home.store_if_any() else { return };
        self.shared.poke();
        // The rows first: whoever closed one of them counts as in flight until it is done.
        let is_busy = || self.shared.is_due(&store).unwrap_or(false) || self.shared.is_delivering();
        let last_start = until.checked_sub(MARKING).unwrap_or(until);
        while Instant::now() < last_start && is_busy() {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.shared.gate.close(until);
    }
}

impl Drop for Deliverer {
    /// Asks the threads to end, and does not wait for those that deliver.
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.poke();
        if let Some(main) = self.main.take().filter(JoinHandle::is_finished) {
            let _ = main.join();
        }
    }
}

impl Shared {
    fn run(self: &Arc<Self>) {
        let Some(config) = self.first_config() else { return };
        let Some(store) = self.open() else { return };
        let delivery = Delivery {
            store,
            owner: self.name.clone(),
            sender: Arc::new(Sender::new()),
            traces: self.traces.clone(),
            gate: self.gate.clone(),
        };
        let mut known = Vec::new();
        self.follow(&config, &mut known, &delivery);
        follow_quiet_hours(&config, utc(), &*delivery.store).discard("follow the quiet hours");
        self.ready.store(true, Ordering::Relaxed);
        self.sleep(FIRST_LOOK);
        let mut pruned: Option<Instant> = None;
        while !self.stopped() {
            if pruned.is_none_or(|at| at.elapsed() > PRUNES) {
                prune(&*delivery.store, utc()).discard("delete notes that were closed long ago");
                pruned = Some(Instant::now());
            }
            self.look(&mut known, &delivery).discard("look for notes to deliver");
            self.sleep(CRASHES);
        }
    }

    /// The configuration, as soon as it can be read and lists a target; none where this deliverer ends before.
    fn first_config(&self) -> Option<Config> {
        let mut failures = 0;
        while !self.stopped() {
            let config = (self.load)();
            if config.as_ref().is_some_and(|config| !config.targets.is_empty()) {
                return config;
            }
            self.ready.store(true, Ordering::Relaxed);
            match config {
                Some(_) => self.sleep(CRASHES),
                None => self.back_off(&mut failures),
            }
        }
        None
    }

    /// The store, as soon as there is one; none where this deliverer ends before.
    fn open(&self) -> Option<Arc<dyn Store>> {
        let mut failures = 0;
        while !self.stopped() {
            match self.home.store_if_any() {
                Ok(Some(store)) => return Some(Arc::new(store)),
                Ok(None) => self.sleep(LOOK),
                Err(error) => {
                    Err::<(), _>(error).discard("open the database to deliver notes");
                    self.back_off(&mut failures);
                }
            }
        }
        None
    }

    /// Takes over the targets with their settings, and starts a thread for each new one.
    fn follow(self: &Arc<Self>, config: &Config, known: &mut Vec<String>, delivery: &Delivery) {
        let before = std::mem::replace(&mut *locked(&self.configured), config.clone());
        if before != *config {
            self.poke();
        }
        for id in config.targets.iter().map(Target::id) {
            if known.contains(&id) {
                continue;
            }
            known.push(id.clone());
            let shared = Arc::clone(self);
            let owner = format!("{} {id}", delivery.owner);
            let delivery = Delivery { owner, ..delivery.clone() };
            let work = move || shared.deliver(&id, &delivery);
            std::thread::Builder::new().name("notify-target".into()).spawn(work).discard("start a thread");
        }
    }

    /// Notes crashes, and lets waiting rows follow the configuration. It is read again for it: a row of a target that was
    /// added since this process began is not to be lost.
    fn look(self: &Arc<Self>, known: &mut Vec<String>, delivery: &Delivery) -> Result<(), StoreError> {
        let Some(config) = (self.load)() else { return Ok(()) };
        self.follow(&config, known, delivery);
        if let Some(notes) = Notes::of(&config) {
            note_crashes(&*delivery.store, &self.home, &notes, utc())?;
        }
        follow_quiet_hours(&config, utc(), &*delivery.store)?;
        self.close_removed(&removed(&config, &*delivery.store)?, delivery)
    }

    /// Closes rows of targets that the configuration does not list now either.
    fn close_removed(&self, gone: &BTreeSet<String>, delivery: &Delivery) -> Result<(), StoreError> {
        if gone.is_empty() {
            return Ok(());
        }
        self.sleep(REALLY_GONE);
        let read_at = utc();
        let Some(config) = (self.load)().filter(|_| !self.stopped()) else { return Ok(()) };
        for id in gone.intersection(&removed(&config, &*delivery.store)?) {
            delivery.drop_target(id, read_at)?;
        }
        Ok(())
    }

    /// One target's thread.
    fn deliver(&self, id: &str, delivery: &Delivery) {
        let mut failures = 0;
        while !self.stopped() {
            // Somebody else may have the variable or the file that is missing here: the rows stay theirs.
            let config = locked(&self.configured).clone();
            let target = config.target(id).filter(|target| target.problem().is_none());
            self.note_reachable(id, target.is_some());
            let Some(target) = target else {
                self.sleep(CRASHES);
                continue;
            };
            // Rows that came due by another way than the end of quiet hours: a note from before them, another attempt.
            if config.kept_until(target, utc()).is_some() {
                self.sleep(LOOK);
                continue;
            }
            let under_way = InFlight::new(&self.in_flight);
            let next = delivery.next(target, None);
            drop(under_way);
            match next {
                Ok(Some(_)) => failures = 0,
                Ok(None) => self.sleep(LOOK),
                Err(error) => {
                    Err::<(), _>(error).discard("deliver a note");
                    self.back_off(&mut failures);
                }
            }
        }
    }

    /// Sleeps longer after each failure.
    fn back_off(&self, failures: &mut u32) {
        *failures = failures.saturating_add(1);
        self.sleep(LOOK * (*failures).min(60));
    }

    fn note_reachable(&self, id: &str, yes: bool) {
        let mut unreachable = locked(&self.unreachable);
        match yes {
            true => unreachable.remove(id),
            false => unreachable.insert(id.to_owned()),
        };
    }

    /// Whether something is due that this process delivers or could deliver now.
    fn is_due(&self, store: &dyn Store) -> Result<bool, StoreError> {
        if !self.ready.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let now = utc();
        let filter = OutboxFilter { state: Some(OutboxState::Pending), ..OutboxFilter::default() };
        let (config, unreachable) = (locked(&self.configured).clone(), locked(&self.unreachable).clone());
        let is_kept = |target| config.kept_until(target, now).is_some();
        let reached: BTreeMap<String, bool> =
            config.targets.iter().map(|target| (target.id(), is_kept(target))).collect();
        let mine = |owner: &Option<String>| owner.as_ref().is_some_and(|owner| owner.starts_with(&self.name));
        Ok(store.outbox(&filter)?.iter().any(|entry| {
            let under_way = mine(&entry.owner) && entry.leased_until.is_some_and(|until| until > now);
            let reached = reached.get(&entry.row.target).filter(|_| !unreachable.contains(&entry.row.target));
            reached.is_some_and(|kept| under_way || !kept && entry.can_be_leased(now, None))
        }))
    }

    fn is_delivering(&self) -> bool {
        self.in_flight.load(Ordering::SeqCst) > 0
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn poke(&self) {
        *locked(&self.turn) += 1;
        self.wake.notify_all();
    }

    /// Until somebody pokes, at most so long.
    fn sleep(&self, longest: Duration) {
        let turn = locked(&self.turn);
        let before = *turn;
        if !self.stopped() {
            drop(self.wake.wait_timeout_while(turn, longest, |now| *now == before));
        }
    }
}

/// Counts as a delivery under way until it is dropped.
struct InFlight<'a>(&'a AtomicUsize);

impl InFlight<'_> {
    fn new(count: &AtomicUsize) -> InFlight<'_> {
        count.fetch_add(1, Ordering::SeqCst);
        InFlight(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that no other deliverer has.
fn owner() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nth = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{}.{nth}", std::process::id(), utc())
}
