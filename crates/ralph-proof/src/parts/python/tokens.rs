//! The tokens of Python.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Name,
    Number,
    Text,
    Operator,
    Comment,
    /// The end of a logical line.
    Newline,
    Indent,
    Dedent,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

const OPERATORS: [&str; 24] = [
    "**=", "//=", ">>=", "<<=", "...", "->", ":=", "==", "!=", "<=", ">=", "**", "//", ">>", "<<", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
];
/// Nobody nests deeper.
const DEEPEST: usize = 200;

/// All tokens; none for a text that is no Python, or that is not surely read right.
pub fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut reader = Reader { text, at: 0, depth: 0, indents: vec![0], tokens: Vec::new(), fresh: true };
    while reader.at < text.len() {
        reader.step()?;
    }
    if reader.tokens.last().is_some_and(|last| last.kind != Kind::Newline) {
        reader.push(Kind::Newline, 0);
    }
    for _ in 1..reader.indents.len() {
        reader.push(Kind::Dedent, 0);
    }
    (reader.depth == 0).then_some(reader.tokens)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    indents: Vec<usize>,
    tokens: Vec<Token>,
    /// No token of the current logical line was read yet.
    fresh: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, length: usize) {
        self.tokens.push(Token { kind, span: self.at..self.at + length });
        self.at += length;
        if kind != Kind::Comment {
            self.fresh = matches!(kind, Kind::Newline | Kind::Indent | Kind::Dedent);
        }
    }

    fn at_line_start(&self) -> bool {
        self.fresh && self.depth == 0
    }

    fn step(&mut self) -> Option<()> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        match first {
            ' ' | '\t' | '\r' | '\u{c}' => self.at += 1,
            '\u{feff}' if self.at == 0 => self.at += first.len_utf8(),
            '\n' if self.depth > 0 || self.at_line_start() => self.at += 1,
            '\n' => self.push(Kind::Newline, 1),
            '\\' => {
                let length = ["\\\n", "\\\r\n"].iter().find(|join| rest.starts_with(**join))?.len();
                self.at += length;
            }
            '#' => {
                let length = rest.find('\n').unwrap_or(rest.len());
                self.push(Kind::Comment, rest.get(..length)?.trim_end().len());
            }
            _ => {
                if self.at_line_start() {
                    self.indent()?;
                }
                self.token(first)?;
            }
        }
        Some(())
    }

    fn indent(&mut self) -> Option<()> {
        let line = self.text.get(..self.at)?.rfind('\n').map_or(0, |at| at + 1);
        let mut width = 0;
        for byte in self.text.get(line..self.at)?.bytes() {
            width = match byte {
                b' ' => width + 1,
                b'\t' => (width / 8 + 1) * 8,
                0xef | 0xbb | 0xbf => width,
                _ => return None,
            };
        }
        if width > *self.indents.last()? {
            (self.indents.len() < DEEPEST).then_some(())?;
            self.indents.push(width);
            self.push(Kind::Indent, 0);
        }
        while width < *self.indents.last()? {
            self.indents.pop();
            self.push(Kind::Dedent, 0);
        }
        (width == *self.indents.last()?).then_some(())
    }

    fn token(&mut self, first: char) -> Option<()> {
        let rest = self.rest();
        let word = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        if first == '"' || first == '\'' {
            let length = string(rest, "")?;
            self.push(Kind::Text, length);
        } else if first.is_ascii_digit()
            || first == '.' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
        {
            let length = number(rest);
            self.push(Kind::Number, length);
        } else if first.is_alphabetic() || first == '_' {
            let length = word(rest);
            let (prefix, after) = rest.split_at_checked(length)?;
            let prefixed = length <= 2 && prefix.chars().all(|c| "rRbBuUfFtT".contains(c));
            if prefixed && after.starts_with(['"', '\'']) {
                let length = length + string(after, prefix)?;
                self.push(Kind::Text, length);
            } else {
                self.push(Kind::Name, length);
            }
        } else {
            let long = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
            match first {
                '(' | '[' | '{' => self.depth += 1,
                ')' | ']' | '}' => self.depth = self.depth.checked_sub(1)?,
                _ if long.is_some() || "+-*/%@&|^~<>=,:.;".contains(first) => {}
                _ => return None,
            }
            self.push(Kind::Operator, long.map_or(1, |operator| operator.len()));
        }
        Some(())
    }
}

fn number(rest: &str) -> usize {
    let mut before = ' ';
    let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    rest.find(|c: char| {
        let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E') && !hexadecimal;
        before = c;
        !(c.is_alphanumeric() || c == '_' || c == '.' || sign)
    })
    .unwrap_or(rest.len())
}

/// The length of a string with its quotes.
fn string(rest: &str, prefix: &str) -> Option<usize> {
    let quote = rest.get(..1)?;
    let triple = quote.repeat(3);
    let close = if rest.starts_with(&triple) { triple.as_str() } else { quote };
    let formatted = prefix.contains(['f', 'F', 't', 'T']);
    let bytes = rest.as_bytes();
    let (mut at, mut braces) = (close.len(), 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if close.len() == 1 => return None,
            b'{' if formatted => braces += 1,
            b'}' if formatted => braces = braces.saturating_sub(1),
            _ if bytes.get(at..).is_some_and(|rest| rest.starts_with(close.as_bytes())) => {
                // A quote inside of a replacement field may belong to a string in it.
                return (braces == 0).then_some(at + close.len());
            }
            _ => {}
        }
        at += 1;
    }
    None
}
