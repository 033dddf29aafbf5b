//! Draws the lines at the bottom. The cursor waits at the beginning of the first of them, so that however the terminal
//! is resized, all that is ours lies below it. One write for each drawing, and only lines that changed.

use super::frame::{Foot, foot};
use super::terminal;
use crate::print::say;
use crate::style::Style;
use std::fmt::Write;
use std::time::Duration;

/// Terminals that can show everything up to the second mark at once.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// How long an answer stands.
const ANSWER: Duration = Duration::from_secs(4);
/// To the first column, erase all below.
const WIPE: &str = "\r\x1b[J";

/// The lines at the bottom, as they are drawn.
pub struct Screen {
    style: Style,
    body: Vec<String>,
    foot: Foot,
    size: (usize, usize),
    drawn: Vec<String>,
    drawn_at: (usize, usize),
    closed: bool,
}

impl Screen {
    /// Nothing drawn yet.
    pub fn new(style: Style) -> Screen {
        let (body, drawn, foot) = (Vec::new(), Vec::new(), Foot::default());
        Screen { style, body, foot, size: terminal::size(), drawn, drawn_at: (0, 0), closed: false }
    }

    /// Lines that stay go above.
    pub fn above(&mut self, text: &str) {
        if !terminal::may_write() {
            return;
        }
        let _drawing = terminal::drawing();
        let (ready, fresh) = terminal::ready();
        let was = std::mem::take(&mut self.drawn);
        let wipe = if was.is_empty() || fresh { "" } else { WIPE };
        if !ready || self.closed {
            return say(&format!("{wipe}{text}"));
        }
        let lines = self.lines();
        say(&format!("{BEGIN}{wipe}{text}{}{END}", whole(&lines)));
        self.drawn = lines;
        self.drawn_at = self.size;
    }

    /// How it stands now; `asked` says whether the run is paused, and whether it waits.
    pub fn show(&mut self, body: Vec<String>, size: (usize, usize), asked: (bool, bool)) {
        self.body = body;
        self.size = size;
        (self.foot.paused, self.foot.waiting) = asked;
        self.foot.said.take_if(|(_, at)| at.elapsed() > ANSWER);
        self.render();
    }

    /// What the keyboard changes.
    pub fn foot(&mut self) -> &mut Foot {
        &mut self.foot
    }

    /// Draws what changed.
    pub fn render(&mut self) {
        let _drawing = terminal::drawing();
        let (ready, fresh) = terminal::ready();
        if fresh {
            self.drawn.clear();
        }
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
            say(&format!("{BEGIN}{text}{END}"));
        }
        self.drawn = lines;
        self.drawn_at = self.size;
    }

    /// Takes it away; nothing is drawn any more.
    pub fn close(&mut self) {
        self.closed = true;
        let _drawing = terminal::drawing();
        if !std::mem::take(&mut self.drawn).is_empty() && terminal::ready().0 {
            say(WIPE);
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = foot(&self.body, &self.foot, self.size, self.style);
        // One row less than there are: the block may never push itself out of the screen.
        lines.truncate(self.size.1.saturating_sub(1).max(1));
        lines
    }
}

/// All lines, and back to the first.
fn whole(lines: &[String]) -> String {
    let mut text = format!("{}{}", terminal::hide_cursor(), lines.join("\r\n"));
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
