//! The guards at their limits: what counts, what resets a count, the last value that is allowed and the first that is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, block};
use ralph_rules::breaker::{Breaker, breaker};
use ralph_rules::claim::{Progress, Tests};
use ralph_rules::ending::Reason;
use ralph_rules::fingerprint::Fingerprint;
use ralph_rules::guard::Closed;
use ralph_rules::guard::alerts::due;
use ralph_rules::guard::budget::{Budget, Headroom};
use ralph_rules::guard::decline::Decline;
use ralph_rules::guard::denials::Denials;
use ralph_rules::guard::repeat::Repeat;
use ralph_rules::guard::saturation::Saturation;
use ralph_rules::guard::stall::Stall;
use ralph_rules::guard::time::{Moment, ends_verification, over};
use ralph_rules::money::{Micro, Usage};
use ralph_rules::policy::{MINUTE, Policy};
use ralph_rules::record::{ConversationTotals, DaySpend, PriceFrom, Spent};
use ralph_rules::state::State;

fn policy() -> Policy {
    Policy::strict(10, Micro(1_000_000))
}

fn error(text: &str) -> Option<Fingerprint> {
    Some(Fingerprint::of(text))
}

/// An iteration without progress in which a tool was denied.
fn denied() -> Closed {
    Closed { denials: vec!["Bash".into()], ..Closed::default() }
}

fn failed(closed: Closed) -> Closed {
    Closed { failed: true, ..closed }
}

#[test]
fn denials_stop_the_third_iteration_in_a_row() {
    let mut guard = Denials::default();
    let rows = [
        (denied(), 1, false),
        (denied(), 2, false),
        (failed(Closed::default()), 2, false),
        (denied(), 3, true),
        (denied(), 4, true),
        (Closed { progress: true, ..denied() }, 0, false),
        (denied(), 1, false),
        (Closed::default(), 0, false),
    ];
    for (nth, (closed, running, stops)) in rows.into_iter().enumerate() {
        guard.closed(&closed);
        assert_eq!((guard.running, guard.verdict(&policy()).is_some()), (running, stops), "row {nth}");
        assert_eq!(guard.note(&policy()).is_some(), running > 0, "row {nth}: the next prompt mentions it");
        assert_eq!(guard.tools.is_empty(), running == 0, "row {nth}");
    }
}

#[test]
fn the_same_error_is_stuck_at_three_and_stops_at_five() {
    let mut guard = Repeat::default();
    let rows = [
        (error("error: a"), 1, false, false),
        (error("error: b"), 1, false, false),
        (error("error: b"), 2, false, false),
        (error("error: b"), 3, true, false),
        (error("error: b"), 4, true, false),
        (error("error: b"), 5, true, true),
        (None, 0, false, false),
        (error("error: b"), 1, false, false),
    ];
    for (nth, (error, running, stuck, stops)) in rows.into_iter().enumerate() {
        guard.closed(&Closed { error, ..Closed::default() });
        let found =
            (guard.longest().running, guard.stuck(&policy()).is_some(), guard.verdict(&policy()).is_some());
        assert_eq!(found, (running, stuck, stops), "row {nth}");
    }
    guard.closed(&failed(Closed::default()));
    assert_eq!(guard.longest().running, 1, "a failed call says nothing about the verification");
}

#[test]
fn errors_of_the_agent_and_of_the_verification_are_counted_apart() {
    let mut guard = Repeat::default();
    let seen = |verification: &str, agent: &str| Closed {
        error: error(verification).filter(|_| !verification.is_empty()),
        agent_error: error(agent).filter(|_| !agent.is_empty()),
        ..Closed::default()
    };
    for (nth, (closed, running, stops)) in [
        (seen("error: a", "error: x"), 1, false),
        (seen("error: a", "error: y"), 2, false),
        (seen("error: a", "error: y"), 3, false),
        (seen("error: b", "error: y"), 3, false),
        (failed(seen("error: c", "error: y")), 4, false),
        (Closed { cut_short: true, ..failed(seen("", "error: z")) }, 4, false),
        (seen("error: b", "error: y"), 5, true),
        (seen("error: b", ""), 3, false),
        (seen("", ""), 0, false),
    ]
    .into_iter()
    .enumerate()
    {
        guard.closed(&closed);
        assert_eq!(
            (guard.longest().running, guard.verdict(&policy()).is_some()),
            (running, stops),
            "row {nth}"
        );
    }
}

#[test]
fn test_only_iterations_stop_at_three() {
    let mut guard = Saturation::default();
    let tests = Closed { test_only: true, ..Closed::default() };
    let rows = [
        (tests.clone(), 1, false),
        (failed(Closed::default()), 1, false),
        (tests.clone(), 2, false),
        (tests, 3, true),
        (Closed::default(), 0, false),
    ];
    for (nth, (closed, running, stops)) in rows.into_iter().enumerate() {
        guard.closed(&closed);
        assert_eq!((guard.running, guard.verdict(&policy()).is_some()), (running, stops), "row {nth}");
    }
}

