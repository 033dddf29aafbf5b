//! Golden journals: whole runs, as they are on disk. Under the same rules' number every decision in them must come out as
//! it is written; journals of older rules must still fold. `RALPH_BLESS=1` writes those of today's rules anew: only
//! together with a new number, unless no decision has changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::disallowed_methods)] // the rules know no files; their tests read journals

mod journal;

use journal::{Journal, block, bound, done, more, plan, read, rungs};
use ralph_rules::RULES;
use ralph_rules::claim::{Progress, Tests};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Next;
use ralph_rules::record::*;
use ralph_rules::replay::replay;
use ralph_rules::state::State;
use std::path::PathBuf;

/// A journal's name, how it is made, how it ends.
type Golden = (&'static str, fn() -> Journal, Reason);

/// Each journal and how it ends.
const RUNS: [Golden; 20] = [
    ("completed_in_3", completed_in_3, Reason::GatePassed),
    ("unverified", unverified, Reason::GatePassed),
    ("stall", stall, Reason::Stall),
    ("crash_and_resume", crash_and_resume, Reason::GatePassed),
    ("budget", budget, Reason::CostLimit),
    ("prohibited_path", prohibited_path, Reason::ProhibitedPath),
    ("tool_changed", tool_changed, Reason::GatePassed),
    ("rate_limit", rate_limit, Reason::GatePassed),
    ("blocked", blocked, Reason::Blocked),
    ("answered", answered, Reason::GatePassed),
    ("ladder", ladder, Reason::GatePassed),
    ("back_and_forth", back_and_forth, Reason::Stall),
    ("planned", planned, Reason::GatePassed),
    ("reviewed", reviewed, Reason::GatePassed),
    ("workspace_lost", workspace_lost, Reason::WorkspaceLost),
    ("workspace_moved", workspace_moved, Reason::GatePassed),
    ("same_error_in_messages", same_error_in_messages, Reason::SameError5x),
    ("fails_identically", fails_identically, Reason::SameError5x),
    ("promise_not_alone", promise_not_alone, Reason::GatePassed),
    ("block_not_as_seen", block_not_as_seen, Reason::GatePassed),
];

fn completed_in_3() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal.iteration(&done(), true, Some(CheckOutcome::Failed));
    journal.ask(Request::Hint { text: "look at the lexer".into() });
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

fn unverified() -> Journal {
    let mut journal = Journal::unverified(|_| {});
    journal.iteration("<promise>COMPLETE</promise>", true, None);
    journal.iteration(&done(), true, None);
    journal.iteration(&format!("All tests pass.\n\n{}", done()), true, None);
    journal
}

fn stall() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    for _ in 0..4 {
        journal.iteration("I looked at the parser. Should I go on?", false, Some(CheckOutcome::Failed));
    }
    journal
}

fn crash_and_resume() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal.later(1_000).admit();
    journal.spent(450_000, 60_000);
    journal.later(1_000).asleep(3_600_000).resume();
    let Next::Do(ralph_rules::step::Step::Recover { id, reserved }) = journal.answer.next else { panic!() };
    let lost = CallLost {
        id,
        charged: reserved,
        usage: Usage::default(),
        outlived: 2,
        transcript: FileRef::default(),
    };
    journal.see(Seen::CallLost(lost));
    journal.inspected(true);
    journal.resume();
    journal.verified(CheckOutcome::Failed);
    journal.later(6_000).see(Seen::Woke);
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

fn budget() -> Journal {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_cost = Micro(900_000));
    journal.admit();
    journal.spent(450_000, 80_000);
    let Next::Do(ralph_rules::step::Step::Extend { to, .. }) = journal.answer.next else { panic!() };
    journal.see(Seen::Extended(Extended { to }));
    journal.spent(910_000, 80_000);
    journal.cost = 970_000;
    journal.fails(Class::Budget, None);
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal
}

fn prohibited_path() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal.admit();
    journal.says(&done());
    let mut seen = journal.inspection(2);
    seen.violations = vec![Violation::new(".env", How::Modified)];
    journal.see(Seen::Inspected(seen));
    let (restored, left) = (vec![".env".into()], Vec::new());
    let tree = journal.tree;
    journal.see(Seen::Restored(Restored { restored, left, tree, quarantine: None }));
    journal
}

