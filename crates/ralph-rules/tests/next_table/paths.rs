//! Protected paths and the oracle: an iteration that changed one can never succeed; weakened tests prove nothing.

use crate::journal::{Journal, done, more};
use ralph_rules::ending::Reason;
use ralph_rules::next::Next;
use ralph_rules::policy::{OnViolation, Oracle};
use ralph_rules::prompt::compose;
use ralph_rules::record::{Check, CheckOutcome, How, Restored, Seen, Violation};
use ralph_rules::step::Step;
use ralph_rules::suite::Counts;

fn env() -> Vec<Violation> {
    vec![Violation::new(".env", How::Modified)]
}

fn restoring() -> Journal {
    Journal::after_baseline(false, |s| s.policy.on_violation = OnViolation::Restore)
}

/// A call that touches a protected path and changes something else.
fn touch(journal: &mut Journal, text: &str) {
    journal.admit();
    journal.says(text);
    journal.tree += 1;
    let mut seen = journal.inspection(2);
    seen.violations = env();
    journal.see(Seen::Inspected(seen));
}

fn restored(journal: &mut Journal, left: &[&str]) {
    let Next::Do(Step::Restore { paths }) = journal.answer.next.clone() else {
        panic!("{:?}", journal.answer)
    };
    let left: Vec<String> = left.iter().map(ToString::to_string).collect();
    let restored = paths.into_iter().map(|v| v.path).filter(|p| !left.contains(p)).collect();
    let tree = journal.tree;
    journal.see(Seen::Restored(Restored { restored, left, tree, quarantine: None }));
}

#[test]
fn a_touched_path_is_put_back_and_ends_the_run() {
    let mut journal = Journal::after_baseline(false, |_| {});
    touch(&mut journal, &done());
    restored(&mut journal, &[]);
    journal.ended_with(Reason::ProhibitedPath, 4);
    assert!(!journal.ended().resumable());
}

#[test]
fn restored_the_run_goes_on_but_the_iteration_never_succeeds() {
    let mut journal = restoring();
    touch(&mut journal, &done());
    restored(&mut journal, &[]);
    journal.verified(CheckOutcome::Passed);
    journal.goes_on("prohibited_path");
    assert!(
        compose(&journal.state).contains("protected paths were changed: .env"),
        "the next prompt says so"
    );
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn without_verification_too() {
    let mut journal = Journal::unverified(|s| s.policy.on_violation = OnViolation::Restore);
    touch(&mut journal, &done());
    restored(&mut journal, &[]);
    journal.goes_on("prohibited_path");
}

#[test]
fn three_times_and_no_more() {
    let mut journal = restoring();
    for _ in 0..3 {
        touch(&mut journal, &more());
        restored(&mut journal, &[]);
        journal.verified(CheckOutcome::Passed);
        journal.goes_on("prohibited_path");
    }
    touch(&mut journal, &more());
    restored(&mut journal, &[]);
    journal.ended_with(Reason::ProhibitedPath, 4);
    assert!(journal.answer.reasons.iter().any(|o| o.code() == "restore_limit"));
}

#[test]
fn a_path_that_cannot_be_put_back_ends_the_run() {
    let mut journal = restoring();
    touch(&mut journal, &more());
    restored(&mut journal, &[".env"]);
    journal.ended_with(Reason::ProhibitedPath, 4);
}

#[test]
fn a_verification_that_touches_a_path_is_judged_alike() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    let mut verified = journal.verification(CheckOutcome::Passed, "");
    verified.violations = env();
    journal.see(Seen::Verified(verified));
    restored(&mut journal, &[]);
    journal.ended_with(Reason::ProhibitedPath, 4);
}

#[test]
fn a_second_verification_is_no_second_iteration() {
    let mut journal = restoring();
    journal.admit();
    journal.says("All tests pass. The implementation is complete.");
    journal.inspected(true);
    let mut verified = journal.verification(CheckOutcome::Passed, "");
    verified.violations = env();
    journal.see(Seen::Verified(verified));
    restored(&mut journal, &[]);
    journal.verified(CheckOutcome::Passed);
    journal.goes_on("prohibited_path");
    assert_eq!(journal.state.signals.last.len(), 1, "one iteration, one sign");
    let mut idle = restoring();
    idle.admit();
    idle.says(&more());
    idle.inspected(false);
    let mut verified = idle.verification(CheckOutcome::Failed, "error: a");
    verified.violations = env();
    idle.see(Seen::Verified(verified));
    restored(&mut idle, &[]);
    idle.verified_saying(CheckOutcome::Failed, "error: a");
    assert_eq!((idle.state.stall.running, idle.state.repeat.running), (1, 1));
}

