//! Reads a shell command into simple commands: enough of the grammar to see what is run, with which words and from
//! where. What is not known (`$1`, the output of a command) stands as [`UNKNOWN`] in a word.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Stands for any text in a word.
pub const UNKNOWN: char = '\u{1}';
/// A word that stands for more values keeps these many.
const MOST_VALUES: usize = 16;
/// A command made of more words is not read further.
const MOST_WORDS: usize = 20_000;
/// Command substitutions nested deeper are not read.
const DEEPEST: usize = 8;

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Its words; the first is the program, after assignments.
    pub words: Vec<String>,
    /// `A=b` in front of it.
    pub assigns: Vec<(String, String)>,
    /// Files that its output goes to.
    pub outputs: Vec<String>,
    /// Files that it reads as its input.
    pub inputs: Vec<String>,
    /// Its output goes to the next one.
    pub piped: bool,
    /// Its output is a word or an input of another one: `$(…)`, `<(…)`.
    pub substituted: bool,
}

enum Token {
    Word(Vec<Piece>),
    Operator(&'static str),
}

enum Piece {
    Text(String),
    Variable { name: String, default: Option<String> },
    Command(String),
}

/// The simple commands of a text, in order; those inside substitutions come before the one that uses them.
pub fn commands(text: &str) -> Vec<Simple> {
    let mut reader = Reader::default();
    reader.read(text, false, 0);
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<Simple>,
    variables: BTreeMap<String, Vec<String>>,
    words: usize,
}

impl Reader {
    fn read(&mut self, text: &str, substituted: bool, depth: usize) {
        let mut current = Simple { substituted, ..Simple::default() };
        let mut redirect: Option<&'static str> = None;
        let mut chars = text.chars().peekable();
        while let Some(token) = next_token(&mut chars) {
            if self.words > MOST_WORDS {
                break;
            }
            match token {
                Token::Operator(op @ (">" | "<")) => redirect = Some(op),
                Token::Operator(op) => {
                    current.piped = op == "|";
                    self.finish(std::mem::replace(&mut current, Simple { substituted, ..Simple::default() }));
                }
                Token::Word(pieces) => {
                    let values = self.values(&pieces, depth);
                    self.words += values.len();
                    match redirect.take() {
                        Some(">") => current.outputs.extend(values),
                        Some(_) => current.inputs.extend(values),
                        None => self.add_words(&mut current, values),
                    }
                }
            }
        }
        self.finish(current);
    }

    fn add_words(&mut self, current: &mut Simple, values: Vec<String>) {
        for value in values {
            match assignment(&value).filter(|_| current.words.is_empty()) {
                Some((name, to)) => {
                    let known = self.variables.entry(name.to_owned()).or_default();
                    if !known.iter().any(|one| one == to) && known.len() < MOST_VALUES {
                        known.push(to.to_owned());
                    }
                    current.assigns.push((name.to_owned(), to.to_owned()));
                }
                None => current.words.push(value),
            }
        }
    }

    /// Keeps a command, without the keywords in front of it; a loop's head sets its variable.
    fn finish(&mut self, mut simple: Simple) {
        let keyword = |word: &String| {
            matches!(
                word.as_str(),
                "if" | "then"
                    | "elif"
                    | "else"
                    | "while"
                    | "until"
                    | "do"
                    | "!"
                    | "{"
                    | "}"
                    | "fi"
                    | "done"
                    | "esac"
            )
        };
        let keywords = simple.words.iter().take_while(|word| keyword(word)).count();
        simple.words.drain(..keywords);
        // Words such as `then A=b cmd` have their assignments behind the keyword.
        while keywords > 0 {
            let Some((name, to)) = simple.words.first().and_then(|word| assignment(word)) else { break };
            let (name, to) = (name.to_owned(), to.to_owned());
            self.variables.entry(name.clone()).or_default().push(to.clone());
            simple.assigns.push((name, to));
            simple.words.remove(0);
        }
        if simple.words.first().is_some_and(|word| word == "for" || word == "select") {
            if let [_, name, is_in, values @ ..] = simple.words.as_slice()
                && is_in == "in"
            {
                let values = values.iter().take(MOST_VALUES).cloned().collect();
                self.variables.insert(name.clone(), values);
            }
            return;
        }
        if simple
            .words
            .first()
            .is_some_and(|word| matches!(word.as_str(), "export" | "local" | "readonly" | "declare"))
        {
            for word in simple.words.iter().skip(1) {
                if let Some((name, to)) = assignment(word) {
                    self.variables.entry(name.to_owned()).or_default().push(to.to_owned());
                    simple.assigns.push((name.to_owned(), to.to_owned()));
                }
            }
            simple.words.clear();
        }
        if !simple.words.is_empty() || !simple.assigns.is_empty() {
            self.found.push(simple);
        }
    }

