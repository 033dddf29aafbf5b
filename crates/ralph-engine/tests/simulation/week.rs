//! A week of two runs that share a day's budget and a provider: limits with a named end, hours of outage, a closed lid,
//! and the night in which the clocks go back. The real loop, rules, ledger and journal on a virtual clock.

use super::character::{Character, Shared, Temper};
use super::dice::Dice;
use super::life::Life;
use super::machine::Machine;
use super::planned::{Began, Planned, Storm};
use super::power::Power;
use super::site::Site;
use super::tally::Tally;
use ralph_engine::ledger::run_meter;
use ralph_engine::reset_time::day_of;
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use ralph_rules::policy::{MINUTE, Policy, SECOND};
use ralph_rules::record::{HOUR, Ms};
use ralph_store::Store;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Thursday, 22 October 2026, 00:00 in Berlin; on Sunday the clocks go back.
pub const BEGIN: Ms = 1_792_620_000_000;
const DAY: Ms = 24 * HOUR;
const ZONE: &str = "Europe/Berlin";
const CAP: i64 = 3_000_000;
const TURN: i64 = 20_000;

/// What came of the week.
pub struct Week {
    pub calls: Vec<Began>,
    /// What each calendar day came to.
    pub days: BTreeMap<String, i64>,
    pub booked: i64,
    pub storms: Vec<Storm>,
    pub sleeps: Vec<(Ms, Ms)>,
    pub iterations: [u32; 2],
    pub hung: u64,
}

fn storms() -> Vec<Storm> {
    let storm = |day: Ms, hour: Ms, long: Ms, class, named| {
        let from = BEGIN + day * DAY + hour * HOUR;
        Storm { from, until: from + long, class, named }
    };
    vec![
        storm(0, 10, 4 * HOUR, Class::UsageLimit, true),
        storm(1, 2, 5 * HOUR, Class::Outage, false),
        // Over the hour that comes twice.
        storm(3, 0, 3 * HOUR, Class::UsageLimit, true),
        storm(4, 1, 20 * MINUTE, Class::RateLimited, false),
        storm(5, 1, 9 * HOUR, Class::Network, false),
    ]
}

/// A run that works on and on.
pub fn steady(id: &str, dice: &mut Dice) -> Character {
    let mut like = Character::new(id.into(), Shared::new(dice), dice);
    let mut policy = Policy::strict(100_000, Micro(1_000_000_000));
    policy.estimate = Micro(100_000);
    policy.daily_cost = Micro(CAP);
    policy.calls_per_hour = Some(30);
    (like.temper, like.live, like.priced, like.even) = (Temper::Steady, true, true, true);
    (like.turn, like.turns, like.meddled) = (TURN, 3, 0);
    like.start.policy = policy;
    like.start.zone = ZONE.into();
    like.start.verify.clear();
    like.start.ladder.clear();
    like.start.review = None;
    like.start.plan = None;
    like.start.stories = None;
    like.start.agent.live_usage = true;
    like
}

/// Lives the week.
pub fn week(seed: u64, cuts: u64) -> Week {
    let mut dice = Dice::new(seed);
    let mut machine = Machine::new(&mut dice);
    machine.set_wall(BEGIN);
    machine.restless = 0;
    let sleeps = vec![(BEGIN + 2 * DAY + 9 * HOUR, 8 * HOUR), (BEGIN + 4 * DAY + 2 * HOUR, 90 * MINUTE)];
    machine.planned = Some(Planned { storms: storms(), sleeps: sleeps.clone().into(), calls: Vec::new() });
    let machine = Rc::new(RefCell::new(machine));
    let mains = Power::new(Dice::new(dice.roll()), cuts);
    let mut lives = ["run-a", "run-b"].map(|id| {
        let site = Site::new(steady(id, &mut dice), Dice::new(dice.roll()), Rc::clone(&machine));
        let mut life = Life::new(site, Dice::new(dice.roll()), &mains);
        life.patient = true;
        life
    });
    let mut tally = Tally::default();
    let mut due = [0; 2];
    while machine.borrow().wall() < BEGIN + 7 * DAY {
        let first = usize::from(due[1] < due[0]);
        let life = &mut lives[first];
        life.turn(&mut tally);
        assert!(!life.over, "a patient run ended for good: {:?}", life.left);
        due[first] = life.due();
        holds_nothing_while_it_waits(life, &mains);
    }
    let machine = machine.borrow();
    let planned = machine.planned.as_ref().unwrap();
    Week {
        calls: planned.calls.clone(),
        days: machine
            .days()
            .map(|d| (d.clone(), mains.meter(&format!("day/{d}")).unwrap().total()))
            .collect(),
        booked: lives.iter().map(|life| mains.meter(&run_meter(&life.id)).unwrap().total()).sum(),
        storms: planned.storms.clone(),
        sleeps,
        iterations: [0, 1].map(|n| lives[n].iterations()),
        hung: lives.iter().map(|life| life.site.borrow().hung).sum(),
    }
}

