//! What follows from a bound plan: open items against a claim, a closed plan as an indicator, a run that need not begin,
//! and what the next prompt says of the rest. A plan that is not named binds nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, bound, done, plan};
use ralph_rules::ending::Reason;
use ralph_rules::next::Next;
use ralph_rules::policy::Until;
use ralph_rules::prompt::compose;
use ralph_rules::record::{CheckOutcome, PlanSeen, RunStarted, Seen};
use ralph_rules::step::Step;

const PROMISE: &str = "It is done.\n<promise>COMPLETE</promise>";
const TWO_PHRASES: &str = "All tests pass. The implementation is complete.";
const ONE_PHRASE: &str = "The implementation is complete.";

fn given(done: u32, pending: u32) -> impl FnOnce(&mut RunStarted) {
    move |start| start.plan = bound(plan(done, pending))
}

fn bare(given: impl FnOnce(&mut RunStarted)) -> Journal {
    Journal::unverified(given)
}

fn iteration(journal: &mut Journal, text: &str, seen: PlanSeen, how: Option<CheckOutcome>) {
    journal.admit();
    journal.says(text);
    journal.tree += 1;
    let mut inspected = journal.inspection(1);
    inspected.plan = Some(seen);
    journal.see(Seen::Inspected(inspected));
    if let Some(how) = how {
        journal.verified(how);
    }
}

#[test]
fn open_items_contradict_a_claim() {
    for text in [done(), PROMISE.into()] {
        let mut journal = Journal::after_baseline(false, given(0, 2));
        iteration(&mut journal, &text, plan(1, 1), Some(CheckOutcome::Passed));
        journal.goes_on("contradictory_claim");
        assert!(journal.answer.reasons[0].say().ends_with("the plan fix_plan.md has 1 open item"));
        let mut journal = bare(given(0, 2));
        iteration(&mut journal, &text, plan(1, 1), None);
        journal.goes_on("contradictory_claim");
    }
}

