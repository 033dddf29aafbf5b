//! The keyboard: h a hint, p pause or continue, c continue, s stop after the iteration, ? help. Requests go the way of
//! every other terminal, through the run's inbox. Ctrl-C is a signal and not read here.

use super::painter::Painter;
use super::status_lines::KeyLine;
use super::terminal;
use ralph_diagnostics::Discard;
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{IsTerminal, stdin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Sends a request to the run; false where that failed.
pub type SendRequest = Box<dyn Fn(&Request) -> bool + Send>;

/// How often the thread checks whether the screen is still there.
const CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
const ESCAPE: u8 = 0x1b;

/// Reads keys until the screen is gone.
pub fn listen(painter: &Arc<Mutex<Painter>>, send: SendRequest) {
    if !stdin().is_terminal() {
        painter.lock().unwrap_or_else(PoisonError::into_inner).key_line().no_keyboard = true;
        return;
    }
    let painter = Arc::downgrade(painter);
    let read = move || read_keys(&painter, &send);
    std::thread::Builder::new().name("keys".into()).spawn(read).discard("start the thread that reads keys");
}

fn read_keys(painter: &Weak<Mutex<Painter>>, send: &SendRequest) {
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
        let lock = || painter.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = lock().key_line().typed(typed);
        for request in requests {
            // Not while the screen is locked: whoever logs meanwhile prints to it.
            let sent = send(&request);
            lock().key_line().answered(&request, sent);
        }
        lock().render();
    }
}

impl KeyLine {
    /// What the keys ask for: several may come at once.
    fn typed(&mut self, typed: &[u8]) -> Vec<Request> {
        let (mut asked, mut rest) = (Vec::new(), typed);
        self.answer = None;
        while let Some((key, after)) = rest.split_first() {
            rest = after;
            if *key == ESCAPE && !after.is_empty() {
                rest = after_sequence(after);
                continue;
            }
            let request = if self.hint.is_some() { self.letter(*key) } else { self.key(*key) };
            asked.extend(request);
        }
        asked
    }

    fn key(&mut self, key: u8) -> Option<Request> {
        let help = std::mem::take(&mut self.help);
        match key.to_ascii_lowercase() {
            b'h' => self.hint = Some(Vec::new()),
            b'?' => self.help = !help,
            b'p' if self.paused => return Some(Request::Continue),
            b'p' => return Some(Request::Pause),
            b'c' => return Some(Request::Continue),
            b's' => return Some(Request::Stop { after: true, signal: 2 }),
            _ => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_typed_corrected_sent_and_cancelled() {
        let mut line = KeyLine::default();
        for keys in ["?", "hLook at ü\u{7f}", "\u{15}", "the lexerr\u{8}", "\u{1b}[A\u{1b}[1;5D"] {
            assert_eq!(line.typed(keys.as_bytes()), []);
        }
        let hint = Request::Hint { text: "the lexer".into() };
        assert_eq!(line.typed(b"\rp"), [hint, Request::Pause], "keys that come at once");
        assert_eq!(line.typed(b"hno\x1b"), []);
        assert_eq!(line.hint, None, "Escape cancels");
        line.paused = true;
        let stop = Request::Stop { after: true, signal: 2 };
        assert_eq!(line.typed(b"pxs"), [Request::Continue, stop]);
    }
}
