//! Failed calls: their classes, and how the run reacts to each class. Adapters choose the class, `Faults` counts what
//! happened, `next.rs` asks what to do about it.

use crate::guard::time::Moment;
use crate::policy::{MINUTE, Policy, SECOND};
use crate::record::{CallEnded, Ms};
use serde::{Deserialize, Serialize};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The subscription's usage window is exhausted.
    UsageLimit,
    /// Too many requests.
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
    /// A budget stopped the call: the agent's own or ralph's.
    Budget,
    /// The model refused.
    Refusal,
    /// The answer was cut off.
    Truncated,
    /// No final event: the agent crashed or was interrupted.
    Aborted,
    /// None of the above.
    Unknown,
}

/// What a run does after a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Wait for the provider, then retry the same iteration.
    Wait,
    /// Stop: waiting cannot help.
    Stop,
    /// Count it as an iteration and continue; the second in a row blocks the run until a person acts.
    ContinueOnce,
    /// Count it as an iteration and continue.
    Continue,
    /// Count it as an iteration and continue after a short pause; three in a row without file changes stop the run.
    Pause,
}

impl Class {
    /// What a run does after a failure of this class.
    pub fn reaction(self) -> Reaction {
        match self {
            Class::UsageLimit | Class::RateLimited | Class::Outage | Class::Network => Reaction::Wait,
            Class::Auth | Class::Billing | Class::BadRequest => Reaction::Stop,
            Class::ContextTooLong | Class::Refusal => Reaction::ContinueOnce,
            Class::MaxTurns | Class::Budget | Class::Truncated => Reaction::Continue,
            Class::Aborted | Class::Unknown => Reaction::Pause,
        }
    }

    /// Whether a call that failed with this class counts as an iteration.
    pub fn is_iteration(self) -> bool {
        !matches!(self.reaction(), Reaction::Wait | Reaction::Stop)
    }

    /// The class in words, for screens and prompts.
    pub fn words(self) -> &'static str {
        match self {
            Class::UsageLimit => "usage limit reached",
            Class::RateLimited => "too many requests",
            Class::Outage => "the provider is overloaded or down",
            Class::Auth => "not logged in, or the API key was rejected",
            Class::Billing => "no credit left",
            Class::Network => "the provider cannot be reached",
            Class::ContextTooLong => "context too long",
            Class::BadRequest => "the request was rejected",
            Class::MaxTurns => "the agent reached its own turn limit",
            Class::Budget => "stopped by the budget",
            Class::Refusal => "the model refused",
            Class::Truncated => "the answer was cut off",
            Class::Aborted => "it ended without a result",
            Class::Unknown => "unknown error",
        }
    }
}

/// Failed calls in this run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// The last call's failure; none if it succeeded.
    pub last: Option<Fault>,
    /// Calls in a row that failed with the last class.
    pub running: u32,
    /// Iterations in a row that failed with this class; provider failures in between are ignored.
    pub iterations: Option<(Class, u32)>,
    /// Provider failures in a row: the exponent of the backoff.
    pub waits: u32,
    /// Since when the provider has kept this run from continuing.
    pub waiting_since: Option<Moment>,
    /// Calls in a row that ended without a result and without file changes.
    pub crashes: u32,
    /// The last call was lost because ralph was killed.
    pub lost: bool,
    /// A person has resumed the run since the failure, so one that waiting cannot fix is tried once more.
    pub forgiven: bool,
}

