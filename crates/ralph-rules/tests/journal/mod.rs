//! Builds small journals for the tables: append a fact, the rules are asked, their answer is appended. When a journal is
//! dropped it is written as text, read back, and decided again: any difference fails the test.
#![allow(dead_code)] // each table uses its own part

use ralph_rules::RULES;
use ralph_rules::claim::{Progress, Status, Tests, WorkType, render};
use ralph_rules::ending::{Ending, Reason};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::{Next, Why, next};
use ralph_rules::policy::Policy;
use ralph_rules::record::*;
use ralph_rules::replay::replay;
use ralph_rules::state::State;
use ralph_rules::step::Step;

/// A journal under construction.
pub struct Journal {
    pub records: Vec<Record>,
    pub state: State,
    /// The rules' latest answer.
    pub answer: Decision,
    /// The step begun last.
    begun: Option<Step>,
    at: Ms,
    ran: Ms,
    /// The files: each change is a tree not seen before.
    pub tree: u128,
    /// What the running call has cost.
    pub cost: i64,
    /// The sets that a comparison finds; none: work alone, if the files differ from the start.
    pub sets: Option<Compared>,
    /// Whether the commands pass in a room.
    pub room_passes: fn(RoomSets) -> bool,
    /// The proof is played by hand.
    pub by_hand: bool,
}

/// The final message of a call.
pub fn block(status: Progress, tests: Tests, exit_signal: bool) -> String {
    render(&Status {
        status: Some(status),
        tasks_completed: Some(1),
        files_modified: Some(1),
        tests: Some(tests),
        work_type: Some(WorkType::Implementation),
        exit_signal: Some(exit_signal),
        recommendation: "Next: the parser".into(),
    })
}

pub fn done() -> String {
    block(Progress::Complete, Tests::Passing, true)
}

pub fn more() -> String {
    block(Progress::InProgress, Tests::NotRun, false)
}

/// A plan with so many items ticked and open.
pub fn plan(done: u32, pending: u32) -> PlanSeen {
    let next = (1..=pending.min(10)).map(|n| format!("Task {n}")).collect();
    PlanSeen { done, pending, next, ..PlanSeen::default() }
}

/// The plan bound at the start, standing so.
pub fn bound(seen: PlanSeen) -> Option<PlanGiven> {
    Some(PlanGiven { file: "fix_plan.md".into(), path: "/work/fix_plan.md".into(), seen })
}

/// A ladder: a stronger model, then another agent that takes no system prompt.
pub fn rungs() -> Vec<AgentChoice> {
    let claude = given().agent;
    vec![
        AgentChoice { model: Some("opus".into()), ..claude },
        AgentChoice { name: "codex".into(), ..AgentChoice::default() },
    ]
}

/// What a run is given, with one command that proves it.
pub fn given() -> RunStarted {
    RunStarted {
        run: "0198c1d2-aaaa-7bbb-8ccc-1234567890ab".into(),
        rules: RULES,
        version: "0.1.0".into(),
        workspace: "/work".into(),
        prompt: "Mend the parser.".into(),
        prompt_from: "argument".into(),
        agent: AgentChoice {
            name: "claude".into(),
            live_usage: true,
            shows_tool_start: true,
            system_prompt: true,
            ..AgentChoice::default()
        },
        policy: Policy::strict(10, Micro(5_000_000)),
        verify: vec!["make test".into()],
        protect: vec![".env".into()],
        zone: "UTC".into(),
        sandbox: "none".into(),
        base: None,
        tree: 1,
        plan: None,
        marker_before: None,
        ladder: Vec::new(),
        prompting: Prompting::default(),
        history: None,
        oracle_paths: Vec::new(),
        scripts: Vec::new(),
        work_paths: Vec::new(),
        setup: Vec::new(),
        own_files: Vec::new(),
        review: None,
        clock_behind: None,
        session: None,
        skill: None,
        unrecorded: false,
        analyzers: Vec::new(),
        rotate: false,
        stories: None,
        contained: None,
    }
}

