//! What is wrong with a SKILL.md, and where. The readers below are pure: they know the text, not the file.

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte it begins at.
    pub at: usize,
    /// What is wrong.
    pub what: String,
    /// How to correct it.
    pub hint: String,
}

impl Fault {
    /// A mistake at a byte of the text.
    pub fn new(at: usize, what: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault { at, what: what.into(), hint: hint.into() }
    }
}

/// One line of a text without its end, and the byte it begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The byte it begins at.
    pub at: usize,
    /// Without `\n` or `\r\n`.
    pub text: &'a str,
}

impl Line<'_> {
    /// Nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The byte after its text.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// The lines of a text.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |whole| {
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = Line { at, text: line.strip_suffix('\r').unwrap_or(line) };
        at += whole.len();
        line
    })
}