#[test]
fn progress_resets_the_stall_count_and_a_failed_call_does_not_add_to_it() {
    let mut guard = Stall::default();
    let progress = Closed { progress: true, ..Closed::default() };
    let rows = [
        (Closed::default(), 1),
        (failed(Closed::default()), 1),
        (Closed::default(), 2),
        (failed(progress.clone()), 0),
        (Closed::default(), 1),
        (progress, 0),
    ];
    for (nth, (closed, running)) in rows.into_iter().enumerate() {
        guard.closed(&closed);
        assert_eq!(guard.running, running, "row {nth}");
    }
}

#[test]
fn a_message_below_30_percent_of_the_average_is_a_decline_from_the_fourth_on() {
    for (lengths, percent) in [
        (&[100, 100, 10][..], None),
        (&[100, 100, 100, 29], Some(29)),
        (&[100, 100, 100, 30], None),
        (&[50, 150, 100, 10], Some(10)),
        (&[100, 100, 100, 100, 10], Some(10)),
        (&[0, 0, 0, 0], None),
    ] {
        let mut guard = Decline::default();
        for bytes in lengths {
            guard.closed(&Closed { text_bytes: *bytes, ..Closed::default() });
            guard.closed(&failed(Closed::default()));
        }
        let said = guard.verdict(&policy()).map(|o| o.say());
        let expected =
            percent.map(|p| format!("the final message shrank to {p}% of the average (100 characters)"));
        assert_eq!(said, expected, "{lengths:?}");
    }
}

#[test]
fn a_limit_of_zero_switches_a_guard_off() {
    let mut off = policy();
    (off.breaker.denials, off.breaker.saturation) = (0, 0);
    (off.breaker.same_error, off.breaker.stuck) = (0, 0);
    let (mut denials, mut repeat, mut saturation) =
        (Denials::default(), Repeat::default(), Saturation::default());
    assert!(denials.verdict(&off).is_none() && saturation.verdict(&off).is_none(), "not at once either");
    for _ in 0..9 {
        denials.closed(&denied());
        saturation.closed(&Closed { test_only: true, ..Closed::default() });
        repeat.closed(&Closed { error: error("error: a"), ..Closed::default() });
    }
    assert!(denials.verdict(&off).is_none() && saturation.verdict(&off).is_none());
    assert!(repeat.verdict(&off).is_none() && repeat.stuck(&off).is_none());
}

/// `half_open_after = 0`: no stall, whatever else is set.
#[test]
fn without_a_stall_limit_a_run_uses_all_its_iterations() {
    let mut journal = Journal::unverified(|s| s.policy.breaker.half_open_after = 0);
    for n in 1..=10 {
        journal.iteration(&block(Progress::InProgress, Tests::NotRun, false), false, None);
        let half_open = journal.answer.reasons.iter().any(|o| o.code() == "half_open");
        let policy = &journal.state.start.as_ref().unwrap().policy;
        assert_eq!(breaker(&journal.state, policy), Breaker::Closed, "iteration {n}");
        assert!(
            !half_open && journal.state.circuit.history.is_empty(),
            "iteration {n}: {:?}",
            journal.answer
        );
    }
    journal.ended_with(Reason::MaxIterations, 3);
}

fn spent(total: i64, dearest: i64) -> Spent {
    Spent { total: Micro(total), dearest: Micro(dearest), usage: Usage::default() }
}

/// Spent before, reserved, usage seen, most expensive turn → headroom. Cap $1.00, estimate $0.50.
#[test]
fn the_reservation_stays_two_expensive_turns_ahead_until_the_cap() {
    for (before, reserved, seen, dearest, headroom) in [
        (0, 500_000, 0, 0, Headroom::Enough),
        (0, 500_000, 300_000, 100_000, Headroom::Enough),
        (0, 500_000, 300_001, 100_000, Headroom::Raise(Micro(750_001))),
        (0, 500_000, 400_000, 300_000, Headroom::Raise(Micro(1_300_000))),
        (0, 500_000, 990_000, 100_000, Headroom::Raise(Micro(1_200_000))),
        (0, 1_200_000, 999_999, 100_000, Headroom::Enough),
        (0, 1_200_000, 1_000_000, 100_000, Headroom::Exhausted),
        (400_000, 500_000, 599_999, 0, Headroom::Raise(Micro(600_000))),
        (400_000, 500_000, 600_000, 0, Headroom::Exhausted),
        (2_000_000, 0, 0, 0, Headroom::Exhausted),
    ] {
        let mut budget = Budget::default();
        budget.settled(Micro(before), PriceFrom::Reported, &Usage::default());
        budget.granted(Micro(reserved));
        budget.seen(&spent(seen, dearest));
        assert_eq!(budget.headroom(&policy()), headroom, "{before} {reserved} {seen} {dearest}");
    }
}

