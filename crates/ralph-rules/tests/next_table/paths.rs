//! Protected paths: an iteration that changed one can never succeed.

use crate::journal::{Journal, done, more};
use ralph_rules::ending::Reason;
use ralph_rules::next::Next;
use ralph_rules::policy::OnViolation;
use ralph_rules::prompt::compose;
use ralph_rules::record::{CheckOutcome, How, ObeyedChange, Restored, Seen, Violation};
use ralph_rules::step::Step;

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
    assert_eq!((idle.state.stall.running, idle.state.repeat.longest().running), (1, 1));
}

fn husky() -> Violation {
    Violation { tool: Some("husky".into()), ..Violation::new(".git/config", How::Modified) }
}

/// A call in which these protected paths change, besides one file of the work.
fn changes(journal: &mut Journal, text: &str, violations: Vec<Violation>) {
    journal.admit();
    journal.says(text);
    journal.tree += 1;
    let mut seen = journal.inspection(1);
    seen.violations = violations;
    journal.see(Seen::Inspected(seen));
}

#[test]
fn what_a_tool_changes_by_itself_is_put_back_and_the_iteration_may_succeed() {
    let mut journal = Journal::after_baseline(false, |_| {});
    changes(&mut journal, &done(), vec![husky()]);
    assert_eq!(journal.answer.reasons[0].code(), "tool_changed");
    restored(&mut journal, &[]);
    assert!(journal.state.trees.progress, "the work is as it was inspected");
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.state.trees.by_tools, [husky()]);
}

#[test]
fn as_often_as_it_likes() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for error in ["error: a", "error: bee", "error: sea", "error: dee", "error: eve"] {
        changes(&mut journal, &more(), vec![husky()]);
        restored(&mut journal, &[]);
        journal.verified_saying(CheckOutcome::Failed, error);
    }
    assert_eq!((journal.state.trees.restores, journal.state.trees.offences), (5, 0));
    assert_eq!(journal.state.trees.by_tools.len(), 1, "told once");
    changes(&mut journal, &done(), Vec::new());
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn beside_a_tool_somebody_else_ends_the_run() {
    let mut journal = Journal::after_baseline(false, |_| {});
    changes(&mut journal, &done(), vec![husky(), env().remove(0)]);
    assert_eq!(journal.answer.reasons[0].code(), "prohibited_path");
    restored(&mut journal, &[]);
    journal.ended_with(Reason::ProhibitedPath, 4);
    assert_eq!(journal.state.trees.touched, env());
}

#[test]
fn what_a_tool_changed_and_cannot_be_put_back_ends_the_run() {
    let mut journal = Journal::after_baseline(false, |_| {});
    changes(&mut journal, &done(), vec![husky()]);
    restored(&mut journal, &[".git/config"]);
    journal.ended_with(Reason::ProhibitedPath, 4);
}

#[test]
fn a_verification_in_which_a_tool_changes_something_is_not_repeated() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    let mut verified = journal.verification(CheckOutcome::Passed, "");
    verified.violations = vec![husky()];
    journal.see(Seen::Verified(verified));
    restored(&mut journal, &[]);
    journal.prove();
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn what_other_programs_obey_is_remembered_until_it_is_gone() {
    let mut journal = Journal::after_baseline(false, |_| {});
    let change = |path: &str, gone| ObeyedChange { path: path.into(), gone };
    let rows = [
        (vec![change(".envrc", false), change(".idea/x.xml", false)], vec![".envrc", ".idea/x.xml"]),
        (vec![], vec![".envrc", ".idea/x.xml"]),
        (vec![change(".idea/x.xml", true)], vec![".envrc"]),
    ];
    for (changes, left) in rows {
        journal.admit();
        journal.says(&more());
        journal.tree += 1;
        let mut seen = journal.inspection(1);
        seen.obeyed = changes;
        journal.see(Seen::Inspected(seen));
        journal.verified(CheckOutcome::Failed);
        assert_eq!(journal.state.trees.obeyed.iter().map(String::as_str).collect::<Vec<_>>(), left);
    }
}
