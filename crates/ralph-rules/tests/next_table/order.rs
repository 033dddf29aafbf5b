//! The order of judgement: protected paths, blocked, the gate, the guards in their order, the limits.

use crate::journal::{Journal, block, done, more};
use ralph_rules::claim::{Progress, Tests};
use ralph_rules::ending::Reason;
use ralph_rules::money::Micro;
use ralph_rules::policy::{Decline, MINUTE};
use ralph_rules::record::{CallEnded, CheckOutcome, How, Restored, RunStarted, Seen, Violation};

/// An iteration in which everything that a guard could object to happens: tools are refused, the same error comes,
/// only tests are touched, nothing new is there, and from the fourth on the answer is short.
fn dismal(journal: &mut Journal) {
    journal.admit();
    let long = "I ran the tests again and looked at the outcome. ".repeat(10);
    let text = if journal.state.calls.done >= 3 { "No." } else { long.as_str() };
    let call = CallEnded { denials: vec!["Bash".into()], ..journal.closing(text) };
    journal.see(Seen::CallEnded(Box::new(call)));
    let mut seen = journal.inspection(1);
    seen.test_only = true;
    journal.see(Seen::Inspected(seen));
    journal.verified(CheckOutcome::Failed);
}

fn after_four(with: impl FnOnce(&mut RunStarted)) -> Journal {
    let mut journal = Journal::after_baseline(false, |start| {
        let breaker = &mut start.policy.breaker;
        breaker.denials = 4;
        breaker.same_error = 4;
        breaker.saturation = 4;
        breaker.decline = Decline::Open;
        with(start);
    });
    for _ in 0..4 {
        dismal(&mut journal);
    }
    journal
}

#[test]
fn the_guards_speak_in_their_order() {
    after_four(|_| {}).ended_with(Reason::PermissionDenied, 1);
    after_four(|s| s.policy.breaker.denials = 0).ended_with(Reason::SameError5x, 1);
    let quiet = |s: &mut RunStarted| {
        s.policy.breaker.denials = 0;
        s.policy.breaker.same_error = 0;
    };
    after_four(quiet).ended_with(Reason::TestSaturation, 1);
    let quieter = |s: &mut RunStarted| {
        quiet(s);
        s.policy.breaker.saturation = 0;
    };
    after_four(quieter).ended_with(Reason::OutputDecline, 1);
    let stalled = |s: &mut RunStarted| {
        quieter(s);
        s.policy.breaker.decline = Decline::Warn;
    };
    after_four(stalled).ended_with(Reason::Stall, 1);
    let unguarded = |s: &mut RunStarted| {
        stalled(s);
        s.policy.breaker.half_open_after = 0;
    };
    after_four(unguarded).goes_on("verification_failed");
}

#[test]
fn guards_come_before_limits() {
    after_four(|s| s.policy.max_iterations = 4).ended_with(Reason::PermissionDenied, 1);
    after_four(|s| s.policy.max_cost = Micro(400_000)).ended_with(Reason::PermissionDenied, 1);
}

#[test]
fn the_gate_comes_before_the_guards() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    for _ in 0..3 {
        journal.iteration(&more(), false, Some(CheckOutcome::Failed));
    }
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn blocked_comes_before_the_gate() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&block(Progress::Blocked, Tests::Passing, true), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::Blocked, 2);
}

#[test]
fn protected_paths_come_before_everything() {
    for text in [done(), block(Progress::Blocked, Tests::NotRun, false)] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.admit();
        journal.says(&text);
        let mut seen = journal.inspection(1);
        seen.violations = vec![Violation::new(".env", How::Modified)];
        journal.see(Seen::Inspected(seen));
        let (restored, left) = (vec![".env".into()], Vec::new());
        let tree = journal.tree;
        journal.see(Seen::Restored(Restored { restored, left, tree, quarantine: None }));
        journal.ended_with(Reason::ProhibitedPath, 4);
    }
}

#[test]
fn proven_in_the_last_iteration_is_done() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_iterations = 1);
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_cost = Micro(50_000));
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn limits_speak_in_their_order() {
    let limited = |with: fn(&mut RunStarted)| {
        let mut journal = Journal::after_baseline(false, |s| {
            s.policy.max_iterations = 1;
            s.policy.max_time = Some(MINUTE + 2_000);
            s.policy.max_cost = Micro(100_000);
            with(s);
        });
        journal.later(1_000).admit();
        journal.later(MINUTE - 500).says(&more());
        journal.inspected(true);
        journal.later(1_500).verified(CheckOutcome::Passed);
        journal
    };
    limited(|_| {}).ended_with(Reason::CostLimit, 3);
    limited(|s| s.policy.max_cost = Micro(1_000_000)).ended_with(Reason::TimeLimit, 3);
    let last = limited(|s| {
        s.policy.max_cost = Micro(1_000_000);
        s.policy.max_time = None;
    });
    last.ended_with(Reason::MaxIterations, 3);
    assert!(last.ended().verified, "a limit says whether the work was verified");
}

#[test]
fn no_progress_is_warned_of_then_tried_once_more_then_ends() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.breaker.same_error = 0);
    for n in 1..=3 {
        journal.iteration(&more(), false, Some(CheckOutcome::Failed));
        let warned = journal.answer.reasons.iter().any(|o| o.code() == "half_open");
        assert_eq!(warned, n == 3, "iteration {n}");
    }
    let mut mended = Journal::after_baseline(false, |_| {});
    for changed in [false, false, false, true, false, false, false] {
        mended.iteration(&more(), changed, Some(CheckOutcome::Passed));
        mended.goes_on("explicit_continue");
    }
    journal.iteration(&more(), false, Some(CheckOutcome::Failed));
    journal.ended_with(Reason::Stall, 1);
}

#[test]
fn a_tree_seen_before_is_no_progress() {
    let mut journal = Journal::unverified(|_| {});
    for tree in [2, 3, 2, 3, 2, 3] {
        journal.admit();
        journal.says(&more());
        journal.tree = tree;
        let seen = journal.inspection(1);
        journal.see(Seen::Inspected(seen));
    }
    journal.ended_with(Reason::Stall, 1);
}

#[test]
fn the_same_error_is_said_three_times_and_ends_the_fifth() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for n in 1..=5 {
        journal.admit();
        journal.says(&more());
        journal.inspected(true);
        journal.verified_saying(CheckOutcome::Failed, &format!("error at line {n}0 in /tmp/x{n}/a.rs"));
        let stuck = journal.answer.reasons.iter().any(|o| o.code() == "same_error");
        assert_eq!(stuck, n >= 3, "iteration {n}");
    }
    journal.ended_with(Reason::SameError5x, 1);
}

#[test]
fn a_hung_command_is_the_same_error_each_time() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for n in 0..5 {
        journal.admit();
        journal.says(&more());
        journal.inspected(true);
        journal.verified_saying(CheckOutcome::TimedOut, &format!("{} dots", "word ".repeat(n)));
    }
    journal.ended_with(Reason::SameError5x, 1);
}
