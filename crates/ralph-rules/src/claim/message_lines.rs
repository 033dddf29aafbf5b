//! A message as its non-empty lines, each with its number and its kind: prose, a `>` quote, a code fence.
//! Everything that reads a claim (`block.rs`, `promise.rs`, `prose.rs`) walks these lines once.

/// What kind of text a line is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Ordinary text.
    Prose,
    /// A line that begins with `>`, or part of an HTML comment: not the agent's own statement.
    Quote,
    /// The opening or closing line of the fence with this index.
    FenceEdge(usize),
    /// Inside the fence with this index.
    Code(usize),
}

/// One non-empty line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// From 1, empty lines counted.
    pub number: usize,
    /// Without the white space around it.
    pub text: &'a str,
    /// What kind of text it is part of.
    pub kind: LineKind,
}

/// A message, split into lines.
pub(super) struct Message<'a> {
    /// The lines that are not empty, in order.
    pub lines: Vec<Line<'a>>,
    /// For each fence, whether it has a closing line.
    closed: Vec<bool>,
    /// Inside an HTML comment.
    comment: bool,
}

/// The mark that opened a fence: its character and length.
type Mark = (u8, usize);

impl<'a> Message<'a> {
    /// Splits the text. CRLF, indentation and a byte order mark are ignored.
    pub(super) fn new(text: &'a str) -> Message<'a> {
        let mut message = Message { lines: Vec::new(), closed: Vec::new(), comment: false };
        let mut open: Option<Mark> = None;
        for (index, raw) in text.split('\n').enumerate() {
            let text = raw.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if text.is_empty() {
                continue;
            }
            let kind = message.kind_of(text, &mut open);
            message.lines.push(Line { number: index + 1, text, kind });
        }
        message
    }

    fn kind_of(&mut self, text: &str, open: &mut Option<Mark>) -> LineKind {
        if open.is_none() && (self.comment || text.starts_with("<!--")) {
            self.comment = !text.contains("-->");
            return LineKind::Quote;
        }
        let current = self.closed.len().saturating_sub(1);
        match (*open, fence_mark(text)) {
            (Some((byte, count)), Some(((b, n), ""))) if b == byte && n >= count => {
                *open = None;
                if let Some(last) = self.closed.last_mut() {
                    *last = true;
                }
                LineKind::FenceEdge(current)
            }
            (Some(_), _) => LineKind::Code(current),
            (None, Some((mark, _))) => {
                *open = Some(mark);
                self.closed.push(false);
                LineKind::FenceEdge(self.closed.len() - 1)
            }
            (None, None) if text.starts_with('>') => LineKind::Quote,
            (None, None) => LineKind::Prose,
        }
    }

    /// The fence around a line. A fence that is never closed does not count: its extent is unknown.
    pub(super) fn fence(&self, line: &Line<'_>) -> Option<usize> {
        match line.kind {
            LineKind::Code(id) if self.closed.get(id) == Some(&true) => Some(id),
            _ => None,
        }
    }
}

/// The fence mark a line begins with, and what follows it. Three back ticks with more of them later on the
/// line are inline code, not a fence.
fn fence_mark(text: &str) -> Option<(Mark, &str)> {
    let byte = *text.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let rest = text.trim_start_matches(char::from(byte));
    let count = text.len() - rest.len();
    let inline = byte == b'`' && rest.contains('`');
    (count >= 3 && !inline).then_some(((byte, count), rest.trim()))
}
