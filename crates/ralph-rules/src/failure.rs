//! Why a call failed, whose fault it is, and what follows: the class table, in one place. The adapters name
//! the class, `Faults` remembers what happened, `next.rs` asks what to do about it.

use crate::guard::time::Moment;
use crate::policy::{MINUTE, Policy, SECOND};
use crate::record::{CallEnded, Ms};
use serde::{Deserialize, Serialize};

/// What kind of failure a call ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The subscription's window is used up.
    UsageLimit,
    /// Too many requests just now.
    RateLimited,
    /// The provider is overloaded or broken.
    Outage,
    /// Not logged in, or the key is refused.
    Auth,
    /// No credit, or a payment is needed.
    Billing,
    /// The provider cannot be reached.
    Network,
    /// The prompt or the conversation is too long.
    ContextTooLong,
    /// The request itself is refused (unknown model, bad flag).
    BadRequest,
    /// The agent reached its own limit of turns.
    MaxTurns,
    /// A budget ended the call: the agent's own, or ours.
    Budget,
    /// The model declined.
    Refusal,
    /// The answer was cut off.
    Truncated,
    /// No terminal event: it crashed, or says it was interrupted.
    Aborted,
    /// Something else.
    Unknown,
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Wait for the provider, then the same iteration again.
    Wait,
    /// Stop at once: waiting cannot help.
    Stop,
    /// An iteration like another; twice running and a person is needed.
    GoOnTwice,
    /// An iteration like another.
    GoOn,
    /// An iteration; a short pause, and three running without a new tree stop the run.
    Pause,
}

impl Class {
    /// The row of the table.
    pub fn then(self) -> Then {
        match self {
            Class::UsageLimit | Class::RateLimited | Class::Outage | Class::Network => Then::Wait,
            Class::Auth | Class::Billing | Class::BadRequest => Then::Stop,
            Class::ContextTooLong | Class::Refusal => Then::GoOnTwice,
            Class::MaxTurns | Class::Budget | Class::Truncated => Then::GoOn,
            Class::Aborted | Class::Unknown => Then::Pause,
        }
    }

    /// Whether a call that failed so counts as an iteration.
    pub fn is_iteration(self) -> bool {
        !matches!(self.then(), Then::Wait | Then::Stop)
    }

    /// Plain words.
    pub fn words(self) -> &'static str {
        match self {
            Class::UsageLimit => "the usage limit is reached",
            Class::RateLimited => "too many requests",
            Class::Outage => "the provider is overloaded or down",
            Class::Auth => "not logged in or the key is refused",
            Class::Billing => "no credit",
            Class::Network => "the provider cannot be reached",
            Class::ContextTooLong => "the context is too long",
            Class::BadRequest => "the request was refused",
            Class::MaxTurns => "the agent's own limit of turns",
            Class::Budget => "the budget ended it",
            Class::Refusal => "the model declined",
            Class::Truncated => "the answer was cut off",
            Class::Aborted => "it ended without a result",
            Class::Unknown => "an unknown error",
        }
    }
}

/// Memory of failed calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// The last call's failure, cleared by a call that ended well.
    pub last: Option<Fault>,
    /// Calls running that failed with the last class.
    pub running: u32,
    /// Iterations running that failed with this class; provider failures between them do not count.
    pub iterations: Option<(Class, u32)>,
    /// Provider failures running: the back-off's exponent.
    pub waits: u32,
    /// Since when this run cannot get on because of the provider; none while it can.
    pub waiting_since: Option<Moment>,
    /// Calls running that ended without a result and without a new tree.
    pub crashes: u32,
    /// A person resumed the run since: what waiting could not heal is tried once more.
    pub forgiven: bool,
}

/// One failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its class.
    pub class: Class,
    /// The agent's words.
    pub message: String,
    /// When it may work again.
    pub reset_at: Option<Ms>,
    /// When it failed.
    pub at: Ms,
    /// The same on the active clock.
    pub ran: Ms,
}

impl Faults {
    /// A call closed.
    pub fn call_ended(&mut self, call: &CallEnded, now: Moment) {
        let Some(failure) = &call.failure else {
            *self = Faults { crashes: self.crashes, ..Faults::default() };
            return;
        };
        self.note(Fault {
            class: failure.class,
            message: failure.message.clone(),
            reset_at: failure.reset_at,
            at: now.at,
            ran: now.ran,
        });
    }

    /// A call was lost in a crash of ralph itself: an aborted call, but nobody's streak.
    pub fn call_lost(&mut self, now: Moment) {
        self.note(Fault {
            class: Class::Aborted,
            message: "ralph ended abruptly during the call".into(),
            reset_at: None,
            at: now.at,
            ran: now.ran,
        });
    }

