//! What people ask for, in every phase: stop, stop after the iteration, pause, go on, hint.

use crate::journal::{Journal, done, more};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Why};
use ralph_rules::prompt::compose;
use ralph_rules::record::{Admitted, Attempt, CallEnded, CheckOutcome, FileRef, Refused, Request, Seen};
use ralph_rules::step::Step;

const AFTER: Request = Request::Stop { after: true, signal: 2 };

/// The call ends because a person asked: it is no iteration.
fn ends_for_a_person(journal: &mut Journal) {
    journal.ends_call(Why::Person);
    journal.fails(Class::Aborted, None);
}

#[test]
fn stop_ends_the_call_looks_at_the_workspace_and_leaves() {
    for (signal, code) in [(2, 130), (15, 143), (1, 129)] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.admit();
        journal.ask(Request::Stop { after: false, signal });
        ends_for_a_person(&mut journal);
        assert!(matches!(journal.answer.next, Next::Do(Step::Inspect { .. })));
        journal.inspected(true);
        journal.ended_with(Reason::Interrupted, code);
        assert_eq!(journal.state.calls.done, 0, "not counted");
        assert!(journal.ended().resumable());
    }
}

#[test]
fn a_stopped_iteration_is_begun_again_on_resume() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.stop();
    ends_for_a_person(&mut journal);
    journal.inspected(true);
    journal.later(60_000).resume();
    let Next::Do(Step::Admit { id, .. }) = journal.answer.next else { panic!("{:?}", journal.answer) };
    assert_eq!(id, Attempt { iteration: 1, attempt: 2 });
}

#[test]
fn stop_before_the_call_begins_nothing() {
    for request in [AFTER, Request::Stop { after: false, signal: 2 }] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.ask(request.clone());
        journal.ends_call(Why::Person);
        journal.ask(request);
        journal.holds();
        // The answer was on its way already.
        journal.admit();
        journal.ended_with(Reason::Interrupted, 130);
    }
}

#[test]
fn an_admission_that_was_given_up_for_a_stop_reserves_nothing_and_is_begun_again() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.stop();
    journal.ends_call(Why::Person);
    journal.see(Seen::Refused(Refused::by_person()));
    journal.ended_with(Reason::Interrupted, 130);
    assert_eq!((journal.state.calls.done, journal.state.budget.reserved), (0, Micro::ZERO));
    journal.resume();
    let Next::Do(Step::Admit { id, .. }) = journal.answer.next else { panic!("{:?}", journal.answer) };
    assert_eq!(id, Attempt { iteration: 1, attempt: 1 });
}

#[test]
fn an_iteration_without_a_snapshot_is_remembered_by_its_first_call() {
    let mut journal = Journal::after_baseline(false, |_| {});
    let admit = |journal: &mut Journal, why: Option<&str>| {
        let Next::Do(Step::Admit { id, amount: grant, .. }) = journal.answer.next else {
            panic!("{:?}", journal.answer)
        };
        let no_snapshot = why.map(Into::into);
        let (prompt, tree, template_failed, day) = (FileRef::default(), 1, None, String::new());
        let admitted = Admitted { id, grant, prompt, tree, template_failed, day, no_snapshot };
        journal.see(Seen::Admitted(admitted));
    };
    admit(&mut journal, Some("full"));
    journal.fails(Class::Outage, Some(1_000));
    journal.inspected(false);
    journal.later(60_000).see(Seen::Woke);
    // What the first attempt began with is not saved by the second.
    admit(&mut journal, None);
    assert_eq!(journal.state.trees.no_snapshot.get(&1).map(String::as_str), Some("full"));
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    admit(&mut journal, None);
    assert_eq!(journal.state.trees.no_snapshot.len(), 1);
}

#[test]
fn stop_during_the_baseline_ends_it_and_it_runs_again() {
    let mut journal = Journal::start(|_| {});
    journal.stop();
    journal.ends_call(Why::Person);
    journal.verified(CheckOutcome::Interrupted);
    journal.ended_with(Reason::Interrupted, 130);
    journal.resume();
    assert_eq!(journal.reasons(), "baseline_wanted");
    journal.verified(CheckOutcome::Passed);
}

