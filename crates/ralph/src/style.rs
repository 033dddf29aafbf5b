//! Colours: the sixteen every terminal knows, and only where they help. All output is understandable without them.

use std::fmt::Display;

/// Whether to colour one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    on: bool,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// On a terminal that can, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Style {
    /// The style of a stream.
    pub fn of(when: When, terminal: bool, no_color: bool, dumb: bool) -> Style {
        let on = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !no_color && !dumb,
        };
        Style { on }
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
