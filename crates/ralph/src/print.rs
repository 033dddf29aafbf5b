//! The two ways out: data on stdout, talk on stderr. A reader that went away is no failure; a disk that is full is.

use crate::problem::{Code, Problem};
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

/// Data, on stdout.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.is_err_and(|e| e.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Talk, on stderr.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One JSON document on stdout.
pub fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Problem> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Problem::new(Code::Bug, "the answer cannot be written as JSON").cause(&e))?;
    print(&(text + "\n"));
    Ok(())
}

/// What to say when data did not reach its file.
pub fn lost() -> Option<Problem> {
    LOST.load(Ordering::Relaxed).then(|| {
        Problem::new(Code::Journal, "stdout could not be written: what was printed is not complete")
            .hint("is the disk full?")
    })
}
