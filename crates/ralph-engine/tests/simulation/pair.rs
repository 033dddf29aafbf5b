//! Two runs on one machine, one daily budget and one rate window, interleaved turn by turn; whoever has something to do
//! first goes first. After a while everything heals, and then both must come to a good end.

use super::audit::audit;
use super::character::{Character, Shared};
use super::dice::Dice;
use super::life::Life;
use super::machine::Machine;
use super::power::Power;
use super::site::Site;
use super::tally::Tally;
use ralph_engine::journal;
use ralph_store::Store;
use std::cell::RefCell;
use std::rc::Rc;

/// Turns a pair may take after everything has healed. The longest were seen to take more than 2,000: a call an hour, 21
/// iterations, and every step of a proof.
const PATIENCE: u64 = 6_000;

/// Shows the ends of both journals when something is wrong.
struct Witness<'a>(u64, &'a Power);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for id in ["a", "b"] {
            let records = journal::read(self.1, id).unwrap_or_default();
            for record in records.iter().skip(records.len().saturating_sub(14)) {
                println!("{id} {record:?}");
            }
        }
        println!("pair {0}: again with RALPH_SIM_SEED={0} RALPH_SIM_STEPS=1", self.0);
    }
}

/// Runs one pair to its end.
pub fn pair(seed: u64, tally: &mut Tally) {
    let mut dice = Dice::new(seed);
    let machine = Rc::new(RefCell::new(Machine::new(&mut dice)));
    let cuts = dice.pick(&[0, 0, 20, 60, 150, 400]);
    let mains = Power::new(Dice::new(dice.roll()), cuts);
    let _witness = Witness(seed, &mains);
    let shared = Shared::new(&mut dice);
    let mut lives = ["a", "b"].map(|id| {
        let like = Character::new(id.into(), shared, &mut dice);
        let site = Site::new(like, Dice::new(dice.roll()), Rc::clone(&machine));
        Life::new(site, Dice::new(dice.roll()), &mains)
    });
    let heals = dice.below(700) + 50;
    let mut due = [0; 2];
    for turns in 0.. {
        if turns == heals {
            machine.borrow_mut().healed = true;
            mains.steady();
        }
        assert!(turns < heals + PATIENCE, "a run does not end");
        let first = match due[0].cmp(&due[1]) {
            _ if due == [i64::MAX; 2] => break,
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Equal => dice.below(2) as usize,
        };
        let life = &mut lives[first];
        life.turn(tally);
        due[first] = if life.over { i64::MAX } else { life.due() };
    }
    tally.pairs += 1;
    tally.cuts += mains.cuts();
    for life in &lives {
        audit(life, &mains, tally);
    }
    let machine = machine.borrow();
    let days = machine.days().map(|day| mains.meter(&format!("day/{day}")).unwrap());
    let (settled, held) = days.fold((0, 0), |(s, h), day| (s + day.settled, h + day.held));
    let booked: i64 = lives.iter().map(|life| life.booked).sum();
    assert!(settled == booked && held == 0, "days {settled} (and {held} held), runs {booked}");
}
