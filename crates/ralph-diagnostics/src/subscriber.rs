//! Where log lines go. A tracing subscriber is one per process by design, so the runs of a process attach their files
//! to it; a line goes to every attached file, because most lines come from threads that know no run.

use crate::debug_log::DebugLog;
use crate::level::Level;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// Prints a line for a person.
type Print = Arc<dyn Fn(&str) + Send + Sync>;
type Logs = Arc<Mutex<Vec<Weak<DebugLog>>>>;

/// The log files that are attached at present.
#[derive(Clone, Default)]
pub struct Diagnostics {
    logs: Logs,
}

/// Keeps a run's log attached until it is dropped.
pub struct Attached(#[allow(dead_code, reason = "held for its lifetime")] Arc<DebugLog>);

impl Diagnostics {
    /// Sends what is logged from now on to this file as well.
    #[must_use = "the log is detached when this is dropped"]
    pub fn attach(&self, log: DebugLog) -> Attached {
        let log = Arc::new(log);
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        logs.retain(|log| log.strong_count() > 0);
        logs.push(Arc::downgrade(&log));
        Attached(log)
    }
}

/// Installs the subscriber: up to `level` to `print`, and warnings, or more where `level` asks for it, to the attached
/// files. Call it once, at the start; a second subscriber in the process is left in place.
pub fn init(level: Level, print: impl Fn(&str) + Send + Sync + 'static) -> Diagnostics {
    let diagnostics = Diagnostics::default();
    let (stderr, file) = (LevelFilter::from(level), LevelFilter::from(level.max(Level::Warn)));
    let logs = Arc::clone(&diagnostics.logs);
    let print: Print = Arc::new(print);
    let to_stderr = fmt::layer()
        .without_time()
        .with_ansi(false)
        .with_writer(move || Line::new(Destination::Print(Arc::clone(&print))))
        .with_filter(stderr);
    let to_files = fmt::layer()
        .with_ansi(false)
        .with_writer(move || Line::new(Destination::Files(Arc::clone(&logs))))
        .with_filter(file);
    // Only fails where a subscriber is installed already: the tests of a process share one.
    let _ = tracing_subscriber::registry().with(to_stderr).with(to_files).try_init();
    diagnostics
}

enum Destination {
    Print(Print),
    Files(Logs),
}

/// One line, collected and delivered whole.
struct Line {
    text: Vec<u8>,
    to: Destination,
}

impl Line {
    fn new(to: Destination) -> Line {
        Line { text: Vec::new(), to }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        match &self.to {
            Destination::Print(print) => print(text.trim_end()),
            Destination::Files(logs) => {
                let logs: Vec<Arc<DebugLog>> = {
                    let logs = logs.lock().unwrap_or_else(PoisonError::into_inner);
                    logs.iter().filter_map(Weak::upgrade).collect()
                };
                logs.iter().for_each(|log| log.write(&text));
            }
        }
    }
}
