//! Whose fault a failed call is, whether it counts, what follows, and where it ends: the class table, row by row.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Why};
use ralph_rules::policy::{MINUTE, SECOND};
use ralph_rules::prompt::compose;
use ralph_rules::record::{CheckOutcome, HOUR, Ms, Request, Seen};
use ralph_rules::step::Step;

/// One call that fails, and the look at the workspace after it.
fn fail(journal: &mut Journal, class: Class, reset_in: Option<Ms>, changed: bool) {
    if matches!(journal.answer.next, Next::Wait { .. }) {
        let until = journal.waits_until();
        let wait = until - journal.now();
        journal.later(wait).see(Seen::Woke);
    }
    journal.admit();
    journal.fails(class, reset_in);
    journal.inspected(changed);
    if matches!(journal.answer.next, Next::Do(Step::Verify { .. })) {
        journal.verified(CheckOutcome::Failed);
    }
}

fn failed(class: Class, reset_in: Option<Ms>) -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    fail(&mut journal, class, reset_in, false);
    journal
}

#[test]
fn which_failures_are_iterations() {
    for (class, counted) in [
        (Class::UsageLimit, 0),
        (Class::RateLimited, 0),
        (Class::Outage, 0),
        (Class::Network, 0),
        (Class::Auth, 0),
        (Class::Billing, 0),
        (Class::BadRequest, 0),
        (Class::ContextTooLong, 1),
        (Class::MaxTurns, 1),
        (Class::Budget, 1),
        (Class::Truncated, 1),
        (Class::Refusal, 1),
        (Class::Aborted, 1),
        (Class::Unknown, 1),
    ] {
        let journal = failed(class, None);
        assert_eq!(journal.state.calls.done, counted, "{class:?}");
        assert_eq!(journal.state.budget.spent, Micro(100_000), "{class:?} is settled before any wait");
        assert_eq!(journal.state.stall.running, 0, "{class:?} does not feed stall");
        assert_eq!(journal.state.repeat.longest().running, counted, "{class:?} feeds repeat if it counts");
    }
}

#[test]
fn a_limit_with_a_reset_is_waited_for_with_a_little_spread() {
    for (wait, spread) in [(10 * SECOND, SECOND), (5 * HOUR, MINUTE)] {
        let journal = failed(Class::UsageLimit, Some(wait));
        let late = journal.waits_until() - journal.now() - wait;
        assert!((0..=spread).contains(&late), "{late} ms after the reset");
    }
}

#[test]
fn after_the_wait_the_same_iteration_is_tried_again() {
    let mut journal = failed(Class::RateLimited, Some(MINUTE));
    let wait = journal.waits_until() - journal.now();
    journal.later(wait - 1).see(Seen::Woke);
    journal.holds();
    journal.later(1).see(Seen::Woke);
    let Next::Do(Step::Admit { id, .. }) = journal.answer.next else { panic!("{:?}", journal.answer) };
    assert_eq!((id.iteration, id.attempt), (1, 2));
}

#[test]
fn a_limit_that_lasts_longer_than_ralph_may_wait_ends_with_75() {
    for class in [Class::UsageLimit, Class::RateLimited] {
        let journal = failed(class, Some(7 * HOUR));
        journal.ended_with(Reason::RateLimit, 75);
        assert!(journal.ended().resumable());
        assert!(journal.answer.reasons.iter().any(|o| o.code() == "wait_too_long"), "{:?}", journal.answer);
    }
}

#[test]
fn failures_without_a_reset_back_off_within_bounds() {
    for class in [Class::UsageLimit, Class::RateLimited, Class::Outage, Class::Network] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.cost = 0;
        let (mut before, mut failures) = (journal.now(), 0);
        while !matches!(journal.answer.next, Next::Exit(_)) {
            fail(&mut journal, class, None, false);
            failures += 1;
            if let Next::Wait { .. } = journal.answer.next {
                let wait = journal.waits_until() - journal.now();
                assert!((SECOND..=15 * MINUTE + SECOND).contains(&wait), "{wait}");
                assert!(journal.now() >= before);
                before = journal.now();
            }
            assert!(failures < 500, "it never gives up");
        }
        let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
        let (reason, code) = if limited { (Reason::RateLimit, 75) } else { (Reason::AgentUnavailable, 69) };
        journal.ended_with(reason, code);
        assert!(failures > 20, "six hours of waiting hold more than {failures} attempts");
        assert_eq!(journal.state.calls.done, 0);
    }
}

