//! One run from its first record to its last, through as many processes as it takes: begun, cut off, resumed, left.
//! After every turn the invariants are checked.

use super::dice::Dice;
use super::event_source::SimulatedEvents;
use super::power::Power;
use super::site::Site;
use super::tally::Tally;
use super::world::SimulatedWorld;
use ralph_engine::drive::turn;
use ralph_engine::journal;
use ralph_engine::ledger::run_meter;
use ralph_engine::run::{Left, Run, Unwritable};
use ralph_engine::watch::Watchers;
use ralph_rules::RULES;
use ralph_rules::claim::Verdict;
use ralph_rules::ending::{Ending, Reason, Status};
use ralph_rules::grade::Grade;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, next};
use ralph_rules::policy::{MINUTE, Oracle, Policy, Until};
use ralph_rules::record::{Asked, HOUR, Ms, PolicyChanged, Request, Resumed, Seen};
use ralph_rules::state::{Phase, State};
use ralph_store::Store;
use std::cell::RefCell;
use std::rc::Rc;

/// One run.
pub struct Life<'a> {
    pub id: String,
    meter: String,
    mains: &'a Power,
    pub site: Rc<RefCell<Site>>,
    dice: Dice,
    run: Option<Run<'a>>,
    /// When the next process begins.
    rises: Ms,
    /// How the last process left it.
    pub left: Option<Ending>,
    /// Where it stood when it was left.
    pub stood: Option<State>,
    pub over: bool,
    /// Whoever runs it comes back every hour and changes nothing.
    pub patient: bool,
    /// Settled on the run's meter.
    pub booked: i64,
}

