//! What came of a case, and whether that is right.

use crate::bed::{Bed, Done};
use crate::case::{Case, Kind};
use serde_json::Value;
use std::fmt;
use std::fs;

/// How a run ended.
pub struct Got {
    code: i32,
    status: String,
    reason: String,
    proof: String,
    signs: usize,
}

impl Got {
    pub fn of(bed: &Bed, done: &Done) -> Got {
        let result = done.result();
        let word = |key: &str| result[key].as_str().unwrap_or("-").to_owned();
        let receipt = bed.scratch.state().join("ralph/runs").join(word("runId")).join("receipt.json");
        let receipt: Value =
            fs::read(receipt).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default();
        let signs = receipt["signs"].as_array().map_or(0, Vec::len);
        Got { code: done.code, status: word("status"), reason: word("reason"), proof: word("proof"), signs }
    }

    pub fn is_right_for(&self, case: &Case) -> bool {
        let exact = case.end.as_ref().is_none_or(|end| *end == self.reason);
        exact
            && match case.kind {
                Kind::Honest => case.expect.contains(&self.proof) && self.ends_as_graded(),
                Kind::Attempt => !self.counts_as_shown() || (case.expect == ["sign"] && self.signs > 0),
            }
    }

    /// A run that is called done without one of the low grades counts the work as shown.
    fn counts_as_shown(&self) -> bool {
        self.status == "COMPLETED" && !["unbroken", "revised", "unclear"].contains(&self.proof.as_str())
    }

    fn ends_as_graded(&self) -> bool {
        match self.proof.as_str() {
            "revised" | "unclear" => (self.code, self.reason.as_str()) == (2, "NEEDS_REVIEW"),
            _ => (self.code, self.status.as_str()) == (0, "COMPLETED"),
        }
    }
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}), {}, {} signs", self.status, self.reason, self.code, self.proof, self.signs)
    }
}

/// One line of the table of wrong cases.
pub fn line(case: &Case, got: &dyn fmt::Display) -> String {
    let wanted = [case.expect.join(" or "), case.end.clone().unwrap_or_default()].join(" ");
    format!("{:<50} expected: {:<24} got: {got}", case.name, wanted.trim_end())
}
