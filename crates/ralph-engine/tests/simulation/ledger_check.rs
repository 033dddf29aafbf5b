//! What a run really spent, beside what ralph knows of it: known spend may never fall behind. Where nobody could have
//! known (no usage while it works, no price, a turn dearer than all before it), the gap is bounded and remembered.

use super::agent::Agent;
use super::character::Character;

/// Real spend, and the gaps that nobody could have foreseen.
#[derive(Debug)]
pub struct Books {
    /// Every agent of the run shows usage while it works.
    live: bool,
    turn: i64,
    /// Spent by calls that are over.
    real: i64,
    /// Spent but never to be known.
    unknowable: i64,
    /// The dearest call.
    dearest: i64,
    /// The call whose closing fact is not on disk yet.
    open: Option<Open>,
    /// The highest cap so far.
    cap: i64,
    /// The most that real spend passed the cap by.
    pub over: i64,
}

#[derive(Debug)]
struct Open {
    real: i64,
    charged: i64,
    foreseen: bool,
}

impl Books {
    pub fn new(like: &Character) -> Books {
        let cap = like.start.policy.max_cost.0;
        let live = like.live && like.start.ladder.iter().all(|agent| agent.live_usage);
        Books { live, turn: like.turn, real: 0, unknowable: 0, dearest: 0, open: None, cap, over: 0 }
    }

    /// The cap was raised.
    pub fn raised(&mut self, cap: i64) {
        self.cap = self.cap.max(cap);
    }

    /// A call is over; its closing fact is still to be told.
    pub fn close(&mut self, agent: &Agent) {
        self.real += agent.real;
        self.dearest = self.dearest.max(agent.real);
        self.open = Some(Open { real: agent.real, charged: 0, foreseen: agent.foreseen() });
    }

    /// A closing fact was told, perhaps not for the first time.
    pub fn told(&mut self, charged: i64) {
        if let Some(open) = &mut self.open {
            open.charged = charged;
        }
    }

    /// The closing fact is on disk.
    pub fn settled(&mut self, who: &str) {
        let Some(open) = self.open.take() else { return };
        let gap = (open.real - open.charged).max(0);
        assert!(gap == 0 || !open.foreseen, "{who}: booked {} of {}", open.charged, open.real);
        self.unknowable += gap;
    }

    /// Known spend against real spend, now.
    pub fn check(&mut self, agent: Option<&Agent>, known: i64, who: &str) {
        let real = self.real + agent.map_or(0, |a| a.real);
        let (foreseen, call) = match (agent, &self.open) {
            (Some(agent), _) => (agent.foreseen(), agent.real),
            (None, Some(open)) => (open.foreseen, open.real),
            (None, None) => (true, 0),
        };
        let gap = match (foreseen, self.live) {
            (true, _) => 0,
            (false, true) => 2 * self.turn,
            (false, false) => call,
        };
        assert!(known + self.unknowable + gap >= real, "{who}: {known} known, {real} spent, {self:?}");
        let dearest = self.dearest.max(call);
        let bound = self.unknowable + if self.live { 2 * self.turn } else { dearest };
        self.over = self.over.max(real - self.cap);
        assert!(real <= self.cap + bound, "{who}: {real} spent of {}, {self:?}", self.cap);
    }
}
