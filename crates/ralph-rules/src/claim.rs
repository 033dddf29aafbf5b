//! What the agent says about its work: status block, promise, phrases, questions. A claim is never a fact; the gate
//! compares it with what ralph observed. Only the final message is read. `status.rs` has the block's values, `block.rs`
//! finds it, `promise.rs`, `phrases.rs`, `questions.rs` and `work.rs` read the rest, `evidence.rs` counts indicators,
//! `reported.rs` has the status fields of a JSON reply, `confidence.rs` scores the claim, `facts.rs` makes a truthful block. `review_block.rs` reads a reviewer's
//! answer.

mod block;
mod confidence;
mod error_lines;
mod evidence;
mod facts;
mod field;
mod lint;
mod message_lines;
mod misplaced_promise;
pub(crate) mod pattern;
mod phrases;
mod promise;
mod prose;
mod qualifiers;
mod questions;
mod reported;
mod review_block;
pub mod status;
mod user_patterns;
mod word_match;
mod work;

pub use error_lines::signature;
pub use evidence::Evidence;
pub use facts::Facts;
pub use lint::{Code, Lint};
pub use misplaced_promise::MisplacedPromise;
pub use reported::{Malformed, ReportedStatus};
pub use review_block::{ReviewAnswer, Verdict, read_review};
pub use status::{Progress, Status, Tests, WorkType, render};
pub use user_patterns::{Means, PatternSaid, UserPattern};

use crate::fingerprint::{ErrorCount, Fingerprint};
use promise::PromiseAtEnd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Whether the agent says it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Yes: EXIT_SIGNAL true, or the promise.
    True,
    /// No, explicitly: EXIT_SIGNAL false, or an unreadable block.
    False,
    /// No signal.
    #[default]
    Absent,
}

/// Everything one final message claims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The status block that counts, if any.
    pub block: Option<Status>,
    /// A block was attempted but is not valid: counts as EXIT_SIGNAL false.
    pub attempted: bool,
    /// The run's completion promise is given.
    pub promise: bool,
    /// The promise is given in another form than alone on the last line, and nothing else is signalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misplaced_promise: Option<MisplacedPromise>,
    /// Block and promise reconciled; the block decides.
    pub exit: Exit,
    /// The kinds of completion indicators claimed.
    pub evidence: BTreeSet<Evidence>,
    /// Those that only the status block claims: one source, however many fields.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub evidence_of_block: BTreeSet<Evidence>,
    /// Rules of the block that the message breaks, at most 64.
    pub lints: Vec<Lint>,
    /// Errors it reports as still there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fingerprint>,
    /// How many they are.
    #[serde(default)]
    pub error_count: ErrorCount,
    /// It asks the reader something.
    pub asks: bool,
    /// The fields of a JSON reply report errors: the work cannot be done.
    #[serde(default)]
    pub has_errors: bool,
    /// The kind of work it reports.
    #[serde(default)]
    pub work: Option<WorkType>,
    /// Lines `first..=last` of the block that counts, from 1.
    #[serde(default)]
    pub block_lines: Option<(usize, usize)>,
    /// The user's own patterns of which a phrase was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<PatternSaid>,
}

impl Claim {
    /// How strongly it says that the work is done, 0 to 100. No decision depends on it.
    pub fn confidence(&self) -> u8 {
        confidence::confidence(self)
    }

    /// The patterns that were said and have this meaning.
    pub fn said(&self, means: Means) -> impl Iterator<Item = &PatternSaid> {
        self.patterns.iter().filter(move |said| said.means == means)
    }
}

/// Reads a final message. `promise` is the run's completion promise, as inner text or as the full tag.
pub fn read(text: &str, promise: &str) -> Claim {
    read_reply(text, None, promise)
}

/// Reads a final message and the status fields that came with it, if it was part of a JSON reply.
pub fn read_reply(text: &str, reported: Option<&ReportedStatus>, promise: &str) -> Claim {
    read_with_patterns(text, reported, promise, &[])
}

