//! Checkboxes in Markdown: `- [ ]` and `- [x]`, also indented, numbered, with `*` or `+`. Code fences and HTML comments
//! are no plan; a fence or comment that is never closed hides nothing, so that no open item is overlooked.

use super::item::{Item, Tick, TickKind};
use super::markdown_details::{Outline, id_and_title};
use super::places::Places;

/// Headings whose items do not stand in the way of completion, with all their subsections.
const OPTIONAL: [&str; 4] = ["optional", "future", "future enhancements", "nice to have"];

/// Reads the checkboxes.
pub(super) fn items(bytes: &[u8]) -> Vec<Item> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let hidden = hidden(&lines);
    let places = Places::of(bytes);
    let mut read = Outline::default();
    let mut optional: Option<usize> = None;
    let mut above = "";
    for (number, (line, hidden)) in lines.into_iter().zip(hidden).enumerate() {
        if hidden {
            above = "";
            continue;
        }
        if let Some((level, title)) = heading(line).or_else(|| underlined(line, above)) {
            if optional.is_none_or(|outer| level <= outer) {
                optional = is_optional(title).then_some(level);
            }
            read.heading();
        } else if let Some((ticked, text, column)) = item(line) {
            // What stands before the tick is ASCII, so that it is as long in the file.
            let from = places.start(number) + column;
            read.item(line, Item { optional: optional.is_some(), ..checkbox(ticked, text, (from, number)) });
        } else {
            read.line(line, number + 1);
        }
        above = line;
    }
    read.items()
}

fn checkbox(done: bool, text: &str, (from, number): (usize, usize)) -> Item {
    let (id, title) = id_and_title(text);
    let (now, done_bytes) = (if done { "x" } else { " " }, "x".to_owned());
    let tick = Tick {
        from,
        to: from + 1,
        kind: TickKind::Checkbox,
        now: now.into(),
        done: done_bytes,
        open: " ".into(),
    };
    Item { id, title, done, tick, line: number + 1, column: 1, ..Item::default() }
}

/// A checkbox, its text, and where its tick stands in the line. What looks like one but is a link, a date or a note
/// (`[x](…)`, `[#12]`, `[  ]`) is none.
fn item(line: &str) -> Option<(bool, &str, usize)> {
    let box_and_text = after_marker(line)?;
    let rest = box_and_text.strip_prefix('[')?;
    let ticked = match rest.chars().next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    let text = rest.get(1..)?.strip_prefix(']')?;
    let text = text.strip_prefix([' ', '\t'])?.trim();
    (!text.is_empty()).then_some((ticked, text, line.len() - rest.len()))
}

/// What follows a list's marker and the white space after it.
pub(super) fn after_marker(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t']);
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        line.get(digits..).filter(|_| (1..=9).contains(&digits))?.strip_prefix(['.', ')'])
    })?;
    let text = rest.trim_start_matches([' ', '\t']);
    (text.len() < rest.len()).then_some(text)
}

/// `## Title`: its level and text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(' ');
    let level = rest.bytes().take_while(|b| *b == b'#').count();
    let title = rest.get(level..)?;
    let spaced = title.is_empty() || title.starts_with([' ', '\t']);
    ((1..=6).contains(&level) && spaced && line.len() - rest.len() < 4).then_some((level, title))
}

/// A line of text with `===` or `---` below it is a heading too.
fn underlined<'a>(line: &str, above: &'a str) -> Option<(usize, &'a str)> {
    let rule = line.trim();
    let level = match rule.as_bytes() {
        [b'=', b'=', ..] if rule.bytes().all(|b| b == b'=') => 1,
        [b'-', b'-', ..] if rule.bytes().all(|b| b == b'-') => 2,
        _ => return None,
    };
    let text = above.trim();
    let plain = !text.is_empty()
        && !text.starts_with(['>', '|', '#', '='])
        && !text.bytes().all(|b| b == b'-')
        && after_marker(above).is_none();
    plain.then_some((level, text))
}

/// `Optional`, whatever numbers, marks or hyphens stand around it; also as a remark: `Polish (optional)`.
fn is_optional(title: &str) -> bool {
    let (name, remark) = match title.trim_end().strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((name, remark)) => (name, remark),
        None => (title, ""),
    };
    names_optional(name) || names_optional(remark)
}

fn names_optional(name: &str) -> bool {
    let bare = name.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let words: Vec<&str> = bare.split([' ', '\t', '-']).filter(|word| !word.is_empty()).collect();
    OPTIONAL.contains(&words.join(" ").as_str())
}

/// Which lines lie in a code fence or a comment that is closed.
fn hidden(lines: &[&str]) -> Vec<bool> {
    let ends = Ends::of(lines);
    let mut until: Option<Open> = None;
    let mut hidden = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        match until {
            Some(open) => {
                hidden.push(true);
                until = Some(open).filter(|open| !open.closed_by(line));
            }
            None => {
                until = Open::by(line).filter(|open| ends.comes(*open, at));
                let alone = line.trim_start().starts_with("<!--") && line.contains("-->");
                hidden.push(until.is_some() || alone);
            }
        }
    }
    hidden
}

/// What hides the lines that follow.
#[derive(Clone, Copy)]
enum Open {
    Fence { mark: u8, length: usize },
    Comment,
}

impl Open {
    fn by(line: &str) -> Option<Open> {
        let text = after_marker(line).unwrap_or(line).trim_start();
        if text.starts_with("<!--") && !text.contains("-->") {
            return Some(Open::Comment);
        }
        fence(text).map(|(mark, length, _)| Open::Fence { mark, length })
    }

    fn closed_by(self, line: &str) -> bool {
        match self {
            Open::Comment => line.contains("-->"),
            Open::Fence { mark, length } => {
                fence(line.trim_start()).is_some_and(|(by, long, bare)| by == mark && long >= length && bare)
            }
        }
    }
}

/// A fence's mark, its length, and whether nothing follows it.
fn fence(text: &str) -> Option<(u8, usize, bool)> {
    let mark = text.bytes().next().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = text.bytes().take_while(|b| *b == mark).count();
    let rest = text.get(length..)?;
    (length >= 3 && !(mark == b'`' && rest.contains('`'))).then_some((mark, length, rest.trim().is_empty()))
}

/// For every line, what can still be closed below it: known beforehand, so that no search begins anew.
struct Ends {
    /// The longest closing fence below each line, of backticks and of tildes.
    fences: Vec<(usize, usize)>,
    /// The last line that ends a comment.
    comment: Option<usize>,
}

impl Ends {
    fn of(lines: &[&str]) -> Ends {
        let mut fences = vec![(0, 0); lines.len()];
        let mut longest = (0, 0);
        for (slot, line) in fences.iter_mut().zip(lines).rev() {
            *slot = longest;
            match fence(line.trim_start()) {
                Some((b'`', length, true)) => longest.0 = longest.0.max(length),
                Some((_, length, true)) => longest.1 = longest.1.max(length),
                _ => {}
            }
        }
        Ends { fences, comment: lines.iter().rposition(|line| line.contains("-->")) }
    }

    fn comes(&self, open: Open, at: usize) -> bool {
        match open {
            Open::Comment => self.comment.is_some_and(|end| end > at),
            Open::Fence { mark, length } => self
                .fences
                .get(at)
                .is_some_and(|(ticks, tildes)| length <= if mark == b'`' { *ticks } else { *tildes }),
        }
    }
}
