//! The current iteration and attempt, and the latest call.

use crate::guard::time::Moment;
use crate::next::Why;
use crate::record::{Admitted, Attempt, CallEnded, FileRef, Ms};

/// Iterations and attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// Iterations closed.
    pub done: u32,
    /// Grants in the iteration under way: the attempts' number.
    pub grants: u32,
    /// Grants in the iteration that closed last, reviews of its work included.
    pub attempts: u32,
    /// An agent was called in the iteration under way: the files may be its work.
    pub called: bool,
    /// The attempt granted last.
    pub id: Attempt,
    /// When it was granted.
    pub admitted_at: Ms,
    /// Its prompt.
    pub prompt: FileRef,
    /// The calendar day it is booked on.
    pub day: String,
    /// Hints its prompt carries.
    pub hints: u32,
    /// Why ralph ended it.
    pub ended_by: Option<Why>,
    /// It was silent this long.
    pub silent: Option<Ms>,
    /// Its reservation could not be raised.
    pub extension_refused: bool,
    /// It counted as an iteration.
    pub counted: bool,
    /// The guards have counted its iteration; a second verification must not count it again.
    pub judged: bool,
    /// How its process ended, if ralph did not end it.
    pub exit: Option<i32>,
    /// Tools it was refused.
    pub denials: Vec<String>,
    /// Length of its final message.
    pub text_bytes: u64,
    /// Its final message, for the result.
    pub text: String,
    /// When the iteration closed.
    pub closed: Moment,

    /// It was handed over to a session that somebody else started.
    pub in_session: bool,
}

impl Calls {
    /// The id the next reservation gets: the same one until it was granted.
    pub fn next_id(&self) -> Attempt {
        Attempt { iteration: self.done + 1, attempt: self.grants + 1 }
    }

    /// The id of the next review: a further attempt of the iteration whose work it reads.
    pub fn next_review_id(&self) -> Attempt {
        Attempt { iteration: self.done, attempt: self.attempts + 1 }
    }

    pub(crate) fn admitted(&mut self, admitted: &Admitted, at: Ms, review: bool) {
        self.admitted_at = at;
        if review {
            self.attempts += 1;
        } else {
            self.grants += 1;
        }
        self.id = admitted.id;
        self.prompt = admitted.prompt.clone();
        self.day.clone_from(&admitted.day);
    }

    pub(crate) fn began(&mut self, hints: u32) {
        self.called = true;
        self.hints = hints;
        self.ended_by = None;
        self.silent = None;
        self.extension_refused = false;
        self.counted = false;
        self.judged = false;
        self.denials.clear();
    }

    pub(crate) fn closed(&mut self, call: &CallEnded, provider: bool) {
        self.ended_by = call.ended_by;
        self.exit = call.exit.filter(|_| call.ended_by.is_none());
        self.denials.clone_from(&call.denials);
        self.text_bytes = call.text_bytes;
        self.text.clone_from(&call.text);
        self.count(!provider && call.ended_by != Some(Why::Person));
    }

    pub(crate) fn lost(&mut self) {
        self.ended_by = None;
        self.exit = None;
        self.text_bytes = 0;
        self.text.clear();
        self.count(true);
    }

    /// Iterations up to this one were made, though the journal does not hold them.
    pub(crate) fn found(&mut self, last: u32) {
        if last > self.done {
            self.done = last;
            self.grants = 0;
        }
    }

    fn count(&mut self, counted: bool) {
        self.counted = counted;
        if counted {
            self.done += 1;
            self.attempts = std::mem::take(&mut self.grants);
            self.called = false;
        }
    }
}
