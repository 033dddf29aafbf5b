//! The hands of a made-up world: begin steps at a site. Every step closes with exactly one fact.

use super::agent::{self, Agent, Fate};
use super::character::Temper;
use super::power::Power;
use super::site::{Left, Site};
use ralph_engine::ledger;
use ralph_engine::observation::Observation;
use ralph_engine::provider::{self, Answer};
use ralph_engine::reset_time::day_of;
use ralph_engine::world::World;
use ralph_engine::world::admit::AdmitRequest;
use ralph_rules::breaker::{Breaker, breaker};
use ralph_rules::failure::Class;
use ralph_rules::ladder;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Why;
use ralph_rules::policy::SECOND;
use ralph_rules::prompt::compose;
use ralph_rules::record::{
    Absence, Admitted, Attempt, CallEnded, CallLost, CanarySeen, ChangeMap, ChangeSet, Check, CheckOutcome,
    CheckResult, Compared, Extended, FileRef, Inspected, Limits, MissingProgram, Ms, PlanSeen, Refused,
    Refuser, Restored, RoomSeen, RoomSets, Seen, SignSeen, Verified, Violation,
};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use std::cell::RefCell;
use std::rc::Rc;

/// Begins steps at a site.
pub struct SimulatedWorld<'a> {
    pub site: Rc<RefCell<Site>>,
    pub mains: &'a Power,
}

impl World for SimulatedWorld<'_> {
    fn begin(&mut self, step: &Step, state: &State) {
        let site = &mut *self.site.borrow_mut();
        match step {
            Step::Admit { id, amount, limits, rung, anyway, review } => {
                // The call before it may have been a review, which nothing inspects.
                site.settle_books();
                if !review {
                    site.climbs(*rung, state);
                }
                let (id, amount, limits, called) = (*id, *amount, *limits, state.calls.called);
                let (rung, anyway, review) = (*rung, *anyway, *review);
                let order = AdmitRequest { id, amount, limits, rung, anyway, review, called };
                site.admit(&order, state, self.mains);
            }
            Step::Call { id, tell_spend_from, tell_silence_after, review: true, .. } => {
                let start = state.start.as_ref().unwrap();
                let given = start.review.as_ref().unwrap();
                assert!(state.reviews.used() < given.rounds, "{}: one review too many", site.run);
                assert_eq!(
                    site.proof.map(|(_, passed)| passed),
                    Some(true),
                    "{}: a review of nothing",
                    site.run
                );
                site.live = given.agent.live_usage;
                site.reviewing = true;
                site.call(*id, *tell_spend_from, *tell_silence_after, start.policy.calls_per_hour);
            }
            Step::Call { id, rung, tell_spend_from, tell_silence_after, .. } => {
                site.reviewing = false;
                let start = state.start.as_ref().unwrap();
                let policy = &start.policy;
                site.live = start.rung(*rung).live_usage;
                assert!(breaker(state, policy) != Breaker::Open, "{}: a call with an open breaker", site.run);
                assert!(state.calls.done < policy.max_iterations, "{}: one iteration too many", site.run);
                site.heals(policy.gate.exit_signals + policy.gate.ask_for_test.max(1));
                site.call(*id, *tell_spend_from, *tell_silence_after, policy.calls_per_hour);
            }
            Step::Extend { id, to, limits } => site.extend(*id, *to, limits),
            Step::Inspect { .. } => site.inspect(),
            Step::Restore { paths } => site.restore(paths),
            Step::Compare => site.compare(),
            Step::Verify { check, deadline } => site.verify(*check, *deadline),
            Step::Map { time, .. } => site.map(*time),
            Step::Recover { id, reserved } => site.recover(*id, *reserved),
            Step::Plan { grant, .. } => site.take_story(grant.as_ref(), state),
        }
    }

    fn kept(&mut self, seen: &Seen) {
        if let (Seen::Extended(extended), Some(agent)) = (seen, &mut self.site.borrow_mut().agent) {
            agent.held = agent.held.max(extended.to.0);
        }
    }

    fn interrupt(&mut self, why: Why) {
        let site = &mut *self.site.borrow_mut();
        let now = site.now();
        if let Some(agent) = &mut site.agent {
            agent.end(why, now, &mut site.dice);
        }
        for (at, told) in &mut site.queue {
            if matches!(told.seen, Seen::Admitted(_)) && site.dice.one_in(2) {
                // The snapshot was not complete yet.
                (*at, *told) = (now, Seen::Refused(Refused::by_person()).into());
            }
            match &mut told.seen {
                Seen::Verified(verified) => {
                    verified.interrupted = true;
                    verified.results.truncate(1);
                    verified.results.iter_mut().for_each(|r| r.how = CheckOutcome::Interrupted);
                    site.proof = None;
                }
                Seen::Mapped(map) => {
                    map.interrupted = true;
                    *at = now;
                }
                // An answer may come after the call closed, but never as late as the next one.
                Seen::Extended(_) => *at = now,
                _ => {}
            }
        }
    }
}