impl<'a> Life<'a> {
    pub fn new(site: Site, dice: Dice, mains: &'a Power) -> Life<'a> {
        Life {
            id: site.run.clone(),
            meter: run_meter(&site.run),
            mains,
            site: Rc::new(RefCell::new(site)),
            dice,
            run: None,
            rises: 0,
            left: None,
            stood: None,
            over: false,
            patient: false,
            booked: 0,
        }
    }

    /// When something happens next.
    pub fn due(&self) -> Ms {
        let Some(run) = &self.run else { return self.rises };
        let site = self.site.borrow();
        match next(&run.state).next {
            Next::Wait { wake } => site.due(wake),
            _ => site.now(),
        }
    }

    /// No call is under way: the next one is not due, or not wanted yet.
    pub fn waits(&self) -> bool {
        let Some(run) = &self.run else { return false };
        matches!(run.state.phase, Phase::Ready | Phase::Refused(_) | Phase::Inspected | Phase::Judging)
            && matches!(next(&run.state).next, Next::Wait { .. })
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u32 {
        let state = self.run.as_ref().map(|run| &run.state).or(self.stood.as_ref());
        state.map_or(0, |state| state.calls.done)
    }

    /// One turn of the real loop, or a new process.
    pub fn turn(&mut self, tally: &mut Tally) {
        let went = match &mut self.run {
            None => self.rise(),
            Some(run) => {
                tally.steps += 1;
                self.site.borrow_mut().paused = run.state.person.paused;
                turn(run)
            }
        };
        match went {
            Ok(None) => {}
            Ok(Some(Left::Ended(ending))) => self.leave(ending, tally),
            Ok(Some(Left::HandedOver(_))) => panic!("no session works here"),
            Err(_) => self.crash(),
        }
        self.check();
    }

    fn crash(&mut self) {
        self.run = None;
        let mut site = self.site.borrow_mut();
        site.crash();
        self.rises = site.now() + self.dice.between(1, MINUTE);
    }

    /// A new process: reads the journal, writes down that it goes on.
    fn rise(&mut self) -> Result<Option<Left>, Unwritable> {
        let state = self.remember();
        {
            let mut site = self.site.borrow_mut();
            site.machine.borrow_mut().advance_to(self.rises);
            site.since = (state.ran, site.now());
        }
        let changed = state.start.as_ref().and_then(|start| self.raises(&start.policy));
        let hands = Box::new(SimulatedWorld { site: Rc::clone(&self.site), mains: self.mains });
        let event_source = Box::new(SimulatedEvents { site: Rc::clone(&self.site), mains: self.mains });
        let run = Run::new(&self.id, state, self.mains, hands, event_source, Watchers::none());
        let run = self.run.insert(run);
        if run.state.seq == 0 {
            let start = self.site.borrow().like.start.clone();
            run.note(Seen::RunStarted(Box::new(start)).into());
            return Ok(None);
        }
        if run.state.phase == Phase::Over {
            // The last process ended the run, and was cut off before it could say so.
            return Ok(run.state.ending.map(Left::Ended));
        }
        run.note(
            Seen::Resumed(Resumed { version: "0.1.0".into(), rules: RULES, ..Resumed::default() }).into(),
        );
        let reviewed = self.left.is_some_and(|ending| ending.reason == Reason::NeedsReview);
        if reviewed && (self.site.borrow().healed() || self.dice.one_in(2)) {
            // A person has looked at the work.
            run.flush()?;
            run.note(Seen::Asked(Asked { request: Request::Accept }).into());
        }
        if let Some(policy) = changed {
            run.flush()?;
            run.note(Seen::PolicyChanged(Box::new(PolicyChanged { policy })).into());
        }
        self.left = None;
        Ok(None)
    }

    /// Where the run stands, as its journal has it. Where the last process left in order its mind is the same (the
    /// audit proves it), and mostly taken as read: reading is most of the simulation's work.
    fn remember(&mut self) -> State {
        match &self.stood {
            Some(state) if self.left.is_some() && !self.dice.one_in(8) => state.clone(),
            _ => State::of(&journal::read(self.mains, &self.id).unwrap()),
        }
    }

    /// Who resumes a run that met a limit mostly raises it.
    fn raises(&mut self, policy: &Policy) -> Option<Policy> {
        let ending = self.left.filter(|_| !self.patient)?;
        let mut new = policy.clone();
        let healed = self.site.borrow().healed();
        if healed {
            new.max_iterations += 8;
            new.max_cost = new.max_cost.plus(Micro(100_000_000));
            new.daily_cost = Micro(10_000_000_000);
            new.max_time = None;
        } else if self.dice.one_in(4) {
            return None;
        }
        match ending.reason {
            Reason::MaxIterations => new.max_iterations += 2,
            Reason::CostLimit => new.max_cost = new.max_cost.plus(new.estimate),
            Reason::TimeLimit => new.max_time = policy.max_time.map(|t| t + HOUR),
            _ => {}
        }
        self.site.borrow_mut().books.raised(new.max_cost.0);
        (new != *policy).then_some(new)
    }

    fn leave(&mut self, ending: Ending, tally: &mut Tally) {
        let state = self.run.take().unwrap().state;
        tally.left(ending.reason);
        let mut site = self.site.borrow_mut();
        assert!(site.agent.is_none(), "{}: an agent outlives its run", self.id);
        let open = site.queue.iter().any(|(_, told)| !matches!(told.seen, Seen::Extended(_)));
        assert!(!open, "{}: left with a step open", self.id);
        site.queue.clear();
        let meter = self.mains.meter(&self.meter).unwrap();
        assert_eq!(meter.held, 0, "{}: money is held for nobody", self.id);
        assert_eq!(meter.settled, state.budget.spent.0, "{}: ledger and journal differ", self.id);
        if ending.status() == Status::Completed {
            proven(&site, &state, ending);
        }
        site.ticks_are_proven(&state, ending);
        let healed = site.healed();
        assert!(
            !healed || ending.resumable() || site.healed_ends(ending.reason),
            "{}: healed, but {ending:?}",
            self.id
        );
        self.over = !ending.resumable() || (!healed && self.dice.one_in(6));
        let wait = if healed || self.dice.one_in(3) { 25 * HOUR } else { 10 * MINUTE };
        self.rises = site.now() + self.dice.between(1, wait);
        if self.patient {
            self.over = !ending.resumable();
            self.rises = site.now() + HOUR;
        }
        // Nobody withdraws the objection any more: a person sets the work aside.
        let objection =
            state.reviews.last_verdict().filter(|(_, review)| review.verdict == Some(Verdict::Revise));
        self.over |= healed && ending.reason == Reason::NeedsReview && objection.is_some();
        self.left = Some(ending);
        self.stood = Some(state);
    }

    fn check(&mut self) {
        let meter = self.mains.meter(&self.meter).unwrap();
        assert!(meter.settled >= self.booked, "{}: booked cost went back", self.id);
        self.booked = meter.settled;
        let site = &mut *self.site.borrow_mut();
        site.books.check(site.agent.as_ref(), meter.total(), &self.id);
        if let Some(run) = &self.run {
            let max = run.state.start.as_ref().map_or(0, |s| s.policy.max_iterations);
            assert!(run.state.calls.done <= max, "{}: more iterations than allowed", self.id);
        }
    }
}

/// Done means: nothing protected is touched, and what proves it passed on the files as they are.
fn proven(site: &Site, state: &State, ending: Ending) {
    let who = &site.run;
    // Before the first call only the user's own verification can have touched anything.
    let called = state.calls.id.iteration > 0;
    assert!(!called || site.touched.is_empty(), "{who}: completed with protected paths touched");
    assert!(!called || !site.stained, "{who}: completed in an iteration that touched a protected path");
    let claimed = state.start.as_ref().unwrap().policy.gate.until == Until::Claimed;
    assert!(!claimed || !site.open, "{who}: completed with an open plan");
    let verifies = !site.like.start.verify.is_empty();
    assert_eq!(ending.verified, verifies, "{who}: proof and ending differ");
    if verifies {
        let proof = if called { site.proof } else { site.baseline };
        assert_eq!(proof, Some((site.version, true)), "{who}: completed without proof");
        let policy = &state.start.as_ref().unwrap().policy;
        let grade = ending.grade.unwrap();
        // Before the first call nothing was done that a grade could be required of.
        let accepted = ending.reason == Reason::Accepted || policy.oracle != Oracle::Guard || !called;
        let verdict = state.reviews.of_tree(state.trees.now).and_then(|(_, review)| review.verdict);
        let settled = verdict == Some(Verdict::Ship) && matches!(grade, Grade::Revised | Grade::Unclear);
        assert!(accepted || settled || grade >= policy.gate.require, "{who}: completed with {grade}");
        let objected = verdict == Some(Verdict::Revise) && ending.reason != Reason::Accepted;
        assert!(!objected, "{who}: completed against a reviewer's objection");
        shown(site, policy, grade);
    }
}

/// What a grade says was seen on these very files.
fn shown(site: &Site, policy: &Policy, grade: Grade) {
    // The same files, also if they were others in between.
    let here = || site.rooms.iter().filter(|(tree, _)| *tree == site.tree).map(|(_, sets)| sets);
    let view = site.oracle_proof == Some(site.version);
    let with_work = here().any(|sets| sets.work || sets.ambiguous);
    let workspace = policy.oracle == Oracle::Allow || view || !site.bent;
    match grade {
        Grade::Proven => assert!(with_work || workspace, "{}: proven by nothing", site.run),
        Grade::Tested => assert!(with_work, "{}: tested by nothing", site.run),
        _ => {}
    }
}
