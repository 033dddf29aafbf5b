//! What is noted: every ending, every kind of record, waits and limits; and what is never repeated or given away.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done, more};
use ralph_rules::ending::{Ending, Reason};
use ralph_rules::failure::Class;
use ralph_rules::notice::{Event, Notice, at_end, notice, why};
use ralph_rules::objection::Objection;
use ralph_rules::policy::{MINUTE, SECOND};
use ralph_rules::record::*;
use ralph_rules::state::State;

/// The notes of a journal, as the process that writes it makes them.
fn notes(records: &[Record]) -> Vec<Notice> {
    let mut state = State::default();
    let mut found = Vec::new();
    for record in records {
        if matches!(record.fact, Fact::Seen(_)) {
            state.apply(record);
        }
        found.extend(notice(&state, record));
        if matches!(record.fact, Fact::Decided(_)) {
            state.apply(record);
        }
    }
    found
}

fn events(journal: &Journal) -> Vec<&'static str> {
    notes(&journal.records).iter().map(|note| note.event.name()).collect()
}

/// Every reason, with what it is noted as.
const ENDINGS: [(Reason, i32, Option<Event>); 29] = [
    (Reason::GatePassed, 0, Some(Event::Completed)),
    (Reason::CompletionSignals, 0, Some(Event::Completed)),
    (Reason::AlreadyComplete, 0, Some(Event::Completed)),
    (Reason::Accepted, 0, None),
    (Reason::MaxIterations, 0, Some(Event::Stopped)),
    (Reason::CostLimit, 0, Some(Event::Stopped)),
    (Reason::DailyBudget, 0, Some(Event::Stopped)),
    (Reason::TimeLimit, 0, Some(Event::Stopped)),
    (Reason::Stall, 0, Some(Event::Stopped)),
    (Reason::SameError5x, 0, Some(Event::Stopped)),
    (Reason::TestSaturation, 0, Some(Event::Stopped)),
    (Reason::OutputDecline, 0, Some(Event::Stopped)),
    (Reason::CircuitOpen, 0, Some(Event::Stopped)),
    (Reason::PermissionDenied, 0, Some(Event::Blocked)),
    (Reason::Blocked, 0, Some(Event::Blocked)),
    (Reason::ProhibitedPath, 0, Some(Event::Blocked)),
    (Reason::OracleChanged, 0, Some(Event::Blocked)),
    (Reason::NeedsReview, 0, Some(Event::Blocked)),
    (Reason::RateLimit, 0, Some(Event::Stopped)),
    (Reason::AgentUnavailable, 0, Some(Event::Stopped)),
    (Reason::Interrupted, 2, None),
    (Reason::Interrupted, 15, Some(Event::Stopped)),
    (Reason::Interrupted, 1, Some(Event::Stopped)),
    (Reason::BaselineTimedOut, 0, Some(Event::Stopped)),
    (Reason::VerifyCannotRun, 0, Some(Event::Stopped)),
    (Reason::StoreUnsafe, 0, Some(Event::Stopped)),
    (Reason::WorkspaceLost, 0, Some(Event::Stopped)),
    (Reason::WorkspaceUnwritable, 0, Some(Event::Stopped)),
    (Reason::PlanUnusable, 0, Some(Event::Stopped)),
];

#[test]
fn every_ending_is_noted_as_the_table_says() {
    for (reason, signal, event) in ENDINGS {
        let ending = Ending { signal, ..Ending::new(reason, false) };
        assert_eq!(at_end(&ending), event, "{reason:?} {signal}");
        assert!(!why(&ending, &[]).is_empty(), "{reason:?}");
    }
    for event in Event::ALL {
        assert_eq!(Event::of(event.name()), Some(event));
    }
    assert_eq!(Event::of("ended"), None);
}

/// A run, from its start to the end of its first failed call's inspection.
fn failing(class: Class, reset_in: Option<Ms>) -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.fails(class, reset_in);
    journal.inspected(false);
    journal
}

#[test]
fn a_run_is_noted_at_its_start_and_its_end() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    assert_eq!(events(&journal), ["started", "completed"]);
    let notes = notes(&journal.records);
    assert_eq!(notes[0].seq, 1);
    assert_eq!(notes[1].seq, journal.records.last().unwrap().seq);
}

#[test]
fn a_long_wait_is_noted_once() {
    for (class, wait, noted) in [
        (Class::UsageLimit, 5 * HOUR, true),
        (Class::RateLimited, 11 * MINUTE, true),
        (Class::RateLimited, 5 * MINUTE, false),
        (Class::Aborted, HOUR, false), // waits five seconds, whatever the reset
    ] {
        let mut journal = failing(class, Some(wait));
        let expected: &[&str] = if noted { &["started", "waiting"] } else { &["started"] };
        assert_eq!(events(&journal), expected, "{class:?} {wait}");
        if !noted {
            continue;
        }
        let note = notes(&journal.records).pop().unwrap();
        assert_eq!(note.until, Some(journal.waits_until()));
        assert_eq!(note.why, class.words());
        // What happens during a wait does not begin another one, in this process or the next.
        journal.later(SECOND).see(Seen::Asked(Asked { request: Request::Hint { text: "look".into() } }));
        journal.later(SECOND).see(Seen::Woke);
        journal.later(SECOND).see(Seen::Resumed(Resumed::default()));
        assert_eq!(events(&journal), expected, "{class:?}");
    }
}

