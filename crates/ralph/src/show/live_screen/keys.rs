//! The keyboard: h a hint, p pause or continue, c continue, s stop after the iteration, o the agent's output, d the diff,
//! ? help. Requests go the way of every other terminal, through the run's inbox. Ctrl-C is a signal and not read here.

use super::key_line::KeyLine;
use super::page::{Page, PageKind};
use super::painter::Painter;
use super::terminal;
use ralph_diagnostics::Discard;
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{IsTerminal, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Sends a request to the run; false where that failed.
pub type SendRequest = Box<dyn Fn(&Request) -> bool + Send>;

/// What the keys of a panel reach.
pub struct KeyTargets {
    /// Takes requests to the run.
    pub send: SendRequest,
    /// Makes the diff of the run, line by line and without colours.
    pub diff: Box<dyn Fn() -> Vec<String> + Send>,
    /// Where the run is in another process: set once the person leaves.
    pub leave: Option<Arc<AtomicBool>>,
}

/// What a key asks for that the screen cannot do by itself.
#[derive(Debug, PartialEq)]
enum KeyAction {
    Ask(Request),
    MakeDiff,
    Leave,
}

/// How often the thread checks whether the screen is still there.
const CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
const ESCAPE: u8 = 0x1b;

/// Reads keys until the screen is gone.
pub fn listen(painter: &Arc<Mutex<Painter>>, targets: KeyTargets) {
    painter.lock().unwrap_or_else(PoisonError::into_inner).key_line().attached = targets.leave.is_some();
    if !stdin().is_terminal() {
        painter.lock().unwrap_or_else(PoisonError::into_inner).key_line().no_keyboard = true;
        return;
    }
    let painter = Arc::downgrade(painter);
    let read = move || read_keys(&painter, &targets);
    std::thread::Builder::new().name("keys".into()).spawn(read).discard("start the thread that reads keys");
}

fn read_keys(painter: &Weak<Mutex<Painter>>, targets: &KeyTargets) {
    let stdin = stdin();
    let mut bytes = [0; 256];
    loop {
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&CHECK)).unwrap_or(0);
        let Some(painter) = painter.upgrade() else { return };
        // Whoever reads from the background is stopped by the terminal.
        if ready == 0 || !terminal::in_foreground() {
            if ready > 0 {
                std::thread::sleep(Duration::from_millis(200));
            }
            continue;
        }
        let read = rustix::io::read(&stdin, &mut bytes);
        let typed = match read {
            Ok(n @ 1..) => bytes.get(..n).unwrap_or_default(),
            // The keyboard is gone; the run continues without it.
            Ok(_) => return,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(_) => return,
        };
        let actions = locked(&painter).key_line().typed(typed);
        locked(&painter).render();
        for action in actions {
            act(&action, &painter, targets);
        }
    }
}

fn locked(painter: &Mutex<Painter>) -> MutexGuard<'_, Painter> {
    painter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slow part is not done while the screen is locked: whoever logs meanwhile prints to it.
fn act(action: &KeyAction, painter: &Mutex<Painter>, targets: &KeyTargets) {
    match action {
        KeyAction::Ask(request) => {
            let sent = (targets.send)(request);
            locked(painter).key_line().answered(request, sent);
        }
        KeyAction::MakeDiff => {
            let lines = (targets.diff)();
            let mut painter = locked(painter);
            if let Some(page) = painter.key_line().page.as_mut().filter(|page| page.kind() == PageKind::Diff)
            {
                page.set_lines(lines);
            }
        }
        KeyAction::Leave => {
            if let Some(leave) = &targets.leave {
                leave.store(true, Ordering::Relaxed);
            }
        }
    }
    locked(painter).render();
}

impl KeyLine {
    /// What the keys ask for: several may come at once.
    fn typed(&mut self, typed: &[u8]) -> Vec<KeyAction> {
        let (mut asked, mut rest) = (Vec::new(), typed);
        self.answer = None;
        while let Some((key, after)) = rest.split_first() {
            rest = after;
            if *key == ESCAPE && !after.is_empty() {
                rest = after_sequence(after);
                let sequence = after.get(..after.len() - rest.len()).unwrap_or_default();
                if let (Some(page), Some(key)) = (&mut self.page, scroll_key(sequence)) {
                    page.scroll(key);
                }
                continue;
            }
            asked.extend(match (self.hint.is_some(), self.page.is_some()) {
                (true, _) => self.letter(*key).map(KeyAction::Ask),
                (false, true) => self.page_key(*key),
                (false, false) => self.key(*key),
            });
        }
        asked
    }

    fn key(&mut self, key: u8) -> Option<KeyAction> {
        let help = std::mem::take(&mut self.help);
        match key.to_ascii_lowercase() {
            b'h' => self.hint = Some(Vec::new()),
            b'?' => self.help = !help,
            b'p' if self.paused => return Some(KeyAction::Ask(Request::Continue)),
            b'p' => return Some(KeyAction::Ask(Request::Pause)),
            b'c' => return Some(KeyAction::Ask(Request::Continue)),
            b's' => return Some(KeyAction::Ask(Request::Stop { after: true, signal: 2 })),
            b'o' => self.page = Some(Page::new(PageKind::Output, Vec::new())),
            b'd' => {
                self.page = Some(Page::new(PageKind::Diff, vec!["Comparing the files…".into()]));
                return Some(KeyAction::MakeDiff);
            }
            b'q' if self.attached => return Some(KeyAction::Leave),
            _ => {}
        }
        None
    }