#[test]
fn who_does_not_want_to_wait_leaves_at_once() {
    for (class, reason, code) in
        [(Class::UsageLimit, Reason::RateLimit, 75), (Class::Outage, Reason::AgentUnavailable, 69)]
    {
        let mut journal = Journal::after_baseline(false, |s| s.policy.no_wait = true);
        fail(&mut journal, class, None, false);
        journal.ended_with(reason, code);
    }
}

#[test]
fn a_call_that_ends_well_begins_the_waiting_anew() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for _ in 0..6 {
        fail(&mut journal, Class::Outage, None, false);
    }
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    journal.iteration("more to do", true, Some(CheckOutcome::Failed));
    fail(&mut journal, Class::Outage, None, false);
    assert!(journal.waits_until() - journal.now() <= 6 * SECOND, "back to the first step");
}

#[test]
fn what_waiting_cannot_heal_stops_at_once_and_is_tried_again_on_resume() {
    for class in [Class::Auth, Class::Billing, Class::BadRequest] {
        let mut journal = failed(class, None);
        journal.ended_with(Reason::AgentUnavailable, 69);
        assert!(journal.ended().resumable());
        journal.resume();
        let Next::Do(Step::Admit { id, .. }) = journal.answer.next else { panic!("{:?}", journal.answer) };
        assert_eq!(id.iteration, 1);
        fail(&mut journal, class, None, false);
        journal.ended_with(Reason::AgentUnavailable, 69);
    }
}

#[test]
fn waiting_in_all_is_counted_anew_after_a_resume() {
    let mut journal = failed(Class::UsageLimit, Some(10 * HOUR));
    journal.ended_with(Reason::RateLimit, 75);
    journal.asleep(11 * HOUR).resume();
    fail(&mut journal, Class::Outage, None, false);
    assert!(journal.waits_until() - journal.now() <= 11 * SECOND, "a short outage is waited for");
}

#[test]
fn a_context_too_long_and_a_refusal_are_borne_once() {
    for class in [Class::ContextTooLong, Class::Refusal] {
        let mut journal = failed(class, None);
        journal.goes_on("call_failed");
        assert!(compose(&journal.state).contains(class.words()), "the next prompt says so");
        fail(&mut journal, class, None, true);
        journal.ended_with(Reason::Blocked, 2);
    }
}

#[test]
fn two_running_means_running() {
    let mut journal = failed(Class::Refusal, None);
    journal.iteration("more to do", true, Some(CheckOutcome::Failed));
    fail(&mut journal, Class::Refusal, None, false);
    journal.goes_on("call_failed");
    fail(&mut journal, Class::ContextTooLong, None, false);
    journal.goes_on("call_failed");
}

#[test]
fn the_shortest_context_follows_a_context_too_long() {
    let mut journal = Journal::after_baseline(false, |_| {});
    let long = "error: a long story\n".repeat(150);
    journal.admit();
    journal.says("more to do");
    journal.inspected(true);
    journal.verified_saying(CheckOutcome::Failed, &long);
    let full = compose(&journal.state).len();
    journal.admit();
    journal.fails(Class::ContextTooLong, None);
    journal.inspected(false);
    journal.verified_saying(CheckOutcome::Failed, &long);
    let short = compose(&journal.state);
    assert!(short.len() + 2_000 < full, "{} after {full}", short.len());
    assert!(!short.contains("a long story"));
}