impl Site {
    /// Where the money of the call under way is booked.
    fn day_accounts(&self) -> ledger::LedgerAccounts {
        ledger::LedgerAccounts::new(&self.run, &self.day)
    }

    /// Where money is booked from now on.
    fn accounts_today(&mut self) -> ledger::LedgerAccounts {
        let machine = &mut *self.machine.borrow_mut();
        self.day = day_of(machine.wall(), &self.like.start.zone);
        machine.books_on(&self.day);
        ledger::LedgerAccounts::new(&self.run, &self.day)
    }

    /// One rung at a time, up only in trouble, never beyond the ladder; asked again it is the same one.
    fn climbs(&mut self, rung: u32, state: &State) {
        let start = state.start.as_ref().unwrap();
        assert!(rung <= start.rungs(), "{}: rung {rung} of {}", self.run, start.rungs());
        assert_eq!(rung, ladder::next_rung(state, start), "{}: the rung moves by being asked for", self.run);
        let (before, iteration) = self.rung;
        let up = rung > before;
        assert!(rung.abs_diff(before) <= 1, "{}: from rung {before} to {rung}", self.run);
        assert!(!up || ladder::needs_escalation(state, start), "{}: up to {rung} without trouble", self.run);
        // What was found out about one story says nothing about the next one.
        let story = (state.stories.current.as_ref().map(|story| story.key.clone()), state.stories.complete());
        let once = rung == before || iteration != state.calls.done || story != self.rung_story;
        assert!(once, "{}: the rung moved twice in iteration {iteration}", self.run);
        self.rung = (rung, state.calls.done);
        self.rung_story = story;
    }

    fn admit(&mut self, order: &AdmitRequest, state: &State, mains: &Power) {
        let wall = self.machine.borrow().wall();
        let agent = state.start.as_ref().unwrap().caller(order.rung, order.review);
        let tries = match provider::ask(mains, agent, &self.run, wall) {
            Answer::Held(refused) if !order.anyway => return self.will_tell(1, Seen::Refused(refused)),
            Answer::Try(limit) if !order.anyway => Some(limit),
            _ => None,
        };
        if self.like.temper != Temper::Steady && !self.healed() && self.dice.one_in(150) {
            let by = self.dice.pick(&[Refuser::Disk, Refuser::Store, Refuser::Provider, Refuser::Provider]);
            let until = self.dice.one_in(2).then(|| self.machine.borrow().wall() + 30 * SECOND);
            let class = self.dice.pick(&[None, Some(Class::Outage), Some(Class::UsageLimit)]);
            let refused = Refused { by, total: 0, cap: 0, until, what: "full".into(), class };
            return self.will_tell(1, Seen::Refused(refused));
        }
        if self.dice.one_in(40) {
            // The user edits a file: not the agent's work.
            self.tree = self.dice.tree();
            self.version += 1;
        }
        if self.dice.one_in(32) {
            assert!(compose(state).len() < 20_000, "{}: the prompt has no bounds", self.run);
        }
        if !order.review {
            self.stained = false;
            self.files = 0;
        }
        let (prompt, tree, template_failed) = (FileRef::default(), self.tree, None);
        let books = self.accounts_today();
        let rest = books.rest(mains, &order.limits);
        let grant = rest.map_or(order.amount, |rest| rest.min(order.amount));
        let (id, day) = (order.id, self.day.clone());
        let no_snapshot = self.dice.one_in(200).then(|| "the disk is full".into());
        let admitted = Admitted { id, grant, prompt, tree, template_failed, day, no_snapshot };
        let mut reserve = ledger::reserve(&books, id, grant, &order.limits);
        reserve.against.extend(tries);
        self.will_tell(1, Observation { reserve: Some(reserve), ..Seen::Admitted(admitted).into() });
    }

