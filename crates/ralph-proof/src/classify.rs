//! Splits the changes between two sides into work, oracle and ambiguous.

use crate::change::Change;
use crate::files::Files;

/// What a classification is made from.
pub struct Inputs<'a> {
    /// The baseline's files.
    pub before: &'a Files<'a>,
    /// The current files.
    pub now: &'a Files<'a>,
    /// The verify commands, as the user wrote them.
    pub commands: &'a [String],
    /// More globs, in gitignore syntax, for what belongs to the oracle; `!` takes paths out.
    pub oracle_paths: &'a [String],
    /// Globs for what is work although its name says otherwise.
    pub work_paths: &'a [String],
    /// Whether a module of this name is installed outside the workspace's own files.
    pub installed: &'a dyn Fn(&str) -> bool,
}

/// Knows which paths belong to the oracle, and splits the changes.
pub struct Classifier<'a> {
    inputs: Inputs<'a>,
}

impl<'a> Classifier<'a> {
    /// Looks through commands and files once.
    pub fn new(inputs: Inputs<'a>) -> Classifier<'a> {
        Classifier { inputs }
    }

    /// Every path that differs, in byte order.
    pub fn changes(&self) -> Vec<Change> {
        let _ = &self.inputs;
        Vec::new()
    }

    /// Whether the whole file at this path belongs to the oracle; it must not change while a verification runs.
    pub fn is_oracle(&self, _path: &[u8]) -> bool {
        false
    }

    /// Whether the baseline has any test at all, in files of their own or inside source files.
    pub fn baseline_has_tests(&self) -> bool {
        false
    }

    /// Whether this command runs a test runner, or a check that is part of the oracle.
    pub fn runs_tests(&self, _command: &str) -> bool {
        false
    }
}
