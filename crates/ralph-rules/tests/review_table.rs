//! Reviews: a second agent reads proven work. It delays an end and settles grades that ask somebody to look; it never
//! grants an end, and its failures change nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done};
use ralph_rules::claim::Verdict;
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::grade::Grade;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Why};
use ralph_rules::policy::Oracle;
use ralph_rules::prompt::{Change, compose, review_for};
use ralph_rules::record::*;
use ralph_rules::step::Step;

fn ship() -> String {
    "Fine.\n\n---RALPH_REVIEW---\nVERDICT: SHIP\nFINDINGS:\n- none\n---END_RALPH_REVIEW---\n".into()
}

fn revise() -> String {
    "---RALPH_REVIEW---\nVERDICT: REVISE\nFINDINGS:\n- src/a.rs:3 drops the last name\n- no test for an empty \
     list\n---END_RALPH_REVIEW---\n"
        .into()
}

fn reviewer(start: &mut RunStarted) {
    let agent = AgentChoice { name: "codex".into(), timeout: Some(120_000), ..AgentChoice::default() };
    start.review = Some(ReviewGiven { agent, rounds: 2 });
}

/// A run whose first iteration is claimed, verified and proven.
fn proven(with: impl FnOnce(&mut RunStarted)) -> Journal {
    let mut journal = Journal::after_baseline(false, |start| {
        reviewer(start);
        with(start);
    });
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

/// The baseline passed and earlier tests had to change: grade `revised`.
fn revised(with: impl FnOnce(&mut RunStarted)) -> Journal {
    let mut journal = Journal::after_baseline(true, |start| {
        reviewer(start);
        with(start);
    });
    let set = |name: &str| ChangeSet { files: 1, names: vec![name.into()] };
    journal.sets = Some(Compared { work: set("src/a.rs"), oracle: set("tests/a.rs"), ..Compared::default() });
    journal.room_passes = |sets| sets.oracle && sets.work;
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

#[track_caller]
fn asked(journal: &Journal) -> Attempt {
    match journal.answer.next {
        Next::Do(Step::Admit { id, review: true, .. }) => id,
        _ => panic!("no review is asked for: {:?}", journal.answer),
    }
}

fn codes(journal: &Journal) -> Vec<String> {
    journal.answer.reasons.iter().map(|reason| reason.code()).collect()
}

/// The reviewer is called and answers.
fn reviewed(journal: &mut Journal, text: &str) {
    asked(journal);
    journal.later(100).admit();
    assert!(matches!(journal.answer.next, Next::Do(Step::Call { review: true, hints: 0, .. })));
    journal.later(5_000).says(text);
}

#[test]
fn ship_lets_the_grade_decide() {
    let mut journal = proven(|_| ());
    assert_eq!(asked(&journal), Attempt { iteration: 1, attempt: 2 });
    assert_eq!(journal.reasons(), "review_wanted");
    reviewed(&mut journal, &ship());
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.ended().grade, Some(Grade::Proven));
    assert!(codes(&journal).contains(&"review_ships".to_owned()), "{:?}", journal.answer);
    assert_eq!((journal.state.calls.done, journal.state.budget.spent), (1, Micro(200_000)));
    assert_eq!(journal.state.calls.text, done(), "the result has the worker's message");
}

#[test]
fn revise_sends_the_work_back_with_its_findings() {
    let mut journal = proven(|_| ());
    reviewed(&mut journal, &revise());
    journal.goes_on("review_objects");
    let Next::Do(Step::Admit { id, review: false, .. }) = journal.answer.next else { panic!() };
    assert_eq!(id, Attempt { iteration: 2, attempt: 1 });
    let prompt = compose(&journal.state);
    assert!(prompt.contains("src/a.rs:3 drops the last name") && prompt.contains("empty list"), "{prompt}");
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    reviewed(&mut journal, &ship());
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.state.calls.done, 2);
}

#[test]
fn after_the_last_round_a_person_decides() {
    let mut journal = proven(|_| ());
    reviewed(&mut journal, &revise());
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    reviewed(&mut journal, &revise());
    journal.ended_with(Reason::NeedsReview, 2);
    assert_eq!((journal.ended().grade, journal.reasons().as_str()), (Some(Grade::Proven), "review_objects"));
    // Accepted: verified and proven again, but nobody is asked.
    journal.resume();
    journal.ask(Request::Accept);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::Accepted, 0);
    assert_eq!(journal.state.reviews.used(), 2);
}

#[test]
fn resumed_after_an_objection_the_agent_works_again() {
    let mut journal = proven(|start| start.review.as_mut().unwrap().rounds = 1);
    reviewed(&mut journal, &revise());
    journal.ended_with(Reason::NeedsReview, 2);
    journal.resume();
    journal.verified(CheckOutcome::Passed);
    journal.goes_on("review_objects");
    // The objection stands: nobody is left to withdraw it.
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::NeedsReview, 2);
}