/// The same with the user's own patterns.
pub fn read_with_patterns(
    text: &str,
    reported: Option<&ReportedStatus>,
    promise: &str,
    patterns: &[UserPattern],
) -> Claim {
    let text_counts = reported.is_none_or(ReportedStatus::text_counts);
    let message = message_lines::Message::new(if text_counts { text } else { "" });
    let wanted = promise::normalize(promise);
    let mut found = block::find(&message, &wanted);
    if let Some(reported) = reported {
        reported.add_to(&mut found);
    }
    let has_errors = reported.is_some_and(|reported| reported.has_errors);
    let at_end = promise::at_end(&message, &wanted, |at| {
        message.lines.get(at).is_some_and(|line| found.closes(at, line))
    });
    let promise = at_end == PromiseAtEnd::Given;
    let sentences = prose::sentences(&message, |at| found.covers(at));
    let patterns = user_patterns::said(&sentences, patterns);
    let (mut evidence, evidence_of_block) = match found.attempted || has_errors {
        true => Default::default(),
        false => evidence::claimed(found.status.as_ref(), &sentences),
    };
    if patterns.iter().any(|said| said.means == Means::Done) && !found.attempted && !has_errors {
        evidence.insert(Evidence::UserPattern);
    }
    let recommends =
        found.status.as_ref().is_some_and(|block| questions::asks(&prose::of(&block.recommendation)));
    let exit = if found.attempted { Exit::False } else { exit(found.status.as_ref(), promise) };
    let (errors, error_count) = error_lines::reported(text, &message);
    let misplaced_promise = match at_end {
        PromiseAtEnd::NotAlone(_, form) if exit == Exit::Absent => Some(form),
        _ => None,
    };
    let block_lines = found.lines(&message);
    let mut lints = found.lints;
    lints.extend(about_promise(at_end, exit, &wanted));
    if has_errors && exit == Exit::True {
        lints.push(Lint::new(Code::ExitTrueWithErrors, 0, "has_errors is true"));
    }
    if exit == Exit::Absent && found.status.is_none() && misplaced_promise.is_none() {
        lints.push(Lint::new(Code::NoBlock, 0, "neither a status block nor the promise"));
    }
    lints.truncate(64);
    let asks = recommends || questions::asks(&sentences);
    let work = work::work_type(found.status.as_ref(), &sentences);
    Claim {
        block: found.status,
        attempted: found.attempted,
        promise,
        misplaced_promise,
        exit,
        evidence,
        evidence_of_block,
        lints,
        errors,
        error_count,
        asks,
        has_errors,
        work,
        block_lines,
        patterns,
    }
}

/// Block and promise reconciled. Without an EXIT_SIGNAL, which only a JSON reply may omit, STATUS can deny but not claim.
fn exit(block: Option<&Status>, promise: bool) -> Exit {
    let (signal, status) = block.map_or((None, None), |block| (block.exit_signal, block.status));
    match (signal, status) {
        (Some(true), _) => Exit::True,
        (Some(false), _) | (None, Some(Progress::InProgress | Progress::Blocked)) => Exit::False,
        (None, _) if promise => Exit::True,
        (None, _) => Exit::Absent,
    }
}

fn about_promise(at_end: PromiseAtEnd, exit: Exit, wanted: &str) -> Option<Lint> {
    match at_end {
        PromiseAtEnd::Given if exit == Exit::False => {
            Some(Lint::new(Code::PromiseAgainstBlock, 0, "the block decides"))
        }
        PromiseAtEnd::Other(line) => {
            let right = format!("this run's promise is <promise>{wanted}</promise>");
            Some(Lint::new(Code::OtherPromise, line, &right))
        }
        PromiseAtEnd::InSentence(line) => {
            Some(Lint::new(Code::PromiseInSentence, line, "announced, not given"))
        }
        PromiseAtEnd::NotAlone(line, form) if exit == Exit::Absent => {
            Some(Lint::new(Code::PromiseNotAlone, line, form.words()))
        }
        PromiseAtEnd::Given | PromiseAtEnd::NotAlone(..) | PromiseAtEnd::None => None,
    }
}
