//! What a reviewer is given: the task, the change, and what the checks showed.

use super::data::LINE;
use super::template::REVIEW;
use super::verification::fence;
use super::{Composed, Data, data, head};
use crate::counting::counted;
use crate::objection::Objection;
use crate::proof::{Conclusion, ProofStep, proof};
use crate::record::{CheckOutcome, RunStarted};
use crate::state::State;
use serde::Serialize;

/// Maximum length of the change in a review's prompt, in bytes.
pub const REVIEW_BYTES: usize = 48 * 1024;
/// Maximum length of the task in it.
const TASK: usize = 16 * 1024;
/// Maximum length of the map in it.
const MAP: usize = 8 * 1024;
/// Names of one set.
const NAMES: usize = 40;

/// The facts a template of a review may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // names and meaning are those of the documentation of templates
pub struct ReviewFacts {
    pub task: String,
    pub round: u32,
    pub of: u32,
    pub grade: &'static str,
    pub reasons: Vec<String>,
    pub verification: Vec<String>,
    pub work: Vec<String>,
    pub checks: Vec<String>,
    pub either: Vec<String>,
    pub signs: Vec<String>,
    pub diff: String,
    pub map: String,
    pub fence: String,
}

/// The change, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What differs from the files before the run.
    pub diff: String,
    /// Which parts of it a test notices, where that is known.
    pub map: String,
}

/// The prompt of a review, with the original task and templates.
pub fn review_for(state: &State, given: &RunStarted, change: &Change) -> Composed {
    let Some(start) = state.start.as_deref() else { return Composed::default() };
    let data = Data { review: facts(state, given, change), ..data(state, start) };
    let mut made = Composed::default();
    made.section(REVIEW, &given.prompting.templates, &data);
    made
}

fn facts(state: &State, given: &RunStarted, change: &Change) -> ReviewFacts {
    let (grade, reasons) = match proof(state) {
        ProofStep::Conclude(Conclusion::Graded(grade, reasons)) => (grade.name(), reasons),
        ProofStep::Conclude(Conclusion::OracleChanged(reasons)) => ("revised", reasons),
        // The policy allows changed checks, so nothing was tried.
        _ => ("passing", Vec::new()),
    };
    let compared = state.proof.of_tree(state.trees.now).cloned().unwrap_or_default();
    let names = |all: &[String]| all.iter().take(NAMES).map(|name| head(name, LINE)).collect();
    let sign = |s: &crate::record::SignSeen| {
        head(&format!("{}:{}: the work {}: `{}`", s.path, s.line, s.what, s.text), LINE * 2)
    };
    let results = state.checks.last.iter().flat_map(|verified| &verified.results);
    let ran = results.map(|result| {
        let how = if result.how == CheckOutcome::Passed { "passed" } else { "failed" };
        let tests = result.counts.map(|c| format!(" ({})", counted(c.total, "test"))).unwrap_or_default();
        format!("`{}` {how}{tests}", head(&result.command, LINE))
    });
    let (task, diff, map) = (
        head(given.prompt.trim_end(), TASK),
        head(change.diff.trim_end(), REVIEW_BYTES),
        head(change.map.trim_end(), MAP),
    );
    ReviewFacts {
        round: state.reviews.used() + 1,
        of: given.review.as_ref().map_or(0, |review| review.rounds),
        grade,
        reasons: reasons.iter().map(Objection::say).map(|text| head(&text, LINE * 2)).collect(),
        verification: ran.collect(),
        work: names(&compared.work.names),
        checks: names(&compared.oracle.names),
        either: names(&compared.ambiguous.names),
        signs: compared.signs.iter().map(sign).collect(),
        fence: fence(&format!("{task}\n{diff}\n{map}")),
        task,
        diff,
        map,
    }
}
