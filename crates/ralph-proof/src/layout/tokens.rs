//! Rust, JavaScript, Go, C and Java: the same tokens mean the same, with a few exceptions about line ends.

use super::commas::{Rules, without_trailing};
use super::strings::{canonical, regex, string};
use super::tells_a_tool;
use crate::language::Language;
use crate::parts::rust::literals_and_code;

const OPERATORS: [&str; 39] = [
    ">>>=", "...", "..=", ">>>", "===", "!==", "**=", "<<=", ">>=", "&&=", "||=", "??=", "&^=", "->*", "<=>",
    "=>", "->", "::", ":=", "<-", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "??", "?.", "..",
];

/// Words after which a line end ends the statement in JavaScript, or may mean something else.
const RESTRICTED: [&str; 20] = [
    "return",
    "throw",
    "break",
    "continue",
    "yield",
    "async",
    "await",
    "let",
    "get",
    "set",
    "static",
    "type",
    "interface",
    "declare",
    "abstract",
    "module",
    "namespace",
    "accessor",
    "using",
    "debugger",
];

/// Words of JavaScript that go on with what is before them.
const JOINING: [&str; 10] =
    ["in", "of", "instanceof", "as", "from", "else", "catch", "finally", "extends", "implements"];
/// Words of JavaScript that want something after them.
const OPENING: [&str; 14] = [
    "const", "var", "new", "typeof", "import", "export", "default", "case", "delete", "void", "function",
    "class", "if", "do",
];

/// Reads one token after the other.
struct Reader<'a> {
    language: Language,
    text: &'a str,
    at: usize,
    /// There was a line end since the last token.
    newline: bool,
    tokens: Vec<String>,
    /// A parenthesis may have closed a condition, after which a slash begins a regular expression.
    branches: bool,
}

pub fn same_meaning(language: Language, path: &[u8], before: &str, now: &str) -> bool {
    // Text between tags means what it says, spaces included.
    let tags = language == Language::JavaScript && (before.contains("</") || before.contains("/>"));
    if tags || path.ends_with(b".vue") || path.ends_with(b".svelte") || path.ends_with(b".php") {
        return false;
    }
    let rules = rules(language);
    let read = |text| read(language, text).map(|tokens| without_trailing(tokens, &rules));
    match (read(before), read(now)) {
        (Some(before), Some(now)) => before == now,
        _ => false,
    }
}

fn rules(language: Language) -> Rules {
    Rules {
        tuples: language == Language::Rust,
        subscripts: false,
        empty_arguments: matches!(language, Language::C | Language::JavaScript | Language::Java),
        keywords: &[
            "return", "in", "match", "if", "while", "let", "else", "mut", "move", "break", "yield", "as",
            "ref", "for",
        ],
    }
}

/// The tokens of a text; none if it is not surely read right.
fn read(language: Language, text: &str) -> Option<Vec<String>> {
    if language == Language::Rust {
        return rust(text);
    }
    // Raw strings of C++, C# and Swift follow rules of their own.
    let raw: &[&str] = match language {
        Language::C => &["R\"", "??/"],
        Language::Java => &["@\"", "#\"", "@$\""],
        _ => &[],
    };
    if raw.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let mut reader = Reader { language, text, at: 0, newline: true, tokens: Vec::new(), branches: false };
    while reader.at < text.len() {
        reader.step()?;
    }
    reader.line_end("");
    Some(reader.tokens)
}

/// Rust has a reader of its own for what is code; documentation may hold examples and stays.
fn rust(text: &str) -> Option<Vec<String>> {
    let mut tokens = Vec::new();
    for (piece, is_code) in literals_and_code(text) {
        if !is_code {
            tokens.push(piece.to_owned());
            continue;
        }
        let mut rest = piece.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = word_length(rest).or_else(|| operator_length(rest)).unwrap_or(first.len_utf8());
            let (token, after) = rest.split_at_checked(length)?;
            tokens.push(token.to_owned());
            rest = after.trim_start();
        }
    }
    Some(tokens)
}

