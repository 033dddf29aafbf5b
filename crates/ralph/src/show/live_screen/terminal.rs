//! The terminal, borrowed: keys come one by one and unseen, the cursor is hidden; Ctrl-C and Ctrl-Z stay what they are.
//! It is given back at the end, before a stop, and when something panics. A run in the background touches nothing: the
//! terminal is somebody else's then.

use crate::print::say;
use ralph_engine::signals;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};
use std::io::{IsTerminal, stderr, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How the terminal was before; none while it is not borrowed.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
/// This process draws on a terminal.
static WANTED: AtomicBool = AtomicBool::new(false);
/// It was given back for a stop, or for good: nobody takes it until ralph is continued.
static HELD: AtomicBool = AtomicBool::new(false);
/// Held by whoever draws, so that nothing is drawn on a terminal that was just given back.
static DRAWING: Mutex<()> = Mutex::new(());
/// It was given back in between: what was drawn is gone.
static FRESH: AtomicBool = AtomicBool::new(false);

/// Milliseconds that a drawing under way is waited for.
const PATIENCE: u32 = 200;
const HIDE_CURSOR: &str = "\x1b[?25l";
/// To the first column, all below erased, cursor shown.
const GIVE_BACK: &str = "\r\x1b[J\x1b[?25h";

/// Borrows the terminal from now on, whenever this process is in the foreground.
pub fn borrow_terminal() {
    HELD.store(false, Ordering::Relaxed);
    if !WANTED.swap(true, Ordering::Relaxed) {
        signals::screen(signals::Screen { leave: leave_for_now, back });
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            release();
            before(info);
        }));
    }
    take();
}

/// Whoever draws holds this.
pub fn drawing() -> MutexGuard<'static, ()> {
    DRAWING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back for good.
pub fn release() {
    if WANTED.swap(false, Ordering::Relaxed) {
        give_back();
    }
}

/// In the foreground: the terminal is ours to draw on and to read from.
pub fn ours() -> bool {
    tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp())
}

/// Whether lines may be written: in the background some terminals stop whoever writes.
pub fn may_write() -> bool {
    ours() || !tcgetattr(stderr()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::TOSTOP))
}

/// Whether the terminal can be drawn on; borrows it again where it was given back. The second is whether all that was
/// drawn is gone.
pub fn ready() -> (bool, bool) {
    let ready = WANTED.load(Ordering::Relaxed) && !HELD.load(Ordering::Relaxed) && ours();
    if ready {
        take();
    }
    (ready, FRESH.swap(false, Ordering::Relaxed))
}

/// Columns and rows.
pub fn size() -> (usize, usize) {
    let size = tcgetwinsize(stderr()).ok();
    let or = |n: Option<u16>, usual: usize| n.filter(|n| *n > 0).map_or(usual, usize::from);
    (or(size.map(|s| s.ws_col), 80), or(size.map(|s| s.ws_row), 24))
}

fn take() {
    let Ok(mut before) = BEFORE.lock() else { return };
    if before.is_some() || HELD.load(Ordering::Relaxed) || !ours() {
        return;
    }
    if !stdin().is_terminal() {
        return;
    }
    let Ok(modes) = tcgetattr(stdin()) else { return };
    let mut ours = modes.clone();
    ours.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    ours.special_codes[SpecialCodeIndex::VMIN] = 1;
    ours.special_codes[SpecialCodeIndex::VTIME] = 0;
    // Ctrl-\ would end ralph without giving the terminal back.
    ours.special_codes[SpecialCodeIndex::VQUIT] = 0;
    if tcsetattr(stdin(), OptionalActions::Now, &ours).is_ok() {
        *before = Some(modes);
    }
}

/// Hides the cursor: at the beginning of a drawing on a line that is ours.
pub fn hide_cursor() -> &'static str {
    HIDE_CURSOR
}

fn give_back() {
    HELD.store(true, Ordering::Relaxed);
    FRESH.store(true, Ordering::Relaxed);
    // A drawing under way is waited for, but not one that the terminal itself holds up.
    let _drawn = (0..PATIENCE).find_map(|_| {
        let free = DRAWING.try_lock().ok();
        if free.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        free
    });
    let ours = ours();
    // A lock that a panicking thread holds is not waited for.
    if let Ok(mut before) = BEFORE.try_lock()
        && let Some(modes) = before.take()
        && ours
    {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
    if ours {
        say(GIVE_BACK);
    }
}

/// Before a stop, or an end that waits for nothing.
fn leave_for_now() {
    if WANTED.load(Ordering::Relaxed) {
        give_back();
    }
}

fn back() {
    HELD.store(false, Ordering::Relaxed);
    FRESH.store(true, Ordering::Relaxed);
    if WANTED.load(Ordering::Relaxed) {
        take();
    }
}
