//! The two ways out: data on stdout, talk on stderr, both without secrets. A reader that went away is no failure; a disk that is full is.

use crate::env::Env;
use crate::problem::{Code, Problem};
use ralph_engine::redact::{Redactor, secrets_in_env};
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

type Make = Box<dyn Fn() -> Redactor + Send + Sync>;
static MAKE: OnceLock<Make> = OnceLock::new();
static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// What must not be printed, found out when something is printed for the first time.
pub fn hide(make: impl Fn() -> Redactor + Send + Sync + 'static) {
    let _ = MAKE.set(Box::new(make));
}

/// A text without secrets. What goes through here was nearly always cleaned before; journals and transcripts of an
/// older ralph, a file that is analysed or a mistake in a command line were not.
pub fn clean(text: &str) -> Cow<'_, str> {
    let redactor = REDACTOR.get_or_init(|| match MAKE.get() {
        Some(make) => make(),
        None => Redactor::new(secrets_in_env(Env::all(), &[]).into_iter()),
    });
    redactor.redact(text)
}

/// Data, on stdout.
pub fn print(text: &str) {
    let text = clean(text);
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.is_err_and(|e| e.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Talk, on stderr.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(clean(text).as_bytes());
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