    /// Once nothing goes wrong any more a run is soon done: each signal or test that is asked for takes one call more.
    fn heals(&mut self, signals: u32) {
        self.sound_calls += u32::from(self.healed());
        // Each story takes as many, and so does the run as a whole.
        let parts = self.stories.as_ref().map_or(1, |plan| 2 + plan.stories());
        assert!(self.sound_calls <= (2 + signals) * parts, "{}: healed, and still not done", self.run);
    }

    fn call(&mut self, id: Attempt, reserved: Micro, silence_after: Ms, per_hour: Option<u32>) {
        assert!(self.agent.is_none(), "{}: two agents in one workspace", self.run);
        {
            let machine = &mut *self.machine.borrow_mut();
            machine.starts(per_hour, &self.run);
            let wall = machine.wall();
            if let Some(planned) = &mut machine.planned {
                planned.began(&self.run, wall);
            }
        }
        self.commands_begin();
        self.left = None;
        self.calls += 1;
        let fate = self.fate();
        let like = &self.like;
        let turned_away = like.temper == Temper::Steady && matches!(fate, Fate::Fails(..));
        let order = agent::Order {
            id,
            reserved: reserved.0,
            silence_after,
            live: self.live,
            even: like.even,
            turn: like.turn,
            turns: match () {
                () if turned_away => 0,
                () if self.healed() => 1,
                () => like.turns,
            },
        };
        self.agent = Some(Agent::begin(&order, fate, self.now()));
    }

    fn extend(&mut self, id: Attempt, to: Micro, limits: &Limits) {
        let now = self.now();
        let mut after = 0;
        if let Some(agent) = &mut self.agent {
            agent.tell_from = to.0;
            if agent.is_at_its_last_turn() && self.dice.one_in(4) {
                // The call closes before the answer comes.
                after = agent.due - now + 1;
            }
        }
        let reserve = ledger::extend(&self.day_accounts(), id, to, limits);
        self.will_tell(
            after,
            Observation { reserve: Some(reserve), ..Seen::Extended(Extended { to }).into() },
        );
    }

    /// The latest call's closing fact is on disk.
    fn settle_books(&mut self) {
        self.books.settled(&self.run);
    }

    fn inspect(&mut self) {
        self.settle_books();
        let tester = self.like.temper == Temper::Tester && !self.healed();
        let inspected = Inspected {
            tree: self.tree,
            files: self.files,
            changed: (0..self.files).map(|n| format!("src/{n}.rs")).collect(),
            test_only: self.files > 0 && tester,
            violations: self.touched.clone(),
            head: None,
            commits: Vec::new(),
            oracle: Vec::new(),
            marker: !self.healed() && self.dice.one_in(30),
            plan: self.plan(),
            obeyed: Vec::new(),
        };
        self.will_tell(20, Seen::Inspected(inspected));
    }

    /// The plan after a call, where one is bound: mostly ticked, sometimes broken or emptied.
    fn plan(&mut self) -> Option<PlanSeen> {
        let given = self.like.start.plan.as_ref()?;
        let total = given.seen.done + given.seen.pending;
        let pending = if self.healed() { 0 } else { self.dice.below(u64::from(total) + 1) as u32 };
        let seen = match self.dice.below(40) {
            0 if !self.healed() => PlanSeen::unreadable("there is no such file"),
            1 if !self.healed() => PlanSeen::default(),
            _ => PlanSeen { done: total - pending, pending, ..PlanSeen::default() },
        };
        self.open = self.stories.is_none() && (seen.pending > 0 || seen.problem.is_some());
        Some(seen)
    }

    fn restore(&mut self, paths: &[Violation]) {
        let stuck = !self.healed() && self.dice.one_in(4);
        let (left, restored): (Vec<_>, Vec<_>) =
            paths.iter().map(|v| v.path.clone()).enumerate().partition(|(n, _)| stuck && *n == 0);
        let names = |part: Vec<(usize, String)>| part.into_iter().map(|(_, path)| path).collect::<Vec<_>>();
        let (left, restored) = (names(left), names(restored));
        self.touched.retain(|v| left.contains(&v.path));
        self.version += 1;
        self.will_tell(5, Seen::Restored(Restored { restored, left, tree: self.tree, quarantine: None }));
    }

