//! The prose of a message, one sentence per line, without status blocks, fences, `>` lines, promise tags, quotations and
//! inline code. `phrases.rs` and `questions.rs` read the result.

use super::field::is_exact_field;
use super::message_lines::{Line, LineKind, Message};
use super::qualifiers;

/// Replaces omitted text, so that the words around it do not form a phrase.
const GAP: char = '\u{1}';

/// The sentences of a message, each on its own line, white space single, typographic marks made plain. `covered`
/// tells which lines belong to a status block.
pub(super) fn sentences(message: &Message<'_>, covered: impl Fn(usize) -> bool) -> String {
    let mut out = String::new();
    let mut unit = String::new();
    let mut before = 0;
    let mut put_off = false;
    for (at, line) in message.lines.iter().enumerate() {
        if line.kind != LineKind::Prose || covered(at) || is_exact_field(line.text) {
            before = 0;
            continue;
        }
        let heading = line.text.starts_with('#');
        let item = item(line).filter(|_| !heading);
        if before + 1 != line.number || item.is_some() || heading {
            flush(&mut unit, &mut out);
        }
        if !unit.is_empty() {
            unit.push('\n');
        }
        // A list inherits what the line above it says; wrapped lines of an item change nothing.
        if heading || line.text.ends_with(':') {
            put_off = qualifiers::postpones(line.text);
        } else if item.is_none() && unit.is_empty() {
            put_off = false;
        }
        let (unchecked, text) = item.unwrap_or((false, line.text.trim_start_matches(['#', ' '])));
        if unchecked || (put_off && item.is_some()) {
            unit.push_str("not ");
        }
        unit.push_str(text);
        before = if heading { 0 } else { line.number };
    }
    flush(&mut unit, &mut out);
    out
}

/// The sentences of one piece of text.
pub(super) fn of(text: &str) -> String {
    sentences(&Message::new(text), |_| false)
}

/// The text of a list item or table row, and whether it is an unticked checkbox.
fn item<'a>(line: &Line<'a>) -> Option<(bool, &'a str)> {
    let text = line.text;
    if text.starts_with('|') {
        return Some((false, text));
    }
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if digits.len() < text.len() {
        digits.strip_prefix(['.', ')'])?
    } else {
        text.strip_prefix(['-', '*', '+', '•'])?
    };
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let unchecked = rest.strip_prefix("[ ]");
    let checked = rest.strip_prefix("[x]").or_else(|| rest.strip_prefix("[X]"));
    Some((unchecked.is_some(), unchecked.or(checked).unwrap_or(rest)))
}

fn flush(unit: &mut String, out: &mut String) {
    let mut writer = Writer { rest: unit, out, missing: 0 };
    writer.run();
    writer.stop();
    unit.clear();
}

/// Copies one paragraph or list item sentence by sentence.
struct Writer<'a> {
    rest: &'a str,
    out: &'a mut String,
    /// Closing marks that are known not to follow any more: keeps the search linear.
    missing: u32,
}