/// One failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its class.
    pub class: Class,
    /// The agent's error message.
    pub message: String,
    /// When the provider may accept calls again.
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

    /// A call was lost because ralph was killed. It counts as aborted, but nobody has to wait: the agent is not at fault,
    /// and a person has resumed the run since.
    pub fn call_lost(&mut self, now: Moment) {
        self.note(Fault {
            class: Class::Aborted,
            message: "ralph ended abruptly during the call".into(),
            reset_at: None,
            at: now.at,
            ran: now.ran,
        });
        self.forgiven = true;
        self.lost = true;
    }

    fn note(&mut self, fault: Fault) {
        self.forgiven = false;
        self.lost = false;
        let same = self.last.as_ref().is_some_and(|last| last.class == fault.class);
        self.running = if same { self.running + 1 } else { 1 };
        if fault.class.is_iteration() {
            let before = self.iterations.filter(|(class, _)| *class == fault.class).map_or(0, |(_, n)| n);
            self.iterations = Some((fault.class, before + 1));
        }
        if fault.class.reaction() == Reaction::Wait {
            self.waiting_for_provider(Moment { at: fault.at, ran: fault.ran });
            self.waits += 1;
        } else {
            self.waits = 0;
            self.waiting_since = None;
        }
        self.last = Some(fault);
    }

    /// The provider keeps the run from continuing, after a failure of this run or of another one.
    pub fn waiting_for_provider(&mut self, now: Moment) {
        self.waiting_since.get_or_insert(now);
    }

    /// A person resumed the run: they may have logged in, paid, or fixed the network. Time already waited still counts
    /// towards the limit unless ralph had given up.
    pub fn resumed(&mut self, now: Moment, gave_up: bool) {
        self.forgiven = true;
        self.crashes = 0;
        if gave_up {
            self.waiting_since = self.waiting_since.map(|_| now);
        }
    }

    /// The workspace was inspected after the call.
    pub fn inspected(&mut self, new_tree: bool) {
        let Some(then) = self.last.as_ref().map(|f| f.class.reaction()) else {
            self.crashes = 0;
            return;
        };
        self.crashes = match then {
            _ if new_tree => 0,
            Reaction::Pause => self.crashes + 1,
            // A provider's failure is not an iteration: it neither adds to the count nor resets it.
            Reaction::Wait | Reaction::Stop => self.crashes,
            Reaction::Continue | Reaction::ContinueOnce => 0,
        };
    }

    /// When the next call may start, if the last failure requires a wait.
    pub fn wait_until(&self, run: &str) -> Option<Ms> {
        let fault = self.last.as_ref()?;
        match fault.class.reaction() {
            Reaction::Pause if self.forgiven => None,
            Reaction::Pause => Some(fault.at + 5 * SECOND),
            Reaction::Wait => Some(match fault.reset_at {
                Some(reset) if reset > fault.at => {
                    let spread = ((reset - fault.at) / 10).min(MINUTE);
                    reset + jitter(run, self.waits, spread)
                }
                _ => fault.at + (SECOND + jitter(run, self.waits, backoff(self.waits))),
            }),
            _ => None,
        }
    }

    /// Whether waiting from `since` to `until` stays within `max_wait`. Time during which the run was stopped, suspended or
    /// not running does not count as waiting.
    pub fn wait_fits(&self, since: Moment, until: Ms, policy: &Policy) -> bool {
        let first = self.waiting_since.unwrap_or(since);
        let from = if first.ran > since.ran { first } else { since };
        let waited = from.ran.saturating_sub(first.ran);
        waited.saturating_add(until.saturating_sub(from.at)) <= policy.max_wait
    }
}

/// Upper bound of the jitter after so many provider failures: from 5 s to 15 min.
pub(crate) fn backoff(waits: u32) -> Ms {
    (5 * SECOND).saturating_mul(1_i64 << waits.saturating_sub(1).min(16)).min(15 * MINUTE)
}

/// A number from 0 to `below` derived from run and attempt alone, so that a replay gets the same one.
pub(crate) fn jitter(run: &str, attempt: u32, below: Ms) -> Ms {
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
            let n = jitter("run", attempt, 1000);
            assert!((0..=1000).contains(&n));
            assert_eq!(n, jitter("run", attempt, 1000));
        }
        assert_ne!(jitter("a", 1, 1_000_000), jitter("b", 1, 1_000_000));
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