    fn verify(&mut self, check: Check, deadline: Ms) {
        let how = self.comes_out(check);
        let tail = self.tail(how);
        let commands: Vec<String> = self.commands();
        let red = self.dice.below(commands.len() as u64) as usize;
        // Drawn from the clock, so that other runs stay as they were, and may go on when they are resumed.
        let unlucky = self.machine.borrow().wall().rem_euclid(40) == 0;
        let not_installed = unlucky && check == Check::Baseline && how == CheckOutcome::Failed;
        let missing = MissingProgram { program: "make".into(), why: Absence::NotFound };
        let result = |(n, command)| CheckResult {
            command,
            how: if n == red { how } else { CheckOutcome::Passed },
            exit: Some(i32::from(n == red && how != CheckOutcome::Passed)),
            ms: 900,
            tail: if n == red { tail.clone() } else { String::new() },
            output: FileRef::default(),
            counts: None,
            failed: Vec::new(),
            missing: (n == red && not_installed).then(|| missing.clone()),
        };
        let results = commands.into_iter().enumerate().map(result).collect();
        let clumsy = if self.like.temper == Temper::Vandal { 6 } else { 80 };
        // With the baseline's oracle the files are looked at through a view of their own.
        let apart = matches!(check, Check::WithBaselineOracle | Check::InRoom(_));
        if !apart && !self.healed() && self.dice.one_in(clumsy) {
            self.touch();
        } else if !apart && self.dice.one_in(30) {
            // It leaves something behind that is not ignored.
            self.tree = self.dice.tree();
            self.version += 1;
        }
        // Whatever differs from what the run began with is told, also what a verification did that was cut off.
        let violations = self.touched.clone();
        match check {
            Check::AsIs => self.proof = Some((self.version, how == CheckOutcome::Passed)),
            Check::WithBaselineOracle => {
                self.oracle_proof = (how == CheckOutcome::Passed).then_some(self.version);
            }
            Check::InRoom(sets) => {
                if how == CheckOutcome::Passed {
                    self.rooms.insert((self.tree, sets));
                }
            }
            Check::Baseline => self.baseline = Some((self.version, how == CheckOutcome::Passed)),
        }
        let takes = if how == CheckOutcome::TimedOut { deadline } else { self.dice.between(10, 30 * SECOND) };
        let room = matches!(check, Check::InRoom(_)).then(|| self.room_seen(check));
        let (interrupted, tree, oracle) = (false, self.tree, None);
        let verified = Verified {
            check,
            results,
            interrupted,
            tree,
            violations,
            oracle,
            room,
            analyzers: Vec::new(),
            sandbox: None,
        };
        self.will_tell(takes, Seen::Verified(verified));
    }

    /// The three sets: work if the files differ from the start, tests if they are bent, and what else may be.
    fn compare(&mut self) {
        let set = |any: bool| ChangeSet { files: u32::from(any), names: Vec::new() };
        let (work, oracle) = (set(self.tree != self.like.start.tree), set(self.bent));
        let mut sometimes = |n| !self.machine.borrow().healed && self.dice.one_in(n);
        let list = |any: bool| if any { vec!["x".to_string()] } else { Vec::new() };
        let sign = SignSeen { what: "ends the process".into(), ..SignSeen::default() };
        let compared = Compared {
            tree: self.tree,
            work,
            oracle,
            ambiguous: ChangeSet { files: u32::from(sometimes(4)), names: Vec::new() },
            docs_only: sometimes(6),
            layout_only: sometimes(6),
            configuration_only: sometimes(6),
            no_tests_before: sometimes(6),
            outside: list(sometimes(40)),
            around: list(sometimes(10)),
            around_cut_short: sometimes(40),
            installed: list(sometimes(10)),
            edited: list(sometimes(40)),
            signs: if sometimes(6) { vec![sign] } else { Vec::new() },
            canary: sometimes(2),
            changed_since: Vec::new(),
            oracle_diff: String::new(),
            problem: sometimes(80).then(|| "gone".into()),
        };
        self.will_tell(3, Seen::Compared(Box::new(compared)));
    }