fn word_length(rest: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let first = rest.chars().next().filter(|c| is_word(*c))?;
    let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let fraction = rest.get(length..).filter(|_| first.is_ascii_digit()).and_then(|after| {
        let digits = after.strip_prefix('.')?;
        digits.starts_with(|c: char| c.is_ascii_digit()).then(|| 1 + word_length(digits).unwrap_or(0))
    });
    Some(length + fraction.unwrap_or(0))
}

fn operator_length(rest: &str) -> Option<usize> {
    OPERATORS.iter().find(|operator| rest.starts_with(**operator)).map(|operator| operator.len())
}

impl Reader<'_> {
    fn step(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let first = rest.chars().next()?;
        let length = if first.is_whitespace() {
            self.newline |= first == '\n';
            first.len_utf8()
        } else if self.at == 0 && rest.starts_with("#!") {
            let length = rest.find('\n').unwrap_or(rest.len());
            self.push(rest.get(..length)?.to_owned());
            length
        } else if rest.starts_with("//") || rest.starts_with("/*") {
            self.comment(rest)?
        } else if self.language == Language::C && first == '#' && self.newline {
            self.directive(rest)?
        } else if matches!(first, '"' | '\'' | '`') {
            let length = string(self.language, rest)?;
            let text = canonical(self.language, rest.get(..length)?);
            self.push(text);
            length
        } else if self.language == Language::JavaScript && first == '/' && self.regex_may_begin()? {
            let length = regex(rest)?;
            self.push(rest.get(..length)?.to_owned());
            length
        } else {
            let length = word_length(rest).or_else(|| operator_length(rest)).unwrap_or(first.len_utf8());
            self.push(rest.get(..length)?.to_owned());
            length
        };
        self.at += length;
        Some(())
    }

    fn push(&mut self, token: String) {
        if self.newline {
            self.line_end(&token);
        }
        self.newline = false;
        self.branches |= matches!(token.as_str(), "if" | "while" | "for" | "with");
        self.tokens.push(token);
    }

    /// A line end where it means something.
    fn line_end(&mut self, next: &str) {
        let Some(last) = self.tokens.last().map(String::as_str) else { return };
        let word = last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '`' | '\''));
        let means = match self.language {
            // A line end ends the statement where nothing else could.
            Language::JavaScript => {
                let operand = word || matches!(last, ")" | "]" | "}" | "++" | "--");
                let begins = next
                    .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '`' | '{'));
                let wants_more = JOINING.contains(&last) || OPENING.contains(&last);
                RESTRICTED.contains(&last)
                    || matches!(next, "++" | "--" | "=>")
                    || operand && begins && !wants_more && !JOINING.contains(&next)
            }
            Language::Go => {
                let ends = word || matches!(last, ")" | "]" | "}" | "++" | "--");
                ends && !matches!(next, ")" | "}")
            }
            _ => false,
        };
        if means {
            self.tokens.push("line end".to_owned());
        }
    }

    fn comment(&mut self, rest: &str) -> Option<usize> {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            rest.get(2..)?.find("*/")? + 4
        };
        let comment = rest.get(..length)?.trim_end();
        if self.language == Language::C && comment.ends_with('\\') {
            return None;
        }
        // The expected output of an example in Go goes on over the following comments.
        let go_on = self.language == Language::Go && self.text.contains("utput:");
        if go_on || tells_a_tool(comment) {
            self.push(comment.to_owned());
        }
        self.newline |= comment.contains('\n');
        Some(length)
    }

    /// A line for the preprocessor, with the lines it continues on.
    fn directive(&mut self, rest: &str) -> Option<usize> {
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            length += line.len();
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        let line = rest.get(..length)?;
        if line.contains("/*") {
            return None;
        }
        self.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        self.newline = true;
        Some(length)
    }

    /// Whether a slash begins a regular expression; none if that is not sure.
    fn regex_may_begin(&self) -> Option<bool> {
        let Some(last) = self.tokens.last() else { return Some(true) };
        let word = last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '\'' | '`'));
        let operator = [
            "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "yield",
            "await",
        ];
        match last.as_str() {
            "}" | "++" | "--" => None,
            ")" => (!self.branches).then_some(false),
            "]" => Some(false),
            last if operator.contains(&last) => Some(true),
            _ => Some(!word),
        }
    }
}
