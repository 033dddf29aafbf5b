//! One row of a screen: pieces of text from the left, pieces from the right, each with a look. Cut so that no row is ever
//! wider than its place, whatever characters it holds.

use ralph_view::card::Tone;
use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;

/// Stands for what did not fit.
const CUT: &str = "…";

/// How a piece of text looks. Nothing depends on it: marks and words say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// As the terminal writes.
    #[default]
    Plain,
    /// A name or a heading.
    Strong,
    /// Less important.
    Faint,
    /// A key, or what was just confirmed.
    Note,
    /// What a tone says.
    Toned(Tone),
}

impl Look {
    /// In the sixteen colours that every terminal has; without colours, as the terminal writes.
    fn style(self, colours: bool) -> Style {
        let style = Style::default();
        match self {
            _ if !colours => style,
            Look::Plain => style,
            Look::Strong => style.add_modifier(Modifier::BOLD),
            Look::Faint | Look::Toned(Tone::Quiet | Tone::Wait) => style.add_modifier(Modifier::DIM),
            Look::Note => style.fg(Color::Cyan),
            Look::Toned(Tone::Live) => style.fg(Color::Blue),
            Look::Toned(Tone::Good) => style.fg(Color::Green),
            Look::Toned(Tone::Need) => style.fg(Color::Yellow),
            Look::Toned(Tone::Bad) => style.fg(Color::Red),
        }
    }
}

/// A piece of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    text: String,
    look: Look,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    left: Vec<Piece>,
    right: Vec<Piece>,
}

impl Row {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Row {
        Row::looking(text, Look::Plain)
    }

    /// Text that looks so.
    pub fn looking(text: impl Into<String>, look: Look) -> Row {
        Row::default().with(text, look)
    }

    /// With more text.
    pub fn with(mut self, text: impl Into<String>, look: Look) -> Row {
        self.left.push(Piece { text: text.into(), look });
        self
    }

    /// With more text at the right end.
    pub fn right(mut self, text: impl Into<String>, look: Look) -> Row {
        self.right.push(Piece { text: text.into(), look });
        self
    }

    /// With the text of another row behind it.
    pub fn and(mut self, other: Row) -> Row {
        self.left.extend(other.left);
        self
    }

    /// At the right end of another row.
    pub fn moved_right(self, mut row: Row) -> Row {
        row.right.extend(self.left);
        row
    }

    /// Columns that the text from the left takes.
    pub fn width(&self) -> usize {
        self.left.iter().map(|piece| columns(&piece.text)).sum()
    }

    /// The text from the left.
    pub fn words(&self) -> String {
        self.left.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Draws it on row `y` of `area`.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect, y: u16, colours: bool) {
        let area = area.intersection(buffer.area);
        let Some(row) = area.y.checked_add(y).filter(|row| *row < area.bottom()) else { return };
        let whole = usize::from(area.width);
        let right: usize = self.right.iter().map(|piece| columns(&piece.text)).sum();
        // What stands at the right is short; it goes where there is no room for both.
        let right_fits = right > 0 && right + 4 <= whole;
        let left_room = if right_fits { whole - right - 1 } else { whole };
        let mut x = area.x;
        let mut room = left_room;
        let mut rest = self.width();
        for piece in &self.left {
            let wide = columns(&piece.text);
            let text = if rest > room && wide >= room { cut(&piece.text, room) } else { piece.text.clone() };
            let next = write(buffer, (x, row), &text, room, piece.look.style(colours));
            room = room.saturating_sub(usize::from(next - x));
            rest = rest.saturating_sub(wide);
            x = next;
        }
        if right_fits {
            let mut x = area.right().saturating_sub(u16::try_from(right).unwrap_or(u16::MAX));
            for piece in &self.right {
                x = write(buffer, (x, row), &piece.text, right, piece.look.style(colours));
            }
        }
    }
}

