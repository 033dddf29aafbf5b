//! Parts of one iteration as data: what was verified and how that ended, the prompt, why it continued.

use crate::fact_text::reason_words;
use crate::plain::{plain, plain_lines};
use ralph_engine::rows::judgement;
use ralph_rules::next::Next;
use ralph_rules::record::{Attempt, Check, CheckOutcome, Decision, Fact, Ms, Record, Seen, Verified};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::IterationRow;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One verification of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Which files and tests it ran on, in words.
    pub check: String,
    /// Every command passed.
    pub passed: bool,
    /// When it ended, UTC milliseconds.
    pub at: Ms,
    /// One result a command.
    pub results: Vec<CommandResult>,
}

/// How one command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandResult {
    /// As the user wrote it.
    pub command: String,
    /// How it ended.
    pub how: CheckOutcome,
    /// Exit code, where it exited.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: Ms,
    /// Failing tests of all tests, where its output has counts.
    pub failing: Option<(u32, u32)>,
    /// Names of failing tests, the first 50.
    pub failed: Vec<String>,
    /// The end of its output.
    pub tail: String,
}

/// Why a run continued or ended after an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectionText {
    /// The code that scripts match.
    pub code: String,
    /// In words.
    pub text: String,
}

/// A prompt as it was saved beside the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptText {
    /// Its text, as far as it is shown.
    pub text: String,
    /// There is more of it.
    pub truncated: bool,
    /// It was deleted with the run's old files.
    pub pruned: bool,
}

/// Each record with the number of the iteration it belongs to; 0 before the first call.
fn by_iteration(records: &[Record]) -> impl Iterator<Item = (u32, &Record)> {
    let mut iteration = 0;
    records.iter().map(move |record| {
        if let Fact::Decided(Decision { next: Next::Do(Step::Call { id, review: false, .. }), .. }) =
            &record.fact
        {
            iteration = id.iteration;
        }
        (iteration, record)
    })
}

/// The verifications of an iteration, in order; 0: the one before the first call.
pub fn verifications(records: &[Record], n: u32) -> Vec<Verification> {
    let its_own = by_iteration(records).filter(|(iteration, _)| *iteration == n);
    let verified = its_own.filter_map(|(_, record)| match &record.fact {
        Fact::Seen(Seen::Verified(verified)) => Some((record.at, verified)),
        _ => None,
    });
    verified.map(|(at, verified)| Verification::of(at, verified)).collect()
}

impl Verification {
    fn of(at: Ms, verified: &Verified) -> Verification {
        let result = |result: &ralph_rules::record::CheckResult| CommandResult {
            command: plain(&result.command),
            how: result.how,
            exit: result.exit,
            ms: result.ms,
            failing: result.counts.map(|counts| (counts.failed, counts.total)),
            failed: result.failed.iter().map(|name| plain(name)).collect(),
            tail: plain_lines(&result.tail),
        };
        let results = verified.results.iter().map(result).collect();
        Verification { check: check_words(verified.check), passed: verified.passed(), at, results }
    }
}

fn check_words(check: Check) -> String {
    match check {
        Check::Baseline => "before the work".into(),
        Check::AsIs => "the files as they are".into(),
        Check::WithBaselineOracle => "the work with the original tests".into(),
        Check::InRoom(sets) => sets.words(),
    }
}

/// The decisions that closed an iteration, each with its number: the run continued or ended.
pub(crate) fn judgements(records: &[Record]) -> impl Iterator<Item = (u32, &Decision)> {
    by_iteration(records).filter_map(|(iteration, record)| match &record.fact {
        Fact::Decided(decision) if iteration > 0 && judgement(decision).is_some() => {
            Some((iteration, decision))
        }
        _ => None,
    })
}

/// Why the run continued or ended after an iteration.
pub fn objections(records: &[Record], n: u32) -> Vec<ObjectionText> {
    let last = judgements(records).filter(|(iteration, _)| *iteration == n).last();
    let reasons = last.map(|(_, decision)| decision.reasons.as_slice()).unwrap_or_default();
    reasons.iter().map(|why| ObjectionText { code: why.code(), text: plain(&reason_words(why)) }).collect()
}

/// The prompt's file of an iteration, the last attempt's; 0: of the latest iteration. A review is no attempt.
pub fn prompt_file(records: &[Record], n: u32) -> Option<&str> {
    let review = |record: &Record| match &record.fact {
        Fact::Decided(Decision { next: Next::Do(Step::Admit { id, review: true, .. }), .. }) => Some(*id),
        _ => None,
    };
    let reviews: BTreeSet<Attempt> = records.iter().filter_map(review).collect();
    let wanted = |id: Attempt| (n == 0 || id.iteration == n) && !reviews.contains(&id);
    records.iter().rev().find_map(|record| match &record.fact {
        Fact::Seen(Seen::Admitted(admitted)) if wanted(admitted.id) => Some(admitted.prompt.file.as_str()),
        _ => None,
    })
}

/// The prompt of an iteration, at most so many bytes of it; none if there was none.
pub fn prompt(records: &[Record], n: u32, folder: &Path, most: usize) -> Option<PromptText> {
    let file = prompt_file(records, n)?;
    let Ok(bytes) = std::fs::read(folder.join(file)) else {
        return Some(PromptText { text: String::new(), truncated: false, pruned: true });
    };
    let shown = bytes.get(..most).unwrap_or(&bytes);
    let text = plain_lines(&String::from_utf8_lossy(shown));
    Some(PromptText { text, truncated: shown.len() < bytes.len(), pruned: false })
}

/// The names of the files that an iteration changed, all its attempts together.
pub fn changed_names(records: &[Record], n: u32) -> Vec<String> {
    let inspected = by_iteration(records).filter_map(|(iteration, record)| match &record.fact {
        Fact::Seen(Seen::Inspected(inspected)) if iteration == n => Some(&inspected.changed),
        _ => None,
    });
    let mut seen = BTreeSet::new();
    inspected.flatten().filter(|name| seen.insert(*name)).map(|name| plain(name)).collect()
}

/// The rows with the rungs that worked, as the journal has them: rows of an earlier ralph do not say.
pub fn with_rungs(mut rows: Vec<IterationRow>, records: &[Record]) -> Vec<IterationRow> {
    let called = records.iter().filter_map(|record| match &record.fact {
        Fact::Decided(Decision { next: Next::Do(Step::Call { id, rung, review: false, .. }), .. }) => {
            Some(((id.iteration, id.attempt), *rung))
        }
        _ => None,
    });
    let rungs: BTreeMap<(u32, u32), u32> = called.collect();
    for row in &mut rows {
        row.rung = rungs.get(&(row.n, row.attempt)).copied().unwrap_or(row.rung);
    }
    rows
}

/// The agent and model that worked in an iteration, as titles: only where they can differ.
pub fn who(state: &State, rung: u32) -> Option<String> {
    let start = state.start.as_deref()?;
    (!start.ladder.is_empty()).then(|| plain(&start.rung(rung).title()))
}
