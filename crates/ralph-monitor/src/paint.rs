//! Writes to the terminal what changed since the last frame. Only the sixteen ANSI colours are used. Terminals differ in how
//! wide some characters are, so the cursor is placed anew after each that is not plain: a row never shifts.

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write;

/// The terminal shows a frame only when all of it has come.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Everything erased, in no colour.
const CLEAR: &str = "\x1b[0m\x1b[2J";

/// What is on the screen.
#[derive(Debug, Default)]
pub struct Painter {
    shown: Option<Buffer>,
}

impl Painter {
    /// Whatever is on the screen is gone.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    /// What makes the screen show this frame; empty if it does already.
    pub fn frame(&mut self, next: Buffer) -> String {
        let same_size = self.shown.as_ref().is_some_and(|shown| shown.area == next.area);
        let before = self.shown.take().filter(|_| same_size);
        let mut text = String::new();
        if before.is_none() {
            text.push_str(CLEAR);
        }
        let before = before.unwrap_or_else(|| Buffer::empty(next.area));
        cells(&mut text, &before, &next);
        self.shown = Some(next);
        if text.is_empty() { text } else { format!("{BEGIN}{text}{END}") }
    }
}

fn cells(text: &mut String, before: &Buffer, next: &Buffer) {
    let (mut cursor, mut look) = (None, None);
    for (x, y, cell) in before.diff_iter(next) {
        if cursor != Some((x, y)) {
            let _ = write!(text, "\x1b[{};{}H", y + 1, x + 1);
        }
        let wanted = (cell.fg, cell.modifier);
        if look != Some(wanted) {
            text.push_str(&sequence(cell));
            look = Some(wanted);
        }
        text.push_str(cell.symbol());
        cursor = is_one_column(cell.symbol()).then(|| (x.saturating_add(1), y));
    }
    if look.is_some_and(|look| look != (Color::Reset, Modifier::empty())) {
        text.push_str("\x1b[0m");
    }
}

/// Whether every terminal agrees that it is.
fn is_one_column(symbol: &str) -> bool {
    let mut letters = symbol.chars();
    let first =
        letters.next().is_some_and(|c| c.is_ascii_graphic() || matches!(c, ' ' | '\u{2500}'..='\u{259f}'));
    first && letters.next().is_none()
}

fn sequence(cell: &Cell) -> String {
    let mut codes = String::from("\x1b[0");
    for (modifier, code) in [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2")] {
        if cell.modifier.contains(modifier) {
            codes.push_str(code);
        }
    }
    codes.push_str(match cell.fg {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Yellow => ";33",
        Color::Blue => ";34",
        Color::Cyan => ";36",
        _ => "",
    });
    codes.push('m');
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Look, Row};
    use ratatui_core::layout::Rect;

    fn drawn(text: &str, look: Look, colours: bool) -> Buffer {
        let area = Rect::new(0, 0, 12, 1);
        let mut buffer = Buffer::empty(area);
        Row::looking(text, look).draw(&mut buffer, area, 0, colours);
        buffer
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut painter = Painter::default();
        assert_eq!(
            painter.frame(drawn("abc", Look::Plain, true)),
            "\x1b[?2026h\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mabc\x1b[?2026l"
        );
        assert_eq!(painter.frame(drawn("abc", Look::Plain, true)), "");
        assert_eq!(painter.frame(drawn("abd", Look::Plain, true)), "\x1b[?2026h\x1b[1;3H\x1b[0md\x1b[?2026l");
        let text = painter.frame(drawn("abd", Look::Note, true));
        assert_eq!(text, "\x1b[?2026h\x1b[1;1H\x1b[0;36mabd\x1b[0m\x1b[?2026l");
        painter.forget();
        assert!(painter.frame(drawn("abd", Look::Note, false)).contains("\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mabd"));
    }

    #[test]
    fn the_cursor_is_placed_anew_after_a_character_of_uncertain_width() {
        let mut painter = Painter::default();
        let text = painter.frame(drawn("a→日─b", Look::Plain, true));
        assert!(text.contains("a→\x1b[1;3H日\x1b[1;5H─b"), "{text:?}");
    }
}
