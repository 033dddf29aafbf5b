//! A queue in front of SQLite's lock: `flock` wakes waiters in order, while SQLite's busy handler makes them poll. It only
//! adds fairness and has a deadline; SQLite's own lock is the one that protects.

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

/// Longest wait for one's turn; then SQLite decides.
pub(super) const QUEUE_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct WriteQueue {
    path: PathBuf,
}

/// A turn; dropping it lets the next one in.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held for its lock, released by closing")] File);

impl WriteQueue {
    pub(super) fn new(path: PathBuf) -> WriteQueue {
        WriteQueue { path }
    }

    /// Waits for a turn; `None` when the deadline has passed or there can be no gate.
    pub(super) fn enter(&self, wait: Duration) -> Option<Turn> {
        let file = self.file()?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Some(Turn(file)),
            Err(Errno::WOULDBLOCK) => queue(file, wait),
            Err(_) => None,
        }
    }

    fn file(&self) -> Option<File> {
        // Without waiting: a pipe in its place would wait for somebody to read it.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
        OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(&self.path).ok()
    }
}

/// A blocking `flock` keeps the order but knows no deadline, so a thread waits in our place. If we
/// give up, its send fails, the file is dropped there, and the turn with it.
fn queue(file: File, wait: Duration) -> Option<Turn> {
    let (send, receive) = mpsc::sync_channel(0);
    let waiter = move || {
        while let Err(e) = flock(&file, FlockOperation::LockExclusive) {
            if e != Errno::INTR {
                return;
            }
        }
        let _ = send.send(Turn(file));
    };
    std::thread::Builder::new().name("store-gate".to_owned()).stack_size(64 * 1024).spawn(waiter).ok()?;
    receive.recv_timeout(wait).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_a_deadline() {
        let dir = tempfile::tempdir().unwrap();
        let queue = WriteQueue::new(dir.path().join("gate"));
        let first = queue.enter(QUEUE_WAIT).unwrap();
        assert!(queue.enter(Duration::from_millis(20)).is_none(), "taken");
        drop(first);
        assert!(queue.enter(QUEUE_WAIT).is_some(), "a waiter that gave up does not keep the turn");
    }

    #[test]
    fn without_a_file_there_is_no_gate_and_no_wait() {
        let dir = tempfile::tempdir().unwrap();
        assert!(WriteQueue::new(dir.path().join("no/such")).enter(QUEUE_WAIT).is_none());
    }
}