#[test]
fn stop_during_verification_leaves_the_iteration_to_be_verified_again() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    journal.stop();
    journal.ends_call(Why::Person);
    journal.verified(CheckOutcome::Interrupted);
    journal.ended_with(Reason::Interrupted, 130);
    journal.resume();
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_verification_that_ends_just_then_still_needs_its_proof() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    journal.stop();
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::Interrupted, 130);
    journal.resume();
    journal.prove();
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn stop_after_lets_the_iteration_finish() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.ask(AFTER);
    journal.holds();
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.ended_with(Reason::Interrupted, 130);
    assert_eq!(journal.state.calls.done, 1);
    let mut proven = Journal::after_baseline(false, |_| {});
    proven.admit();
    proven.ask(AFTER);
    proven.says(&done());
    proven.inspected(true);
    proven.verified(CheckOutcome::Passed);
    proven.ended_with(Reason::GatePassed, 0);
}

#[test]
fn stop_after_while_waiting_leaves() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    journal.holds();
    journal.ask(AFTER);
    journal.ended_with(Reason::Interrupted, 130);
}

#[test]
fn a_stop_is_not_carried_into_the_next_process() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.ask(AFTER);
    journal.ask(Request::Pause);
    journal.resume();
    assert!(
        matches!(journal.answer.next, Next::Do(Step::Recover { .. })),
        "the process died, the wish with it"
    );
    let call = CallEnded { recovered: true, ..journal.closing(&more()) };
    journal.see(Seen::CallEnded(Box::new(call)));
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.goes_on("explicit_continue");
}

#[test]
fn a_pause_holds_before_the_next_call() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_time = Some(3_600_000));
    journal.admit();
    journal.ask(Request::Pause);
    journal.holds();
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.holds();
    let Next::Wait { wake } = journal.answer.next else { panic!() };
    assert_eq!((wake.at, wake.ran), (None, Some(3_600_000)), "only the run's time ends a pause");
    journal.ask(Request::Hint { text: "look at the lexer".into() });
    journal.holds();
    journal.ask(Request::Continue);
    assert!(matches!(journal.answer.next, Next::Do(Step::Admit { .. })));
    assert!(compose(&journal.state).contains("look at the lexer"));
    journal.admit();
    let Next::Do(Step::Call { hints, .. }) = journal.answer.next else { panic!("{:?}", journal.answer) };
    assert_eq!(hints, 1);
}

#[test]
fn proven_work_needs_no_one_to_go_on() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.ask(Request::Pause);
    journal.says(&done());
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_hint_given_during_a_call_waits_for_the_next_one() {
    let mut journal = Journal::start(|_| {});
    journal.ask(Request::Hint { text: "one".into() });
    journal.verified(CheckOutcome::Failed);
    journal.admit();
    journal.ask(Request::Hint { text: "two".into() });
    journal.holds();
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    let prompt = compose(&journal.state);
    assert!(prompt.contains("- two") && !prompt.contains("- one"), "{prompt}");
}

#[test]
fn a_hint_that_comes_after_the_prompt_was_composed_is_not_lost() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.ask(Request::Hint { text: "too late for this one".into() });
    journal.admit();
    let Next::Do(Step::Call { hints, .. }) = journal.answer.next else { panic!("{:?}", journal.answer) };
    assert_eq!(hints, 0);
    journal.says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    assert!(compose(&journal.state).contains("too late for this one"));
}

#[test]
fn go_on_said_during_a_call_does_not_end_a_wait_that_comes_later() {
    for (before, waits) in [(true, true), (false, false)] {
        let mut journal = Journal::after_baseline(false, |s| s.policy.pause_between = 60_000);
        journal.admit();
        if before {
            journal.ask(Request::Continue);
        }
        journal.says(&more());
        journal.inspected(true);
        journal.verified(CheckOutcome::Failed);
        journal.holds();
        if !before {
            journal.ask(Request::Continue);
        }
        assert_eq!(matches!(journal.answer.next, Next::Wait { .. }), waits);
    }
}
