//! Quoted values of front matter, over one or several lines.

use super::fault::{Fault, Line};

/// One character with the byte it stands at; line ends are `\n`.
type Char = (usize, char);

/// The characters of a value after its opening quote; the indentation of further lines is left out.
fn characters(first: Line<'_>, more: &[Line<'_>]) -> Vec<Char> {
    let mut all: Vec<Char> = first.text.char_indices().skip(1).map(|(n, c)| (first.at + n, c)).collect();
    for line in more {
        let text = line.text.trim_start();
        let start = line.end() - text.len();
        all.push((line.at, '\n'));
        all.extend(text.char_indices().map(|(n, c)| (start + n, c)));
    }
    all
}

/// `'…'`; a quote is written twice.
pub fn single_quoted(first: Line<'_>, more: &[Line<'_>]) -> Result<String, Fault> {
    let all = characters(first, more);
    let mut rest = all.iter().copied().peekable();
    let mut text = Folded::default();
    while let Some((_, c)) = rest.next() {
        match c {
            '\'' if rest.next_if(|(_, next)| *next == '\'').is_some() => text.push('\''),
            '\'' => return nothing_after(rest).map(|()| text.text),
            '\n' => text.line_end(),
            c => text.push(c),
        }
    }
    Err(not_closed(first))
}

/// `"…"` with escapes.
pub fn double_quoted(first: Line<'_>, more: &[Line<'_>]) -> Result<String, Fault> {
    let all = characters(first, more);
    let mut rest = all.iter().copied().peekable();
    let mut text = Folded::default();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return nothing_after(rest).map(|()| text.text),
            '\n' => text.line_end(),
            '\\' => match rest.next() {
                // The line goes on in the next one.
                Some((_, '\n')) => {}
                Some((_, sign)) => text.push(escape(at, sign, &mut rest)?),
                None => return Err(not_closed(first)),
            },
            c => text.push(c),
        }
    }
    Err(not_closed(first))
}

fn escape(at: usize, sign: char, rest: &mut impl Iterator<Item = Char>) -> Result<char, Fault> {
    let digits = match sign {
        'n' => return Ok('\n'),
        't' => return Ok('\t'),
        'r' => return Ok('\r'),
        '"' | '\\' | '/' | ' ' | '\'' => return Ok(sign),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    let code: String = rest.take(digits).map(|(_, c)| c).collect();
    let known = (digits > 0).then(|| u32::from_str_radix(&code, 16).ok()).flatten().and_then(char::from_u32);
    known.ok_or_else(|| {
        Fault::new(at, format!("`\\{sign}{code}` is not supported in quotes"), "write `\\\\` for a backslash")
    })
}

fn nothing_after(rest: impl Iterator<Item = Char>) -> Result<(), Fault> {
    let mut after = rest.skip_while(|(_, c)| c.is_whitespace());
    match after.next() {
        None | Some((_, '#')) => Ok(()),
        Some((at, _)) => {
            let hint = "put the whole value in quotes, and write a quote in it as \\\"";
            Err(Fault::new(at, "there is text after the closing quote", hint))
        }
    }
}

fn not_closed(first: Line<'_>) -> Fault {
    Fault::new(first.at, "this quote is not closed", "close it, and indent further lines of the value")
}

/// Text in which a line end is a space, and a blank line a line end.
#[derive(Default)]
struct Folded {
    text: String,
    broken: bool,
}

impl Folded {
    fn push(&mut self, c: char) {
        self.text.push(c);
        self.broken = false;
    }

    fn line_end(&mut self) {
        let kept = self.text.trim_end_matches([' ', '\t']).len();
        self.text.truncate(kept);
        self.text.push(if self.broken { '\n' } else { ' ' });
        self.broken = true;
    }
}
