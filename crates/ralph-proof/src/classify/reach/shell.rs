//! Reads a shell command into simple commands: enough of the grammar to see what is run, with which words and from
//! where. What is not known (`$1`, the output of a command) stands as [`UNKNOWN`] in a word.

mod tokens;

use std::collections::BTreeMap;

use self::tokens::{Piece, Token, next_token};

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
    /// What follows runs only if it fails.
    pub or_else: bool,
    /// Its output is a word or an input of another one: `$(…)`, `<(…)`.
    pub substituted: bool,
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

/// A simple command while its words are read; a word may have more values, as in a loop.
#[derive(Default)]
struct Building {
    simple: Simple,
    words: Vec<Vec<String>>,
}

impl Building {
    fn first(&self) -> &str {
        self.words.first().and_then(|values| values.first()).map(String::as_str).unwrap_or_default()
    }
}

impl Reader {
    fn read(&mut self, text: &str, substituted: bool, depth: usize) {
        let begin = || Building { simple: Simple { substituted, ..Simple::default() }, words: Vec::new() };
        let mut current = begin();
        let mut redirect: Option<&'static str> = None;
        let mut chars = text.chars().peekable();
        while let Some(token) = next_token(&mut chars) {
            if self.words > MOST_WORDS {
                break;
            }
            match token {
                Token::Operator(op @ (">" | "<")) => redirect = Some(op),
                Token::Operator(op) => {
                    current.simple.piped = op == "|";
                    current.simple.or_else = op == "||";
                    self.finish(std::mem::replace(&mut current, begin()));
                }
                Token::Word(pieces) => {
                    let values = self.values(&pieces, depth);
                    self.words += values.len();
                    match redirect.take() {
                        Some(">") => current.simple.outputs.extend(values),
                        Some(_) => current.simple.inputs.extend(values),
                        None => self.add_word(&mut current, values),
                    }
                }
            }
        }
        self.finish(current);
    }

    fn add_word(&mut self, current: &mut Building, values: Vec<String>) {
        let Some(first) = values.first() else { return };
        if current.words.is_empty() && is_keyword(first) {
            return;
        }
        if let Some((name, _)) = assignment(first).filter(|_| current.words.is_empty()) {
            for to in values.iter().filter_map(|value| assignment(value)).map(|(_, to)| to) {
                self.assign(name, to);
                current.simple.assigns.push((name.to_owned(), to.to_owned()));
            }
            return;
        }
        match values.as_slice() {
            // A variable that holds a program with its words.
            [only] if current.words.is_empty() && only.contains(' ') => {
                current.words.extend(only.split_whitespace().map(|word| vec![word.to_owned()]));
            }
            _ => current.words.push(values),
        }
    }

    fn assign(&mut self, name: &str, to: &str) {
        let known = self.variables.entry(name.to_owned()).or_default();
        if !known.iter().any(|one| one == to) && known.len() < MOST_VALUES {
            known.push(to.to_owned());
        }
    }

    /// Keeps a command once for each value of its words; a loop's head sets its variable.
    fn finish(&mut self, mut current: Building) {
        match current.first() {
            "for" | "select" => {
                let mut words = current.words.into_iter().skip(1);
                let name = words.next().and_then(|values| values.into_iter().next()).unwrap_or_default();
                let values = words.skip(1).flatten().take(MOST_VALUES).collect();
                self.variables.insert(name, values);
                return;
            }
            "export" | "local" | "readonly" | "declare" => {
                for value in current.words.iter().skip(1).flatten() {
                    if let Some((name, to)) = assignment(value) {
                        self.assign(name, to);
                        current.simple.assigns.push((name.to_owned(), to.to_owned()));
                    }
                }
                current.words.clear();
            }
            _ => {}
        }
        if current.words.is_empty() && current.simple.assigns.is_empty() {
            return;
        }
        let most = current.words.iter().map(Vec::len).max().unwrap_or(1);
        for at in 0..most {
            let value = |values: &Vec<String>| values.get(at).or(values.last()).cloned();
            let words = current.words.iter().filter_map(value).collect();
            self.found.push(Simple { words, ..current.simple.clone() });
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

/// Words that stand before a command.
fn is_keyword(word: &str) -> bool {
    let words = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done", "esac"];
    words.contains(&word)
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
        assert_eq!(words("for f in x.sh y.sh; do sh \"$f\"; done"), ["sh x.sh", "sh y.sh"]);
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