impl Journal {
    /// A run begins; `with` changes what it is given.
    pub fn start(with: impl FnOnce(&mut RunStarted)) -> Journal {
        let mut start = given();
        // Most tables are about something else than the request for a test.
        start.policy.gate.ask_for_test = 0;
        with(&mut start);
        let idle = Decision { next: Next::Wait { wake: Default::default() }, reasons: Vec::new() };
        let tree = start.tree;
        let mut journal = Journal {
            records: Vec::new(),
            state: State::default(),
            answer: idle,
            begun: None,
            at: 1_794_700_800_000,
            ran: 0,
            tree,
            cost: 100_000,
            sets: None,
            room_passes: |sets| sets.work,
            by_hand: false,
        };
        journal.see(Seen::RunStarted(Box::new(start)));
        journal
    }

    /// A run whose baseline was red or green already.
    pub fn after_baseline(green: bool, with: impl FnOnce(&mut RunStarted)) -> Journal {
        let mut journal = Journal::start(with);
        journal.verified(if green { CheckOutcome::Passed } else { CheckOutcome::Failed });
        journal
    }

    /// A run with nothing to verify.
    pub fn unverified(with: impl FnOnce(&mut RunStarted)) -> Journal {
        Journal::start(|start| {
            start.verify.clear();
            with(start);
        })
    }

    pub fn later(&mut self, ms: Ms) -> &mut Journal {
        self.at += ms;
        self.ran += ms;
        self
    }

    /// The machine sleeps: the day goes on, the run does not.
    pub fn asleep(&mut self, ms: Ms) -> &mut Journal {
        self.at += ms;
        self
    }

    /// A fact is heard, the rules answer, both are written down.
    pub fn see(&mut self, seen: Seen) -> &Decision {
        self.append(Fact::Seen(seen));
        self.answer = next(&self.state);
        if !matches!(self.answer.next, Next::Wait { .. }) {
            self.append(Fact::Decided(self.answer.clone()));
            if let Next::Do(step) = &self.answer.next {
                self.begun = Some(step.clone());
            }
        }
        &self.answer
    }

    /// As a process that dies right after it heard something: no answer is written.
    pub fn hear_and_die(&mut self, seen: Seen) {
        self.append(Fact::Seen(seen));
    }

    fn append(&mut self, fact: Fact) {
        let seq = self.state.seq + 1;
        let record = Record { seq, at: self.at, ran: self.ran, fact };
        self.state.apply(&record);
        self.records.push(record);
    }

    pub fn admit(&mut self) -> &Decision {
        let Some(Step::Admit { id, amount, .. }) = self.begun else {
            panic!("no reservation is asked for: {:?}", self.answer)
        };
        let tree = self.tree;
        let (prompt, template_failed, day) = (FileRef::default(), None, "2026-11-15".into());
        let (grant, no_snapshot) = (amount, None);
        self.see(Seen::Admitted(Admitted { id, grant, prompt, tree, template_failed, day, no_snapshot }))
    }

    pub fn closing(&self, text: &str) -> CallEnded {
        CallEnded {
            id: self.state.calls.id,
            text: text.into(),
            text_bytes: text.len() as u64,
            status: None,
            failure: None,
            ended_by: self.state.calls.ended_by,
            charged: Micro(self.cost),
            price: PriceFrom::Reported,
            reported: None,
            computed: None,
            told: None,
            usage: Usage { input: 1_000, output: 100, ..Usage::default() },
            session: None,
            model: None,
            denials: Vec::new(),
            exit: Some(0),
            signal: None,
            outlived: 0,
            ms: 60_000,
            transcript: FileRef::default(),
            recovered: false,
            day: None,
            session_mark: None,
            sandbox: None,
        }
    }

    pub fn says(&mut self, text: &str) -> &Decision {
        let call = self.closing(text);
        self.see(Seen::CallEnded(Box::new(call)))
    }

