//! Watchers: screens, JSON output, views. They receive every record after it is on disk, in order, and the agent's
//! activities as far as they keep up. Each has its own thread, so that a slow terminal or a pipe that nobody reads delays
//! neither the loop nor another watcher.

use ralph_agents::Activity;
use ralph_rules::record::Record;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Activities that may wait to be shown; further ones are dropped, records never are.
const BACKLOG: usize = 128;
/// How long the end of a run waits for a watcher that makes no progress, such as one writing to a pipe nobody reads.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Observes a run.
pub trait Watcher: Send {
    /// A record was written.
    fn record(&mut self, record: &Record);
    /// The agent said or did something.
    fn activity(&mut self, _activity: &Activity) {}
    /// Nothing happened for a while (about every 200 ms).
    fn tick(&mut self) {}
}

enum WatcherMessage {
    Record(Arc<Record>),
    Activity(Activity),
}

/// The channel to all watchers of a run.
#[derive(Clone)]
pub struct Watchers {
    channels: Vec<WatcherChannel>,
}

/// The channel to one of them.
#[derive(Clone)]
struct WatcherChannel {
    to: Sender<WatcherMessage>,
    waiting: Arc<AtomicUsize>,
}

/// The threads the watchers run in.
pub struct WatcherThreads {
    threads: Vec<WatcherThread>,
}

struct WatcherThread {
    thread: JoinHandle<()>,
    seen: Arc<AtomicUsize>,
}

impl Watchers {
    /// No watchers.
    pub fn none() -> Watchers {
        Watchers { channels: Vec::new() }
    }

    /// Starts a thread for each watcher.
    pub fn start(watchers: Vec<Box<dyn Watcher>>) -> (Watchers, WatcherThreads) {
        let (mut channels, mut threads) = (Vec::new(), Vec::new());
        for watcher in watchers {
            let (to, from) = channel();
            let (waiting, seen): (Arc<AtomicUsize>, Arc<AtomicUsize>) = Default::default();
            let (counted, progress) = (Arc::clone(&waiting), Arc::clone(&seen));
            let watch = move || watch(&from, &counted, &progress, watcher);
            if let Ok(thread) = std::thread::Builder::new().name("watcher".into()).spawn(watch) {
                channels.push(WatcherChannel { to, waiting });
                threads.push(WatcherThread { thread, seen });
            }
        }
        (Watchers { channels }, WatcherThreads { threads })
    }

    /// A record was written.
    pub fn record(&self, record: &Record) {
        if self.channels.is_empty() {
            return;
        }
        let record = Arc::new(record.clone());
        for channel in &self.channels {
            let _ = channel.to.send(WatcherMessage::Record(Arc::clone(&record)));
        }
    }

    /// The agent does something.
    pub fn activity(&self, activity: &Activity) {
        for channel in &self.channels {
            if channel.waiting.fetch_add(1, Ordering::Relaxed) < BACKLOG {
                let _ = channel.to.send(WatcherMessage::Activity(activity.clone()));
            } else {
                channel.waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl WatcherThreads {
    /// Waits for the watchers to finish, as long as they make progress. Every `Watchers` must be dropped before.
    pub fn close(self) {
        let (mut moved, mut seen) = (Instant::now(), 0);
        while self.threads.iter().any(|watcher| !watcher.thread.is_finished())
            && moved.elapsed() < CLOSE_TIMEOUT
        {
            std::thread::sleep(Duration::from_millis(1));
            let now = self.threads.iter().map(|watcher| watcher.seen.load(Ordering::Relaxed)).sum();
            if now != seen {
                (moved, seen) = (Instant::now(), now);
            }
        }
    }
}

fn watch(
    from: &Receiver<WatcherMessage>,
    waiting: &AtomicUsize,
    seen: &AtomicUsize,
    mut watcher: Box<dyn Watcher>,
) {
    use std::sync::mpsc::RecvTimeoutError;
    loop {
        match from.recv_timeout(Duration::from_millis(200)) {
            Ok(WatcherMessage::Record(record)) => {
                watcher.record(&record);
                seen.fetch_add(1, Ordering::Relaxed);
            }
            Ok(WatcherMessage::Activity(activity)) => {
                waiting.fetch_sub(1, Ordering::Relaxed);
                watcher.activity(&activity);
                seen.fetch_add(1, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => watcher.tick(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