fn tool_changed() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&done());
    journal.tree += 1;
    let mut seen = journal.inspection(2);
    let husky = Violation { tool: Some("husky".into()), ..Violation::new(".git/config", How::Modified) };
    seen.violations = vec![husky];
    journal.see(Seen::Inspected(seen));
    let (restored, left) = (vec![".git/config".into()], Vec::new());
    let tree = journal.tree;
    journal.see(Seen::Restored(Restored { restored, left, tree, quarantine: None }));
    journal.verified(CheckOutcome::Passed);
    journal
}

fn rate_limit() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.fails(Class::UsageLimit, Some(3_600_000));
    journal.inspected(false);
    journal.later(1_000).see(Seen::Woke);
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    journal.refuse(Refuser::CallsPerHour, Some(60_000));
    journal.later(60_000).see(Seen::Woke);
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

fn blocked() -> Journal {
    let mut journal = Journal::after_baseline(true, |_| {});
    journal.iteration(&block(Progress::Blocked, Tests::NotRun, false), false, Some(CheckOutcome::Passed));
    journal
}

/// Blocked, then answered: the checks run again, and the hint is in the next prompt.
fn answered() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&block(Progress::Blocked, Tests::NotRun, false), true, Some(CheckOutcome::Failed));
    journal.later(3_600_000).resume();
    journal.ask(Request::Hint { text: "port 8080".into() });
    journal.verified(CheckOutcome::Failed);
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

/// Stuck on one error: up two rungs, past it, one rung down, done.
fn ladder() -> Journal {
    let mut journal = Journal::after_baseline(false, |start| start.ladder = rungs());
    for _ in 0..4 {
        journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    }
    journal.iteration(&more(), true, Some(CheckOutcome::Passed));
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

/// The files go to and fro between two states.
fn back_and_forth() -> Journal {
    let mut journal = Journal::unverified(|_| {});
    for tree in [2, 3, 2, 3, 2, 3] {
        journal.later(1_000).admit();
        journal.later(60_000).says(&more());
        journal.tree = tree;
        let seen = journal.inspection(1);
        journal.see(Seen::Inspected(seen));
    }
    journal
}

fn planned() -> Journal {
    let mut journal = Journal::after_baseline(false, |start| start.plan = bound(plan(0, 2)));
    for (done_now, how) in [(1, CheckOutcome::Passed), (2, CheckOutcome::Failed), (2, CheckOutcome::Passed)] {
        journal.later(1_000).admit();
        journal.later(60_000).says(&done());
        journal.planned(done_now, 2 - done_now);
        journal.later(1_000).verified(how);
    }
    journal
}

/// A reviewer objects once, is interrupted by a crash, and ships.
fn reviewed() -> Journal {
    let mut journal = Journal::after_baseline(false, |start| {
        let agent = AgentChoice { name: "codex".into(), ..AgentChoice::default() };
        start.review = Some(ReviewGiven { agent, rounds: 3 });
    });
    let answer = |verdict: &str| {
        format!("---RALPH_REVIEW---\nVERDICT: {verdict}\nFINDINGS:\n- src/0.rs:3\n---END_RALPH_REVIEW---")
    };
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.later(100).admit();
    journal.later(5_000).says(&answer("REVISE"));
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.later(100).admit();
    journal.later(100).resume();
    let call = CallEnded { recovered: true, ..journal.closing(&answer("SHIP")) };
    journal.see(Seen::CallEnded(Box::new(call)));
    journal.later(1_000).verified(CheckOutcome::Passed);
    journal
}

/// Moved away while the agent worked.
fn workspace_lost() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal.later(1_000).admit();
    journal.later(60_000).says(&more());
    let what = "the workspace /work is gone".into();
    journal.see(Seen::WorkspaceUnusable(WorkspaceUnusable { how: Unusable::Lost, what }));
    journal
}

