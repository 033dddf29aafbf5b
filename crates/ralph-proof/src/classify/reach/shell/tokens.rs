//! Words and operators of a shell text.

use std::iter::Peekable;
use std::str::Chars;

/// A word, or what separates commands: `;`, `&`, `|`, `||`, and `<` or `>` before a file's name.
pub enum Token {
    Word(Vec<Piece>),
    Operator(&'static str),
}

/// A part of a word.
pub enum Piece {
    Text(String),
    Variable { name: String, default: Option<String> },
    Command(String),
}

pub fn next_token(chars: &mut Peekable<Chars<'_>>) -> Option<Token> {
    loop {
        match *chars.peek()? {
            ' ' | '\t' | '\r' => {
                chars.next();
            }
            '#' => while chars.next_if(|&c| c != '\n').is_some() {},
            '\n' | ';' | '(' | ')' => {
                chars.next();
                return Some(Token::Operator(";"));
            }
            '&' => {
                chars.next();
                let redirects = chars.next_if_eq(&'>').is_some();
                while chars.next_if(|&c| c == '&' || c == '>').is_some() {}
                return Some(Token::Operator(if redirects { ">" } else { "&" }));
            }
            '|' => {
                chars.next();
                let or = chars.next_if_eq(&'|').is_some();
                chars.next_if_eq(&'&');
                return Some(Token::Operator(if or { "||" } else { "|" }));
            }
            '<' | '>' => return Some(redirection(chars)),
            _ => {
                let pieces = word(chars);
                if let [Piece::Text(number)] = pieces.as_slice()
                    && number.chars().all(|c| c.is_ascii_digit())
                    && matches!(chars.peek(), Some('<' | '>'))
                {
                    continue;
                }
                return Some(Token::Word(pieces));
            }
        }
    }
}

/// After `<` or `>`: a redirection, or the command of a process substitution.
fn redirection(chars: &mut Peekable<Chars<'_>>) -> Token {
    let op = if chars.next() == Some('<') { "<" } else { ">" };
    if chars.next_if_eq(&'(').is_some() {
        return Token::Word(vec![Piece::Command(until_closed(chars))]);
    }
    let mut doubled = false;
    while chars.next_if(|&c| matches!(c, '<' | '>' | '&' | '|' | '-')).is_some() {
        doubled = true;
    }
    // `<<EOF` and `<<<text` name no file; the word after them is dropped with them.
    if doubled && op == "<" {
        while chars.next_if_eq(&' ').is_some() {}
        let _ = word(chars);
        return Token::Word(vec![Piece::Text(String::new())]);
    }
    Token::Operator(op)
}

fn word(chars: &mut Peekable<Chars<'_>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    while let Some(&c) = chars.peek() {
        match c {
            ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
            '\\' => {
                chars.next();
                text.extend(chars.next().filter(|&c| c != '\n'));
            }
            '\'' => {
                chars.next();
                text.extend(std::iter::from_fn(|| chars.next_if(|&c| c != '\'')));
                chars.next();
            }
            '"' => {
                chars.next();
                quoted(chars, &mut text, &mut pieces);
            }
            '$' | '`' => dollar(chars, &mut text, &mut pieces),
            c => {
                chars.next();
                text.push(c);
            }
        }
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// Inside double quotes, up to their end.
fn quoted(chars: &mut Peekable<Chars<'_>>, text: &mut String, pieces: &mut Vec<Piece>) {
    while let Some(&c) = chars.peek() {
        match c {
            '"' => {
                chars.next();
                return;
            }
            '\\' => {
                chars.next();
                match chars.next() {
                    Some('\n') | None => {}
                    Some(c) if matches!(c, '"' | '\\' | '$' | '`') => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                }
            }
            '$' | '`' => dollar(chars, text, pieces),
            c => {
                chars.next();
                text.push(c);
            }
        }
    }
}

/// A variable, an arithmetic expression, or a command.
fn dollar(chars: &mut Peekable<Chars<'_>>, text: &mut String, pieces: &mut Vec<Piece>) {
    let piece = if chars.next() == Some('`') {
        let inside: String = std::iter::from_fn(|| chars.next_if(|&c| c != '`')).collect();
        chars.next();
        Piece::Command(inside)
    } else {
        match chars.peek() {
            Some('(') => {
                chars.next();
                Piece::Command(until_closed(chars))
            }
            Some('{') => {
                chars.next();
                let inside: String = std::iter::from_fn(|| chars.next_if(|&c| c != '}')).collect();
                chars.next();
                let end =
                    inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
                let (name, rest) = inside.split_at(end);
                let default = rest.strip_prefix(":-").or(rest.strip_prefix(":=")).or(rest.strip_prefix('-'));
                Piece::Variable {
                    name: name.to_owned(),
                    default: default.map(|d| d.trim_matches(['"', '\'']).to_owned()),
                }
            }
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => {
                let part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                let name = std::iter::from_fn(|| chars.next_if(part)).collect();
                Piece::Variable { name, default: None }
            }
            Some('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!') => {
                chars.next();
                Piece::Variable { name: String::new(), default: None }
            }
            _ => {
                text.push('$');
                return;
            }
        }
    };
    pieces.push(Piece::Text(std::mem::take(text)));
    pieces.push(piece);
}

/// The text up to the bracket that closes this one; quotes hide brackets.
fn until_closed(chars: &mut Peekable<Chars<'_>>) -> String {
    let (mut inside, mut open, mut quote) = (String::new(), 1_usize, None);
    for c in chars.by_ref() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => open += 1,
            (None, ')') => {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            _ => {}
        }
        inside.push(c);
    }
    inside
}
