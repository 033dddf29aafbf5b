//! A run's journal, read back from the store as records. A long one is checked and parsed by other threads while the
//! store reads on.

use crate::run::stream_of;
use ralph_rules::record::{Record, Unreadable};
use ralph_store::{Chain, Entry, Store, StoreError, UncheckedEntry};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};

/// Records that are handed to another thread together; a shorter journal is not worth a thread.
const PART: usize = 2_000;
/// Threads that check and parse. The store's own work is about as much as one of theirs.
const THREADS: usize = 2;

/// Why a journal could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record is in a shape this version does not know.
    #[error(transparent)]
    Record(#[from] Unreadable),
}

/// All records of a run, in order.
pub fn read(store: &dyn Store, run: &str) -> Result<Vec<Record>, JournalError> {
    read_on(store, run, Vec::new())
}

/// The same if its first records are known already.
pub fn read_on(store: &dyn Store, run: &str, known: Vec<Record>) -> Result<Vec<Record>, JournalError> {
    let stream = stream_of(run);
    let after = known.last().map_or(0, |record| record.seq);
    let (send, parts) = channel::<Part>();
    let parts = Mutex::new(parts);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut part = Part::default();
        let read = store.each(&stream, after, &mut |entry| {
            part.add(&entry);
            if part.entries.len() == PART {
                let next = Part { number: part.number + 1, ..Part::default() };
                let _ = send.send(std::mem::replace(&mut part, next));
                if threads.len() < THREADS {
                    threads.push(scope.spawn(|| parsed_parts(&parts, &stream)));
                }
            }
        });
        drop(send);
        let mut all =
            vec![(part.number, read.map_err(JournalError::from).and_then(|()| part.parsed(&stream)))];
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all.sort_by_key(|(number, _)| *number);
        let mut records = known;
        records.reserve(all.len() * PART);
        for (_, part) in all {
            records.append(&mut part?);
        }
        Ok(records)
    })
}

/// Takes parts until there are no more.
fn parsed_parts(
    parts: &Mutex<Receiver<Part>>,
    stream: &str,
) -> Vec<(usize, Result<Vec<Record>, JournalError>)> {
    let mut done = Vec::new();
    loop {
        let next = parts.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(part) = next else { return done };
        done.push((part.number, part.parsed(stream)));
    }
}

/// A part of a journal. All its text is in one piece, which is made and freed at once.
#[derive(Default)]
struct Part {
    number: usize,
    text: String,
    entries: Vec<PartEntry>,
}

/// One record of a part; its text follows that of the one before.
struct PartEntry {
    seq: u64,
    at: i64,
    ran: i64,
    v: u32,
    kind: usize,
    body: usize,
    links: Option<(Chain, Chain)>,
}

impl Part {
    fn add(&mut self, entry: &UncheckedEntry<'_>) {
        let UncheckedEntry { seq, at, ran, v, kind, body, links, .. } = *entry;
        self.text.push_str(kind);
        self.text.push_str(body);
        self.entries.push(PartEntry { seq, at, ran, v, kind: kind.len(), body: body.len(), links });
    }

    fn parsed(&self, stream: &str) -> Result<Vec<Record>, JournalError> {
        let mut records = Vec::with_capacity(self.entries.len());
        let mut rest = self.text.as_str();
        for &PartEntry { seq, at, ran, v, kind, body, links } in &self.entries {
            let (kind, after) = rest.split_at_checked(kind).unwrap_or_default();
            let (body, after) = after.split_at_checked(body).unwrap_or_default();
            rest = after;
            UncheckedEntry { stream, seq, at, ran, v, kind, body, links }.check()?;
            records.push(Record::read((seq, at, ran), v, kind, body)?);
        }
        Ok(records)
    }
}

/// A stored entry as a record.
pub fn record_of(entry: &Entry) -> Result<Record, Unreadable> {
    Record::read((entry.seq, entry.at, entry.ran), entry.v, &entry.kind, &entry.body)
}