    pub fn fails(&mut self, class: Class, reset_in: Option<Ms>) -> &Decision {
        let failure =
            Some(Failure { class, message: "it failed".into(), reset_at: reset_in.map(|ms| self.at + ms) });
        let call = CallEnded { failure, ..self.closing("") };
        self.see(Seen::CallEnded(Box::new(call)))
    }

    pub fn inspection(&self, files: u32) -> Inspected {
        Inspected {
            tree: self.tree,
            files,
            changed: (0..files).map(|n| format!("src/{n}.rs")).collect(),
            test_only: false,
            violations: Vec::new(),
            head: None,
            commits: Vec::new(),
            oracle: Vec::new(),
            marker: false,
            obeyed: Vec::new(),
            plan: None,
        }
    }

    /// The workspace was looked at, and the bound plan with it.
    pub fn planned(&mut self, done: u32, pending: u32) -> &Decision {
        self.tree += 1;
        let mut inspected = self.inspection(1);
        inspected.plan = Some(plan(done, pending));
        self.see(Seen::Inspected(inspected))
    }

    /// The workspace was looked at; a change is a tree not seen before.
    pub fn inspected(&mut self, changed: bool) -> &Decision {
        self.tree += u128::from(changed);
        let inspected = self.inspection(u32::from(changed));
        self.see(Seen::Inspected(inspected))
    }

    /// The verification that was asked for came out so.
    pub fn verified(&mut self, how: CheckOutcome) -> &Decision {
        self.verified_saying(how, "error: expected 1, found 2")
    }

    pub fn verified_saying(&mut self, how: CheckOutcome, tail: &str) -> &Decision {
        let verified = self.verification(how, tail);
        self.see(Seen::Verified(verified));
        if !self.by_hand {
            self.prove();
        }
        &self.answer
    }

    /// Answers every step of a proof.
    pub fn prove(&mut self) -> &Decision {
        for _ in 0..20 {
            match self.answer.next {
                Next::Do(Step::Compare) => self.compare(),
                Next::Do(Step::Verify { check: Check::InRoom(sets), .. }) => {
                    let passes = (self.room_passes)(sets);
                    self.in_room(if passes { CheckOutcome::Passed } else { CheckOutcome::Failed })
                }
                _ => break,
            };
        }
        &self.answer
    }

    /// The changes were split.
    pub fn compare(&mut self) -> &Decision {
        let start = self.state.start.as_ref().unwrap().tree;
        let work = ChangeSet { files: u32::from(self.tree != start), names: Vec::new() };
        let sets = self.sets.clone().unwrap_or(Compared { work, ..Compared::default() });
        let compared = Compared { tree: self.tree, ..sets };
        self.see(Seen::Compared(Box::new(compared)))
    }

    /// The verification in a room came out so.
    pub fn in_room(&mut self, how: CheckOutcome) -> &Decision {
        let mut verified = self.verification(how, "error: expected 1, found 2");
        verified.room = Some(RoomSeen { place: "room".into(), ..RoomSeen::default() });
        self.see(Seen::Verified(verified))
    }

    pub fn verification(&self, how: CheckOutcome, tail: &str) -> Verified {
        let Some(Step::Verify { check, .. }) = self.begun else {
            panic!("no verification is asked for: {:?}", self.answer)
        };
        let result = |command: &String| CheckResult {
            command: command.clone(),
            how,
            exit: Some(i32::from(how != CheckOutcome::Passed)),
            ms: 900,
            tail: tail.into(),
            output: FileRef::default(),
            counts: None,
            failed: Vec::new(),
            missing: None,
        };
        let interrupted = how == CheckOutcome::Interrupted;
        let results = self.state.commands().map(result).collect();
        let (tree, violations) = (self.tree, Vec::new());
        Verified {
            check,
            results,
            interrupted,
            tree,
            violations,
            oracle: None,
            room: None,
            analyzers: Vec::new(),
            sandbox: None,
        }
    }