impl<'a> Writer<'a> {
    fn run(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            if self.left_out(c) {
                continue;
            }
            let spoken = self.out.chars().next_back();
            self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '\n' if self.goes_on() => self.space(),
                '\n' => self.stop(),
                '*' => {}
                '_' if !(spoken.is_some_and(char::is_alphanumeric)
                    && self.next_is(char::is_alphanumeric)) => {}
                '’' => self.out.push('\''),
                '—' | '–' => self.out.push_str(" -- "),
                '…' => self.out.push_str("..."),
                '❌' | '✗' | '✘' | '☐' | '🚫' | '⬜' => self.out.push_str(" not "),
                c if c.is_whitespace() => self.space(),
                '.' | '!' | '?' => {
                    self.out.push(c);
                    if self.ends_sentence() {
                        self.stop();
                    }
                }
                c => self.out.push(c),
            }
        }
    }

    fn next_is(&self, test: fn(char) -> bool) -> bool {
        self.rest.chars().next().is_some_and(test)
    }

    fn space(&mut self) {
        if !self.out.ends_with([' ', '\n']) && !self.out.is_empty() {
            self.out.push(' ');
        }
    }

    /// Ends the sentence.
    fn stop(&mut self) {
        if self.out.ends_with(' ') {
            self.out.pop();
        }
        if !self.out.ends_with('\n') && !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn ends_sentence(&self) -> bool {
        let closed = self.rest.trim_start_matches(['*', '_', ')', '"', '\'', '”']);
        let short = ["e.g.", "i.e.", "vs.", "..."].iter().any(|short| self.out.ends_with(short));
        !short && closed.chars().next().is_none_or(char::is_whitespace)
    }

    /// Is a line break only a wrap? Yes before a small letter, and after a comma or a word that cannot end a sentence.
    fn goes_on(&self) -> bool {
        const LEADING: [&str; 18] = [
            "not", "once", "when", "if", "until", "unless", "that", "and", "or", "but", "will", "to", "be",
            "the", "as", "after", "before", "all",
        ];
        let word = self.out.trim_end().rsplit([' ', '\n']).next().unwrap_or_default();
        let next = self.rest.trim_start_matches(['*', '_']).chars().next();
        next.is_some_and(char::is_lowercase)
            || word.ends_with(',')
            || LEADING.iter().any(|leading| leading.eq_ignore_ascii_case(word))
    }

    /// Leaves out what begins here and is not the agent's own plain word; false when nothing such begins.
    fn left_out(&mut self, c: char) -> bool {
        let rest = self.rest;
        let spoken = self.out.chars().next_back().is_some_and(char::is_alphanumeric);
        match c {
            '`' => {
                let ticks = rest.len() - rest.trim_start_matches('`').len();
                let (open, bit) = match ticks {
                    1 => ("`", 0),
                    2 => ("``", 1),
                    _ => ("```", 2),
                };
                self.skip(open, open, bit)
            }
            '"' => self.skip("\"", "\"", 3),
            '“' => self.skip("“", "”", 4),
            '„' => self.skip("„", "“", 11),
            '«' => self.skip("«", "»", 5),
            '\'' if !spoken => self.skip_single("'", 6),
            '‘' => self.skip_single("’", 7),
            '~' if rest.starts_with("~~") => self.skip("~~", "~~", 8),
            '<' if rest.starts_with("<!--") => self.skip("<!--", "-->", 9),
            '<' if starts_promise(rest) => self.skip("<promise>", "</promise>", 10) || self.skip_line(),
            _ => false,
        }
    }

    /// Leaves out everything from `open` to `close`, if `close` follows.
    fn skip(&mut self, open: &str, close: &str, bit: u32) -> bool {
        let found = |inner: &str| inner.find(close).map(|at| (at, close.len()));
        self.skip_to(open.len(), bit, found)
    }

    /// Single quotation marks also serve as apostrophes: one closes only after a word and before no other.
    fn skip_single(&mut self, close: &str, bit: u32) -> bool {
        let open = self.rest.chars().next().map_or(1, char::len_utf8);
        self.skip_to(open, bit, |inner| {
            let mut marks = inner.match_indices(close);
            let (at, _) = marks.find(|(at, mark)| {
                let after = inner.get(at + mark.len()..).unwrap_or_default().chars().next();
                let before = inner.get(..*at).unwrap_or_default().chars().next_back();
                before.is_some_and(|c| !c.is_whitespace()) && !after.is_some_and(char::is_alphanumeric)
            })?;
            Some((at, close.len()))
        })
    }

    fn skip_to(&mut self, open: usize, bit: u32, close: impl Fn(&str) -> Option<(usize, usize)>) -> bool {
        let inner = self.rest.get(open..).unwrap_or_default();
        if self.missing & (1 << bit) != 0 {
            return false;
        }
        let Some((at, length)) = close(inner) else {
            self.missing |= 1 << bit;
            return false;
        };
        // A denial keeps its meaning in quotation marks.
        match inner.get(..at).map(str::trim).filter(|word| is_denial(word)) {
            Some(word) => self.out.push_str(word),
            None => self.out.push(GAP),
        }
        self.rest = inner.get(at + length..).unwrap_or_default();
        true
    }

    fn skip_line(&mut self) -> bool {
        self.out.push(GAP);
        self.rest = self.rest.find('\n').and_then(|at| self.rest.get(at..)).unwrap_or_default();
        true
    }
}

fn is_denial(word: &str) -> bool {
    ["not", "no", "never", "cannot", "without"].iter().any(|denial| denial.eq_ignore_ascii_case(word))
}

fn starts_promise(rest: &str) -> bool {
    rest.get(..9).is_some_and(|tag| tag.eq_ignore_ascii_case("<promise>"))
}
