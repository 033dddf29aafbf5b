//! Output: data on stdout, messages on stderr, both without secrets. A reader that went away is not a failure; a full
//! disk is. A command prints by the functions here, whose redactor is the command's; a run prints by a [`RunOutput`],
//! which has the run's own.

use crate::env::Env;
use crate::problem::{Code, Problem};
use ralph_engine::redact::{Redactor, secrets_in_env};
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Stdout belongs to the process, and so does the fact that it could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

type Make = Box<dyn Fn() -> Redactor + Send + Sync>;
static MAKE: OnceLock<Make> = OnceLock::new();
static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// Sets how to find what must not be printed; it is called when something is printed for the first time.
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

/// Where the watchers of one run write: stdout and stderr, without that run's secrets.
#[derive(Clone)]
pub struct RunOutput(Arc<Redactor>);

impl RunOutput {
    /// Hides what the run's redactor knows.
    pub fn new(redactor: Arc<Redactor>) -> RunOutput {
        RunOutput(redactor)
    }

    /// A text without the run's secrets.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.redact(text)
    }

    /// Prints data.
    pub fn stdout(&self, text: &str) {
        write_stdout(&self.clean(text));
    }

    /// Prints messages.
    pub fn stderr(&self, text: &str) {
        write_stderr(&self.clean(text));
    }
}

/// Prints data to stdout.
pub fn print(text: &str) {
    write_stdout(&clean(text));
}

/// Prints data to stdout as it is: an address whose very purpose is the secret in it.
pub fn print_as_is(text: &str) {
    write_stdout(text);
}

/// Prints messages to stderr.
pub fn say(text: &str) {
    write_stderr(&clean(text));
}

fn write_stdout(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.is_err_and(|e| e.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Writes an escape sequence to the terminal on stderr.
pub fn write_control(sequence: &'static str) {
    write_stderr(sequence);
}

fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints one JSON document to stdout.
pub fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Problem> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Problem::new(Code::Bug, "the answer cannot be written as JSON").cause(&e))?;
    print(&(text + "\n"));
    Ok(())
}

/// The problem of data that did not reach stdout.
pub fn lost() -> Option<Problem> {
    LOST.load(Ordering::Relaxed).then(|| {
        Problem::new(Code::Journal, "stdout could not be written, so the output is incomplete")
            .hint("is the disk full?")
    })
}
