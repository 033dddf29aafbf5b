//! Where the loop waits: one channel for everything that can happen, received one at a time in order of arrival, with a
//! timeout for the wake-up time that the rules asked for. Both clocks are read every second, so that a suspended machine
//! or a change of the system time is noticed.

use crate::clock::{BEAT, Clock, utc};
use crate::observation::Observation;
use ralph_rules::next::Wake;
use ralph_rules::record::{Ms, Seen};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Delivers observations to the loop.
pub trait EventSource {
    /// Waits for the next observation; at the wake-up time it is `Woke`.
    fn recv(&mut self, wake: Wake) -> Observation;
    /// Time of day and active time.
    fn now(&self) -> (Ms, Ms);
}

/// An event source that steps, signals and the inbox send to.
pub struct ChannelEvents {
    clock: Clock,
    from: Receiver<Observation>,
    /// Received already, while looking for newer usage.
    next: Option<Observation>,
}

/// Sends observations to the loop.
pub type EventSender = Sender<Observation>;

impl ChannelEvents {
    /// An event source and its sender.
    pub fn new(clock: Clock) -> (ChannelEvents, EventSender) {
        let (sender, from) = channel();
        (ChannelEvents { clock, from, next: None }, sender)
    }

    /// Usage is a running total, so of several that are waiting only the newest matters. Otherwise an agent that
    /// reports faster than the disk writes would delay everything behind it.
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

    /// Milliseconds until the wake-up time.
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
                // All senders are gone: only the wake-up time can end the wait.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(BEAT)),
            }
        }
    }

    fn now(&self) -> (Ms, Ms) {
        (utc(), self.clock.ran())
    }
}
