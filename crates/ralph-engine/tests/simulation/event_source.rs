//! The event_source in a made-up world: time is what the earliest speaker makes it. The agent, finished steps, people (through
//! the store's inbox) and the clock speak; if nobody ever would, the rules have hung the run.

use super::agent::Shows;
use super::power::Power;
use super::site::Site;
use ralph_engine::event_source::EventSource;
use ralph_engine::observation::Observation;
use ralph_rules::next::Wake;
use ralph_rules::policy::SECOND;
use ralph_rules::record::{Asked, Ms, Request, Seen};
use ralph_store::Store;
use std::cell::RefCell;
use std::rc::Rc;

/// EventSource at a site.
pub struct SimulatedEvents<'a> {
    pub site: Rc<RefCell<Site>>,
    pub mains: &'a Power,
}

impl EventSource for SimulatedEvents<'_> {
    fn recv(&mut self, wake: Wake) -> Observation {
        let site = &mut *self.site.borrow_mut();
        loop {
            site.machine.borrow_mut().meddle(&mut site.dice);
            if let Some(told) = site.person(self.mains) {
                return told;
            }
            let clock = site.clock_due(wake);
            let Some(due) = site.world_due().into_iter().chain(clock).min() else {
                assert!(site.paused, "{}: nobody will ever speak", site.run);
                site.asks(self.mains, &Request::Continue);
                continue;
            };
            if site.paused && site.dice.one_in(4) {
                site.asks(self.mains, &Request::Continue);
                continue;
            }
            if clock.is_some_and(|at| at > site.now() + 60 * SECOND) && site.dice.one_in(20) {
                // Nothing has changed, but the clock may speak at any time.
                let early = site.now() + 30 * SECOND;
                site.machine.borrow_mut().advance_to(early.min(due));
                return Seen::Woke.into();
            }
            site.machine.borrow_mut().advance_to(due);
            if clock == Some(due) && site.world_due().is_none_or(|at| at > due) {
                return Seen::Woke.into();
            }
            if let Some(told) = site.speaks() {
                return told;
            }
        }
    }

    fn now(&self) -> (Ms, Ms) {
        let site = self.site.borrow();
        let wall = site.machine.borrow().wall();
        (wall, site.ran())
    }
}

impl Site {
    /// When somebody speaks next; the scheduler lets the earlier run go first.
    pub fn due(&self, wake: Wake) -> Ms {
        if self.inbox {
            return self.now();
        }
        self.world_due().into_iter().chain(self.clock_due(wake)).min().unwrap_or(self.now() + SECOND)
    }

    fn world_due(&self) -> Option<Ms> {
        let step = self.queue.iter().map(|(at, _)| *at).min();
        step.into_iter().chain(self.agent.as_ref().map(|a| a.due)).min()
    }

    fn clock_due(&self, wake: Wake) -> Option<Ms> {
        let by_day = wake.at.map(|at| self.machine.borrow().when(at));
        let by_activity = wake.ran.map(|ran| ran - self.since.0 + self.since.1);
        by_day.into_iter().chain(by_activity).min().map(|t| t.max(self.now()))
    }

    /// A finished step or the agent speaks, if it has anything to say now.
    fn speaks(&mut self) -> Option<Observation> {
        let now = self.now();
        let step = self.queue.iter().position(|(at, _)| *at <= now);
        if let Some((_, told)) = step.and_then(|n| self.queue.remove(n)) {
            return Some(told);
        }
        let agent = self.agent.as_mut().filter(|a| a.due <= now)?;
        match agent.act(&mut self.dice)? {
            Shows::Spent(spent) => Some(Seen::Spent(spent).into()),
            Shows::Silent(silent) => Some(Seen::Silent(silent).into()),
            Shows::End => {
                let agent = self.agent.take()?;
                let call = self.close(&agent);
                Some(self.tell_end(call))
            }
        }
    }

    /// A person asks, now or before a crash.
    fn person(&mut self, mains: &Power) -> Option<Observation> {
        let meddled = self.like.meddled;
        if !self.healed() && self.dice.one_in(meddled) {
            let request = self.request();
            self.asks(mains, &request);
        }
        if !self.inbox {
            return None;
        }
        let Some(first) = mains.requests(&self.run).unwrap().into_iter().next() else {
            self.inbox = false;
            return None;
        };
        let request = serde_json::from_str(&first.body).unwrap();
        Some(Observation { done: vec![first.id], ..Seen::Asked(Asked { request }).into() })
    }

    fn request(&mut self) -> Request {
        match self.dice.below(12) {
            0 => Request::Stop { after: false, signal: self.dice.pick(&[1, 2, 15]) },
            1 => Request::Stop { after: true, signal: 2 },
            2..=4 => Request::Pause,
            5..=7 => Request::Continue,
            _ => Request::Hint { text: "look at the parser".into() },
        }
    }

    fn asks(&mut self, mains: &Power, request: &Request) {
        let body = serde_json::to_string(request).unwrap();
        mains.ask(&self.run, &body, self.now()).unwrap();
        self.inbox = true;
        self.asked += 1;
    }
}