fn write(buffer: &mut Buffer, (x, y): (u16, u16), text: &str, room: usize, style: Style) -> u16 {
    if x >= buffer.area.right() { x } else { buffer.set_stringn(x, y, text, room, style).0 }
}

/// The columns that a text takes.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    graphemes(text).map(|(_, wide)| wide).sum()
}

/// The beginning of a text that fits; where something is left out, it ends with `…`.
pub fn cut(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    // In two columns a mark says more than that something is missing.
    match room {
        ..=2 => first(text, room),
        _ => first(text, room - 1) + CUT,
    }
}

/// The end of a text that fits.
pub fn last(text: &str, room: usize) -> String {
    let all: Vec<String> = graphemes(text).map(|(symbol, _)| symbol).collect();
    let mut room = room;
    let fits = all.iter().rev().take_while(|symbol| {
        let wide = columns(symbol);
        let fits = wide <= room;
        room = room.saturating_sub(wide);
        fits
    });
    let fits = fits.count();
    all.iter().skip(all.len() - fits).map(String::as_str).collect()
}

fn first(text: &str, mut room: usize) -> String {
    let fits = graphemes(text).map_while(|(symbol, wide)| {
        room = room.checked_sub(wide)?;
        Some(symbol)
    });
    fits.collect()
}

/// A text in pieces that fit into `room` columns each, broken at spaces where there are any.
pub fn folded(text: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    if columns(text) <= room {
        return vec![text.to_owned()];
    }
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for (symbol, wide) in graphemes(text) {
        if used + wide > room {
            let rest = match line.rfind(' ').filter(|at| *at > line.len() / 2) {
                Some(at) => line.split_off(at).trim_start().to_owned(),
                None => String::new(),
            };
            lines.push(std::mem::replace(&mut line, rest));
            used = columns(&line);
        }
        line.push_str(&symbol);
        used += wide;
    }
    lines.push(line);
    lines
}

/// What a terminal shows as one character, with its columns. Marks that combine stay with their letter.
fn graphemes(text: &str) -> impl Iterator<Item = (String, usize)> {
    let span = Span::raw(text);
    let all: Vec<(String, usize)> = span
        .styled_graphemes(Style::default())
        .map(|one| (one.symbol.to_owned(), usize::from(one.symbol.cell_width())))
        .collect();
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_where_it_does_not_fit_and_never_in_a_character() {
        let table = [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("hello", 1, "h"),
            ("hello", 0, ""),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}…"),
            ("👩\u{200d}👩\u{200d}👧 family", 4, "👩\u{200d}👩\u{200d}👧 …"),
        ];
        for (text, room, fits) in table {
            assert_eq!(cut(text, room), fits, "{text} in {room}");
            assert!(columns(&cut(text, room)) <= room);
        }
        assert_eq!(last("Try the other 日本", 6), "r 日本");
    }

    #[test]
    fn long_text_is_folded_at_spaces_and_loses_nothing() {
        assert_eq!(folded("the lexer closes the string", 12), ["the lexer", "closes the", "string"]);
        assert_eq!(folded("0123456789", 4), ["0123", "4567", "89"]);
        assert_eq!(folded("日本語", 1), ["", "日", "本", "語"], "a wide character in one column");
        assert_eq!(folded("", 4), [""]);
    }

    #[test]
    fn what_stands_at_the_right_goes_before_the_left_is_lost() {
        let row = Row::text("a long name").right("$1.43", Look::Faint);
        let drawn = |width: u16| {
            let area = Rect::new(0, 0, width, 1);
            let mut buffer = Buffer::empty(area);
            row.draw(&mut buffer, area, 0, true);
            buffer.content().iter().map(|cell| cell.symbol().to_owned()).collect::<String>()
        };
        assert_eq!(drawn(20), "a long name    $1.43");
        assert_eq!(drawn(14), "a long … $1.43");
        assert_eq!(drawn(6), "a lon…");
        assert_eq!(drawn(1), "a");
    }
}