#[test]
fn the_same_files_are_not_reviewed_twice() {
    let mut journal = proven(|_| ());
    reviewed(&mut journal, &revise());
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::NeedsReview, 2);
    assert_eq!(journal.state.reviews.used(), 1);
}

#[test]
fn without_another_iteration_an_objection_goes_to_a_person() {
    let mut journal = proven(|start| start.policy.max_iterations = 1);
    reviewed(&mut journal, &revise());
    journal.ended_with(Reason::NeedsReview, 2);
}

#[test]
fn ship_settles_what_somebody_has_to_look_at() {
    let mut journal = revised(|_| ());
    reviewed(&mut journal, &ship());
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.ended().grade, Some(Grade::Revised));
    assert!(codes(&journal).contains(&"earlier_tests_fail".to_owned()));
    // Without an answer it stays what it was.
    let mut journal = revised(|_| ());
    reviewed(&mut journal, "Looks good to me!");
    journal.ended_with(Reason::NeedsReview, 2);
    assert!(codes(&journal).contains(&"review_unanswered".to_owned()), "{:?}", journal.answer);
}

#[test]
fn a_grade_below_the_required_one_is_not_reviewed() {
    let mut journal = Journal::after_baseline(true, |start| {
        reviewer(start);
        start.policy.gate.require = Grade::Tested;
    });
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.goes_on("ask_for_test");
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::NeedsReview, 2);
    assert_eq!(journal.reasons(), "grade_below");
}

#[test]
fn failing_checks_and_empty_changes_are_not_reviewed() {
    let mut journal = Journal::after_baseline(false, reviewer);
    journal.iteration(&done(), true, Some(CheckOutcome::Failed));
    journal.goes_on("verification_failed");
    let mut journal = Journal::unverified(reviewer);
    journal.iteration(&format!("All tests pass.\n\n{}", done()), true, None);
    assert!(matches!(journal.answer.next, Next::Exit(_)), "{:?}", journal.answer);
}

#[test]
fn a_policy_that_allows_changed_checks_is_reviewed_too() {
    let mut journal = proven(|start| start.policy.oracle = Oracle::Allow);
    reviewed(&mut journal, &revise());
    journal.goes_on("review_objects");
}

#[test]
fn a_failed_review_changes_nothing_and_is_named() {
    for class in [Class::Auth, Class::UsageLimit, Class::Aborted, Class::Refusal, Class::BadRequest] {
        let mut journal = proven(|_| ());
        journal.admit();
        journal.fails(class, None);
        journal.ended_with(Reason::GatePassed, 0);
        assert!(codes(&journal).contains(&"review_unanswered".to_owned()), "{class:?}");
        assert_eq!((journal.state.faults.last.clone(), journal.state.reviews.used()), (None, 1));
    }
}

#[test]
fn a_failed_review_does_not_withdraw_an_objection() {
    let mut journal = proven(|start| start.review.as_mut().unwrap().rounds = 3);
    reviewed(&mut journal, &revise());
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    reviewed(&mut journal, "");
    journal.ended_with(Reason::NeedsReview, 2);
}

#[test]
fn a_review_that_cannot_be_paid_is_left_out() {
    for by in [Refuser::RunCap, Refuser::DayCap, Refuser::CallsPerHour, Refuser::Provider] {
        let mut journal = proven(|_| ());
        asked(&journal);
        journal.refuse(by, Some(60_000));
        // The files are verified once more: somebody may have changed them meanwhile.
        journal.verified(CheckOutcome::Passed);
        journal.ended_with(Reason::GatePassed, 0);
        assert!(codes(&journal).contains(&"review_unanswered".to_owned()), "{by:?}");
    }
    let journal = proven(|start| start.policy.max_cost = Micro(100_000));
    journal.ended_with(Reason::GatePassed, 0);
    assert!(codes(&journal).contains(&"not_reviewed".to_owned()));
    let mut journal = proven(|_| ());
    journal.refuse(Refuser::Disk, None);
    journal.ended_with(Reason::StoreUnsafe, 74);
    journal.resume();
    journal.verified(CheckOutcome::Passed);
    asked(&journal);
}

#[test]
fn a_review_that_a_person_stopped_before_its_call_uses_no_round() {
    let mut journal = proven(|_| ());
    asked(&journal);
    journal.stop();
    journal.ends_call(Why::Person);
    journal.see(Seen::Refused(Refused::by_person()));
    journal.ended_with(Reason::Interrupted, 130);
    assert_eq!(journal.state.reviews.used(), 0);
}