/// A claim with proof, while the tests are not the baseline's.
fn weakened(oracle: Oracle) -> Journal {
    let mut journal = Journal::after_baseline(false, |s| s.policy.oracle = oracle);
    journal.admit();
    journal.says(&done());
    journal.tree += 1;
    let mut seen = journal.inspection(2);
    seen.oracle = vec!["tests/a.rs".into()];
    journal.see(Seen::Inspected(seen));
    journal.verified(CheckOutcome::Passed);
    journal
}

#[test]
fn a_guarded_oracle_must_hold_too() {
    for (how, reason, code) in
        [(CheckOutcome::Passed, Reason::GatePassed, 0), (CheckOutcome::Failed, Reason::OracleChanged, 4)]
    {
        let mut journal = weakened(Oracle::Guard);
        let check = Step::Verify { check: Check::WithBaselineOracle, deadline: 600_000 };
        assert_eq!(journal.answer.next, Next::Do(check));
        journal.verified(how);
        journal.ended_with(reason, code);
    }
}

/// Only `flag` reports changed tests, and only where verification passed with them.
#[test]
fn changed_tests_are_reported_where_the_policy_says_so() {
    for (oracle, codes) in
        [(Oracle::Flag, &["claim_and_proof", "oracle_flagged"][..]), (Oracle::Allow, &["claim_and_proof"])]
    {
        let journal = weakened(oracle);
        journal.ended_with(Reason::GatePassed, 0);
        assert_eq!(codes_of(&journal), codes, "{oracle:?}");
    }
    let mut unchanged = Journal::after_baseline(false, |s| s.policy.oracle = Oracle::Flag);
    unchanged.iteration(&done(), true, Some(CheckOutcome::Passed));
    assert_eq!(codes_of(&unchanged), ["claim_and_proof"], "no test changed");
    let mut unverified = Journal::unverified(|s| s.policy.oracle = Oracle::Flag);
    unverified.admit();
    unverified.says(&done());
    let mut seen = unverified.inspection(1);
    seen.oracle = vec!["tests/a.rs".into()];
    unverified.see(Seen::Inspected(seen));
    assert_eq!(codes_of(&unverified), ["claim_unverified"], "nothing was verified");
}

fn codes_of(journal: &Journal) -> Vec<String> {
    journal.answer.reasons.iter().map(|o| o.code()).collect()
}

/// Closes the verification that was asked for, with this many tests in its output.
fn verified_with_tests(journal: &mut Journal, how: CheckOutcome, tests: u32) {
    let mut verified = journal.verification(how, "error: a");
    verified.results[0].counts = Some(Counts::new(tests, 0, 0));
    journal.see(Seen::Verified(verified));
}

/// Ten tests before the run. Tests changed, tests afterwards → what follows.
#[test]
fn fewer_tests_prove_nothing_unless_the_old_ones_pass_too() {
    for (changed, tests, follows) in [
        (false, 10, "exit"),
        (false, 9, "continue: fewer_tests"),
        (true, 10, "verify with the baseline's tests"),
        (true, 9, "verify with the baseline's tests"),
    ] {
        let mut journal = Journal::start(|_| {});
        verified_with_tests(&mut journal, CheckOutcome::Failed, 10);
        journal.admit();
        journal.says(&done());
        journal.tree += 1;
        let mut seen = journal.inspection(1);
        seen.oracle = if changed { vec!["tests/a.rs".into()] } else { Vec::new() };
        journal.see(Seen::Inspected(seen));
        verified_with_tests(&mut journal, CheckOutcome::Passed, tests);
        let found = match &journal.answer.next {
            Next::Exit(_) => "exit".to_string(),
            Next::Do(Step::Admit { .. }) => format!("continue: {}", journal.reasons()),
            Next::Do(Step::Verify { check: Check::WithBaselineOracle, .. }) => {
                "verify with the baseline's tests".to_string()
            }
            other => format!("{other:?}"),
        };
        assert_eq!(found, follows, "changed: {changed}, tests: {tests}");
        if changed {
            verified_with_tests(&mut journal, CheckOutcome::Passed, 9);
            journal.ended_with(Reason::OracleChanged, 4);
            assert_eq!(codes_of(&journal), ["oracle_changed", "fewer_tests"], "one test is missing");
        }
    }
}
