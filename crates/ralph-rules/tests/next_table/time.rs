//! Deadlines, silence and the run's time: answered while the agent works, by active time.

use crate::journal::{Journal, more};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::next::{Next, Wake, Why};
use ralph_rules::policy::{MINUTE, SECOND};
use ralph_rules::record::{Absence, CheckOutcome, HOUR, MissingProgram, Refuser, Seen, Silent};
use ralph_rules::step::Step;

#[test]
fn a_call_ends_at_its_deadline() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.timeout = 10 * MINUTE);
    let Next::Do(_) = journal.admit().next else { panic!("no call") };
    journal.later(SECOND).see(Seen::Woke);
    assert_eq!(journal.answer.next, Next::Wait { wake: Wake { at: None, ran: Some(10 * MINUTE) } });
    journal.later(10 * MINUTE - SECOND).see(Seen::Woke);
    journal.ends_call(Why::Deadline);
    assert_eq!(journal.reasons(), "call_too_long");
}

#[test]
fn sleep_is_no_work() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(HOUR));
    journal.admit();
    journal.asleep(9 * HOUR).see(Seen::Woke);
    journal.holds();
    journal.later(15 * MINUTE).see(Seen::Woke);
    journal.ends_call(Why::Deadline);
}

#[test]
fn silence_ends_a_call() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.later(5 * MINUTE).see(Seen::Silent(Silent { ms: 5 * MINUTE }));
    journal.ends_call(Why::Silence);
    journal.fails(Class::Aborted, None);
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.later(5 * SECOND).see(Seen::Woke);
    journal.admit();
    journal.holds_or_calls();
}

impl Journal {
    /// The silence of the call before is forgotten.
    fn holds_or_calls(&mut self) {
        self.later(SECOND).see(Seen::Woke);
        self.holds();
    }
}

#[test]
fn the_runs_time_ends_a_call_and_then_the_run() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(5 * MINUTE));
    journal.admit();
    journal.later(5 * MINUTE).see(Seen::Woke);
    journal.ends_call(Why::Time);
    journal.fails(Class::Aborted, None);
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::TimeLimit, 3);
    assert!(journal.ended().verified);
}

#[test]
fn a_wait_that_would_end_after_the_deadline_stops_at_once() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(HOUR));
    journal.admit();
    journal.fails(Class::UsageLimit, Some(2 * HOUR));
    journal.inspected(false);
    journal.ended_with(Reason::TimeLimit, 3);
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(HOUR));
    journal.refuse(Refuser::CallsPerHour, Some(2 * HOUR));
    journal.ended_with(Reason::TimeLimit, 3);
}

#[test]
fn no_call_begins_after_the_runs_time() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(HOUR));
    journal.refuse(Refuser::CallsPerHour, Some(50 * MINUTE));
    journal.holds();
    // Both the window's time and the run's time have passed when the clock speaks.
    journal.later(2 * HOUR).see(Seen::Woke);
    journal.ended_with(Reason::TimeLimit, 3);
}

#[test]
fn a_pause_between_iterations_is_kept_and_may_be_skipped() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.pause_between = MINUTE);
    assert!(matches!(journal.answer.next, Next::Do(_)), "none before the first");
    journal.iteration(&more(), true, Some(CheckOutcome::Passed));
    assert_eq!(journal.waits_until(), journal.now() + MINUTE);
    journal.later(MINUTE).see(Seen::Woke);
    assert!(matches!(journal.answer.next, Next::Do(_)));
}

#[test]
fn a_baseline_that_never_ends_proves_nothing() {
    let mut journal = Journal::start(|_| {});
    journal.later(10 * MINUTE).verified(CheckOutcome::TimedOut);
    journal.ended_with(Reason::BaselineTimedOut, 78);
    journal.resume();
    assert_eq!(journal.reasons(), "baseline_wanted", "who resumes may have mended it: {:?}", journal.answer);
    journal.verified(CheckOutcome::Failed);
    assert!(matches!(journal.answer.next, Next::Do(_)));
}

#[test]
fn a_fallback_makes_one_iteration_after_a_baseline_that_never_ends() {
    let mut journal = Journal::start(|s| s.policy.fallback = true);
    journal.later(10 * MINUTE).verified(CheckOutcome::TimedOut);
    assert!(matches!(journal.answer.next, Next::Do(Step::Admit { .. })), "{:?}", journal.answer);
    assert_eq!(journal.reasons(), "baseline_timed_out");
    journal.iteration(&more(), true, Some(CheckOutcome::TimedOut));
    journal.ended_with(Reason::MaxIterations, 3);

    let mut usual = Journal::start(|s| s.policy.fallback = true);
    usual.verified(CheckOutcome::Failed);
    usual.iteration(&more(), true, Some(CheckOutcome::Failed));
    assert!(
        matches!(usual.answer.next, Next::Do(Step::Admit { .. })),
        "a baseline that ends changes nothing"
    );
}

#[test]
fn a_verify_command_that_cannot_run_stops_the_run_before_the_first_call() {
    let missing = MissingProgram { program: "npm".into(), why: Absence::NotFound };
    let baseline = |journal: &mut Journal| {
        let mut verified = journal.verification(CheckOutcome::NotRun, "sh: 1: npm: not found");
        verified.results[0].missing = Some(missing.clone());
        journal.see(Seen::Verified(verified));
    };
    let mut journal = Journal::start(|_| {});
    baseline(&mut journal);
    journal.ended_with(Reason::VerifyCannotRun, 78);
    assert_eq!(journal.reasons(), "verify_cannot_run");
    journal.resume();
    assert_eq!(journal.reasons(), "baseline_wanted", "who resumes may have installed it");
    journal.verified(CheckOutcome::Failed);
    assert!(matches!(journal.answer.next, Next::Do(Step::Admit { .. })));

    let mut anyway = Journal::start(|s| s.policy.start_anyway = true);
    baseline(&mut anyway);
    assert!(matches!(anyway.answer.next, Next::Do(Step::Admit { .. })), "{:?}", anyway.answer);

    let mut red = Journal::start(|_| {});
    red.verified(CheckOutcome::NotRun);
    assert!(matches!(red.answer.next, Next::Do(Step::Admit { .. })), "tests that exit with 127 are red");
}