    /// Hunks are put back, within the time that is given.
    fn map(&mut self, time: Ms) {
        assert!(time > 0, "{}: a map without time", self.run);
        let current = self.proof == Some((self.version, true));
        assert!(current, "{}: a map of files that were not verified", self.run);
        let takes = self.dice.between(10, time.max(11));
        let (tree, runs) = (self.tree, self.dice.between(0, 9) as u32);
        self.will_tell(takes, Seen::Mapped(Box::new(ChangeMap { tree, runs, ..ChangeMap::default() })));
    }

    /// What else a room shows: a canary that is seen or not, rarely a test that was rewritten.
    fn room_seen(&mut self, check: Check) -> RoomSeen {
        let healed = self.healed();
        let rewritten = !healed && self.dice.one_in(60);
        let tried = vec!["eq".to_string(), "raise".to_string()];
        let failed = if healed || !self.dice.one_in(5) { tried.clone() } else { Vec::new() };
        let canary = matches!(check, Check::InRoom(RoomSets { canary: true, .. }));
        RoomSeen {
            place: "room".into(),
            rewritten: if rewritten { vec!["tests/a.rs".into()] } else { Vec::new() },
            canary: canary.then_some(CanarySeen { tried, failed }),
            prepared_ms: 3,
            problem: (!healed && self.dice.one_in(80)).then(|| "no space".into()),
            changed_since: Vec::new(),
        }
    }

    fn comes_out(&mut self, check: Check) -> CheckOutcome {
        if self.healed() {
            // Nothing but the work makes it green.
            let green = match check {
                Check::InRoom(sets) => sets.work && !sets.canary,
                _ => true,
            };
            return if green { CheckOutcome::Passed } else { CheckOutcome::Failed };
        }
        if self.dice.one_in(60) {
            return self.dice.pick(&[CheckOutcome::TimedOut, CheckOutcome::NotRun]);
        }
        let red_in_four = match (self.like.temper, check) {
            (Temper::Finished, _) => 0,
            (Temper::Stubborn, _) => 4,
            (Temper::Liar, _) => 3,
            (Temper::Bender, Check::AsIs) => 1,
            (Temper::Bender, Check::InRoom(sets)) if !sets.oracle => 3,
            (Temper::Bender, Check::WithBaselineOracle) => 3,
            (Temper::Chatty, _) => 1,
            _ => 2,
        };
        if self.dice.below(4) < red_in_four { CheckOutcome::Failed } else { CheckOutcome::Passed }
    }

    fn tail(&mut self, how: CheckOutcome) -> String {
        match how {
            CheckOutcome::Passed => String::new(),
            _ if self.like.temper == Temper::Stubborn && !self.dice.one_in(12) => {
                let line = self.dice.below(900);
                format!("error: mismatched types at src/parser.rs:{line}")
            }
            _ => self.dice.pick(&["error: no such file", "1 test failed: reads", "panic: index"]).into(),
        }
    }

    fn recover(&mut self, id: Attempt, reserved: Micro) {
        assert!(self.agent.is_none(), "{}: a lost agent is alive", self.run);
        match self.left.clone() {
            Some(Left::Closed(call)) if call.id == id => {
                let call = CallEnded { recovered: true, ended_by: None, ..*call };
                let told = self.tell_end(call);
                self.will_tell(30, told);
            }
            left => {
                let (seen, usage) = match left {
                    Some(Left::Open { id: of, seen, usage }) if of == id => (seen, usage),
                    _ => (0, Usage::default()),
                };
                let charged = reserved.max(Micro(seen));
                self.books.told(charged.0);
                let settle = ledger::settle(&self.day_accounts(), id, charged, &usage);
                let lost = CallLost { id, charged, usage, outlived: 0, transcript: FileRef::default() };
                self.will_tell(30, Observation { settle: Some(settle), ..Seen::CallLost(lost).into() });
            }
        }
    }

    /// The closing fact of a call, with what it settles.
    pub fn tell_end(&mut self, call: CallEnded) -> Observation {
        self.books.told(call.charged.0);
        let settle = ledger::settle(&self.day_accounts(), call.id, call.charged, &call.usage);
        Observation { settle: Some(settle), ..Seen::CallEnded(Box::new(call)).into() }
    }
}
