//! A deliverer in a process of its own that ends abruptly at a point it is told: this test's program, started again.

use crate::scene::{appends, webhook};
use ralph_engine::home::Home;
use ralph_notify::{Delivery, Sender, StartGate, Target};
use ralph_store::*;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const POINT: &str = "NOTIFY_TEST_POINT";
const STATE: &str = "NOTIFY_TEST_STATE";
const URL: &str = "NOTIFY_TEST_URL";
const FILE: &str = "NOTIFY_TEST_FILE";

/// The points at which a deliverer is killed: before and after each time it writes to the store.
pub const POINTS: [&str; 4] = ["before-lease", "after-lease", "before-settle", "after-settle"];

/// Starts a deliverer for a webhook or a command that is killed at a point; `none`: it lives.
pub fn start(home: &Home, url: Option<&str>, file: Option<&Path>, point: &str) -> Child {
    command(home, url, file, point).spawn().unwrap()
}

/// The same, to be started with further variables.
pub fn command(home: &Home, url: Option<&str>, file: Option<&Path>, point: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::deliverer", "--nocapture"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.env(POINT, point).env(STATE, home.dir()).env_remove(URL).env_remove(FILE);
    if let Some(url) = url {
        command.env(URL, url);
    }
    if let Some(file) = file {
        command.env(FILE, file);
    }
    command
}

/// The child's main. Does nothing in an ordinary run of the tests.
#[test]
fn deliverer() {
    let Ok(point) = std::env::var(POINT) else { return };
    let home = Home::at(std::env::var(STATE).unwrap());
    let target: Target = match (std::env::var(URL), std::env::var(FILE)) {
        (Ok(url), _) => webhook(&url),
        (_, file) => appends(&file.unwrap()),
    };
    let store = Dying { store: home.store().unwrap(), point, calls: AtomicU32::new(0) };
    let owner = format!("child {}", std::process::id());
    let (store, sender, gate) = (Arc::new(store), Arc::new(Sender::new()), StartGate::default());
    let delivery = Delivery { store, owner, sender, traces: None, gate };
    while delivery.next(&target, None).unwrap().is_some() {}
}

/// A store whose process is killed at a point.
struct Dying {
    store: Database,
    point: String,
    calls: AtomicU32,
}

impl Dying {
    fn at(&self, point: &str) {
        if self.point == point {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        }
    }

    fn around<T>(&self, what: &str, call: impl FnOnce() -> T) -> T {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.at(&format!("before-{what}"));
        let answer = call();
        self.at(&format!("after-{what}"));
        answer
    }
}

impl Store for Dying {
    fn outbox_lease(&self, lease: &Lease<'_>) -> Result<Vec<OutboxEntry>, StoreError> {
        self.around("lease", || self.store.outbox_lease(lease))
    }
    fn outbox_settle(
        &self,
        which: (&[String], &str, i64),
        delivery: &ralph_store::Delivery,
        answer: &str,
    ) -> Result<usize, StoreError> {
        self.around("settle", || self.store.outbox_settle(which, delivery, answer))
    }
    fn outbox_keep_until(&self, now: i64, ends: Option<i64>) -> Result<usize, StoreError> {
        self.store.outbox_keep_until(now, ends)
    }
    fn outbox_prune(&self, before: i64) -> Result<usize, StoreError> {
        self.store.outbox_prune(before)
    }
    fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxEntry>, StoreError> {
        self.store.outbox(filter)
    }
    fn commit(&self, batch: &Batch) -> Result<Committed, CommitError> {
        self.store.commit(batch)
    }
    fn memo(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.store.memo(key)
    }
    fn read(&self, stream: &str, after: u64) -> Result<Vec<Entry>, StoreError> {
        self.store.read(stream, after)
    }
    fn head(&self, stream: &str) -> Result<Option<Head>, StoreError> {
        self.store.head(stream)
    }
    fn since(&self, prefix: &str, after: Position, limit: usize) -> Result<Tail, StoreError> {
        self.store.since(prefix, after, limit)
    }
    fn position(&self) -> Result<Position, StoreError> {
        self.store.position()
    }
    fn changed(&self) -> Result<u64, StoreError> {
        self.store.changed()
    }
    fn streams(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.store.streams(prefix)
    }
    fn ask(&self, run: &str, body: &str, at: i64) -> Result<RequestId, StoreError> {
        self.store.ask(run, body, at)
    }
    fn requests(&self, run: &str) -> Result<Vec<Request>, StoreError> {
        self.store.requests(run)
    }
    fn meter(&self, meter: &str) -> Result<Totals, StoreError> {
        self.store.meter(meter)
    }
    fn window(&self, meter: &str, span: i64, now: i64) -> Result<WindowUse, StoreError> {
        self.store.window(meter, span, now)
    }
    fn booked(&self, id: &str) -> Result<Option<Booked>, StoreError> {
        self.store.booked(id)
    }
    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.store.runs(filter)
    }
    fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        self.store.run(id)
    }
    fn iterations(&self, run: &str) -> Result<Vec<IterationRow>, StoreError> {
        self.store.iterations(run)
    }
    fn iterations_with_error(
        &self,
        workspace: &str,
        error: &str,
        before: &str,
        most: u32,
    ) -> Result<Vec<IterationRow>, StoreError> {
        self.store.iterations_with_error(workspace, error, before, most)
    }
    fn accounts(&self, filter: &AccountFilter) -> Result<Vec<AccountRow>, StoreError> {
        self.store.accounts(filter)
    }
    fn memos(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.store.memos(prefix)
    }
}
