//! What the agent says of itself: status block, promise, phrases, questions. A claim is never a fact; the gate
//! weighs it against what ralph saw. Only the final message is read. `status.rs` holds the block's values, `block.rs`
//! finds it, `promise.rs`, `phrases.rs`, `questions.rs` and `work.rs` read the rest, `evidence.rs` counts,
//! `confidence.rs` weighs. `facts.rs` makes a truthful block.

mod block;
mod confidence;
mod cues;
mod evidence;
mod facts;
mod field;
mod lines;
mod lint;
pub(crate) mod pattern;
mod phrases;
mod promise;
mod prose;
mod questions;
pub mod status;
mod words;
mod work;

pub use evidence::Evidence;
pub use facts::Facts;
pub use lint::{Code, Lint};
pub use status::{Progress, Status, Tests, WorkType, render};

use promise::Stand;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Does the agent ask for the end?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Yes: EXIT_SIGNAL true, or the promise.
    True,
    /// No, explicitly: EXIT_SIGNAL false, or a block that could not be read.
    False,
    /// It does not say.
    #[default]
    Absent,
}

/// All that one final message claims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The status block, when there is one that counts.
    pub block: Option<Status>,
    /// A block was attempted that cannot count: an explicit "no" for this iteration.
    pub attempted: bool,
    /// The run's completion promise is given.
    pub promise: bool,
    /// Block and promise reconciled; the block decides.
    pub exit: Exit,
    /// The kinds of completion indicators claimed.
    pub evidence: BTreeSet<Evidence>,
    /// Rules of the block that the message breaks, at most 64.
    pub lints: Vec<Lint>,
    /// It asks its reader something.
    pub asks: bool,
    /// The kind of work it tells of.
    #[serde(default)]
    pub work: Option<WorkType>,
    /// Lines `first..=last` of the block that counts, from 1.
    #[serde(default)]
    pub block_lines: Option<(usize, usize)>,
}

impl Claim {
    /// How strongly it says that the work is done, 0 to 100. Nothing is decided by it.
    pub fn confidence(&self) -> u8 {
        confidence::confidence(self)
    }
}

/// Reads a final message. `promise` is the run's completion promise, as inner text or as the full tag.
pub fn read(text: &str, promise: &str) -> Claim {
    let message = lines::Message::new(text);
    let wanted = promise::wanted(promise);
    let found = block::find(&message, &wanted);
    let stand = promise::stand(&message, &wanted, |at| {
        message.lines.get(at).is_some_and(|line| found.closes(at, line))
    });
    let promise = stand == Stand::Given;
    let sentences = prose::sentences(&message, |at| found.covers(at));
    let evidence = match found.attempted {
        true => BTreeSet::new(),
        false => evidence::claimed(found.status.as_ref(), &sentences),
    };
    let recommends =
        found.status.as_ref().is_some_and(|block| questions::asks(&prose::of(&block.recommendation)));
    let exit = match &found.status {
        Some(block) if block.exit_signal => Exit::True,
        Some(_) => Exit::False,
        None if found.attempted => Exit::False,
        None if promise => Exit::True,
        None => Exit::Absent,
    };
    let block_lines = found.lines(&message);
    let mut lints = found.lints;
    lints.extend(about_promise(stand, exit));
    if found.status.is_none() && !found.attempted && !promise {
        lints.push(Lint::new(Code::NoBlock, 0, "neither a status block nor the promise"));
    }
    lints.truncate(64);
    let asks = recommends || questions::asks(&sentences);
    let work = work::work_type(found.status.as_ref(), &sentences);
    Claim {
        block: found.status,
        attempted: found.attempted,
        promise,
        exit,
        evidence,
        lints,
        asks,
        work,
        block_lines,
    }
}

fn about_promise(stand: Stand, exit: Exit) -> Option<Lint> {
    match stand {
        Stand::Given if exit == Exit::False => {
            Some(Lint::new(Code::PromiseAgainstBlock, 0, "the block decides"))
        }
        Stand::Other(line) => Some(Lint::new(Code::OtherPromise, line, "not this run's promise")),
        Stand::InSentence(line) => Some(Lint::new(Code::PromiseInSentence, line, "announced, not given")),
        Stand::Given | Stand::None => None,
    }
}
