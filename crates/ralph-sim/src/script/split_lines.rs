//! Splits a script into lines: drops comments and empty lines; a line that ends in `<<WORD` gets the following lines up to
//! WORD as its body. `--do` text is split at `;` first.

use super::Mistake;

/// One line with an action or a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    /// The line itself, trimmed, without `<<WORD`.
    pub text: String,
    /// The lines between `<<WORD` and WORD.
    pub body: Option<Body>,
}

/// The lines that belong to one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The word that ends it.
    pub end: String,
    /// Its lines, each with its line end.
    pub text: String,
}

/// Splits a script into lines.
pub fn cut(text: &str) -> (Vec<Line>, Vec<Mistake>) {
    let (mut lines, mut mistakes) = (Vec::new(), Vec::new());
    let mut source = text.lines().enumerate();
    while let Some((index, line)) = source.next() {
        let (number, trimmed) = (index + 1, line.trim());
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let Some((head, end)) = marker(trimmed) else {
            lines.push(Line { number, text: trimmed.to_owned(), body: None });
            continue;
        };
        let mut body = String::new();
        let mut closed = false;
        for (_, line) in source.by_ref() {
            closed = line.trim() == end;
            if closed {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        if !closed {
            let what = format!("<<{end} is never closed: write {end} alone on a line after the text");
            mistakes.push(Mistake { line: number, what });
        }
        let body = Some(Body { end: end.to_owned(), text: body });
        lines.push(Line { number, text: head.to_owned(), body });
    }
    (lines, mistakes)
}

/// The line before `<<WORD`, and WORD, if the line ends so.
fn marker(line: &str) -> Option<(&str, &str)> {
    let (head, end) = line.rsplit_once("<<")?;
    let word = !end.is_empty() && end.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    (word && head.ends_with(' ')).then(|| (head.trim_end(), end))
}

/// `--do` text as a script: one line per statement. Text that has line breaks is a script already.
pub fn from_inline(text: &str) -> String {
    if text.contains('\n') {
        return text.to_owned();
    }
    let mut script = String::with_capacity(text.len());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&';') => {
                script.push(';');
                chars.next();
            }
            '\\' if quoted => {
                script.push(c);
                script.extend(chars.next());
            }
            ';' if !quoted => script.push('\n'),
            _ => {
                quoted ^= c == '"';
                script.push(c);
            }
        }
    }
    script
}