/// The same, resumed where it was moved to; before the second call nothing can be written there for a while.
fn workspace_moved() -> Journal {
    let mut journal = workspace_lost();
    let workspace = Some("/elsewhere/work".into());
    let resumed = Resumed { version: "0.1.0".into(), rules: RULES, workspace, ..Resumed::default() };
    journal.later(3_600_000).see(Seen::Resumed(resumed));
    journal.inspected(true);
    journal.later(1_000).verified(CheckOutcome::Failed);
    let what = "nothing can be written in /elsewhere/work".into();
    journal.see(Seen::WorkspaceUnusable(WorkspaceUnusable { how: Unusable::Unwritable, what }));
    journal.later(1_000).resume();
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

/// Nothing is verified, files change, and the agent reports the same error each time.
fn same_error_in_messages() -> Journal {
    let mut journal = Journal::unverified(|_| {});
    for line in 1..=5 {
        let text = format!("The build says:\n\nerror[E0308]: mismatched types\n --> src/a.rs:{line}:5");
        journal.iteration(&text, true, None);
    }
    journal
}

/// Crashes in the same way, though files change; in between it is cut short, which is not the same error.
fn fails_identically() -> Journal {
    let mut journal = Journal::unverified(|_| {});
    for class in
        [Class::Unknown, Class::Unknown, Class::MaxTurns, Class::Unknown, Class::Unknown, Class::Unknown]
    {
        while matches!(journal.answer.next, Next::Wait { .. }) {
            journal.later(5_000).see(Seen::Woke);
        }
        journal.later(1_000).admit();
        journal.later(60_000).fails(class, None);
        journal.inspected(true);
    }
    journal
}

/// The promise in a sentence, twice, with a passing verification.
fn promise_not_alone() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration("Fixed it. <promise>COMPLETE</promise>", true, Some(CheckOutcome::Failed));
    journal.iteration("Fixed it. <promise>COMPLETE</promise>", true, Some(CheckOutcome::Passed));
    journal.iteration("**<promise>COMPLETE</promise>**", false, Some(CheckOutcome::Passed));
    journal
}

/// The block claims passing tests, files and tasks that ralph does not find.
fn block_not_as_seen() -> Journal {
    let mut journal = Journal::after_baseline(false, |start| start.plan = bound(plan(0, 1)));
    journal.later(1_000).admit();
    journal.later(60_000).says(&done());
    journal.planned(0, 1);
    journal.later(1_000).verified(CheckOutcome::Failed);
    journal.later(1_000).admit();
    journal.later(60_000).says(&done());
    journal.planned(1, 0);
    journal.later(1_000).verified(CheckOutcome::Passed);
    journal
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/journals")
}

#[test]
fn golden_journals_are_decided_again_as_they_were() {
    let folder = folder().join(RULES.to_string());
    for (name, make, reason) in RUNS {
        let path = folder.join(format!("{name}.jsonl"));
        if std::env::var_os("RALPH_BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, make().envelopes().join("\n") + "\n").unwrap();
        }
        let records = read(&std::fs::read_to_string(&path).unwrap());
        let replayed = replay(&records);
        assert_eq!(replayed.differences, [], "{name}: a new number for the rules is needed");
        assert!(replayed.decisions > 4, "{name}");
        let last = records.iter().rev().find_map(|r| match &r.fact {
            Fact::Decided(decision) => Some(decision),
            Fact::Seen(_) => None,
        });
        let Next::Exit(ending) = last.unwrap().next else { panic!("{name} does not end") };
        assert_eq!(ending.reason, reason, "{name}");
        assert_eq!(State::of(&records).ending, Some(ending), "{name}");
    }
}

#[test]
fn every_journal_in_every_folder_still_folds() {
    let mut journals = 0;
    for rules in std::fs::read_dir(folder()).unwrap() {
        for file in std::fs::read_dir(rules.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let records = read(&std::fs::read_to_string(&path).unwrap());
            let state = State::of(&records);
            assert!(state.ending.is_some(), "{}", path.display());
            assert_eq!(state.seq, records.len() as u64, "{}", path.display());
            journals += 1;
        }
    }
    assert!(journals >= RUNS.len());
}
