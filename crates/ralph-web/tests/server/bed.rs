//! A server in this process on a store of its own, and runs to look at.

use super::client::Client;
use ralph_engine::home::Home;
use ralph_engine::redact::Redactor;
use ralph_store::{Batch, Database, IterationRow, Put, Row, RunRow, Store};
use ralph_view::board::BoardSettings;
use ralph_web::{Server, ServerSettings, Stop, Token};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tempfile::TempDir;

/// A state directory, and a server on it.
pub struct Bed {
    pub dir: TempDir,
    pub home: Home,
    pub client: Client,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Bed {
    /// With an empty store.
    pub fn new() -> Bed {
        Bed::with(|_| {})
    }

    /// With what `prepare` writes to the state directory first.
    pub fn with(prepare: impl FnOnce(&Home)) -> Bed {
        Bed::on(tempfile::tempdir().unwrap(), false, prepare)
    }

    /// In another time zone.
    pub fn in_zone(zone: &str) -> Bed {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("state"));
        let (client, stop, thread) = start(&home, false, zone);
        Bed { dir, home, client, stop, thread: Some(thread) }
    }

    /// That takes requests to runs.
    pub fn with_control() -> Bed {
        Bed::on(tempfile::tempdir().unwrap(), true, |_| {})
    }

    /// In this directory, with what `prepare` writes to the state directory first.
    pub fn on(dir: TempDir, allow_control: bool, prepare: impl FnOnce(&Home)) -> Bed {
        let home = Home::at(dir.path().join("state"));
        prepare(&home);
        let (client, stop, thread) = start(&home, allow_control, "UTC");
        Bed { dir, home, client, stop, thread: Some(thread) }
    }

    /// Ends the server and starts another one on the same store.
    pub fn restart(&mut self) {
        self.end();
        let (client, stop, thread) = start(&self.home, false, "UTC");
        (self.client, self.stop, self.thread) = (client, stop, Some(thread));
    }

    pub fn end(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub fn store(&self) -> Database {
        self.home.store().unwrap()
    }
}

impl Deref for Bed {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn start(home: &Home, allow_control: bool, zone: &str) -> (Client, Stop, JoinHandle<()>) {
    let token = Token::new().unwrap();
    let server = Server::bind(ServerSettings {
        home: home.clone(),
        board: BoardSettings { zone: zone.into(), ..BoardSettings::default() },
        listen: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        allow_control,
        token: token.clone(),
        redactor: Arc::new(|_: &Path| Redactor::new(std::iter::empty::<(String, Vec<u8>)>())),
    })
    .unwrap();
    let (address, stop) = (server.address(), server.stopper());
    let client = Client { address, token: token.text().to_owned() };
    let thread = std::thread::spawn(move || server.run().unwrap());
    (client, stop, thread)
}

/// A run's row.
pub fn row(id: &str, head: u64) -> RunRow {
    RunRow {
        id: id.into(),
        workspace: format!("/work/{id}"),
        task: format!("Task of {id}"),
        agent: "claude".into(),
        started: 1_700_000_000_000,
        updated: 1_700_000_000_000,
        status: "RUNNING".into(),
        max_iterations: 10,
        max_cost_micro: 5_000_000,
        resumable: true,
        cost_complete: true,
        head,
        ..RunRow::default()
    }
}

/// Writes one more record of a run, with its row and the attempt under way.
pub fn write(store: &dyn Store, row: RunRow) {
    let put = Put {
        stream: format!("run/{}", row.id),
        expect: row.head - 1,
        v: 1,
        kind: "note".into(),
        body: "{}".into(),
        ..Put::default()
    };
    let attempt = IterationRow {
        run: row.id.clone(),
        n: 1,
        attempt: 1,
        decision: "running".into(),
        ..IterationRow::default()
    };
    let rows = vec![Row::Run(Box::new(row)), Row::Iteration(attempt)];
    store.commit(&Batch { put: vec![put], rows, now: 1_700_000_000_000, ..Batch::default() }).unwrap();
}
