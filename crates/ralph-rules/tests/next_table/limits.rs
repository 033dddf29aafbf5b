//! What other runs know, what comes near, and what the run's time ends: provider refusals, alerts, the day's rest.

use crate::journal::{Journal, done, given, more};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Wake, Why};
use ralph_rules::objection::Objection;
use ralph_rules::policy::{MINUTE, SECOND};
use ralph_rules::record::*;
use ralph_rules::step::Step;

/// Another run met this, and the provider is left alone until then.
fn held(journal: &mut Journal, class: Class, wait: Ms) {
    let until = Some(journal.now() + wait);
    let what = "met by run 7890abcd: overloaded".into();
    journal.see(Seen::Refused(Refused {
        by: Refuser::Provider,
        total: 0,
        cap: 0,
        until,
        what,
        class: Some(class),
    }));
}

fn anyway(journal: &Journal) -> Option<bool> {
    match journal.answer.next {
        Next::Do(Step::Admit { anyway, .. }) => Some(anyway),
        _ => None,
    }
}

fn alerts(journal: &Journal) -> Vec<String> {
    journal.state.alerts.told.iter().map(|(_, alert)| alert.code()).collect()
}

#[test]
fn a_provider_that_another_run_found_down_is_waited_for() {
    for (class, reason, code) in [
        (Class::UsageLimit, Reason::RateLimit, 75),
        (Class::RateLimited, Reason::RateLimit, 75),
        (Class::Outage, Reason::AgentUnavailable, 69),
        (Class::Network, Reason::AgentUnavailable, 69),
    ] {
        let mut journal = Journal::after_baseline(false, |_| {});
        held(&mut journal, class, HOUR);
        assert_eq!(journal.waits_until(), journal.now() + HOUR);
        assert_eq!((journal.state.budget.reserved, journal.state.calls.done), (Micro::ZERO, 0));
        journal.later(HOUR).see(Seen::Woke);
        assert_eq!(anyway(&journal), Some(false));
        // Waits of one stretch add up, whoever met the failure.
        held(&mut journal, class, 5 * HOUR + MINUTE);
        journal.ended_with(reason, code);
        let mut journal = Journal::after_baseline(false, |s| s.policy.no_wait = true);
        held(&mut journal, class, HOUR);
        journal.ended_with(reason, code);
        assert_eq!(journal.reasons(), "provider_held");
    }
}

#[test]
fn a_person_may_try_now_whatever_others_know() {
    let mut journal = Journal::after_baseline(false, |_| {});
    held(&mut journal, Class::Outage, HOUR);
    journal.holds();
    journal.ask(Request::Continue);
    assert_eq!(anyway(&journal), Some(true));
    journal.admit();
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    let wait = journal.waits_until() - journal.now();
    journal.later(wait).see(Seen::Woke);
    assert_eq!(anyway(&journal), Some(false), "once");
}

#[test]
fn what_was_waited_counts_on_after_a_restart_and_time_off_does_not() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.fails(Class::UsageLimit, Some(4 * HOUR));
    journal.inspected(false);
    journal.later(4 * HOUR + MINUTE).see(Seen::Woke);
    journal.admit();
    // The machine is off for ten hours: nobody waited in them.
    journal.asleep(10 * HOUR).resume();
    let id = journal.state.calls.id;
    let failure = Some(Failure {
        class: Class::UsageLimit,
        message: "limit".into(),
        reset_at: Some(journal.now() + HOUR),
    });
    let call = CallEnded { id, failure, recovered: true, ..journal.closing("") };
    journal.see(Seen::CallEnded(Box::new(call)));
    journal.inspected(false);
    journal.holds();
    journal.later(HOUR + MINUTE).see(Seen::Woke);
    journal.admit();
    journal.fails(Class::UsageLimit, Some(HOUR));
    journal.inspected(false);
    journal.ended_with(Reason::RateLimit, 75);
    // Who resumes a run that gave up has patience anew.
    journal.later(SECOND).resume();
    journal.holds();
}

#[test]
fn a_limit_that_comes_near_is_told_once() {
    let mut journal = Journal::after_baseline(false, |s| {
        s.policy.max_cost = Micro(1_000_000);
        s.policy.max_iterations = 10;
    });
    for n in 1..=9 {
        journal.iteration(&more(), true, Some(CheckOutcome::Passed));
        let near: &[&str] = match n {
            ..8 => &[],
            8 => &["cost_nearly"],
            _ => &["cost_nearly", "iterations_nearly"],
        };
        assert_eq!(alerts(&journal), near, "after iteration {n}");
        let said = journal.answer.reasons.iter().filter(|o| o.is_alert()).count();
        assert_eq!(said, usize::from(n >= 8), "iteration {n}: said in its own iteration only");
    }
    // A raised limit is another one.
    journal.stop();
    journal.resume();
    let mut policy = given().policy;
    (policy.max_cost, policy.max_iterations) = (Micro(1_200_000), 20);
    journal.see(Seen::PolicyChanged(Box::new(PolicyChanged { policy })));
    journal.iteration(&more(), true, Some(CheckOutcome::Passed));
    assert_eq!(alerts(&journal), ["cost_nearly", "iterations_nearly", "cost_nearly"]);
}