#[test]
fn an_outage_is_noted_when_its_short_waits_add_up_and_then_no_more() {
    let mut journal = failing(Class::Outage, Some(4 * MINUTE));
    for _ in 0..20 {
        let wait = journal.waits_until() - journal.now();
        journal.later(wait).see(Seen::Woke);
        journal.admit();
        journal.fails(Class::Outage, Some(4 * MINUTE));
        journal.inspected(false);
    }
    assert_eq!(events(&journal), ["started", "waiting"]);
    let begun = journal.records.iter().find(|r| matches!(r.fact, Fact::Seen(Seen::CallEnded(_)))).unwrap().at;
    let noted = notes(&journal.records)[1].clone();
    assert!((4 * MINUTE..10 * MINUTE).contains(&(noted.at - begun)), "{}", noted.at - begun);
}

#[test]
fn a_second_long_wait_is_another_one() {
    let mut journal = failing(Class::UsageLimit, Some(2 * HOUR));
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    journal.admit();
    journal.fails(Class::UsageLimit, Some(2 * HOUR));
    journal.inspected(false);
    assert_eq!(events(&journal), ["started", "waiting", "waiting"]);
}

#[test]
fn a_full_window_is_a_wait_too_and_a_pause_of_the_users_is_none() {
    let mut journal = Journal::after_baseline(false, |_| {});
    let refused = Refused {
        by: Refuser::CallsPerHour,
        total: 100,
        cap: 100,
        until: Some(journal.now() + 40 * MINUTE),
        what: String::new(),
        class: None,
    };
    journal.see(Seen::Refused(refused));
    assert_eq!(events(&journal), ["started", "waiting"]);
    assert_eq!(notes(&journal.records)[1].why, "100 of 100 used in the last hour");
    let mut journal = Journal::after_baseline(false, |s| s.policy.pause_between = 2 * HOUR);
    journal.admit();
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    assert!(journal.waits_until() > journal.now() + HOUR);
    assert_eq!(events(&journal), ["started"]);
}

#[test]
fn a_limit_that_comes_near_is_noted_once() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.cost = 4_100_000;
    journal.admit();
    journal.says(&more());
    journal.cost = 1_000;
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.admit();
    journal.says(&more());
    assert_eq!(events(&journal), ["started", "budget"]);
    assert_eq!(notes(&journal.records)[1].why, "$4.10 of $5.00 spent (over 80%)");
}

#[test]
fn a_resumed_run_repeats_nothing_and_notes_how_it_ends_the_second_time() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_iterations = 1);
    journal.admit();
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    let first = notes(&journal.records);
    assert_eq!(events(&journal), ["started", "stopped"]);
    journal.see(Seen::Resumed(Resumed::default()));
    let again = notes(&journal.records);
    assert_eq!(again[..2], first[..]);
    assert_eq!(again.len(), 3, "it reached its limit again");
    assert_ne!(again[2].seq, again[1].seq);
}

/// Agents, commands and files say these; none of it is ralph's to send.
#[test]
fn nothing_that_others_said_is_part_of_a_note() {
    let secret = || "SECRET".to_owned();
    let table = [
        (Reason::Blocked, Objection::Blocked { recommendation: secret() }),
        (
            Reason::SameError5x,
            Objection::SameError { running: 5, limit: 5, error: secret(), fingerprint: None },
        ),
        (Reason::OracleChanged, Objection::OracleChanged { files: vec![secret()] }),
        (
            Reason::AgentUnavailable,
            Objection::CallFailed { class: Class::Auth, message: secret(), running: 1 },
        ),
        (Reason::BaselineTimedOut, Objection::BaselineTimedOut { command: secret() }),
        (Reason::StoreUnsafe, Objection::StoreUnsafe { what: secret() }),
        (Reason::WorkspaceLost, Objection::WorkspaceLost { what: secret() }),
        (Reason::PlanUnusable, Objection::PlanUnusable { file: secret(), problem: secret() }),
        (
            Reason::PermissionDenied,
            Objection::Denied { running: 2, limit: 2, tools: vec![secret()], allow: Some(secret()) },
        ),
    ];
    for (reason, objection) in table {
        let words = why(&Ending::new(reason, false), &[objection]);
        assert!(!words.contains("SECRET") && !words.is_empty(), "{words}");
    }
    let numbers = [Objection::IterationsReached { used: 10, max: 10 }];
    assert_eq!(why(&Ending::new(Reason::MaxIterations, false), &numbers), "10 of 10 iterations used");
}
