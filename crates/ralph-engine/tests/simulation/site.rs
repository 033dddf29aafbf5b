//! Where one run works: its files as they really are, the agent that is alive there, what is on its way to the loop's
//! event_source, and what was really spent. `world.rs` starts steps here, `event_source.rs` delivers observations; neither outlives a process.

use super::agent::{Agent, Fate};
use super::character::{Character, Temper};
use super::dice::Dice;
use super::ledger_check::Books;
use super::machine::Machine;
use super::stories::SimulatedPlan;
use super::words::{self, Word};
use ralph_engine::observation::Observation;
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Why;
use ralph_rules::policy::MINUTE;
use ralph_rules::record::{
    Attempt, CallEnded, Failure, FileRef, How, Ms, PriceFrom, RoomSets, Seen, Unusable, Violation,
    WorkspaceUnusable,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// What a call left in its transcript.
#[derive(Clone, Debug)]
pub enum Left {
    /// A closing event.
    Closed(Box<CallEnded>),
    /// Only usage.
    Open { id: Attempt, seen: i64, usage: Usage },
}

/// Where one run works.
pub struct Site {
    pub run: String,
    pub like: Character,
    pub dice: Dice,
    pub machine: Rc<RefCell<Machine>>,
    /// The files, and how often they changed.
    pub tree: u128,
    pub version: u64,
    /// States the files were in.
    pub old: Vec<u128>,
    /// Protected paths that are not as they were.
    pub touched: Vec<Violation>,
    /// One was touched since the latest call was admitted.
    pub stained: bool,
    /// The tests are not the baseline's any more.
    pub bent: bool,
    /// The latest call's changes.
    pub files: u32,
    /// Which version was verified last, and whether it passed.
    pub proof: Option<(u64, bool)>,
    /// Which version was verified before the first call, and whether it passed.
    pub baseline: Option<(u64, bool)>,
    /// The plan, as it was seen last, has open items or cannot be read.
    pub open: bool,
    /// Which version passed with the baseline's oracle.
    pub oracle_proof: Option<u64>,
    /// Rooms that passed, by tree.
    pub rooms: BTreeSet<(u128, RoomSets)>,
    /// Facts on their way, by the time they arrive.
    pub queue: VecDeque<(Ms, Observation)>,
    pub agent: Option<Agent>,
    pub left: Option<Left>,
    pub books: Books,
    /// The call under way, or the latest one, is a review.
    pub reviewing: bool,
    /// The agent of the call's rung shows usage while it works.
    pub live: bool,
    /// The rung admitted last, and after which iteration.
    pub rung: (u32, u32),
    /// The story that was worked on then, or that all were done.
    pub rung_story: (Option<String>, Option<u32>),
    pub calls: u32,
    /// Those begun after everything had healed.
    pub sound_calls: u32,
    /// Calls that ralph ended.
    pub ended_by_us: u64,
    /// Those of them that were taken for hanging.
    pub hung: u64,
    /// The rules hold because a person asked for it.
    pub paused: bool,
    /// The calendar day that the call under way is booked on.
    pub day: String,
    /// Requests lie in the inbox.
    pub inbox: bool,
    pub asked: u64,
    /// Active time and awake time when this process began.
    pub since: (Ms, Ms),
    /// The plan, if it is taken story by story.
    pub stories: Option<SimulatedPlan>,
}

impl Site {
    pub fn new(like: Character, dice: Dice, machine: Rc<RefCell<Machine>>) -> Site {
        let stories = SimulatedPlan::of(&like.start);
        Site {
            run: like.start.run.clone(),
            tree: like.start.tree,
            live: like.live,
            reviewing: false,
            rung: (0, 0),
            rung_story: (None, None),
            books: Books::new(&like),
            like,
            dice,
            machine,
            version: 0,
            old: Vec::new(),
            touched: Vec::new(),
            stained: false,
            bent: false,
            files: 0,
            proof: None,
            baseline: None,
            open: false,
            oracle_proof: None,
            rooms: BTreeSet::new(),
            queue: VecDeque::new(),
            agent: None,
            left: None,
            calls: 0,
            sound_calls: 0,
            ended_by_us: 0,
            hung: 0,
            paused: false,
            day: String::new(),
            inbox: false,
            asked: 0,
            since: (0, 0),
            stories,
        }
    }

    pub fn healed(&self) -> bool {
        self.machine.borrow().healed
    }

    pub fn now(&self) -> Ms {
        self.machine.borrow().t
    }

    pub fn ran(&self) -> Ms {
        self.since.0 + self.now() - self.since.1
    }

    /// Once everything is healed a run is done, unless its past stands in the way.
    pub fn healed_ends(&self, reason: Reason) -> bool {
        self.sound_calls == 0
            || matches!(
                reason,
                Reason::GatePassed
                    | Reason::CompletionSignals
                    | Reason::AlreadyComplete
                    | Reason::Accepted
                    | Reason::ProhibitedPath
            )
    }

    /// A fact will arrive after so long.
    pub fn will_tell(&mut self, after: Ms, told: impl Into<Observation>) {
        let at = self.now() + after;
        let told = self.or_unusable(told.into());
        self.queue.push_back((at, told));
    }

    /// Now and then the workspace is lost or cannot be written: then that is what a step finds instead.
    fn or_unusable(&mut self, told: Observation) -> Observation {
        let finds = matches!(
            told.seen,
            Seen::Admitted(_)
                | Seen::Inspected(_)
                | Seen::Restored(_)
                | Seen::Compared(_)
                | Seen::Verified(_)
                | Seen::Mapped(_)
                | Seen::Planned(_)
        );
        if !finds || self.like.temper == Temper::Steady || self.healed() || !self.dice.one_in(400) {
            return told;
        }
        let how = self.dice.pick(&[Unusable::Lost, Unusable::Unwritable]);
        Seen::WorkspaceUnusable(WorkspaceUnusable { how, what: "the workspace is gone".into() }).into()
    }

    /// The process is gone: what it had not written is forgotten, what it ran is ended.
    pub fn crash(&mut self) {
        self.queue.clear();
        if let Some(mut agent) = self.agent.take() {
            agent.orphaned(&mut self.dice);
            self.close(&agent);
        }
    }

    /// The call is over, however it came about: its work is in the files, its output is kept.
    pub fn close(&mut self, agent: &Agent) -> CallEnded {
        if !self.reviewing {
            self.work(agent.finished);
            self.meddle_with_plan();
        }
        let call = self.closing(agent);
        let machine = &mut *self.machine.borrow_mut();
        let wall = machine.wall();
        if let Some(planned) = &mut machine.planned {
            planned.ended(&self.run, wall, call.failure.as_ref().is_some_and(|f| !f.class.is_iteration()));
        }
        self.ended_by_us += u64::from(call.ended_by.is_some());
        self.hung += u64::from(matches!(call.ended_by, Some(Why::Silence | Why::Deadline)));
        self.books.close(agent);
        self.left = Some(if agent.finished {
            Left::Closed(Box::new(call.clone()))
        } else {
            Left::Open { id: agent.id, seen: agent.seen_live(), usage: agent.usage() }
        });
        call
    }

    fn closing(&mut self, agent: &Agent) -> CallEnded {
        let failure = self.failure(agent);
        let word = match &failure {
            Some(_) => Word::Short,
            None if self.reviewing && self.healed() => Word::Ship,
            None if self.reviewing => self.dice.pick(&[
                Word::Ship,
                Word::Ship,
                Word::Revise,
                Word::Revise,
                Word::Done,
                Word::Nothing,
            ]),
            None if self.healed() => Word::DoneInProse,
            None => words::choose(self.like.temper, self.calls, &mut self.dice),
        };
        let text = words::text(word);
        let reports = agent.finished && (self.like.priced || self.live);
        let denied = self.like.temper == Temper::Denied && !self.healed();
        CallEnded {
            id: agent.id,
            text: text.into(),
            text_bytes: text.len() as u64,
            status: None,
            failure,
            ended_by: agent.told.filter(|_| !agent.finished),
            charged: Micro(if reports { agent.reports() } else { agent.unreported() }),
            price: if reports { PriceFrom::Reported } else { PriceFrom::Unpriced },
            reported: None,
            computed: None,
            told: None,
            usage: agent.usage(),
            session: None,
            model: None,
            denials: if denied { vec!["Bash".into()] } else { Vec::new() },
            exit: Some(0),
            signal: None,
            outlived: 0,
            ms: self.now() - agent.began,
            transcript: FileRef::default(),
            recovered: false,
            day: None,
            session_mark: None,
            sandbox: None,
        }
    }

    fn failure(&mut self, agent: &Agent) -> Option<Failure> {
        let (class, reset_at) = match (agent.told, agent.fate) {
            (Some(Why::Budget), _) if !agent.finished => (Class::Budget, None),
            (Some(_), _) if !agent.finished => (Class::Aborted, None),
            (_, Fate::Fails(class, reset)) => (class, reset),
            _ => return None,
        };
        Some(Failure { class, message: "it failed".into(), reset_at })
    }

    /// What a call did to the files.
    fn work(&mut self, complete: bool) {
        let (temper, healed) = (self.like.temper, self.healed());
        let idle = match temper {
            _ if healed => false,
            Temper::Idle | Temper::Finished => !self.dice.one_in(12),
            Temper::Denied => !self.dice.one_in(8),
            Temper::Steady => false,
            _ => self.dice.one_in(if complete { 5 } else { 2 }),
        };
        self.files = 0;
        if !idle {
            self.files = self.dice.between(1, 4) as u32;
            let before = self.tree;
            self.tree = match self.old.last() {
                Some(old) if !healed && temper != Temper::Steady && self.dice.one_in(8) => *old,
                _ => self.dice.tree(),
            };
            self.old.push(before);
            self.version += 1;
        }
        let vandal = if temper == Temper::Vandal { 2 } else { 80 };
        if temper == Temper::Steady {
            return;
        }
        if !healed && self.dice.one_in(vandal) {
            self.touch();
        }
        if !healed && self.dice.one_in(if temper == Temper::Bender { 1 } else { 40 }) && !idle {
            self.bent = true;
        }
    }

    /// A protected path is touched.
    pub fn touch(&mut self) {
        let path = self.dice.pick(&[".env", "secrets/key"]);
        let how = self.dice.pick(&[How::Added, How::Modified, How::Deleted]);
        self.touched.retain(|v| v.path != path);
        self.touched.push(Violation::new(path, how));
        self.stained = true;
        self.version += 1;
    }

    /// How the next call will go.
    pub fn fate(&mut self) -> Fate {
        if self.healed() {
            return Fate::Answers;
        }
        if let Some((class, reset)) = self.machine.borrow_mut().weather(&mut self.dice) {
            return Fate::Fails(class, reset);
        }
        if self.like.temper == Temper::Steady {
            return Fate::Answers;
        }
        let fragile = if self.like.temper == Temper::Fragile { 2 } else { 25 };
        if !self.dice.one_in(fragile) {
            return Fate::Answers;
        }
        let reset = self.machine.borrow().wall() + self.dice.between(-MINUTE, 10 * MINUTE);
        self.dice.pick(&[
            Fate::Fails(Class::UsageLimit, Some(reset)),
            Fate::Fails(Class::UsageLimit, None),
            Fate::Fails(Class::RateLimited, None),
            Fate::Fails(Class::Outage, None),
            Fate::Fails(Class::Network, None),
            Fate::Fails(Class::Auth, None),
            Fate::Fails(Class::Billing, None),
            Fate::Fails(Class::BadRequest, None),
            Fate::Fails(Class::ContextTooLong, None),
            Fate::Fails(Class::MaxTurns, None),
            Fate::Fails(Class::Budget, None),
            Fate::Fails(Class::Refusal, None),
            Fate::Fails(Class::Truncated, None),
            Fate::Fails(Class::Aborted, None),
            Fate::Fails(Class::Unknown, None),
            Fate::Hangs,
            Fate::Endless,
        ])
    }
}
