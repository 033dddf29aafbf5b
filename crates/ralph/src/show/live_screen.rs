//! What stands at the bottom of a terminal while a run is under way: a few lines that are rewritten in place, below the
//! lines that stay. `frame.rs` says what they are (pure), `screen.rs` draws them, `terminal.rs` borrows the terminal and gives
//! it back, `keys.rs` listens to the keyboard. Where there is no terminal nothing of this happens.
//!
//! Drawn by hand: it is a block of lines and two dozen bytes of escape sequences, for which the usual crates bring an
//! event loop, a screen buffer and a second opinion about signals.

mod frame;
mod keys;
mod screen;
mod terminal;

pub use frame::Now;
pub use terminal::release;

use crate::print::say;
use crate::style::Style;
use keys::Ask;
use screen::Screen;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between two drawings.
const PACE: Duration = Duration::from_millis(100);

/// The screen of this process, for whoever else has a line to say.
static SHOWN: Mutex<Option<Arc<Mutex<Screen>>>> = Mutex::new(None);

/// A line on stderr from beside the lines of a run, without running into those at the bottom.
pub fn aside(text: &str) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(screen) => screen.lock().unwrap_or_else(PoisonError::into_inner).above(&format!("{text}\n")),
        None => say(&format!("{text}\n")),
    }
}

/// The lines at the bottom.
pub struct Live {
    screen: Option<Arc<Mutex<Screen>>>,
    style: Style,
    drawn: Option<Instant>,
}

impl Live {
    /// Nothing but lines that stay.
    pub fn none(style: Style) -> Live {
        Live { screen: None, style, drawn: None }
    }

    /// On a terminal. `ask` takes what is asked by a key; without a keyboard nobody can.
    pub fn on_terminal(style: Style, ask: Ask) -> Live {
        let screen = Arc::new(Mutex::new(Screen::new(style)));
        terminal::borrow_terminal();
        keys::listen(&screen, ask);
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&screen));
        Live { screen: Some(screen), style, drawn: None }
    }

    /// A line that stays.
    pub fn line(&mut self, text: &str) {
        match &self.screen {
            Some(screen) => screen.lock().unwrap_or_else(PoisonError::into_inner).above(&format!("{text}\n")),
            None => say(&format!("{text}\n")),
        }
    }

    /// Shows how it stands, unless that was done a moment ago.
    pub fn draw(&mut self, now: &Now<'_>) {
        let Some(screen) = &self.screen else { return };
        if self.drawn.is_some_and(|at| at.elapsed() < PACE) {
            return;
        }
        self.drawn = Some(Instant::now());
        let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
        let size = terminal::size();
        let body = frame::frame(now, size, self.style);
        screen.show(body, size, (now.state.person.paused, now.waiting));
    }

    /// Takes it away for good and gives the terminal back.
    pub fn close(&mut self) {
        if let Some(screen) = self.screen.take() {
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
            screen.lock().unwrap_or_else(PoisonError::into_inner).close();
            release();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.close();
    }
}