    /// A whole iteration, from its reservation to the judgement; `how` is left out where nothing is verified.
    pub fn iteration(&mut self, text: &str, changed: bool, how: Option<CheckOutcome>) -> &Decision {
        self.later(1_000).admit();
        self.later(60_000).says(text);
        self.inspected(changed);
        if let Some(how) = how {
            self.later(1_000).verified(how);
        }
        &self.answer
    }

    pub fn ask(&mut self, request: Request) -> &Decision {
        self.see(Seen::Asked(Asked { request }))
    }

    pub fn stop(&mut self) -> &Decision {
        self.ask(Request::Stop { after: false, signal: 2 })
    }

    pub fn resume(&mut self) -> &Decision {
        self.resume_with(None)
    }

    /// The run goes on, and its plan stands so by now.
    pub fn resume_with(&mut self, plan: Option<PlanSeen>) -> &Decision {
        self.see(Seen::Resumed(Resumed { version: "0.1.0".into(), rules: RULES, plan, ..Resumed::default() }))
    }

    pub fn spent(&mut self, total: i64, dearest: i64) -> &Decision {
        let usage = Usage::default();
        self.see(Seen::Spent(Spent { total: Micro(total), dearest: Micro(dearest), usage }))
    }

    pub fn refuse(&mut self, by: Refuser, until: Option<Ms>) -> &Decision {
        let what = "the disk is nearly full".into();
        let until = until.map(|ms| self.at + ms);
        self.see(Seen::Refused(Refused { by, total: 5, cap: 5, until, what, class: None }))
    }

    pub fn now(&self) -> Ms {
        self.at
    }

    /// How the process left the run.
    #[track_caller]
    pub fn ended(&self) -> Ending {
        match self.answer.next {
            Next::Exit(ending) => ending,
            _ => panic!("not ended: {:?}", self.answer),
        }
    }

    #[track_caller]
    pub fn ended_with(&self, reason: Reason, exit_code: u8) {
        let ending = self.ended();
        assert_eq!((ending.reason, ending.exit_code()), (reason, exit_code), "{:?}", self.answer);
    }

    /// The run goes on with another reservation, for this reason.
    #[track_caller]
    pub fn goes_on(&self, code: &str) {
        assert!(matches!(self.answer.next, Next::Do(Step::Admit { .. })), "{:?}", self.answer);
        assert_eq!(self.reasons(), code, "{:?}", self.answer);
    }

    /// The code of the first reason.
    pub fn reasons(&self) -> String {
        self.answer.reasons.first().map(|o| o.code()).unwrap_or_default()
    }

    #[track_caller]
    pub fn waits_until(&self) -> Ms {
        match self.answer.next {
            Next::Wait { wake } => wake.at.expect("a time of day"),
            _ => panic!("does not wait: {:?}", self.answer),
        }
    }

    #[track_caller]
    pub fn holds(&self) {
        assert!(matches!(self.answer.next, Next::Wait { .. }), "{:?}", self.answer);
    }

    #[track_caller]
    pub fn ends_call(&self, why: Why) {
        assert_eq!(self.answer.next, Next::Interrupt(why), "{:?}", self.answer);
    }

    pub fn envelopes(&self) -> Vec<String> {
        self.records.iter().map(|r| serde_json::to_string(&Envelope::from(r)).unwrap()).collect()
    }
}

/// Reads a journal's lines back, in both ways that there are.
pub fn read(lines: &str) -> Vec<Record> {
    let record = |line| {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        let Envelope { seq, at, ran, v, kind, body } = envelope.clone();
        let straight = Record::read((seq, at, ran), v, &kind, &body.to_string()).unwrap();
        let record = Record::try_from(envelope).unwrap();
        assert_eq!(record, straight, "as a value and straight from its text");
        record
    };
    lines.lines().map(record).collect()
}

impl Drop for Journal {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let records = read(&self.envelopes().join("\n"));
        assert_eq!(records, self.records, "the journal reads back as it was written");
        assert_eq!(replay(&records).differences, [], "the journal is decided again as it was");
        assert_eq!(State::of(&records), self.state);
    }
}
