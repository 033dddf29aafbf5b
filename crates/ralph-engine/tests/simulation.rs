//! The simulation: the real loop, rules, ledger and journal in a made-up world with a virtual clock. Two runs share a
//! daily budget and a rate window while power is cut, people meddle, providers fail, clocks jump and agents cheat; the
//! invariants are checked after every step. `RALPH_SIM_STEPS` makes it longer, `RALPH_SIM_SEED` another one.
//!
//! Start with `simulation/pair.rs`; `life.rs` has the invariants of a run, `books.rs` those of its money.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod simulation {
    pub mod agent;
    pub mod audit;
    pub mod character;
    pub mod dice;
    pub mod event_source;
    pub mod growth;
    pub mod ledger_check;
    pub mod life;
    pub mod machine;
    pub mod pair;
    pub mod planned;
    pub mod power;
    pub mod site;
    pub mod stories;
    pub mod tally;
    pub mod week;
    pub mod words;
    pub mod world;
}

#[path = "../../ralph-otel/tests/trace_checks/mod.rs"]
mod trace_checks;

use simulation::growth::work_at;
use simulation::pair::pair;
use simulation::tally::Tally;
use simulation::week::week;

/// Steps without another wish: what an unoptimised build does in reasonable time, and what a release build does.
const STEPS: u64 = if cfg!(debug_assertions) { 400_000 } else { 10_000_000 };
/// Below this many steps rare endings may be missing by chance.
const ENOUGH: u64 = 100_000;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Every `of`-th pair, from the `nth`: pairs know nothing of each other, so workers may share them out.
fn work(seed: u64, nth: u64, of: u64, steps: u64) -> Tally {
    let mut tally = Tally::default();
    let mut at = seed.wrapping_add(nth);
    while tally.steps < steps {
        pair(at, &mut tally);
        at = at.wrapping_add(of);
    }
    tally
}

#[test]
fn nothing_is_lost_whatever_happens() {
    let seed = number("RALPH_SIM_SEED", 1);
    let steps = number("RALPH_SIM_STEPS", STEPS);
    let workers =
        if steps < ENOUGH { 1 } else { std::thread::available_parallelism().map_or(1, |n| n.get() as u64) };
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let share = steps.div_ceil(workers);
        let hands: Vec<_> =
            (0..workers).map(|nth| scope.spawn(move || work(seed, nth, workers, share))).collect();
        for hand in hands {
            all.add(&hand.join().unwrap());
        }
    });
    all.print(seed);
    if steps >= ENOUGH {
        all.reached_everything();
    }
}

#[test]
fn two_runs_share_a_week_of_limits_outages_sleep_and_a_day_of_25_hours() {
    for seed in 1..=if cfg!(debug_assertions) { 3 } else { 20 } {
        let week = week(seed, 0);
        println!("seed {seed}: {} calls, days {:?}", week.calls.len(), week.days);
        week.is_within_its_budget();
        week.spares_the_other_run();
        week.comes_back_after_every_storm();
        week.charges_no_sleep_and_no_refusal();
    }
}

#[test]
fn a_week_with_power_cuts_stays_within_its_days() {
    for seed in 1..=if cfg!(debug_assertions) { 2 } else { 20 } {
        week(seed, 40).is_within_its_budget();
    }
}

#[test]
fn an_iteration_asks_as_much_of_the_store_at_the_end_as_at_the_beginning() {
    // Numbers get longer; a tenth is allowed for that.
    let work = work_at(&[100, 2_000]);
    println!("work of 50 iterations at the 100th and the 2000th: {work:?}");
    assert!(work[1] <= work[0] + work[0] / 10, "{work:?}");
}