#[test]
fn calls_cut_short_while_they_work_are_iterations_without_a_claim_and_without_a_bound() {
    for class in [Class::MaxTurns, Class::Budget, Class::Truncated] {
        let mut journal = Journal::after_baseline(false, |_| {});
        for _ in 0..9 {
            fail(&mut journal, class, None, true);
            journal.goes_on("call_failed");
            assert!(compose(&journal.state).contains(class.words()));
        }
        assert_eq!((journal.state.stall.running, journal.state.repeat.longest().running), (0, 0));
    }
}

#[test]
fn calls_cut_short_without_a_change_are_the_same_error() {
    for class in [Class::MaxTurns, Class::Budget, Class::Truncated] {
        let mut journal = Journal::after_baseline(false, |_| {});
        for _ in 0..5 {
            fail(&mut journal, class, None, false);
        }
        journal.ended_with(Reason::SameError5x, 1);
    }
}

#[test]
fn an_agent_that_fails_identically_five_times_is_stopped_although_files_change() {
    for class in [Class::Aborted, Class::Unknown] {
        let mut journal = Journal::unverified(|start| start.policy.max_iterations = 20);
        for nth in 1..=5 {
            fail(&mut journal, class, None, true);
            let stuck = journal.state.repeat.stuck(&journal.state.start.as_ref().unwrap().policy);
            assert_eq!(stuck.is_some(), nth >= 3, "{nth}: {:?}", journal.answer);
            assert_eq!(matches!(journal.answer.next, Next::Exit(_)), nth == 5, "{:?}", journal.answer);
        }
        journal.ended_with(Reason::SameError5x, 1);
    }
}

#[test]
fn a_crash_pauses_five_seconds_and_three_without_a_new_tree_end_the_run() {
    for class in [Class::Aborted, Class::Unknown] {
        let mut journal = failed(class, None);
        assert_eq!(journal.waits_until(), journal.state.faults.last.as_ref().unwrap().at + 5 * SECOND);
        fail(&mut journal, class, None, false);
        fail(&mut journal, class, None, false);
        journal.ended_with(Reason::AgentUnavailable, 69);
        assert!(journal.ended().resumable());
    }
}

#[test]
fn crashes_that_leave_work_behind_go_on() {
    let mut journal = Journal::after_baseline(false, |start| start.policy.breaker.same_error = 20);
    for n in 0..9 {
        fail(&mut journal, Class::Aborted, None, n % 2 == 0);
        assert!(!matches!(journal.answer.next, Next::Exit(_)), "{:?}", journal.answer);
    }
    assert_eq!(journal.state.calls.done, 9);
}

#[test]
fn work_of_a_crashed_call_is_kept_and_verified() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.fails(Class::Aborted, None);
    journal.inspected(true);
    assert!(matches!(journal.answer.next, Next::Do(Step::Verify { .. })));
    journal.verified(CheckOutcome::Passed);
    journal.later(5 * SECOND).see(Seen::Woke);
    assert!(compose(&journal.state).contains("without a result"), "{}", compose(&journal.state));
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_person_may_end_a_wait() {
    let mut journal = failed(Class::UsageLimit, Some(HOUR));
    journal.holds();
    journal.ask(Request::Continue);
    assert!(matches!(journal.answer.next, Next::Do(Step::Admit { .. })), "{:?}", journal.answer);
    journal.admit();
    journal.fails(Class::UsageLimit, Some(HOUR));
    journal.inspected(false);
    journal.holds();
}

#[test]
fn a_hint_survives_a_providers_failure_and_is_used_up_otherwise() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.ask(Request::Hint { text: "look at the lexer".into() });
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    assert!(compose(&journal.state).contains("look at the lexer"));
    journal.admit();
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    assert_eq!(journal.state.person.hints.len(), 1, "the provider failed: the hint was not heard");
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    journal.admit();
    journal.fails(Class::Truncated, None);
    assert_eq!(journal.state.person.hints.len(), 0);
}

#[test]
fn our_own_time_outs_are_aborted_calls() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.later(15 * MINUTE).see(Seen::Woke);
    journal.ends_call(Why::Deadline);
    journal.fails(Class::Aborted, None);
    journal.inspected(false);
    journal.verified(CheckOutcome::Failed);
    journal.holds();
    assert_eq!(journal.state.calls.done, 1);
}