    /// A key while a page is shown: it scrolls, closes the page or opens the other one.
    fn page_key(&mut self, key: u8) -> Option<KeyAction> {
        let kind = self.page.as_ref().map(Page::kind);
        match key {
            b'q' | ESCAPE => self.page = None,
            b'o' if kind == Some(PageKind::Output) => self.page = None,
            b'd' if kind == Some(PageKind::Diff) => self.page = None,
            b'o' | b'd' => return self.key(key),
            _ => {
                if let Some(page) = &mut self.page {
                    page.scroll(key);
                }
            }
        }
        None
    }

    /// A key while a hint is typed: a letter, Backspace, Ctrl-U, Enter, Escape.
    fn letter(&mut self, key: u8) -> Option<Request> {
        let text = self.hint.as_mut()?;
        match key {
            b'\n' | b'\r' => {
                let text = String::from_utf8_lossy(text).trim().to_string();
                self.hint = None;
                return (!text.is_empty()).then_some(Request::Hint { text });
            }
            ESCAPE => self.hint = None,
            0x7f | 0x08 => while text.pop().is_some_and(|last| last & 0xC0 == 0x80) {},
            0x15 => text.clear(),
            b'\t' => text.push(b' '),
            key if key >= b' ' && text.len() < HINT_BYTES => text.push(key),
            _ => {}
        }
        None
    }

    /// Answers a request.
    fn answered(&mut self, request: &Request, sent: bool) {
        let words = match request {
            _ if !sent => "request not sent: the run's inbox cannot be written",
            Request::Pause => "pausing before the next call",
            Request::Continue => "continuing",
            Request::Accept => "accepted",
            Request::Hint { .. } => "hint sent: it is in the agent's next prompt",
            Request::Stop { .. } => "stopping after this iteration (Ctrl-C: now)",
        };
        self.answer = Some((words.into(), Instant::now()));
    }
}

/// What follows an arrow or a function key, which is several bytes: none of them is a command.
fn after_sequence(bytes: &[u8]) -> &[u8] {
    let (first, mut rest) = bytes.split_first().unwrap_or((&0, &[]));
    if matches!(first, b'[' | b'O') {
        let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)).map_or(rest.len(), |at| at + 1);
        rest = rest.get(end..).unwrap_or_default();
    }
    rest
}

/// The key that scrolls like this arrow or function key.
fn scroll_key(sequence: &[u8]) -> Option<u8> {
    match sequence {
        b"[A" | b"OA" => Some(b'k'),
        b"[B" | b"OB" => Some(b'j'),
        b"[5~" => Some(b'b'),
        b"[6~" => Some(b' '),
        b"[H" | b"OH" | b"[1~" => Some(b'g'),
        b"[F" | b"OF" | b"[4~" => Some(b'G'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(requests: impl IntoIterator<Item = Request>) -> Vec<KeyAction> {
        requests.into_iter().map(KeyAction::Ask).collect()
    }

    #[test]
    fn a_hint_is_typed_corrected_sent_and_cancelled() {
        let mut line = KeyLine::default();
        for keys in ["?", "hLook at ü\u{7f}", "\u{15}", "the lexerr\u{8}", "\u{1b}[A\u{1b}[1;5D"] {
            assert_eq!(line.typed(keys.as_bytes()), []);
        }
        let hint = Request::Hint { text: "the lexer".into() };
        assert_eq!(line.typed(b"\rp"), asked([hint, Request::Pause]), "keys that come at once");
        assert_eq!(line.typed(b"hno\x1b"), []);
        assert_eq!(line.hint, None, "Escape cancels");
        line.paused = true;
        let stop = Request::Stop { after: true, signal: 2 };
        assert_eq!(line.typed(b"pxs"), asked([Request::Continue, stop]));
    }

    #[test]
    fn pages_open_change_and_close_and_q_leaves_only_another_process() {
        let mut line = KeyLine::default();
        let kind = |line: &KeyLine| line.page.as_ref().map(Page::kind);
        assert_eq!(line.typed(b"o"), []);
        assert_eq!(kind(&line), Some(PageKind::Output));
        assert_eq!(line.typed(b"p\x1b[A"), [], "keys of the panel do nothing on a page");
        assert_eq!(line.typed(b"d"), [KeyAction::MakeDiff]);
        assert_eq!(kind(&line), Some(PageKind::Diff));
        for close in [&b"d"[..], b"q", b"\x1b"] {
            assert_eq!(line.typed(close), []);
            assert_eq!(kind(&line), None);
            assert_eq!(line.typed(b"d"), [KeyAction::MakeDiff]);
        }
        assert_eq!(line.typed(b"qq"), [], "this process's own run is stopped with s or Ctrl-C");
        line.attached = true;
        assert_eq!(line.typed(b"q"), [KeyAction::Leave]);
    }
}
