//! One channel through which the world, people and the clock speak. The loop hears one fact at a time; whoever
//! speaks first is heard first. The clock speaks only when it was asked to, but looks at both of its hands every
//! second, so that a suspended machine or a jump of the time of day is noticed.

use crate::clock::{BEAT, Clock, utc};
use crate::observation::Observation;
use ralph_rules::next::Wake;
use ralph_rules::record::{Ms, Seen};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Brings the next fact.
pub trait EventSource {
    /// Waits until somebody speaks, at the latest when `wake` says.
    fn recv(&mut self, wake: Wake) -> Observation;
    /// Time of day and active time.
    fn now(&self) -> (Ms, Ms);
}

/// The real event_source.
pub struct ChannelEvents {
    clock: Clock,
    from: Receiver<Observation>,
    /// Heard already, while looking whether newer usage waits.
    next: Option<Observation>,
}

/// A sender for one of the speakers.
pub type EventSender = Sender<Observation>;

impl ChannelEvents {
    /// EventSource, and the sender that speaks into them.
    pub fn new(clock: Clock) -> (ChannelEvents, EventSender) {
        let (sender, from) = channel();
        (ChannelEvents { clock, from, next: None }, sender)
    }

    /// Usage is a running total: where several are waiting, the newest says it all. An agent that speaks faster than
    /// the disk writes would else hold up everyone behind it.
    fn newest(&mut self, mut observation: Observation) -> Observation {
        while matches!(observation.seen, Seen::Spent(_))
            && let Ok(newer) = self.from.try_recv()
        {
            if matches!(newer.seen, Seen::Spent(_)) {
                observation = newer;
            } else {
                self.next = Some(newer);
                break;
            }
        }
        observation
    }

    /// Milliseconds until the clock should speak.
    fn due_in(&self, wake: Wake) -> Option<Ms> {
        let by_day = wake.at.map(|at| at - utc());
        let by_activity = wake.ran.map(|ran| ran - self.clock.ran());
        [by_day, by_activity].into_iter().flatten().min()
    }
}

impl EventSource for ChannelEvents {
    fn recv(&mut self, wake: Wake) -> Observation {
        if let Some(observation) = self.next.take() {
            return observation;
        }
        loop {
            let due = self.due_in(wake);
            if due.is_some_and(|ms| ms <= 0) {
                return Seen::Woke.into();
            }
            let left = Duration::from_millis(due.map_or(u64::MAX, Ms::unsigned_abs));
            match self.from.recv_timeout(left.min(BEAT)) {
                Ok(observation) => return self.newest(observation),
                Err(RecvTimeoutError::Timeout) => {
                    self.clock.ran();
                }
                // Nobody can speak any more: only the clock is left to end a wait.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(BEAT)),
            }
        }
    }

    fn now(&self) -> (Ms, Ms) {
        (utc(), self.clock.ran())
    }
}
