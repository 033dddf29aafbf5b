//! The one line that is rewritten on a terminal: what the agent does now. It never wraps, is drawn at most ten times a
//! second, and is gone before anything else is printed.

use crate::plain::{fit, plain};
use crate::print::say;
use crate::style::Style;
use std::time::{Duration, Instant};

/// The shortest time between two drawings.
const PACE: Duration = Duration::from_millis(100);

/// The line.
pub struct Live {
    terminal: bool,
    style: Style,
    drawn: Option<(String, Instant)>,
}

impl Live {
    /// One that draws on a terminal, and nothing elsewhere.
    pub fn new(terminal: bool, style: Style) -> Live {
        Live { terminal, style, drawn: None }
    }

    /// Shows this, unless something was shown a moment ago.
    pub fn draw(&mut self, text: &str) {
        if !self.terminal || self.drawn.as_ref().is_some_and(|(_, at)| at.elapsed() < PACE) {
            return;
        }
        let columns = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |w| usize::from(w.ws_col));
        let columns = if columns == 0 { 80 } else { columns };
        let text = fit(&plain(text), columns - 1);
        if self.drawn.as_ref().is_none_or(|(shown, _)| *shown != text) {
            // Over the old one first, then the rest of the line: it does not flicker.
            say(&format!("\r{}\x1b[K", self.style.faint(&text)));
        }
        self.drawn = Some((text, Instant::now()));
    }

    /// Takes it away.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            say("\r\x1b[K");
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}
