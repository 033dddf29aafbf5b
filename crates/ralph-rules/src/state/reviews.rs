//! Reviews: what a second agent said about which files. A review is a call of its own; while it runs, `Calls` describes
//! it, and the worker's latest call is kept here to return to.

use super::Calls;
use crate::claim::{Verdict, read_review};
use crate::money::Micro;
use crate::next::Why;
use crate::record::{Attempt, CallEnded, CallLost, Ms};

/// The reviews of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reviews {
    /// The worker's latest call, while a review is asked for or runs.
    worker: Option<Box<Calls>>,
    /// The tree it reads.
    tree: u128,
    /// Those that were made, in order; each used a round.
    pub made: Vec<Review>,
}

/// One review.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    /// Its call; zero where it was refused before there was one.
    pub id: Attempt,
    /// The files it read.
    pub tree: u128,
    /// How many iterations were closed then.
    pub iteration: u32,
    /// What it says, if that could be read.
    pub verdict: Option<Verdict>,
    /// What it found.
    pub findings: Vec<String>,
    /// Why there is no verdict.
    pub why: String,
    /// What it cost.
    pub cost: Micro,
    /// When its call was admitted.
    pub admitted_at: Ms,
}

impl Reviews {
    /// A review is asked for or runs.
    pub fn under_way(&self) -> bool {
        self.worker.is_some()
    }

    /// Whether this call was a review.
    pub fn has(&self, id: Attempt) -> bool {
        self.made.iter().any(|review| review.id == id)
    }

    /// Reviews made so far.
    pub fn used(&self) -> u32 {
        u32::try_from(self.made.len()).unwrap_or(u32::MAX)
    }

    /// The latest review of these files and its number.
    pub fn of_tree(&self, tree: u128) -> Option<(u32, &Review)> {
        self.numbered().rfind(|(_, review)| review.tree == tree)
    }

    /// The latest review that says something, whatever the files are now, and its number.
    pub fn last_verdict(&self) -> Option<(u32, &Review)> {
        self.numbered().rfind(|(_, review)| review.verdict.is_some())
    }

    fn numbered(&self) -> impl DoubleEndedIterator<Item = (u32, &Review)> {
        (1..).zip(&self.made).collect::<Vec<_>>().into_iter()
    }

    /// A review of these files is asked for.
    pub(crate) fn begin(&mut self, calls: &Calls, tree: u128) {
        self.worker.get_or_insert_with(|| Box::new(calls.clone()));
        self.tree = tree;
    }

    /// These are the files right before its call.
    pub(crate) fn reads(&mut self, tree: u128) {
        self.tree = tree;
    }

    /// The review is over: the worker's call is the latest one again. Returns the tree that was read.
    pub(crate) fn end(&mut self, calls: &mut Calls) -> u128 {
        if let Some(worker) = self.worker.take() {
            *calls = Calls { attempts: calls.attempts, ..*worker };
        }
        self.tree
    }

    /// Its call ended. One that a person stopped says nothing about the reviewer, and uses no round.
    pub(crate) fn answered(&mut self, calls: &Calls, call: &CallEnded) {
        if call.ended_by == Some(Why::Person) {
            return;
        }
        let answer = if call.failure.is_none() { read_review(&call.text) } else { None };
        let why = match (&call.failure, &answer) {
            (Some(failure), _) => failure.class.words().to_owned(),
            (None, None) if call.text_bytes == 0 => "it said nothing".to_owned(),
            (None, None) => "its answer could not be read".to_owned(),
            (None, Some(_)) => String::new(),
        };
        let (verdict, findings) = answer.map_or((None, Vec::new()), |a| (Some(a.verdict), a.findings));
        self.made.push(Review { verdict, findings, why, cost: call.charged, ..self.of(calls) });
    }

    /// Its call was lost in a crash of ralph.
    pub(crate) fn lost(&mut self, calls: &Calls, lost: &CallLost) {
        let why = "ralph ended abruptly during the call".to_owned();
        self.made.push(Review { why, cost: lost.charged, ..self.of(calls) });
    }

    /// It was refused before it began.
    pub(crate) fn unanswered(&mut self, calls: &Calls, why: String) {
        self.made.push(Review { id: Attempt::default(), why, ..self.of(calls) });
    }

    fn of(&self, calls: &Calls) -> Review {
        Review {
            id: calls.id,
            tree: self.tree,
            iteration: calls.done,
            admitted_at: calls.admitted_at,
            ..Review::default()
        }
    }
}
