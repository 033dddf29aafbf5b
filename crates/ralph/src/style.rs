//! `--color`: whether a stream is coloured.

pub use ralph_view::style::Style;

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

impl When {
    /// The style of a stream.
    pub fn style(self, terminal: bool, no_color: bool, dumb: bool) -> Style {
        Style::new(match self {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !no_color && !dumb,
        })
    }
}
