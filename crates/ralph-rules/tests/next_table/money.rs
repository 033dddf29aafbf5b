//! Money in flight, and refusals: the reservation stays ahead of the usage seen, or the call ends.

use crate::journal::{Journal, more};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Why};
use ralph_rules::policy::MINUTE;
use ralph_rules::record::{
    CallEnded, CheckOutcome, Extended, HOUR, PriceFrom, Refuser, Request, RunStarted, Seen,
};
use ralph_rules::step::Step;

fn with_cap(micro: i64) -> impl FnOnce(&mut RunStarted) {
    move |start| start.policy.max_cost = Micro(micro)
}

fn reserves(journal: &Journal) -> Micro {
    match journal.answer.next {
        Next::Do(Step::Admit { amount, .. }) => amount,
        _ => panic!("no reservation is asked for: {:?}", journal.answer),
    }
}

#[test]
fn the_estimate_is_reserved_or_what_is_left() {
    let mut journal = Journal::after_baseline(false, with_cap(550_000));
    assert_eq!(reserves(&journal), Micro(500_000));
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    assert_eq!(reserves(&journal), Micro(450_000));
    assert_eq!(journal.state.budget.reserved, Micro(0), "nothing is held between calls");
}

#[test]
fn a_running_calls_reservation_is_raised_before_usage_reaches_it() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.spent(300_000, 100_000);
    journal.holds();
    journal.spent(400_000, 100_000);
    let Next::Do(Step::Extend { to, limits, .. }) = journal.answer.next else {
        panic!("{:?}", journal.answer)
    };
    assert!(to >= Micro(600_000), "two dearest turns ahead: {to}");
    assert_eq!(limits.run, Micro(5_200_000), "the last two turns before the cap are reserved too");
    journal.spent(500_000, 100_000);
    journal.holds();
    journal.see(Seen::Extended(Extended { to }));
    journal.holds();
    assert_eq!(journal.state.budget.reserved, to);
}

#[test]
fn a_refused_extension_ends_the_call_and_its_work_is_verified() {
    for by in [Refuser::DayCap, Refuser::RunCap] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.admit();
        journal.spent(400_000, 100_000);
        journal.refuse(by, None);
        journal.ends_call(Why::Budget);
        journal.cost = 450_000;
        journal.fails(Class::Budget, None);
        journal.inspected(true);
        assert!(matches!(journal.answer.next, Next::Do(Step::Verify { .. })), "{:?}", journal.answer);
        journal.verified(CheckOutcome::Failed);
        journal.goes_on("call_failed");
    }
}

#[test]
fn usage_at_the_cap_ends_the_call_and_then_the_run() {
    let mut journal = Journal::after_baseline(false, with_cap(300_000));
    journal.admit();
    journal.spent(310_000, 100_000);
    journal.ends_call(Why::Budget);
    assert_eq!(journal.reasons(), "cost_reached");
    journal.cost = 410_000;
    journal.fails(Class::Budget, None);
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::CostLimit, 3);
    assert!(journal.ended().verified);
    assert_eq!(journal.state.budget.spent, Micro(410_000), "a settlement is never refused");
}

#[test]
fn a_call_without_a_price_is_counted() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    let call = CallEnded { price: PriceFrom::Unpriced, charged: Micro(500_000), ..journal.closing(&more()) };
    journal.see(Seen::CallEnded(Box::new(call)));
    assert_eq!((journal.state.budget.unpriced, journal.state.budget.spent), (1, Micro(500_000)));
}

#[test]
fn nearly_spent_is_worth_a_word() {
    let mut journal = Journal::after_baseline(false, with_cap(120_000));
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    assert!(journal.answer.reasons.iter().any(|o| o.code() == "cost_nearly"), "{:?}", journal.answer);
}

#[test]
fn refusals_end_or_wait() {
    for (by, reason, code) in [
        (Refuser::RunCap, Reason::CostLimit, 3),
        (Refuser::DayCap, Reason::DailyBudget, 3),
        (Refuser::Disk, Reason::StoreUnsafe, 74),
        (Refuser::Store, Reason::StoreUnsafe, 74),
    ] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.refuse(by, None);
        journal.ended_with(reason, code);
        assert!(journal.ended().resumable());
        journal.resume();
        assert_eq!(reserves(&journal), Micro(500_000), "{by:?}: asked again");
    }
    for by in [Refuser::CallsPerHour, Refuser::TokensPerHour, Refuser::Provider] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.refuse(by, Some(20 * MINUTE));
        assert_eq!(journal.waits_until(), journal.now() + 20 * MINUTE);
        journal.later(20 * MINUTE).see(Seen::Woke);
        assert_eq!(reserves(&journal), Micro(500_000));
        journal.refuse(by, None);
        assert_eq!(journal.waits_until(), journal.now() + MINUTE, "no time was named");
        journal.later(MINUTE).see(Seen::Woke);
        journal.refuse(by, Some(0));
        assert_eq!(journal.waits_until(), journal.now() + MINUTE, "it is over already: never at once");
    }
}

#[test]
fn a_full_window_may_be_left_skipped_or_given_up() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.no_wait = true);
    journal.refuse(Refuser::CallsPerHour, Some(MINUTE));
    journal.ended_with(Reason::RateLimit, 75);
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_wait = MINUTE);
    journal.refuse(Refuser::CallsPerHour, Some(HOUR));
    journal.ended_with(Reason::RateLimit, 75);
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.refuse(Refuser::CallsPerHour, Some(HOUR));
    journal.ask(Request::Continue);
    assert_eq!(reserves(&journal), Micro(500_000));
    journal.refuse(Refuser::CallsPerHour, Some(HOUR));
    journal.holds();
    journal.stop();
    journal.ended_with(Reason::Interrupted, 130);
}

#[test]
fn a_pause_holds_also_after_a_full_window() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.refuse(Refuser::CallsPerHour, Some(MINUTE));
    journal.ask(Request::Pause);
    journal.later(2 * MINUTE).see(Seen::Woke);
    journal.holds();
    journal.ask(Request::Continue);
    assert_eq!(reserves(&journal), Micro(500_000));
}
