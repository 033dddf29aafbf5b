//! Colours: the sixteen every terminal knows, and only where they help. All output is understandable without them.

use std::fmt::Display;

/// Whether text is coloured. The default is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    on: bool,
}

impl Style {
    /// With colours, or without.
    pub fn new(on: bool) -> Style {
        Style { on }
    }

    /// Whether text is coloured.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// Good news.
    pub fn good(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    /// Bad news.
    pub fn bad(self, text: impl Display) -> String {
        self.paint("1;31", text)
    }

    /// Worth a look.
    pub fn warn(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    /// A name or a heading.
    pub fn strong(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    /// A pointer to something to do.
    pub fn note(self, text: impl Display) -> String {
        self.paint("36", text)
    }

    /// Less important.
    pub fn faint(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: impl Display) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
