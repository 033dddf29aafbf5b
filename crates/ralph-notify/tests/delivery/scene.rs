//! A state directory with an outbox, and targets to deliver to.

use ralph_engine::home::Home;
use ralph_engine::redact::Secret;
use ralph_notify::{Address, Delivery, Format, Kind, Sender, StartGate, Target, Webhook};
use ralph_store::{Batch, Database, OutboxEntry, OutboxFilter, OutboxRow, OutboxState, Store};
use ralph_view::note::Note;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// The secret of every signed webhook here.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub struct Scene {
    pub dir: TempDir,
}

impl Scene {
    pub fn new() -> Scene {
        Scene { dir: tempfile::tempdir().unwrap() }
    }

    pub fn home(&self) -> Home {
        Home::at(self.dir.path().join("state"))
    }

    pub fn store(&self) -> Arc<Database> {
        Arc::new(self.home().store().unwrap())
    }

    /// Writes a note for a target; its id is this number.
    pub fn note(&self, target: &Target, number: u64) -> OutboxRow {
        let note = Note {
            event: "completed".into(),
            at: 1_794_700_800_000,
            run: format!("0198c1d2-aaaa-7bbb-8ccc-{number:012}"),
            workspace: "parser".into(),
            task: "Fix the parser".into(),
            agent: "claude".into(),
            status: "COMPLETED".into(),
            why: "verification passed".into(),
            next: "ralph diff".into(),
            cost_is_complete: true,
            ..Note::default()
        };
        let row = OutboxRow {
            id: format!("{}/{number}/completed/{}", note.run, target.id()),
            run: note.run.clone(),
            seq: number,
            event: note.event.clone(),
            target: target.id(),
            at: note.at,
            due: i64::try_from(number).unwrap(),
            digest: None,
            body: serde_json::to_string(&note).unwrap(),
        };
        self.add(vec![row.clone()]);
        row
    }

    pub fn add(&self, outbox: Vec<OutboxRow>) {
        self.store().commit(&Batch { outbox, ..Batch::default() }).unwrap();
    }

    pub fn delivery(&self, owner: &str) -> Delivery {
        let sender = Arc::new(Sender::new());
        Delivery {
            store: self.store(),
            owner: owner.into(),
            sender,
            traces: None,
            gate: StartGate::default(),
        }
    }

    pub fn rows(&self) -> Vec<OutboxEntry> {
        self.store().outbox(&OutboxFilter::default()).unwrap()
    }

    pub fn states(&self) -> Vec<OutboxState> {
        self.rows().iter().map(|entry| entry.state).collect()
    }

    pub fn secret_file(&self) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.dir.path().join("hook.secret");
        std::fs::write(&path, SECRET).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// Makes all leases end: whoever held them is gone.
    pub fn leases_end(&self) {
        let connection = rusqlite(&self.home());
        connection.execute("update outbox set leased_until = 1 where leased_until is not null", []).unwrap();
    }

    /// Makes every retry due.
    pub fn retries_are_due(&self) {
        rusqlite(&self.home()).execute("update outbox set due = 1 where state = 'pending'", []).unwrap();
    }
}

fn rusqlite(home: &Home) -> rusqlite::Connection {
    rusqlite::Connection::open(home.dir().join(ralph_store::DATABASE)).unwrap()
}

pub fn webhook(url: &str) -> Target {
    let address = Address::Url(Secret::new(url));
    let format = Format::Standard;
    Target { kind: Kind::Webhook(Webhook { address, secret_file: None, format, allow_private: true }) }
}

/// A command that appends a line to a file.
pub fn appends(file: &str) -> Target {
    let argv = ["sh", "-c", "echo started >> \"$1\"", "sh", file, "{title}"].map(str::to_owned);
    Target { kind: Kind::Command(argv.to_vec()) }
}