#[test]
fn the_count_after_the_call_decides() {
    let mut journal = Journal::after_baseline(false, given(0, 2));
    iteration(&mut journal, &done(), plan(2, 0), Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_closed_plan_is_one_indicator_and_no_more() {
    let mut journal = bare(given(0, 1));
    iteration(&mut journal, PROMISE, plan(1, 0), None);
    journal.goes_on("claim_without_evidence");
    let mut journal = bare(given(0, 1));
    let text = format!("{ONE_PHRASE}\n<promise>COMPLETE</promise>");
    iteration(&mut journal, &text, plan(1, 0), None);
    journal.ended_with(Reason::GatePassed, 0);
    let mut journal = bare(given(0, 1));
    iteration(&mut journal, &text, PlanSeen::default(), None);
    journal.goes_on("contradictory_claim");
}

#[test]
fn it_counts_towards_signals_running_and_open_items_against_them() {
    let classic = || {
        bare(|start| {
            given(0, 1)(start);
            start.policy.gate.done_signals = 2;
        })
    };
    let mut journal = classic();
    iteration(&mut journal, ONE_PHRASE, plan(1, 0), None);
    journal.goes_on("no_claim");
    iteration(&mut journal, ONE_PHRASE, plan(1, 0), None);
    journal.ended_with(Reason::CompletionSignals, 0);
    let mut journal = classic();
    for _ in 0..2 {
        iteration(&mut journal, TWO_PHRASES, plan(0, 1), None);
    }
    journal.goes_on("contradictory_claim");
}

#[test]
fn a_plan_that_vanished_or_broke_is_not_complete() {
    let broken = PlanSeen::unreadable("line 3, column 4: trailing comma");
    for seen in [broken, PlanSeen::default()] {
        let mut journal = Journal::after_baseline(false, given(1, 2));
        iteration(&mut journal, &done(), seen.clone(), Some(CheckOutcome::Passed));
        journal.goes_on("contradictory_claim");
        iteration(&mut journal, &done(), PlanSeen::default(), Some(CheckOutcome::Passed));
        journal.goes_on("contradictory_claim");
        iteration(&mut journal, &done(), plan(3, 0), Some(CheckOutcome::Passed));
        journal.ended_with(Reason::GatePassed, 0);
    }
    // Items that were done may be tidied away.
    let mut journal = Journal::after_baseline(false, given(0, 1));
    iteration(&mut journal, "Done.", plan(3, 0), Some(CheckOutcome::Passed));
    iteration(&mut journal, &done(), PlanSeen::default(), Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_complete_plan_that_is_proven_needs_no_call() {
    let journal = Journal::after_baseline(true, given(3, 0));
    journal.ended_with(Reason::AlreadyComplete, 0);
    assert!(journal.ended().verified);
    assert_eq!((journal.reasons().as_str(), journal.state.calls.done), ("plan_complete", 0));
    let until = |s: &mut RunStarted| {
        s.policy.gate.until = Until::Verified;
        s.plan = bound(plan(3, 0));
    };
    Journal::after_baseline(true, until).ended_with(Reason::AlreadyComplete, 0);
}

#[test]
fn otherwise_the_agent_is_called() {
    let begins = |journal: &Journal| {
        assert!(matches!(journal.answer.next, Next::Do(Step::Admit { .. })), "{:?}", journal.answer);
    };
    begins(&Journal::after_baseline(false, given(3, 0)));
    begins(&Journal::after_baseline(true, given(3, 1)));
    begins(&Journal::after_baseline(true, given(0, 0)));
    begins(&Journal::after_baseline(true, |_| {}));
    begins(&bare(given(3, 0)));
}

#[test]
fn an_interruption_asks_for_plan_and_proof_anew() {
    let stopped = || {
        let mut journal = Journal::start(given(3, 0));
        journal.stop();
        journal.verified(CheckOutcome::Interrupted);
        journal.ended_with(Reason::Interrupted, 130);
        journal
    };
    for (seen, how, ends) in [
        (plan(3, 0), CheckOutcome::Passed, true),
        (plan(3, 0), CheckOutcome::Failed, false),
        (plan(3, 1), CheckOutcome::Passed, false),
    ] {
        let mut journal = stopped();
        journal.resume_with(Some(seen.clone()));
        journal.verified(how);
        assert_eq!(matches!(journal.answer.next, Next::Exit(_)), ends, "{:?}", journal.answer);
    }
    // A reservation was being asked for when it was interrupted; the items have been ticked since.
    let mut journal = Journal::after_baseline(true, given(3, 1));
    journal.resume_with(Some(plan(4, 0)));
    assert!(matches!(journal.answer.next, Next::Do(Step::Verify { .. })), "{:?}", journal.answer);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::AlreadyComplete, 0);
}

#[test]
fn it_is_asked_only_before_the_first_call() {
    let mut journal = Journal::after_baseline(true, given(1, 1));
    iteration(&mut journal, "Next.", plan(2, 0), Some(CheckOutcome::Passed));
    journal.goes_on("no_claim");
}

#[test]
fn the_next_prompt_names_what_is_open() {
    let mut journal = Journal::after_baseline(false, given(0, 30));
    assert_eq!(compose(&journal.state), "Mend the parser.");
    iteration(&mut journal, "Next.", plan(2, 28), Some(CheckOutcome::Failed));
    let prompt = compose(&journal.state);
    assert!(prompt.contains("- Still open in the plan fix_plan.md: 28\n  - Task 1\n"), "{prompt}");
    assert!(prompt.contains("  - Task 10\n") && !prompt.contains("Task 11"), "{prompt}");
    iteration(&mut journal, "Next.", plan(30, 0), Some(CheckOutcome::Failed));
    assert!(!compose(&journal.state).contains("Still open"));
}

#[test]
fn until_verified_asks_the_verification_alone() {
    let mut journal = Journal::after_baseline(false, |s| {
        s.policy.gate.until = Until::Verified;
        s.plan = bound(plan(0, 2));
    });
    iteration(&mut journal, "Next.", plan(1, 1), Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}
