//! Draws the lines at the bottom. The cursor waits at the beginning of the first of them, so that however the terminal
//! is resized, everything drawn here is below it. One write for each drawing, and only lines that changed. A page is drawn
//! on the terminal's other screen; lines that stay are written when it is closed.

use super::key_line::{KeyLine, with_key_line};
use super::page::PageKind;
use super::terminal::{self, ENTER_PAGE, HIDE_CURSOR, Terminal};
use crate::print::RunOutput;
use crate::style::Style;
use ralph_view::wrap::wrap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Terminals that can show everything up to the second mark at once.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// How long an answer is shown.
const ANSWER: Duration = Duration::from_secs(4);
/// The most bytes of lines that wait for a page to be closed; the oldest are left out then.
const HELD: usize = 1 << 20;
/// To the first column, erase all below.
const WIPE: &str = "\r\x1b[J";

/// The lines at the bottom, as they are drawn.
pub struct Painter {
    terminal: Arc<Terminal>,
    out: RunOutput,
    style: Style,
    body: Vec<String>,
    key_line: KeyLine,
    size: (usize, usize),
    drawn: Vec<String>,
    drawn_at: (usize, usize),
    /// The page as drawn; empty while there is none.
    page_drawn: Vec<String>,
    /// Lines that stay, written while a page was shown.
    held: String,
    closed: bool,
}

impl Painter {
    /// Nothing drawn yet.
    pub fn new(terminal: Arc<Terminal>, out: RunOutput, style: Style) -> Painter {
        let (body, drawn, key_line) = (Vec::new(), Vec::new(), KeyLine::default());
        let (size, drawn_at) = (terminal::size(), (0, 0));
        let (page_drawn, held) = (Vec::new(), String::new());
        Painter {
            terminal,
            out,
            style,
            body,
            key_line,
            size,
            drawn,
            drawn_at,
            page_drawn,
            held,
            closed: false,
        }
    }

    /// Lines that stay go above.
    pub fn above(&mut self, text: &str) {
        if !terminal::may_write() {
            return;
        }
        let terminal = Arc::clone(&self.terminal);
        let _drawing = terminal.drawing();
        if terminal.shows_page() {
            return self.hold(text);
        }
        let text = &wrap(text, self.size.0);
        let (ready, fresh) = terminal.ready();
        let was = std::mem::take(&mut self.drawn);
        let wipe = if was.is_empty() || fresh { "" } else { WIPE };
        if !ready || self.closed {
            return self.out.stderr(&format!("{wipe}{text}"));
        }
        let lines = self.lines();
        self.out.stderr(&format!("{BEGIN}{wipe}{text}{}{END}", whole(&lines)));
        self.drawn = lines;
        self.drawn_at = self.size;
    }

    /// Draws the run's status; `held` says whether the run is paused, and whether it waits.
    pub fn show(&mut self, body: Vec<String>, size: (usize, usize), held: (bool, bool)) {
        self.body = body;
        self.size = size;
        (self.key_line.paused, self.key_line.waiting) = held;
        self.key_line.answer.take_if(|(_, at)| at.elapsed() > ANSWER);
        self.render();
    }

    /// Keeps lines until the page is closed.
    fn hold(&mut self, text: &str) {
        self.held.push_str(text);
        if self.held.len() > HELD {
            let end = self.held.bytes().skip(HELD / 2).position(|byte| byte == b'\n');
            self.held.drain(..end.map_or(self.held.len(), |at| HELD / 2 + at + 1));
        }
    }

    /// Whether the agent's output is shown.
    pub fn shows_output(&self) -> bool {
        self.key_line.page.as_ref().is_some_and(|page| page.kind() == PageKind::Output)
    }

    /// What the keyboard changes.
    pub fn key_line(&mut self) -> &mut KeyLine {
        &mut self.key_line
    }

    /// Draws what changed.
    pub fn render(&mut self) {
        let terminal = Arc::clone(&self.terminal);
        let _drawing = terminal.drawing();
        let (ready, fresh) = terminal.ready();
        if fresh {
            self.drawn.clear();
            self.page_drawn.clear();
        }
        if ready && !self.closed && self.key_line.page.is_some() {
            return self.render_page(&terminal);
        }
        self.leave_page(&terminal);
        if !ready || self.closed || self.body.is_empty() {
            return;
        }
        let lines = self.lines();
        let text = match self.drawn.len() == lines.len() && self.drawn_at == self.size {
            true => changed(&self.drawn, &lines),
            false if self.drawn.is_empty() => whole(&lines),
            false => format!("{WIPE}{}", whole(&lines)),
        };
        if !text.is_empty() {
            self.out.stderr(&format!("{BEGIN}{text}{END}"));
        }
        self.drawn = lines;
        self.drawn_at = self.size;
    }

    fn render_page(&mut self, terminal: &Terminal) {
        let Some(page) = &mut self.key_line.page else { return };
        let lines = page.draw(self.size, self.style);
        let enter = if terminal.enter_page() { ENTER_PAGE } else { "" };
        if lines != self.page_drawn || !enter.is_empty() {
            let text = lines.join("\x1b[K\r\n");
            self.out.stderr(&format!("{BEGIN}{enter}{HIDE_CURSOR}\x1b[H{text}\x1b[K\x1b[J{END}"));
        }
        self.page_drawn = lines;
    }

    /// Back to the panel: what was drawn there is still there, and the lines that came meanwhile go above it.
    fn leave_page(&mut self, terminal: &Terminal) {
        if !terminal.leave_page() && self.held.is_empty() {
            return;
        }
        self.page_drawn.clear();
        let wipe = if std::mem::take(&mut self.drawn).is_empty() { "" } else { WIPE };
        let held = wrap(&std::mem::take(&mut self.held), self.size.0);
        self.out.stderr(&format!("{wipe}{held}"));
    }

    /// Erases it; nothing is drawn any more.
    pub fn close(&mut self) {
        self.closed = true;
        let terminal = Arc::clone(&self.terminal);
        let _drawing = terminal.drawing();
        self.leave_page(&terminal);
        if !std::mem::take(&mut self.drawn).is_empty() && terminal.ready().0 {
            self.out.stderr(WIPE);
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = with_key_line(&self.body, &self.key_line, self.size, self.style);
        // One row less than there are: the block may never push itself out of the screen.
        lines.truncate(self.size.1.saturating_sub(1).max(1));
        lines
    }
}

/// All lines, and back to the first.
fn whole(lines: &[String]) -> String {
    let mut text = format!("{}{}", HIDE_CURSOR, lines.join("\r\n"));
    if lines.len() > 1 {
        let _ = write!(text, "\x1b[{}A", lines.len() - 1);
    }
    text.push('\r');
    text
}

/// Only the lines that differ, each from the first line and back to it.
fn changed(old: &[String], new: &[String]) -> String {
    let mut text = String::new();
    for (n, line) in new.iter().enumerate().filter(|(n, line)| old.get(*n) != Some(line)) {
        match n {
            0 => {
                let _ = write!(text, "\r{line}\x1b[K\r");
            }
            n => {
                let _ = write!(text, "\x1b[{n}B\r{line}\x1b[K\x1b[{n}A\r");
            }
        }
    }
    text
}
