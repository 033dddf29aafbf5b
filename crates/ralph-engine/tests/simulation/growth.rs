//! What an iteration asks of the store, at the beginning of a long run and at its end. Counted, not timed: a machine may
//! be busy, a count is the same everywhere.

use super::dice::Dice;
use super::life::Life;
use super::machine::Machine;
use super::planned::Planned;
use super::power::Power;
use super::site::Site;
use super::tally::Tally;
use super::week::steady;
use ralph_rules::money::Micro;
use std::cell::RefCell;
use std::rc::Rc;

/// Iterations that are counted together.
const SPAN: u32 = 50;

/// The work of `SPAN` iterations from each of these on.
pub fn work_at(begins: &[u32]) -> Vec<usize> {
    let mut dice = Dice::new(7);
    let mut machine = Machine::new(&mut dice);
    machine.restless = 0;
    machine.planned = Some(Planned::default());
    let machine = Rc::new(RefCell::new(machine));
    let mains = Power::new(Dice::new(dice.roll()), 0);
    let mut like = steady("long", &mut dice);
    like.start.policy.daily_cost = Micro(1_000_000_000_000_000);
    like.start.policy.max_cost = Micro(1_000_000_000_000_000);
    like.start.policy.calls_per_hour = None;
    let site = Site::new(like, Dice::new(dice.roll()), Rc::clone(&machine));
    let mut life = Life::new(site, Dice::new(dice.roll()), &mains);
    life.patient = true;
    let mut tally = Tally::default();
    let mut until = |iteration| {
        while life.iterations() < iteration {
            life.turn(&mut tally);
            assert!(!life.over, "the run ended: {:?}", life.left);
        }
        mains.work()
    };
    begins
        .iter()
        .map(|begin| {
            let before = until(*begin);
            until(*begin + SPAN) - before
        })
        .collect()
}
