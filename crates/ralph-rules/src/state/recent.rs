//! What the last iterations did and how they ended, for the prompt that asks for another approach.

use crate::fingerprint::Fingerprint;
use crate::prompt::head;
use serde::Serialize;

/// How many iterations are remembered.
const KEPT: usize = 4;
/// Names of files shown of each.
const NAMES: usize = 3;
/// Length of one shown line.
const LINE: usize = 120;

/// Summaries of the last iterations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecentIterations {
    /// Oldest first.
    pub last: Vec<IterationSummary>,
}

/// One iteration, short enough for one line of the prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IterationSummary {
    /// Its number.
    pub iteration: u32,
    /// Files it changed.
    pub files: u32,
    /// Some of their names.
    pub names: Vec<String>,
    /// The error it ended with.
    pub error: Option<String>,
    /// RECOMMENDATION of its status block, or empty.
    pub said: String,
}

impl RecentIterations {
    /// An iteration closed.
    pub(crate) fn closed(
        &mut self,
        iteration: u32,
        (files, names): (u32, &[String]),
        error: Option<&Fingerprint>,
        said: &str,
    ) {
        if self.last.len() >= KEPT {
            self.last.remove(0);
        }
        self.last.push(IterationSummary {
            iteration,
            files,
            names: names.iter().take(NAMES).map(|name| head(name, LINE)).collect(),
            error: error.map(|e| head(&e.head, LINE)),
            said: head(said.lines().next().unwrap_or_default().trim(), LINE),
        });
    }
}
