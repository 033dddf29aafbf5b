//! A task's text as words: what stands in code, what is quoted, where sentences and clauses begin. Everything else in
//! `advice/` looks at these, never at the text.

/// A word of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// As it is written, without the punctuation around it.
    pub text: &'a str,
    /// In lower case.
    pub lower: String,
    /// It stands in back-ticks or in a fenced block.
    pub code: bool,
    /// It is all that stands between its back-ticks: a name, not a command.
    pub alone: bool,
    /// It stands in double quotes.
    pub quoted: bool,
    /// What separates it from the word before.
    pub gap: Gap,
    /// It ends with a colon, as the scope of a commit subject does.
    pub colon: bool,
    /// A question mark follows.
    pub asks: bool,
    /// It belongs to the first paragraph that says something.
    pub first_paragraph: bool,
}

/// What separates two words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// A space.
    #[default]
    Space,
    /// A comma.
    Comma,
    /// A colon, a semicolon or a dash.
    Clause,
    /// The end of a sentence, a list item or a paragraph.
    Sentence,
}

/// Headings that only announce the task.
const HEADINGS: &[&str] = &[
    "task",
    "tasks",
    "your task",
    "the task",
    "goal",
    "goals",
    "prompt",
    "todo",
    "objective",
    "description",
    "instructions",
    "summary",
    "what to do",
];

const OPENING: &[char] = &['(', '[', '{', '"', '“', '”', '„', '\'', '‘', '<', '*', '_', '~', '>'];
const CLOSING: &[char] = &[
    ')', ']', '}', '"', '“', '”', '\'', '’', '>', '*', '~', ',', '.', ';', ':', '!', '?', '…', '(', '[', '{',
];

/// The words of a text.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let fenced = fenced_lines(text);
    let mut reader = Reader { words: Vec::new(), gap: Gap::Sentence, quoted: false, paragraph: 0 };
    for (line, fence) in text.lines().zip(fenced) {
        match fence {
            Fence::Mark => reader.gap = Gap::Sentence,
            Fence::Inside => reader.span(line, true),
            Fence::Outside => reader.line(line),
        }
    }
    reader.words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fence {
    Outside,
    Inside,
    Mark,
}

/// Which lines are fenced code. A fence that is never closed hides nothing.
fn fenced_lines(text: &str) -> Vec<Fence> {
    let is_mark = |line: &str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let mut kinds: Vec<Fence> = Vec::new();
    let mut open: Option<usize> = None;
    for (at, line) in text.lines().enumerate() {
        kinds.push(Fence::Outside);
        if !is_mark(line) {
            continue;
        }
        match open.take() {
            None => open = Some(at),
            Some(from) => kinds.iter_mut().enumerate().skip(from).for_each(|(nth, kind)| {
                *kind = if nth == from || nth == at { Fence::Mark } else { Fence::Inside };
            }),
        }
    }
    kinds
}

struct Reader<'a> {
    words: Vec<Word<'a>>,
    gap: Gap,
    quoted: bool,
    /// The paragraph under way, from 1 once something was said.
    paragraph: u32,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        let text = line.trim();
        if text.is_empty() {
            self.new_paragraph();
            return;
        }
        let body = text.trim_start_matches('#').trim_start();
        let heading = body.len() < text.len();
        let name = body.trim_end_matches([':', '.', ' ']).to_lowercase();
        if heading && HEADINGS.contains(&name.as_str()) {
            return;
        }
        let item = list_item(body);
        if heading || item.len() < body.len() {
            self.gap = Gap::Sentence;
            self.quoted = false;
        }
        self.inline(item);
        if heading {
            self.new_paragraph();
        }
    }

    fn new_paragraph(&mut self) {
        self.gap = Gap::Sentence;
        self.quoted = false;
        self.paragraph += u32::from(!self.words.is_empty());
    }

    /// Splits a line into code and the rest. A back-tick without a second one is a character like any other.
    fn inline(&mut self, mut rest: &'a str) {
        while let Some((before, inside)) = rest.split_once('`') {
            let Some((code, after)) = inside.split_once('`') else { break };
            self.span(before, false);
            self.span(code, true);
            rest = after;
            // Punctuation that follows the code belongs to it.
            let mark = rest.trim_start_matches([')', '"', '\'']);
            self.gap = self.gap.max(gap_of(mark.chars().take_while(|c| !c.is_alphanumeric() && *c != ' ')));
        }
        self.span(rest, false);
    }

    fn span(&mut self, span: &'a str, code: bool) {
        let alone = code && span.split_whitespace().count() == 1;
        for token in span.split_whitespace() {
            self.token(token, code, alone);
        }
    }

    fn token(&mut self, token: &'a str, code: bool, alone: bool) {
        let quotes = token.chars().filter(|c| matches!(c, '"' | '“' | '”')).count();
        let opens = token.starts_with(['"', '“', '(']) && quotes > 0;
        let text = token.trim_start_matches(OPENING).trim_end_matches(CLOSING);
        let quoted = self.quoted || (opens && !code);
        if !code && quotes % 2 == 1 {
            self.quoted = !self.quoted;
        }
        let closing = token.get(token.len() - trailing(token)..).unwrap_or_default();
        if !text.is_empty() && text.chars().any(char::is_alphanumeric)
            || text.starts_with("--") && text.len() > 2
        {
            self.words.push(Word {
                text,
                lower: text.to_lowercase().replace('’', "'"),
                code,
                alone,
                quoted,
                gap: std::mem::take(&mut self.gap),
                colon: closing.contains(':'),
                asks: closing.contains('?'),
                first_paragraph: self.paragraph == 0,
            });
        } else if !code && matches!(token, "-" | "–" | "—" | "--") {
            self.gap = self.gap.max(Gap::Clause);
        } else if token == "&" || token == "+" {
            // Joins like `and`.
            self.gap = self.gap.max(Gap::Comma);
        }
        if !code {
            self.gap = self.gap.max(gap_of(closing.chars()));
        }
    }
}

/// How many bytes of punctuation a token ends with.
fn trailing(token: &str) -> usize {
    token.len() - token.trim_end_matches(CLOSING).len()
}

fn gap_of(marks: impl Iterator<Item = char>) -> Gap {
    marks
        .map(|mark| match mark {
            '.' | '!' | '?' | '…' => Gap::Sentence,
            ';' | ':' => Gap::Clause,
            ',' => Gap::Comma,
            _ => Gap::Space,
        })
        .max()
        .unwrap_or_default()
}

/// A line without the mark of a list item and its checkbox.
fn list_item(line: &str) -> &str {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = if number.len() < line.len() {
        number.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+', '>'])
    };
    let Some(item) = marked.filter(|rest| rest.starts_with(' ')) else { return line };
    let item = item.trim_start();
    ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|tick| item.strip_prefix(tick)).unwrap_or(item)
}
