//! The ladder: when a run climbs, when it comes down, and that nothing else moves it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done, more, rungs};
use ralph_rules::breaker::{Breaker, breaker};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::next::Next;
use ralph_rules::prompt::compose;
use ralph_rules::record::{CheckOutcome, Fact, Refuser, RunStarted, Seen};
use ralph_rules::step::Step;

fn climbing(with: impl FnOnce(&mut RunStarted)) -> Journal {
    Journal::unverified(|start| {
        start.ladder = rungs();
        with(start);
    })
}

/// The rung of every call so far.
fn calls(journal: &Journal) -> Vec<u32> {
    let rung = |fact: &Fact| match fact {
        Fact::Decided(decision) => match &decision.next {
            Next::Do(Step::Call { rung, .. }) => Some(*rung),
            _ => None,
        },
        Fact::Seen(_) => None,
    };
    journal.records.iter().filter_map(|r| rung(&r.fact)).collect()
}

/// The codes of the steps on the ladder, in their order.
fn steps(journal: &Journal) -> Vec<String> {
    let codes = |fact: &Fact| match fact {
        Fact::Decided(decision) => decision.reasons.iter().map(|o| o.code()).collect(),
        Fact::Seen(_) => Vec::new(),
    };
    let all = journal.records.iter().flat_map(|r| codes(&r.fact));
    all.filter(|code| code.ends_with("escalated")).collect()
}

#[test]
fn every_rung_gets_a_recovery_iteration_before_the_breaker_opens() {
    let mut journal = climbing(|_| {});
    for _ in 0..5 {
        journal.iteration(&more(), false, None);
    }
    assert_eq!(calls(&journal), [0, 0, 0, 1, 2]);
    assert_eq!(steps(&journal), ["escalated", "escalated"]);
    journal.ended_with(Reason::Stall, 1);
    assert_eq!(journal.state.ladder.used.clone().into_iter().collect::<Vec<_>>(), [(0, 3), (1, 1), (2, 1)]);
}

#[test]
fn without_a_ladder_nothing_is_climbed() {
    let mut journal = Journal::unverified(|_| {});
    for _ in 0..4 {
        journal.iteration(&more(), false, None);
    }
    assert_eq!(calls(&journal), [0; 4]);
    assert_eq!(steps(&journal), Vec::<String>::new());
    journal.ended_with(Reason::Stall, 1);
}

#[test]
fn progress_leads_down_the_way_it_came() {
    let mut journal = climbing(|_| {});
    for changed in [false, false, false, false, true, true, true] {
        journal.iteration(&more(), changed, None);
    }
    assert_eq!(calls(&journal), [0, 0, 0, 1, 2, 1, 0]);
    assert_eq!(steps(&journal), ["escalated", "escalated", "deescalated", "deescalated"]);
}

#[test]
fn an_iteration_without_progress_or_trouble_moves_nothing() {
    let mut journal = climbing(|_| {});
    for changed in [false, false, false, true, false, false] {
        journal.iteration(&more(), changed, None);
    }
    assert_eq!(calls(&journal), [0, 0, 0, 1, 0, 0]);
}

#[test]
fn the_same_error_climbs_though_the_files_move_and_still_ends_the_fifth_time() {
    let mut journal = Journal::after_baseline(false, |start| start.ladder = rungs());
    for _ in 0..5 {
        journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    }
    assert_eq!(calls(&journal), [0, 0, 0, 1, 2]);
    journal.ended_with(Reason::SameError5x, 1);
}

#[test]
fn failed_calls_and_refused_reservations_move_nothing() {
    let mut journal = climbing(|_| {});
    for _ in 0..3 {
        journal.iteration(&more(), false, None);
    }
    journal.admit();
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    journal.refuse(Refuser::CallsPerHour, Some(60_000));
    journal.later(60_000).see(Seen::Woke);
    journal.admit();
    journal.fails(Class::MaxTurns, None);
    journal.inspected(false);
    journal.iteration(&more(), false, None);
    assert_eq!(calls(&journal), [0, 0, 0, 1, 1, 1]);
    assert_eq!(steps(&journal), ["escalated", "escalated"], "each step is told once");
}

#[test]
fn a_resumed_run_stays_on_its_rung() {
    let mut journal = climbing(|_| {});
    for _ in 0..3 {
        journal.iteration(&more(), false, None);
    }
    journal.resume();
    journal.admit();
    journal.resume();
    assert!(matches!(journal.answer.next, Next::Do(Step::Recover { .. })));
    assert_eq!(calls(&journal), [0, 0, 0, 1]);
}

#[test]
fn the_prompt_is_made_for_the_agent_of_the_rung() {
    let mut journal = climbing(|_| {});
    for n in 1..=4 {
        let prompt = compose(&journal.state);
        assert!(!prompt.contains("---RALPH_STATUS---"), "call {n}: it has a system prompt");
        assert_eq!(prompt.contains("Debug systematically"), n == 4, "call {n}");
        journal.iteration(&more(), false, None);
    }
    let prompt = compose(&journal.state);
    assert!(prompt.contains("---RALPH_STATUS---"), "codex takes none:\n{prompt}");
    assert!(prompt.contains("Tried so far:\n- Iteration 1: 0 files changed; reported: Next: the parser\n"));
}

#[test]
fn where_the_preset_stops_at_once_a_ladder_is_tried_first() {
    let stops = |start: &mut RunStarted| {
        start.policy.breaker.half_open_after = 5;
        start.policy.breaker.open_after = 0;
    };
    let mut journal = Journal::unverified(stops);
    (0..5).for_each(|_| drop(journal.iteration(&more(), false, None).clone()));
    journal.ended_with(Reason::Stall, 1);
    let mut journal = climbing(stops);
    (0..5).for_each(|_| drop(journal.iteration(&more(), false, None).clone()));
    assert_eq!(breaker(&journal.state, &journal.state.start.as_ref().unwrap().policy), Breaker::HalfOpen);
    journal.iteration(&format!("All tests pass.\n\n{}", done()), true, None);
    assert_eq!(calls(&journal), [0, 0, 0, 0, 0, 1]);
    journal.ended_with(Reason::GatePassed, 0);
}

/// Agents that take turns: the number of the iteration decides, not progress; a retry stays with its agent.
#[test]
fn agents_that_rotate_take_turns_and_a_retry_stays_with_its_agent() {
    let mut journal = climbing(|start| start.rotate = true);
    for changed in [true, false, true, true] {
        journal.iteration(&more(), changed, None);
    }
    assert_eq!(calls(&journal), [0, 1, 2, 0]);
    assert_eq!(steps(&journal), Vec::<String>::new());
    journal.admit();
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    let until = journal.waits_until();
    let now = journal.now();
    journal.later(until - now).see(Seen::Woke);
    journal.iteration(&more(), true, None);
    assert_eq!(calls(&journal), [0, 1, 2, 0, 1, 1]);
}

/// Turns are no recovery: the breaker opens as without a ladder.
#[test]
fn rotation_does_not_delay_the_breaker() {
    let mut journal = climbing(|start| start.rotate = true);
    for _ in 0..4 {
        journal.iteration(&more(), false, None);
    }
    journal.ended_with(Reason::Stall, 1);
}