#[test]
fn a_reservation_and_usage_never_shrink_during_a_call() {
    let mut budget = Budget::default();
    budget.granted(Micro(500_000));
    budget.granted(Micro(400_000));
    budget.seen(&spent(300_000, 20_000));
    budget.seen(&spent(200_000, 10_000));
    assert_eq!(
        (budget.reserved, budget.live, budget.dearest),
        (Micro(500_000), Micro(300_000), Micro(20_000))
    );
    budget.released();
    assert_eq!((budget.reserved, budget.live, budget.dearest), Default::default());
}

#[test]
fn what_is_left_bounds_the_first_reservation() {
    let mut budget = Budget::default();
    let usage = Usage { input: 10, ..Usage::default() };
    for (charged, price, left, first, unpriced) in [
        (0, PriceFrom::Reported, 1_000_000, 500_000, 0),
        (600_000, PriceFrom::Computed, 400_000, 400_000, 0),
        (399_999, PriceFrom::Unpriced, 1, 1, 1),
        (1, PriceFrom::Unpriced, 0, 0, 2),
        (1, PriceFrom::Reported, 0, 0, 2),
    ] {
        budget.granted(Micro(1));
        budget.settled(Micro(charged), price, &usage);
        assert_eq!(
            (budget.left(&policy()), budget.first_reservation(&policy())),
            (Micro(left), Micro(first))
        );
        assert_eq!((budget.unpriced, budget.reserved), (unpriced, Micro::ZERO));
        assert_eq!(budget.exhausted(&policy()).is_some(), left == 0, "{charged}");
    }
    assert_eq!(budget.usage.input, 50);
}

#[test]
fn a_continued_conversation_keeps_its_latest_totals() {
    let mut budget = Budget::default();
    let totals = ConversationTotals { cost: Some(Micro(5)), usage: Usage::default() };
    budget.continued(Some("a"), None);
    assert_eq!(budget.conversation, None);
    budget.continued(Some("a"), Some(totals));
    budget.continued(Some("b"), None);
    assert_eq!(budget.conversation, Some(("a".into(), totals)));
}

/// 80% of the cost, 90% of the iterations, 80% of the day: the last value without an alert and the first with one.
#[test]
fn alerts_begin_exactly_at_their_share() {
    let mut policy = policy();
    policy.daily_cost = Micro(1_000);
    for (spent, live, done, day, codes) in [
        (799_999, 0, 8, 799, &[][..]),
        (800_000, 0, 0, 0, &["cost_nearly"]),
        (700_000, 99_999, 0, 0, &[]),
        (700_000, 100_000, 0, 0, &["cost_nearly"]),
        (0, 0, 9, 0, &["iterations_nearly"]),
        (0, 0, 10, 0, &[]),
        (0, 0, 0, 800, &["day_nearly"]),
        (1_000_000, 0, 9, 1_001, &["cost_nearly", "iterations_nearly", "day_nearly"]),
    ] {
        let mut state = State::default();
        (state.budget.spent, state.budget.live) = (Micro(spent), Micro(live));
        state.calls.done = done;
        state.alerts.day = Some(DaySpend { date: "2026-11-15".into(), spent: Micro(day) });
        let found: Vec<String> = due(&state, &policy).iter().map(|o| o.code()).collect();
        assert_eq!(found, codes, "{spent} {live} {done} {day}");
    }
}

#[test]
fn the_time_limit_is_reached_at_its_last_millisecond() {
    let limited = Policy { max_time: Some(1_000), ..policy() };
    for (ran, wait, reached) in [
        (999, 0, false),
        (1_000, 0, true),
        (900, 99, false),
        (900, 100, true),
        (999, -50, false),
        (1_001, -50, true),
    ] {
        assert_eq!(over(ran, wait, &limited).is_some(), reached, "{ran} + {wait}");
        assert!(over(ran, wait, &policy()).is_none(), "no limit");
    }
    assert_eq!(ends_verification(999, &limited), Some(1_000));
    assert_eq!(ends_verification(1_000, &limited), Some(1_000 + MINUTE), "the work is still verified");
    assert_eq!(ends_verification(5, &policy()), None);
}

#[test]
fn a_wait_is_over_by_time_of_day_or_by_active_time() {
    let since = Moment { at: 10_000, ran: 500 };
    assert_eq!(since.awake_until(10_300), 800);
    for (at, ran, over) in
        [(10_299, 799, false), (10_300, 600, true), (9_000, 800, true), (9_000, 799, false)]
    {
        assert_eq!(since.waited(10_300, Moment { at, ran }), over, "{at} {ran}");
    }
}