/// Between two calls nothing is reserved, so that the others may have it.
fn holds_nothing_while_it_waits(life: &Life<'_>, mains: &Power) {
    if life.waits() {
        assert_eq!(mains.meter(&run_meter(&life.id)).unwrap().held, 0, "{}: money held in a wait", life.id);
    }
}

impl Week {
    /// Every day stays within its budget and two turns of each run; no day is counted twice, none is lost.
    pub fn is_within_its_budget(&self) {
        for (day, spent) in &self.days {
            assert!(*spent <= CAP + 4 * TURN, "{day}: {spent} of {CAP}");
        }
        assert_eq!(self.days.values().sum::<i64>(), self.booked, "days and runs differ: {:?}", self.days);
        let calendar: Vec<String> = (0..8).map(|n| day_of(BEGIN + n * DAY, ZONE)).collect();
        assert!(self.days.keys().all(|day| calendar.contains(day)), "{:?}", self.days);
        assert!(self.days.len() >= 7, "the runs worked every day: {:?}", self.days);
        assert_eq!(day_of(BEGIN + 3 * DAY + 24 * HOUR, ZONE), "2026-10-25", "the day has 25 hours");
    }

    /// One run meets a storm, the other is spared; one at a time tries, and never both in the same second.
    pub fn spares_the_other_run(&self) {
        for storm in &self.storms {
            let within = |call: &&Began| (storm.from..storm.until).contains(&call.at);
            let calls: Vec<&Began> = self.calls.iter().filter(within).collect();
            assert!(calls.iter().all(|call| call.failed), "{storm:?}: {calls:?}");
            if storm.named {
                assert!(calls.len() <= 2, "{storm:?}: each run may be about to call, not more: {calls:?}");
            }
            let minutes = (storm.until - storm.from) / MINUTE;
            assert!(calls.len() as Ms <= 12 + minutes / 5, "{storm:?}: {} calls", calls.len());
            // The first may have been under way together; then each knows of the one before.
            for pair in calls.get(1..).unwrap_or_default().windows(2) {
                let ended = pair[0].ended.unwrap();
                assert!(pair[1].at >= ended + SECOND, "{storm:?}: two try at once: {pair:?}");
            }
        }
    }

    /// After each storm both runs are back, one after the other, as soon as there is money.
    pub fn comes_back_after_every_storm(&self) {
        for storm in &self.storms {
            let after = |run: &str| {
                let back = self.calls.iter().find(|c| c.run == run && c.at >= storm.until && !c.failed);
                back.map(|call| call.at).unwrap_or_else(|| panic!("{run} never came back from {storm:?}"))
            };
            let (a, b) = (after("run-a"), after("run-b"));
            assert!(a.abs_diff(b) >= 1_000, "both woke in the same second after {storm:?}");
        }
    }

    /// A closed lid is no hang, and what a provider refused is no iteration.
    pub fn charges_no_sleep_and_no_refusal(&self) {
        assert_eq!(self.hung, 0, "nobody was ended for being asleep");
        for (at, long) in &self.sleeps {
            let asleep = |call: &&Began| call.at > at + MINUTE && call.at < at + long;
            assert_eq!(self.calls.iter().find(asleep).map(|c| c.at), None, "called while asleep");
        }
        let good = self.calls.iter().filter(|call| call.ended.is_some() && !call.failed).count();
        let counted = self.iterations.iter().sum::<u32>() as usize;
        assert!(counted <= good && good <= counted + 2, "{counted} iterations of {good} calls");
    }
}