    fn note(&mut self, fault: Fault) {
        self.forgiven = false;
        let same = self.last.as_ref().is_some_and(|last| last.class == fault.class);
        self.running = if same { self.running + 1 } else { 1 };
        if fault.class.is_iteration() {
            let before = self.iterations.filter(|(class, _)| *class == fault.class).map_or(0, |(_, n)| n);
            self.iterations = Some((fault.class, before + 1));
        }
        if fault.class.then() == Then::Wait {
            self.held_up(Moment { at: fault.at, ran: fault.ran });
            self.waits += 1;
        } else {
            self.waits = 0;
            self.waiting_since = None;
        }
        self.last = Some(fault);
    }

    /// The provider keeps the run from going on, by a failure of its own or one that another run met.
    pub fn held_up(&mut self, now: Moment) {
        self.waiting_since.get_or_insert(now);
    }

    /// A person resumed the run: they may have logged in, paid, or mended the network. What was waited before counts on,
    /// unless ralph had given up.
    pub fn resumed(&mut self, now: Moment, gave_up: bool) {
        self.forgiven = true;
        self.crashes = 0;
        if gave_up {
            self.waiting_since = self.waiting_since.map(|_| now);
        }
    }

    /// The workspace was inspected after the call.
    pub fn inspected(&mut self, new_tree: bool) {
        let Some(then) = self.last.as_ref().map(|f| f.class.then()) else {
            self.crashes = 0;
            return;
        };
        self.crashes = match then {
            _ if new_tree => 0,
            Then::Pause => self.crashes + 1,
            // A provider's failure is no iteration: it neither counts nor breaks the row.
            Then::Wait | Then::Stop => self.crashes,
            Then::GoOn | Then::GoOnTwice => 0,
        };
    }

    /// Until when to wait before the next call, where the last failure asks for it.
    pub fn wait_until(&self, run: &str) -> Option<Ms> {
        let fault = self.last.as_ref()?;
        match fault.class.then() {
            Then::Pause => Some(fault.at + 5 * SECOND),
            Then::Wait => Some(match fault.reset_at {
                Some(reset) if reset > fault.at => {
                    let spread = ((reset - fault.at) / 10).min(MINUTE);
                    reset + chance(run, self.waits, spread)
                }
                _ => fault.at + (SECOND + chance(run, self.waits, backoff(self.waits))),
            }),
            _ => None,
        }
    }

    /// Whether a wait from then until then fits into what ralph may wait in all. Time that the run was stopped,
    /// suspended or not running was no waiting.
    pub fn wait_fits(&self, since: Moment, until: Ms, policy: &Policy) -> bool {
        let first = self.waiting_since.unwrap_or(since);
        let from = if first.ran > since.ran { first } else { since };
        let waited = from.ran.saturating_sub(first.ran);
        waited.saturating_add(until.saturating_sub(from.at)) <= policy.max_wait
    }
}

/// Full jitter grows from 5 s to 15 min.
pub(crate) fn backoff(waits: u32) -> Ms {
    (5 * SECOND).saturating_mul(1_i64 << waits.saturating_sub(1).min(16)).min(15 * MINUTE)
}

/// A number from 0 to `below`, from run and attempt alone: chance that replays.
pub(crate) fn chance(run: &str, attempt: u32, below: Ms) -> Ms {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in run.bytes().chain(attempt.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    let below = u64::try_from(below).unwrap_or(0).saturating_add(1);
    Ms::try_from(hash % below).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_and_stays_bounded() {
        let spans: Vec<Ms> = (1..12).map(backoff).collect();
        assert_eq!(spans[0], 5 * SECOND);
        assert_eq!(spans[1], 10 * SECOND);
        assert_eq!(*spans.last().unwrap(), 15 * MINUTE);
        assert_eq!(backoff(u32::MAX), 15 * MINUTE);
    }

    #[test]
    fn chance_replays_and_stays_below() {
        for attempt in 0..200 {
            let n = chance("run", attempt, 1000);
            assert!((0..=1000).contains(&n));
            assert_eq!(n, chance("run", attempt, 1000));
        }
        assert_ne!(chance("a", 1, 1_000_000), chance("b", 1, 1_000_000));
    }

    #[test]
    fn a_known_reset_is_waited_for_with_a_little_spread() {
        let mut faults = Faults::default();
        faults.note(Fault {
            class: Class::UsageLimit,
            message: String::new(),
            reset_at: Some(1_000_000),
            at: 400_000,
            ran: 0,
        });
        let until = faults.wait_until("run").unwrap();
        assert!((1_000_000..=1_060_000).contains(&until), "{until}");
    }
}
