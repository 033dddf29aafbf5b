//! What both runs of a pair share: one machine with its clocks, one provider, one user's rate window.

use super::dice::Dice;
use super::planned::Planned;
use ralph_rules::failure::Class;
use ralph_rules::policy::MINUTE;
use ralph_rules::record::{HOUR, Ms};
use std::collections::{BTreeSet, VecDeque};

/// 2026-11-15, 00:00 UTC.
const DAWN: Ms = 1_794_700_800_000;

/// The machine and the provider behind it.
pub struct Machine {
    /// Time the machine was awake: agents, commands and active time follow it.
    pub t: Ms,
    /// Time of day less `t`: suspends and settings of the clock move it.
    offset: Ms,
    suspended: Ms,
    /// Somebody set the clock: an hour of the day is no longer an hour.
    pub jumped: bool,
    /// When agents really began, for the rate window.
    starts: VecDeque<Ms>,
    /// The provider fails like this until then.
    weather: Option<(Class, Ms, Option<Ms>)>,
    days: BTreeSet<String>,
    /// What happens when, where it is not left to chance.
    pub planned: Option<Planned>,
    /// No fault is injected any more.
    pub healed: bool,
    /// How often the clocks are meddled with, once in so many waits; 0 is never.
    pub restless: u64,
}

impl Machine {
    pub fn new(dice: &mut Dice) -> Machine {
        let restless = if dice.one_in(3) { 60 } else { 0 };
        let hour = dice.between(0, 23);
        Machine {
            t: 0,
            offset: DAWN + hour * HOUR,
            suspended: 0,
            jumped: false,
            starts: VecDeque::new(),
            weather: None,
            days: BTreeSet::new(),
            planned: None,
            healed: false,
            restless,
        }
    }

    /// Time of day, as the clock on the wall has it.
    pub fn wall(&self) -> Ms {
        self.t + self.offset
    }

    /// Money is about to be booked on this calendar day.
    pub fn books_on(&mut self, day: &str) {
        if !self.days.contains(day) {
            self.days.insert(day.to_owned());
        }
    }

    /// Every day on which money was booked.
    pub fn days(&self) -> impl Iterator<Item = &String> {
        self.days.iter()
    }

    /// When the awake clock will show this time of day, if nobody meddles.
    pub fn when(&self, at: Ms) -> Ms {
        at - self.offset
    }

    /// It is this time of day.
    pub fn set_wall(&mut self, wall: Ms) {
        self.offset = wall - self.t;
    }

    pub fn advance_to(&mut self, t: Ms) {
        self.t = self.t.max(t);
    }

    /// A lid is closed, or the clock is set.
    pub fn meddle(&mut self, dice: &mut Dice) {
        let wall = self.wall();
        if let Some(asleep) = self.planned.as_mut().and_then(|planned| planned.falls_asleep(wall)) {
            self.offset += asleep;
            self.suspended += asleep;
        }
        if self.healed || !dice.one_in(self.restless) {
            return;
        }
        match dice.below(3) {
            0 => {
                let asleep = dice.between(MINUTE, 10 * HOUR);
                self.offset += asleep;
                self.suspended += asleep;
            }
            1 => self.set_clock(dice.between(1, 30 * HOUR)),
            _ => self.set_clock(-dice.between(1, 30 * HOUR)),
        }
    }

    fn set_clock(&mut self, by: Ms) {
        self.offset += by;
        self.jumped = true;
    }

    /// An agent begins: never more in any hour than the limit, where hours are hours.
    pub fn starts(&mut self, limit: Option<u32>, who: &str) {
        let now = self.t + self.suspended;
        while self.starts.front().is_some_and(|start| *start <= now - HOUR) {
            self.starts.pop_front();
        }
        self.starts.push_back(now);
        let limit = limit.map_or(usize::MAX, |n| n as usize);
        assert!(self.jumped || self.starts.len() <= limit, "{who}: {} calls in an hour", self.starts.len());
    }

    /// How the provider fails just now, and when it says it will work again.
    pub fn weather(&mut self, dice: &mut Dice) -> Option<(Class, Option<Ms>)> {
        if let Some(planned) = &self.planned {
            return planned.weather(self.wall());
        }
        if self.healed {
            return None;
        }
        if self.weather.is_none_or(|(_, until, _)| self.t >= until) {
            self.weather = dice.one_in(40).then(|| storm(dice, self.t, self.wall()));
        }
        self.weather.map(|(class, _, reset)| (class, reset))
    }
}

/// A stretch in which every call fails alike.
fn storm(dice: &mut Dice, t: Ms, wall: Ms) -> (Class, Ms, Option<Ms>) {
    let class =
        dice.pick(&[Class::UsageLimit, Class::UsageLimit, Class::RateLimited, Class::Outage, Class::Network]);
    let lasts = match dice.below(4) {
        0 => dice.between(HOUR, 9 * HOUR),
        _ => dice.between(1_000, 20 * MINUTE),
    };
    let told = matches!(class, Class::UsageLimit | Class::RateLimited) && dice.one_in(2);
    // Some resets are told too early, or lie in the past.
    let reset = told.then(|| if dice.one_in(5) { wall - MINUTE } else { wall + lasts });
    (class, t + lasts, reset)
}
