//! Small builders and both stores, for the integration tests.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ralph_store::{Batch, Database, Limit, Memory, Put, Reserve, Settle, Store, Used};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A place where stores can be opened again and again on the same content.
pub trait Place {
    fn open(&self) -> Arc<dyn Store>;
}

pub struct InMemory(Arc<Memory>);

impl InMemory {
    pub fn new() -> Self {
        InMemory(Arc::new(Memory::new()))
    }
}

impl Place for InMemory {
    fn open(&self) -> Arc<dyn Store> {
        self.0.clone()
    }
}

pub struct OnDisk(TempDir);

impl OnDisk {
    pub fn new() -> Self {
        OnDisk(tempfile::tempdir().unwrap())
    }

    /// In memory where the system has such a place, for tests that commit very often and lose no power.
    pub fn quick() -> Self {
        OnDisk(tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap()))
    }

    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    pub fn sqlite(&self) -> Database {
        ralph_store::open(self.dir()).unwrap()
    }
}

impl Place for OnDisk {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.sqlite())
    }
}

pub fn put(stream: &str, expect: u64, body: &str) -> Put {
    Put { stream: stream.into(), expect, at: 10, ran: 5, v: 1, kind: "seen".into(), body: body.into() }
}

pub fn puts(put: Vec<Put>) -> Batch {
    Batch { put, ..Batch::default() }
}

pub fn total(meter: &str, cap: impl Into<Option<i64>>) -> Limit {
    Limit::Total { meter: meter.into(), cap: cap.into() }
}

pub fn window(meter: &str, span: i64, cap: impl Into<Option<i64>>, add: i64) -> Limit {
    Limit::Window { meter: meter.into(), span, cap: cap.into(), add }
}

pub fn reserve(id: &str, to: i64, against: Vec<Limit>, now: i64) -> Batch {
    Batch { reserve: Some(Reserve { id: id.into(), to, against }), now, ..Batch::default() }
}

pub fn settle(id: &str, actual: i64) -> Settle {
    Settle { id: id.into(), actual, ..Settle::default() }
}

pub fn settles(settle: Vec<Settle>, now: i64) -> Batch {
    Batch { settle, now, ..Batch::default() }
}

pub fn used(meter: &str, amount: i64) -> Used {
    Used { meter: meter.into(), amount }
}
