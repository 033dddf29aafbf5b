//! A message as its non-empty lines, each with its number and its place: prose, a `>` quote, a code fence.
//! Everything that reads a claim (`block.rs`, `promise.rs`, `prose.rs`) walks these lines once.

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Ordinary text.
    Prose,
    /// A line that begins with `>`, or one of an HTML comment: shown or hidden, not said.
    Quote,
    /// The opening or closing line of the fence with this index.
    Edge(usize),
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
    /// Where it stands.
    pub place: Place,
}

/// A message, cut into lines.
pub(super) struct Message<'a> {
    /// The lines that are not empty, in order.
    pub lines: Vec<Line<'a>>,
    /// For each fence: has it a closing line?
    closed: Vec<bool>,
    /// A comment goes on.
    comment: bool,
}

/// The mark that opened a fence: its character and how often it stands there.
type Mark = (u8, usize);

impl<'a> Message<'a> {
    /// Cuts the text. CRLF, indentation and a byte order mark are of no meaning.
    pub(super) fn new(text: &'a str) -> Message<'a> {
        let mut message = Message { lines: Vec::new(), closed: Vec::new(), comment: false };
        let mut open: Option<Mark> = None;
        for (index, raw) in text.split('\n').enumerate() {
            let text = raw.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if text.is_empty() {
                continue;
            }
            let place = message.place(text, &mut open);
            message.lines.push(Line { number: index + 1, text, place });
        }
        message
    }

    fn place(&mut self, text: &str, open: &mut Option<Mark>) -> Place {
        if open.is_none() && (self.comment || text.starts_with("<!--")) {
            self.comment = !text.contains("-->");
            return Place::Quote;
        }
        let current = self.closed.len().saturating_sub(1);
        match (*open, fence_mark(text)) {
            (Some((byte, count)), Some(((b, n), ""))) if b == byte && n >= count => {
                *open = None;
                if let Some(last) = self.closed.last_mut() {
                    *last = true;
                }
                Place::Edge(current)
            }
            (Some(_), _) => Place::Code(current),
            (None, Some((mark, _))) => {
                *open = Some(mark);
                self.closed.push(false);
                Place::Edge(self.closed.len() - 1)
            }
            (None, None) if text.starts_with('>') => Place::Quote,
            (None, None) => Place::Prose,
        }
    }

    /// The fence a line stands in. A fence that is never closed is none: nobody can say what it surrounds.
    pub(super) fn fence(&self, line: &Line<'_>) -> Option<usize> {
        match line.place {
            Place::Code(id) if self.closed.get(id) == Some(&true) => Some(id),
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
