//! What is at the bottom of a terminal during a run: a few lines that are rewritten in place, below the lines that stay.
//! `status_lines.rs` says what they are and `key_line.rs` what the last one is (pure), `page.rs` what is shown instead of
//! them at a key, `painter.rs` draws, `terminal.rs` takes the terminal and restores it, `keys.rs` reads the keyboard. Where
//! there is no terminal none of this happens.
//!
//! Drawn by hand: it is a block of lines and two dozen bytes of escape sequences, for which the usual crates bring an
//! event loop, a screen buffer and their own handling of signals.

mod key_line;
mod keys;
mod page;
mod painter;
mod status_lines;
mod terminal;

pub use keys::KeyTargets;
pub use status_lines::LiveStatus;
pub use terminal::{Terminal, TerminalGuard};

use crate::print::{RunOutput, say};
use crate::style::Style;
use painter::Painter;
use ralph_view::wrap::wrap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The shortest time between two drawings.
const PACE: Duration = Duration::from_millis(100);

/// The lines of one run: those that stay, and on a terminal those at the bottom.
pub struct LiveScreen {
    painter: Option<Arc<Mutex<Painter>>>,
    terminal: Option<Arc<Terminal>>,
    out: RunOutput,
    style: Style,
    drawn: Option<Instant>,
}

/// Writes lines that stay, from beside the run's own: they never run into those at the bottom.
pub struct LinePrinter {
    painter: Weak<Mutex<Painter>>,
    out: RunOutput,
}

impl LinePrinter {
    /// Writes a line that stays.
    pub fn line(&self, text: &str) {
        write_line(self.painter.upgrade().as_deref(), &self.out, text);
    }
}

/// Prints lines to stderr from outside any run, such as ralph's own log: above the lines at the bottom of the latest
/// screen, where there is one.
#[derive(Clone, Default)]
pub struct StderrLines(Arc<Mutex<Option<LinePrinter>>>);

impl StderrLines {
    /// Prints above this screen from now on.
    pub fn attach(&self, printer: LinePrinter) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(printer);
    }

    /// Prints a line.
    pub fn line(&self, text: &str) {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(printer) => printer.line(text),
            None => say(&format!("{text}\n")),
        }
    }
}

impl LiveScreen {
    /// Only lines that stay.
    pub fn without_terminal(out: RunOutput, style: Style) -> LiveScreen {
        LiveScreen { painter: None, terminal: None, out, style, drawn: None }
    }

    /// On a terminal, with keys where there is a keyboard.
    pub fn on_terminal(
        terminal: Arc<Terminal>,
        out: RunOutput,
        style: Style,
        targets: KeyTargets,
    ) -> LiveScreen {
        let painter = Arc::new(Mutex::new(Painter::new(Arc::clone(&terminal), out.clone(), style)));
        terminal.take();
        keys::listen(&painter, targets);
        LiveScreen { painter: Some(painter), terminal: Some(terminal), out, style, drawn: None }
    }

    /// A way to write lines that stay, for another watcher of the same run.
    pub fn line_printer(&self) -> LinePrinter {
        let painter = self.painter.as_ref().map(Arc::downgrade).unwrap_or_default();
        LinePrinter { painter, out: self.out.clone() }
    }

    /// Writes a line that stays.
    pub fn line(&self, text: &str) {
        write_line(self.painter.as_deref(), &self.out, text);
    }

    /// A text that fits the terminal's width, where there is a terminal.
    pub fn wrapped(&self, text: &str) -> String {
        if self.terminal.is_some() { wrap(text, terminal::size().0) } else { text.into() }
    }

    /// Shows the run's status, unless that was done a moment ago.
    pub fn draw(&mut self, status: &LiveStatus<'_>) {
        let Some(painter) = &self.painter else { return };
        if self.drawn.is_some_and(|at| at.elapsed() < PACE) {
            return;
        }
        self.drawn = Some(Instant::now());
        let mut painter = painter.lock().unwrap_or_else(PoisonError::into_inner);
        let size = terminal::size();
        let body = status_lines::status_lines(status, size, self.style);
        if painter.shows_output()
            && let Some(page) = &mut painter.key_line().page
        {
            page.set_lines(status.output.lines());
        }
        painter.show(body, size, (status.state.person.paused, status.waiting));
    }

    /// Erases the lines at the bottom for good and restores the terminal.
    pub fn close(&mut self) {
        if let Some(painter) = self.painter.take() {
            painter.lock().unwrap_or_else(PoisonError::into_inner).close();
        }
        if let Some(terminal) = self.terminal.take() {
            terminal.release();
        }
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        self.close();
    }
}

fn write_line(painter: Option<&Mutex<Painter>>, out: &RunOutput, text: &str) {
    match painter {
        Some(painter) => {
            painter.lock().unwrap_or_else(PoisonError::into_inner).above(&format!("{text}\n"));
        }
        None => out.stderr(&format!("{text}\n")),
    }
}