#[test]
fn its_deadline_and_silence_end_it() {
    let mut journal = proven(|_| ());
    journal.admit();
    journal.later(120_000).see(Seen::Woke);
    journal.ends_call(Why::Deadline);
    journal.fails(Class::Aborted, None);
    journal.ended_with(Reason::GatePassed, 0);
    let mut journal = proven(|_| ());
    journal.admit();
    journal.see(Seen::Silent(Silent { ms: 300_000 }));
    journal.ends_call(Why::Silence);
}

#[test]
fn a_stop_interrupts_it_without_using_a_round() {
    let mut journal = proven(|_| ());
    journal.admit();
    journal.stop();
    journal.ends_call(Why::Person);
    journal.fails(Class::Aborted, None);
    journal.ended_with(Reason::Interrupted, 130);
    journal.resume();
    if !matches!(journal.answer.next, Next::Do(Step::Admit { .. })) {
        journal.verified(CheckOutcome::Passed);
    }
    assert_eq!(asked(&journal), Attempt { iteration: 1, attempt: 3 });
    reviewed(&mut journal, &ship());
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_crash_during_a_review_is_recovered() {
    // The answer is in the transcript: the files are verified again, and it counts for them.
    let mut journal = proven(|_| ());
    journal.admit();
    let id = journal.state.calls.id;
    journal.resume();
    assert!(matches!(journal.answer.next, Next::Do(Step::Recover { .. })));
    let call = CallEnded { recovered: true, ..journal.closing(&ship()) };
    journal.see(Seen::CallEnded(Box::new(call)));
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
    assert!(journal.state.reviews.has(id));
    // It is lost: charged, a round, and no verdict.
    let mut journal = proven(|_| ());
    journal.admit();
    let id = journal.state.calls.id;
    journal.resume();
    let (charged, usage) = (Micro(300_000), Default::default());
    let transcript = FileRef::default();
    journal.see(Seen::CallLost(CallLost { id, charged, usage, outlived: 0, transcript }));
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
    assert!(codes(&journal).contains(&"review_unanswered".to_owned()));
    assert_eq!((journal.state.budget.spent, journal.state.calls.done), (Micro(400_000), 1));
}

#[test]
fn a_crash_before_its_call_asks_again() {
    for admitted in [false, true] {
        let mut journal = proven(|_| ());
        if admitted {
            journal.admit();
            // The call was decided; a process that died before that is meant here.
            journal.records.pop();
            journal.state = ralph_rules::state::State::of(&journal.records);
        }
        journal.resume();
        journal.verified(CheckOutcome::Passed);
        asked(&journal);
        assert_eq!(journal.state.budget.reserved, Micro::ZERO);
        reviewed(&mut journal, &ship());
        journal.ended_with(Reason::GatePassed, 0);
    }
}

#[test]
fn files_that_changed_before_its_call_are_proven_again() {
    let mut journal = proven(|_| ());
    journal.tree += 1;
    reviewed(&mut journal, &ship());
    assert!(
        matches!(journal.answer.next, Next::Do(Step::Verify { check: Check::AsIs, .. })),
        "{:?}",
        journal.answer
    );
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.state.reviews.used(), 1, "the review counts for the files it read");
}

#[test]
fn it_feeds_no_counter() {
    let mut journal = proven(|_| ());
    let before = journal.state.clone();
    reviewed(&mut journal, &revise());
    let after = &journal.state;
    assert_eq!((&after.claim, &after.signals, &after.stall), (&before.claim, &before.signals, &before.stall));
    assert_eq!(
        (&after.ladder, &after.recent, &after.person),
        (&before.ladder, &before.recent, &before.person)
    );
    assert_eq!((after.checks.passed(), after.calls.done), (true, before.calls.done));
    assert_eq!(after.reviews.made[0].verdict, Some(Verdict::Revise));
}

#[test]
fn its_prompt_has_task_change_and_receipt() {
    let journal = revised(|start| start.prompt = "Rename the function.".into());
    let change = Change { diff: format!("+```\n{}", "+line\n".repeat(20_000)), map: "src/a.rs: held".into() };
    let given = journal.state.start.clone().unwrap();
    let made = review_for(&journal.state, &given, &change);
    assert_eq!(made.mistake, None);
    for part in
        ["Rename the function.", "\"revised\"", "src/a.rs: held", "````", "tests/a.rs", "VERDICT: SHIP"]
    {
        assert!(made.text.contains(part), "{part}: {}", &made.text[..3_000]);
    }
    assert!(made.text.len() < 64 * 1024, "{}", made.text.len());
    assert!(made.text.trim_end().ends_with("---END_RALPH_REVIEW---"));
}
