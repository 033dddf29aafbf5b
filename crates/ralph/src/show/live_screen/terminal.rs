//! The terminal while a run draws on it: keys come one by one and unseen, the cursor is hidden; Ctrl-C and Ctrl-Z stay
//! what they are. It is restored at the end, before a stop, and when something panics. A run in the background touches
//! nothing: the terminal is somebody else's then.

use crate::print::write_control;
use ralph_engine::signals::{self, Suspend};
use ralph_os::{key_by_key, terminal_size};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{IsTerminal, stderr, stdin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Hides the cursor: at the beginning of a drawing.
pub const HIDE_CURSOR: &str = "\x1b[?25l";
/// The terminal's other screen, for a page; what is on the first one stays there.
pub const ENTER_PAGE: &str = "\x1b[?1049h";
const LEAVE_PAGE: &str = "\x1b[?1049l";
/// To the first column, all below erased, cursor shown.
const RESTORE: &str = "\r\x1b[J\x1b[?25h";

/// The terminal of this process, made once and shared by whatever draws on it.
pub struct Terminal {
    /// How the terminal was before; none while it is not taken.
    before: Mutex<Option<Termios>>,
    /// How many draw on it.
    users: AtomicUsize,
    /// It was restored for a stop, or for good: nobody takes it until ralph is continued.
    suspended: AtomicBool,
    /// Held by whoever draws, so that nothing is drawn on a terminal that was just restored.
    drawing: Mutex<()>,
    /// It was restored in between: what was drawn is gone.
    erased: AtomicBool,
    /// The other screen is shown.
    page: AtomicBool,
}

/// Restores the terminal for good when dropped.
pub struct TerminalGuard {
    terminal: Arc<Terminal>,
    _suspends: signals::Listening,
}

impl TerminalGuard {
    /// The terminal, to draw on.
    pub fn terminal(&self) -> Arc<Terminal> {
        Arc::clone(&self.terminal)
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.terminal.release_all();
    }
}

impl Terminal {
    /// The terminal of this process. It is restored when ralph is stopped, panics, or drops the guard.
    pub fn open() -> TerminalGuard {
        let terminal = Arc::new(Terminal {
            before: Mutex::new(None),
            users: AtomicUsize::new(0),
            suspended: AtomicBool::new(false),
            drawing: Mutex::new(()),
            erased: AtomicBool::new(false),
            page: AtomicBool::new(false),
        });
        restore_on_panic(Arc::downgrade(&terminal));
        let suspends = signals::suspend_with(Arc::clone(&terminal) as Arc<dyn Suspend>);
        TerminalGuard { terminal, _suspends: suspends }
    }

    /// Takes the terminal from now on, whenever this process is in the foreground.
    pub fn take(&self) {
        self.suspended.store(false, Ordering::Relaxed);
        self.users.fetch_add(1, Ordering::Relaxed);
        self.take_modes();
    }

    /// Whoever draws holds this.
    pub fn drawing(&self) -> MutexGuard<'_, ()> {
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up what `take` took; the last to do so restores the terminal.
    pub fn release(&self) {
        let one_less = |users: usize| users.checked_sub(1);
        if self.users.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) == Ok(1) {
            self.restore();
        }
    }

    /// Restores the terminal for good, whoever draws on it.
    fn release_all(&self) {
        if self.users.swap(0, Ordering::Relaxed) > 0 {
            self.restore();
        }
    }

    /// Whether a page is shown instead of the lines.
    pub fn shows_page(&self) -> bool {
        self.page.load(Ordering::Relaxed)
    }

    /// A page is about to be drawn; true if the other screen has to be entered for it.
    pub fn enter_page(&self) -> bool {
        !self.page.swap(true, Ordering::Relaxed)
    }

    /// Shows the first screen again; true if a page was shown.
    pub fn leave_page(&self) -> bool {
        let shown = self.page.swap(false, Ordering::Relaxed);
        if shown && in_foreground() {
            write_control(LEAVE_PAGE);
        }
        shown
    }

    fn is_used(&self) -> bool {
        self.users.load(Ordering::Relaxed) > 0
    }

    /// Whether the terminal can be drawn on; takes it again where it was restored. The second is whether all that was
    /// drawn is gone.
    pub fn ready(&self) -> (bool, bool) {
        let wanted = self.is_used() && !self.suspended.load(Ordering::Relaxed);
        let ready = wanted && in_foreground();
        if ready {
            self.take_modes();
        }
        (ready, self.erased.swap(false, Ordering::Relaxed))
    }

    fn take_modes(&self) {
        let Ok(mut before) = self.before.lock() else { return };
        if before.is_some() || self.suspended.load(Ordering::Relaxed) || !in_foreground() {
            return;
        }
        if !stdin().is_terminal() {
            return;
        }
        let Ok(modes) = tcgetattr(stdin()) else { return };
        if tcsetattr(stdin(), OptionalActions::Now, &key_by_key(&modes)).is_ok() {
            *before = Some(modes);
        }
    }

    fn restore(&self) {
        self.suspended.store(true, Ordering::Relaxed);
        self.erased.store(true, Ordering::Relaxed);
        let _drawn = signals::wait_for_drawing(&self.drawing);
        let foreground = in_foreground();
        // A lock that a panicking thread holds is not waited for.
        if let Ok(mut before) = self.before.try_lock()
            && let Some(modes) = before.take()
            && foreground
        {
            let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
        }
        self.leave_page();
        if foreground {
            write_control(RESTORE);
        }
    }
}

impl Suspend for Terminal {
    fn suspend(&self) {
        if self.is_used() {
            self.restore();
        }
    }

    fn resume(&self) {
        self.suspended.store(false, Ordering::Relaxed);
        self.erased.store(true, Ordering::Relaxed);
        if self.is_used() {
            self.take_modes();
        }
    }
}

fn restore_on_panic(terminal: Weak<Terminal>) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Some(terminal) = terminal.upgrade() {
            terminal.release_all();
        }
        before(info);
    }));
}

/// The terminal is this process's to draw on and to read from.
pub fn in_foreground() -> bool {
    ralph_os::in_foreground(stderr())
}

/// Whether lines may be written: in the background some terminals stop whoever writes.
pub fn may_write() -> bool {
    in_foreground() || !tcgetattr(stderr()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::TOSTOP))
}

/// Columns and rows.
pub fn size() -> (usize, usize) {
    let (columns, rows) = terminal_size(stderr());
    (columns.into(), rows.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_one_screen_does_not_take_the_terminal_from_another() {
        let guard = Terminal::open();
        let terminal = guard.terminal();
        terminal.take();
        terminal.take();
        terminal.release();
        assert!(terminal.is_used(), "the second screen still draws");
        drop(guard);
        assert!(!terminal.is_used(), "the guard restores it for good");
        terminal.release();
        assert!(!terminal.is_used(), "and once is enough");
    }
}