#[test]
fn the_days_budget_is_told_once_a_day_over_all_runs() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.daily_cost = Micro(10_000_000));
    for (date, spent, told) in [
        ("2026-11-15", 7_900_000, 0),
        ("2026-11-15", 8_000_000, 1),
        ("2026-11-15", 9_500_000, 1),
        ("2026-11-16", 100_000, 1),
        ("2026-11-16", 8_100_000, 2),
    ] {
        journal.later(SECOND).admit();
        let day = Some(DaySpend { date: date.into(), spent: Micro(spent) });
        let call = CallEnded { day, ..journal.closing(&more()) };
        journal.see(Seen::CallEnded(Box::new(call)));
        journal.inspected(true);
        journal.verified(CheckOutcome::Failed);
        let days = journal.state.alerts.told.iter();
        let days = days.filter(|(_, alert)| matches!(alert, Objection::DayNearly { .. })).count();
        assert_eq!(days, told, "{date} {spent}");
    }
}

#[test]
fn the_last_call_that_passes_a_mark_is_told_too() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_cost = Micro(1_000_000));
    journal.cost = 850_000;
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(alerts(&journal), ["cost_nearly"]);
}

#[test]
fn others_took_of_the_days_rest_and_less_is_asked_for() {
    let mut journal = Journal::after_baseline(false, |_| {});
    let refused = |total| Refused {
        by: Refuser::DayCap,
        total,
        cap: 10,
        until: None,
        what: String::new(),
        class: None,
    };
    journal.see(Seen::Refused(refused(9)));
    assert_eq!(anyway(&journal), Some(false), "asked again: {:?}", journal.answer);
    journal.see(Seen::Refused(refused(10)));
    journal.ended_with(Reason::DailyBudget, 3);
}

#[test]
fn the_runs_time_ends_a_verification() {
    let mut journal = Journal::start(|s| s.policy.max_time = Some(MINUTE));
    assert!(matches!(journal.answer.next, Next::Do(Step::Verify { .. })));
    journal.later(SECOND).see(Seen::Woke);
    assert_eq!(journal.answer.next, Next::Wait { wake: Wake { at: None, ran: Some(MINUTE) } });
    journal.later(MINUTE).see(Seen::Woke);
    assert_eq!(journal.answer.next, Next::Interrupt(Why::Time));
    journal.see(Seen::Woke);
    journal.holds();
    journal.verified(CheckOutcome::Interrupted);
    journal.ended_with(Reason::TimeLimit, 3);
    journal.resume();
    journal.ended_with(Reason::TimeLimit, 3);
}

#[test]
fn a_verification_under_way_is_cut_and_run_again_when_there_is_more_time() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(10 * MINUTE));
    journal.later(SECOND).admit();
    journal.later(9 * MINUTE).says(&done());
    journal.inspected(true);
    journal.later(2 * MINUTE).see(Seen::Woke);
    assert_eq!(journal.answer.next, Next::Interrupt(Why::Time));
    journal.verified(CheckOutcome::Interrupted);
    journal.ended_with(Reason::TimeLimit, 3);
    assert!(!journal.ended().verified);
    let mut policy = given().policy;
    policy.max_time = Some(HOUR);
    journal.resume();
    journal.see(Seen::PolicyChanged(Box::new(PolicyChanged { policy })));
    journal.resume();
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn work_of_a_call_that_the_runs_time_ended_is_looked_at_for_a_minute() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(10 * MINUTE));
    journal.admit();
    journal.later(10 * MINUTE).see(Seen::Woke);
    journal.ends_call(Why::Time);
    journal.fails(Class::Aborted, None);
    journal.inspected(true);
    journal.later(30 * SECOND).see(Seen::Woke);
    journal.holds();
    journal.later(30 * SECOND).see(Seen::Woke);
    assert_eq!(journal.answer.next, Next::Interrupt(Why::Time));
    journal.verified(CheckOutcome::Interrupted);
    journal.ended_with(Reason::TimeLimit, 3);
}

#[test]
fn a_person_may_stop_the_verification_after_a_call_that_ralph_ended() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.later(15 * MINUTE).see(Seen::Woke);
    journal.ends_call(Why::Deadline);
    journal.fails(Class::Aborted, None);
    journal.inspected(true);
    journal.stop();
    assert_eq!(journal.answer.next, Next::Interrupt(Why::Person));
}
