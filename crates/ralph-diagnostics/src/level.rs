//! How much is logged.

use std::fmt;
use std::str::FromStr;
use tracing_subscriber::filter::LevelFilter;

/// How much is printed to stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    #[default]
    Off,
    /// Failures that end something.
    Error,
    /// Failures that ralph continues without.
    Warn,
    /// The stages of a command.
    Info,
    /// Every step, process and file operation that matters.
    Debug,
    /// Everything.
    Trace,
}

/// What `RALPH_LOG` accepts.
const WORDS: [(&str, Level); 6] = [
    ("off", Level::Off),
    ("error", Level::Error),
    ("warn", Level::Warn),
    ("info", Level::Info),
    ("debug", Level::Debug),
    ("trace", Level::Trace),
];

/// A word that is not a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = WORDS.map(|(word, _)| word).join(", ");
        write!(f, "`{}` is not a log level; use one of {words}", self.0)
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Level, UnknownLevel> {
        let word = text.trim().to_ascii_lowercase();
        let found = WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, level)| *level).ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> LevelFilter {
        match level {
            Level::Off => LevelFilter::OFF,
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_its_level_and_a_typo_names_them_all() {
        for (word, level) in WORDS {
            assert_eq!(word.to_uppercase().parse(), Ok(level));
        }
        let error = "debgu".parse::<Level>().unwrap_err().to_string();
        assert!(error.contains("`debgu`") && error.contains("debug"), "{error}");
    }
}