    /// The values a word may have.
    fn values(&mut self, pieces: &[Piece], depth: usize) -> Vec<String> {
        let mut made = vec![String::new()];
        for piece in pieces {
            let ends: Vec<String> = match piece {
                Piece::Text(text) => vec![text.clone()],
                Piece::Variable { name, default } => {
                    let known = self.variables.get(name).cloned().unwrap_or_default();
                    let all: Vec<String> =
                        known.into_iter().chain(default.clone()).take(MOST_VALUES).collect();
                    if all.is_empty() { vec![UNKNOWN.to_string()] } else { all }
                }
                Piece::Command(text) => {
                    if depth < DEEPEST {
                        self.read(text, true, depth + 1);
                    }
                    vec![UNKNOWN.to_string()]
                }
            };
            made = made
                .iter()
                .flat_map(|begin| ends.iter().map(move |end| format!("{begin}{end}")))
                .take(MOST_VALUES)
                .collect();
            made.retain(|value| value.len() < 65_536);
        }
        made
    }
}

/// `NAME=value`
pub fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let first = name.chars().next()?;
    let fits = (first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    fits.then_some((name, value))
}

fn next_token(chars: &mut Peekable<Chars<'_>>) -> Option<Token> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        commands(text).into_iter().map(|simple| simple.words.join(" ").replace(UNKNOWN, "?")).collect()
    }

    #[test]
    fn words_and_operators() {
        assert_eq!(words("a 'b c' \"d e\"f\\ g; h&&i||j | k & l"), ["a b c d ef g", "h", "i", "j", "k", "l"]);
        assert_eq!(words("if ! A=1 a; then b; else c; fi # d; e"), ["a", "b", "c"]);
        assert_eq!(words("for f in x.sh y.sh; do sh \"$f\"; done"), ["sh x.sh y.sh"]);
        assert_eq!(words("T=a/b.sh; sh ${T} $U/x \"${V:-d.sh}\""), ["", "sh a/b.sh ?/x d.sh"]);
        assert_eq!(words("(cd a && sh b)\n{ c; }"), ["cd a", "sh b", "c"]);
        assert_eq!(words("test \"$(sh a.sh 'x)')\" = `b c`"), ["sh a.sh x)", "b c", "test ? = ?"]);
        assert_eq!(words("diff <(a b) c 2>/dev/null >out"), ["a b", "diff ? c"]);
        assert_eq!(words("cat <<EOF\nx\nEOF"), ["cat ", "x", "EOF"]);
    }

    #[test]
    fn where_output_goes() {
        let found = commands("a | b > out.txt < in.txt; $(c)");
        assert!(found[0].piped && !found[1].piped);
        assert_eq!(
            (found[1].outputs.join(","), found[1].inputs.join(",")),
            ("out.txt".into(), "in.txt".into())
        );
        assert!(found[2].substituted);
    }

    #[test]
    fn torn_and_hostile_text() {
        for torn in
            ["'", "\"", "$(", "`", "${", "\\", "<(", "$", "a=$a$a", "for", "for x in", "&>", "((((", "))"]
        {
            let _ = commands(torn);
        }
        let doubling = (0..200).map(|_| "a=$a$a$a; ").collect::<String>();
        let _ = commands(&format!("a=xx; {doubling}"));
        let _ = commands(&"$(".repeat(10_000));
        let _ = commands(&"a=1 ".repeat(30_000));
    }
}
