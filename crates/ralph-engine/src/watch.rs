//! The watchers: screens, JSON, views. They only watch: each record reaches them after it is on disk, in order and
//! without loss; what the agent does right now reaches them as far as they keep up. They run in a thread of their
//! own, so a slow terminal or a closed pipe never holds the loop.

use ralph_agents::Activity;
use ralph_rules::record::Record;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Activities that may wait to be shown; further ones are dropped, records never are.
const BACKLOG: usize = 128;
/// How long the end of a run waits for watchers that do not get on: a pipe nobody reads.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// One who watches a run.
pub trait Watcher: Send {
    /// A record was written.
    fn record(&mut self, record: &Record);
    /// The agent does something.
    fn activity(&mut self, _activity: &Activity) {}
    /// Nothing happened for a while (about every 200 ms).
    fn tick(&mut self) {}
}

enum Word {
    Record(Arc<Record>),
    Activity(Activity),
}

/// The way to all watchers of a run.
#[derive(Clone)]
pub struct Watchers {
    to: Option<Sender<Word>>,
    waiting: Arc<AtomicUsize>,
}

/// The thread the watchers run in.
pub struct Gallery {
    thread: Option<JoinHandle<()>>,
    seen: Arc<AtomicUsize>,
}

impl Watchers {
    /// Nobody watches.
    pub fn none() -> Watchers {
        Watchers { to: None, waiting: Arc::default() }
    }

    /// These watch.
    pub fn start(watchers: Vec<Box<dyn Watcher>>) -> (Watchers, Gallery) {
        let (to, from) = channel();
        let waiting: Arc<AtomicUsize> = Arc::default();
        let (counted, seen): (_, Arc<AtomicUsize>) = (Arc::clone(&waiting), Arc::default());
        let progress = Arc::clone(&seen);
        let watch = move || watch(&from, &counted, &progress, watchers);
        let thread = std::thread::Builder::new().name("watchers".into()).spawn(watch).ok();
        (Watchers { to: Some(to), waiting }, Gallery { thread, seen })
    }

    /// A record was written.
    pub fn record(&self, record: &Record) {
        if let Some(to) = &self.to {
            let _ = to.send(Word::Record(Arc::new(record.clone())));
        }
    }

    /// The agent does something.
    pub fn activity(&self, activity: Activity) {
        let Some(to) = &self.to else { return };
        if self.waiting.fetch_add(1, Ordering::Relaxed) < BACKLOG {
            let _ = to.send(Word::Activity(activity));
        } else {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Gallery {
    /// Lets the watchers say their last words, as long as they get on. Every `Watchers` must be dropped before.
    pub fn close(self) {
        let Some(thread) = self.thread else { return };
        let (mut moved, mut seen) = (Instant::now(), 0);
        while !thread.is_finished() && moved.elapsed() < LAST_WORDS {
            std::thread::sleep(Duration::from_millis(1));
            let now = self.seen.load(Ordering::Relaxed);
            if now != seen {
                (moved, seen) = (Instant::now(), now);
            }
        }
    }
}

fn watch(
    from: &Receiver<Word>,
    waiting: &AtomicUsize,
    seen: &AtomicUsize,
    mut watchers: Vec<Box<dyn Watcher>>,
) {
    use std::sync::mpsc::RecvTimeoutError;
    loop {
        match from.recv_timeout(Duration::from_millis(200)) {
            Ok(Word::Record(record)) => {
                watchers.iter_mut().for_each(|w| w.record(&record));
                seen.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Word::Activity(activity)) => {
                waiting.fetch_sub(1, Ordering::Relaxed);
                watchers.iter_mut().for_each(|w| w.activity(&activity));
                seen.fetch_add(1, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => watchers.iter_mut().for_each(|w| w.tick()),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
