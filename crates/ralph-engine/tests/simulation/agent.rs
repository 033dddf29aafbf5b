//! A made-up agent at work: turns that cost money when they begin and show it when they end, silence, endless work,
//! and what becomes of it when it is told to end or when ralph dies.

use super::dice::Dice;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Why;
use ralph_rules::policy::{MINUTE, SECOND};
use ralph_rules::record::{Attempt, Ms, Silent, Spent};

/// How a call goes if nobody ends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    Answers,
    Fails(Class, Option<Ms>),
    /// Falls silent after its last turn.
    Hangs,
    /// Its turns never stop.
    Endless,
}

/// What an agent at work shows to the outside.
pub enum Shows {
    Spent(Spent),
    Silent(Silent),
    /// It ended.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    /// A tool runs, or it is about to begin a turn.
    Between,
    /// The model answers; its cost is spent already.
    Turn,
    /// It will be noticed to be silent then.
    Silent(Ms),
    /// Silent, noticed, and still there.
    Mute,
    /// It will be gone in a moment.
    Dying,
}

/// A call under way.
#[derive(Clone, Debug)]
pub struct Agent {
    pub id: Attempt,
    pub began: Ms,
    pub fate: Fate,
    /// Really spent, in the moment it is spent.
    pub real: i64,
    /// What its output shows so far: usage, dearest turn, turns.
    pub seen: i64,
    pub dearest: i64,
    shown: u64,
    /// The turn that the model is at.
    in_flight: i64,
    /// Held for it when it began.
    granted: i64,
    /// Held for it now.
    pub held: i64,
    pub tell_from: i64,
    silence_after: Ms,
    live: bool,
    even: bool,
    turn: i64,
    turns: i64,
    doing: Doing,
    pub due: Ms,
    pub told: Option<Why>,
    /// The closing event is in its output.
    pub finished: bool,
}

/// What the world asks of an agent.
pub struct Order {
    pub id: Attempt,
    pub reserved: i64,
    pub silence_after: Ms,
    pub live: bool,
    pub even: bool,
    pub turn: i64,
    pub turns: i64,
}

impl Agent {
    pub fn begin(order: &Order, fate: Fate, now: Ms) -> Agent {
        let &Order { id, reserved, silence_after, live, even, turn, turns } = order;
        Agent {
            id,
            began: now,
            fate,
            real: 0,
            seen: 0,
            dearest: 0,
            shown: 0,
            in_flight: 0,
            granted: reserved,
            held: reserved,
            tell_from: reserved,
            silence_after,
            live,
            even,
            turn,
            turns: if fate == Fate::Endless { 1_000 } else { turns },
            doing: Doing::Between,
            due: now + SECOND,
            told: None,
            finished: false,
        }
    }

    /// Whether ralph can know beforehand what the next turns cost at most.
    pub fn foreseen(&self) -> bool {
        self.live && self.even && self.granted >= 2 * self.turn
    }

    pub fn usage(&self) -> Usage {
        Usage { input: self.shown * 400, output: self.shown * 40, ..Usage::default() }
    }

    fn begin_turn(&mut self, dice: &mut Dice) {
        let first = self.shown == 0;
        let cost = if self.even && first { self.turn } else { dice.between(self.turn / 3, self.turn) };
        self.in_flight = cost.max(1);
        self.real += self.in_flight;
        self.turns -= 1;
        self.doing = Doing::Turn;
    }

    fn end_turn(&mut self) {
        self.seen += self.in_flight;
        self.dearest = self.dearest.max(self.in_flight);
        self.shown += 1;
        self.in_flight = 0;
    }

    /// Does what is due; `None` shows nothing to anybody.
    pub fn act(&mut self, dice: &mut Dice) -> Option<Shows> {
        let now = self.due;
        self.due = now + dice.between(200, 20 * SECOND);
        match self.doing {
            // It was turned away before its first turn.
            Doing::Between if self.turns <= 0 => self.last_turn(now),
            Doing::Between => {
                self.begin_turn(dice);
                None
            }
            Doing::Turn => {
                self.end_turn();
                if self.turns <= 0 {
                    return self.last_turn(now);
                }
                if dice.one_in(2) {
                    self.begin_turn(dice);
                } else {
                    self.doing = Doing::Between;
                }
                self.shows()
            }
            Doing::Silent(since) => {
                self.doing = Doing::Mute;
                self.due = now + 24 * 60 * MINUTE;
                Some(Shows::Silent(Silent { ms: now - since }))
            }
            Doing::Mute | Doing::Dying => Some(Shows::End),
        }
    }

    fn last_turn(&mut self, now: Ms) -> Option<Shows> {
        if self.fate == Fate::Hangs {
            self.doing = Doing::Silent(now);
            self.due = now + self.silence_after;
            return self.shows();
        }
        // A crash leaves no closing event.
        self.finished = !matches!(self.fate, Fate::Fails(Class::Aborted, _));
        Some(Shows::End)
    }

    /// Only what may bring the reservation behind is told.
    fn shows(&self) -> Option<Shows> {
        let ahead = self.seen + 2 * self.dearest > self.tell_from;
        (self.live && ahead).then(|| {
            let (total, dearest) = (Micro(self.seen), Micro(self.dearest));
            Shows::Spent(Spent { total, dearest, usage: self.usage() })
        })
    }

    /// What it does next, if nobody ends it, is to close.
    pub fn is_at_its_last_turn(&self) -> bool {
        self.doing == Doing::Turn && self.turns <= 0 && self.fate != Fate::Hangs
    }

    /// It is told to end, and needs a moment for it. The turn it is at may still come to its end.
    pub fn end(&mut self, why: Why, now: Ms, dice: &mut Dice) {
        self.told = Some(why);
        self.due = now + dice.between(5, 5 * SECOND);
        if self.doing == Doing::Turn && dice.one_in(2) {
            self.end_turn();
            self.finished = self.turns <= 0 && self.fate == Fate::Answers;
        }
        self.doing = Doing::Dying;
    }

    /// ralph is gone; the supervisor ends the agent, after one more turn at most.
    pub fn orphaned(&mut self, dice: &mut Dice) {
        match self.doing {
            Doing::Turn if dice.one_in(2) => {
                self.end_turn();
                self.finished = self.turns <= 0 && matches!(self.fate, Fate::Answers | Fate::Fails(..));
            }
            Doing::Between if dice.one_in(2) => self.begin_turn(dice),
            _ => {}
        }
    }

    /// What is booked where the agent gives no figure itself: what is held, or more if it showed more.
    pub fn unreported(&self) -> i64 {
        self.held.max(self.seen_live())
    }

    /// The usage its output shows.
    pub fn seen_live(&self) -> i64 {
        if self.live { self.seen } else { 0 }
    }

    /// What it says at the end that it cost.
    pub fn reports(&self) -> i64 {
        self.seen
    }
}
