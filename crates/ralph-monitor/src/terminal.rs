//! The terminal while the monitor has it: keys come one by one and unseen, the alternate screen is shown, the cursor is
//! hidden; Ctrl-C and Ctrl-Z stay what they are. It is given back at the end, before a stop, when something panics and when
//! a signal ends the process. In the background nothing is touched: the terminal is somebody else's then.

use crate::key::{Key, KeyReader};
use ralph_engine::signals::{self, Suspend};
use ralph_os::{in_foreground, key_by_key, terminal_size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, IsTerminal, stdin, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Alternate screen, no cursor, no wrapping at the last column, pasted text marked as such.
const TAKE: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h";
/// All of that as it was.
const GIVE_BACK: &str = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";
/// How long a terminal that takes nothing is waited for at a time.
const WAIT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The terminal of this process.
pub struct Terminal {
    /// How it was before; none while it is not taken.
    before: Mutex<Option<Termios>>,
    /// It was given back for a stop, or for good.
    given_back: AtomicBool,
    /// It was given back because a thread panicked.
    panicked: AtomicBool,
    /// Held while something is written, so that nothing is drawn on a terminal that was just given back.
    drawing: Mutex<()>,
    /// It was given back in between: what was drawn is gone.
    erased: AtomicBool,
}

/// Gives the terminal back when dropped.
pub struct TerminalGuard {
    terminal: Arc<Terminal>,
    _signals: signals::Listening,
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.terminal.give_back();
    }
}

impl TerminalGuard {
    /// The terminal.
    pub fn terminal(&self) -> &Arc<Terminal> {
        &self.terminal
    }
}

/// Whether there is a terminal to draw on and a keyboard.
pub fn is_there() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

impl Terminal {
    /// Takes the terminal of this process until the guard is dropped.
    pub fn take() -> TerminalGuard {
        let terminal = Arc::new(Terminal {
            before: Mutex::new(None),
            given_back: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            drawing: Mutex::new(()),
            erased: AtomicBool::new(true),
        });
        give_back_on_panic(Arc::downgrade(&terminal));
        let listening = signals::suspend_with(Arc::clone(&terminal) as Arc<dyn Suspend>);
        terminal.take_modes();
        TerminalGuard { terminal, _signals: listening }
    }

    /// Whether it can be drawn on; takes it again where it was given back. The second is whether all that was drawn is gone.
    pub fn ready(&self) -> (bool, bool) {
        let ready = !self.given_back.load(Ordering::Relaxed) && in_foreground(stdin());
        if ready {
            self.take_modes();
        }
        (ready, ready && self.erased.swap(false, Ordering::Relaxed))
    }

    /// Whether it was given back because a thread panicked: it is not taken again.
    pub fn panicked(&self) -> bool {
        self.panicked.load(Ordering::Relaxed)
    }

    /// Writes a frame.
    pub fn draw(&self, text: &str) -> io::Result<()> {
        let _drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.given_back.load(Ordering::Relaxed) {
            true => Ok(()),
            false => write_all(text),
        }
    }

    fn take_modes(&self) {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        if before.is_some() || self.given_back.load(Ordering::Relaxed) || !in_foreground(stdin()) {
            return;
        }
        let Ok(modes) = tcgetattr(stdin()) else { return };
        if tcsetattr(stdin(), OptionalActions::Now, &key_by_key(&modes)).is_ok() && write_all(TAKE).is_ok() {
            *before = Some(modes);
            self.erased.store(true, Ordering::Relaxed);
        }
    }

    fn give_back(&self) {
        self.given_back.store(true, Ordering::Relaxed);
        let _drawn = signals::wait_for_drawing(&self.drawing);
        // A lock that a panicking thread holds is not waited for.
        if let Ok(mut before) = self.before.try_lock()
            && let Some(modes) = before.take()
            && in_foreground(stdin())
        {
            let _ = write_all(GIVE_BACK);
            let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
        }
    }
}

impl Suspend for Terminal {
    fn suspend(&self) {
        self.give_back();
    }

    fn resume(&self) {
        self.given_back.store(self.panicked(), Ordering::Relaxed);
        self.take_modes();
    }
}

fn give_back_on_panic(terminal: Weak<Terminal>) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Some(terminal) = terminal.upgrade() {
            terminal.panicked.store(true, Ordering::Relaxed);
            terminal.give_back();
        }
        before(info);
    }));
}

/// Whether the terminal was closed. In the background nothing is read, so that no reading tells.
pub fn is_gone() -> bool {
    let stdin = stdin();
    let mut looked_at = [PollFd::new(&stdin, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_closed = |flags: PollFlags| flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    poll(&mut looked_at, Some(&now)).is_ok() && looked_at.iter().any(|fd| is_closed(fd.revents()))
}

/// Columns and rows.
pub fn size() -> (u16, u16) {
    terminal_size(stdout())
}

/// What is typed within this time. An error: the terminal is gone.
pub fn typed(reader: &mut KeyReader, within: Duration) -> io::Result<Vec<Key>> {
    let wait = Timespec {
        tv_sec: i64::try_from(within.as_secs()).unwrap_or(0),
        tv_nsec: i64::from(within.subsec_nanos()),
    };
    let stdin = stdin();
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)) {
        Ok(0) => return Ok(reader.nothing_came(Instant::now()).into_iter().collect()),
        Err(Errno::INTR) => return Ok(Vec::new()),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut bytes = [0; 1024];
    match read(&stdin, &mut bytes) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(n) => Ok(reader.keys(bytes.get(..n).unwrap_or_default())),
        Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn write_all(text: &str) -> io::Result<()> {
    let stdout = stdout();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match write(&stdout, rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], Some(&WAIT))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
