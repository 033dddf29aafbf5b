//! The gate, row by row: signal × verification × indicators → done, or go on and why.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, block, done, more};
use ralph_rules::claim::{Progress, Tests};
use ralph_rules::ending::{Reason, Status};
use ralph_rules::failure::Class;
use ralph_rules::next::Next;
use ralph_rules::policy::Until;
use ralph_rules::prompt::compose;
use ralph_rules::record::{CheckOutcome, Seen};
use ralph_rules::step::Step;

const PROMISE: &str = "It is done.\n<promise>COMPLETE</promise>";
const TWO_PHRASES: &str = "All tests pass. The implementation is complete.";
const ONE_PHRASE: &str = "The implementation is complete.";
const NO_WORD: &str = "I changed a few lines.";

fn unverified(text: &str) -> Journal {
    let mut journal = Journal::unverified(|_| {});
    journal.iteration(text, true, None);
    journal
}

fn verified(text: &str, how: CheckOutcome) -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(text, true, Some(how));
    journal
}

#[test]
fn an_explicit_no_wins_over_everything() {
    let no = format!("{TWO_PHRASES}\n\n{}", more());
    verified(&no, CheckOutcome::Passed).goes_on("explicit_continue");
    verified(&no, CheckOutcome::Failed).goes_on("explicit_continue");
    unverified(&no).goes_on("explicit_continue");
    let mut again = unverified(&no);
    again.iteration(&no, true, None);
    again.goes_on("explicit_continue");
}

#[test]
fn a_claim_with_proof_is_done() {
    for text in [done(), PROMISE.into(), format!("{PROMISE}\n\n{}", done())] {
        let journal = verified(&text, CheckOutcome::Passed);
        journal.ended_with(Reason::GatePassed, 0);
        assert!(journal.ended().verified);
        assert_eq!(journal.ended().status(), Status::Completed);
    }
}

#[test]
fn green_before_and_nothing_changed_is_believed_the_second_time() {
    let mut journal = Journal::after_baseline(true, |_| {});
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.goes_on("see_it_twice");
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::AlreadyComplete, 0);
    assert!(journal.ended().verified);
}

#[test]
fn green_before_and_something_changed_is_believed_at_once() {
    let mut journal = Journal::after_baseline(true, |_| {});
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn twice_means_twice_running() {
    let mut journal = Journal::after_baseline(true, |_| {});
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.iteration(&more(), false, Some(CheckOutcome::Passed));
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.goes_on("see_it_twice");
}

#[test]
fn a_claim_is_not_believed_against_verification() {
    for how in [CheckOutcome::Failed, CheckOutcome::TimedOut, CheckOutcome::NotRun] {
        let journal = verified(&done(), how);
        journal.goes_on("verification_failed");
        let prompt = compose(&journal.state);
        assert!(prompt.contains("expected 1, found 2"), "its output goes into the next prompt: {prompt}");
    }
}

#[test]
fn a_rejected_claim_is_never_accepted_by_force() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for n in 1..=9 {
        journal.later(1_000).admit();
        journal.says(&done());
        journal.inspected(true);
        let error = format!("error: {}", ["one", "two", "three"][n % 3]);
        journal.verified_saying(CheckOutcome::Failed, &error);
        journal.goes_on("verification_failed");
    }
}

#[test]
fn without_verification_a_claim_needs_two_indicators() {
    unverified(&done()).goes_on("claim_without_evidence");
    let journal = unverified(&format!("{ONE_PHRASE}\n\n{}", done()));
    journal.ended_with(Reason::GatePassed, 0);
    assert!(!journal.ended().verified, "unverified, and shown so");
    unverified(PROMISE).goes_on("claim_without_evidence");
    unverified(&format!("{ONE_PHRASE}\n<promise>COMPLETE</promise>")).goes_on("claim_without_evidence");
    unverified(&format!("{TWO_PHRASES}\n<promise>COMPLETE</promise>")).ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_preset_may_believe_an_explicit_claim_alone() {
    let mut journal = Journal::unverified(|s| s.policy.gate.explicit_alone = true);
    journal.iteration(PROMISE, true, None);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn signs_without_a_claim_count_in_two_iterations_running() {
    let mut journal = unverified(TWO_PHRASES);
    journal.goes_on("no_claim");
    journal.iteration(TWO_PHRASES, true, None);
    journal.goes_on("no_claim");

    let mut journal = Journal::unverified(|s| s.policy.gate.done_signals = 2);
    journal.iteration(TWO_PHRASES, true, None);
    journal.iteration(TWO_PHRASES, true, None);
    journal.ended_with(Reason::CompletionSignals, 0);
    assert!(!journal.ended().verified);

    let mut journal = verified(ONE_PHRASE, CheckOutcome::Passed);
    journal.goes_on("no_claim");
    journal.iteration(ONE_PHRASE, true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::CompletionSignals, 0);
    assert!(journal.ended().verified, "a passing verification is the second indicator");
}

#[test]
fn signs_that_are_interrupted_begin_anew() {
    let mut journal = Journal::unverified(|s| s.policy.gate.done_signals = 2);
    journal.iteration(TWO_PHRASES, true, None);
    journal.iteration(NO_WORD, true, None);
    journal.iteration(TWO_PHRASES, true, None);
    journal.goes_on("no_claim");
    journal.iteration(TWO_PHRASES, true, None);
    journal.ended_with(Reason::CompletionSignals, 0);
}

#[test]
fn signs_against_verification_are_nothing() {
    let mut journal = verified(TWO_PHRASES, CheckOutcome::Failed);
    journal.iteration(TWO_PHRASES, true, Some(CheckOutcome::Failed));
    journal.goes_on("verification_failed");
    unverified(NO_WORD).goes_on("no_claim");
    verified(NO_WORD, CheckOutcome::Passed).goes_on("no_claim");
}

#[test]
fn contradictions_lower_a_claim() {
    for text in
        [block(Progress::Complete, Tests::Failing, true), block(Progress::InProgress, Tests::Passing, true)]
    {
        verified(&text, CheckOutcome::Passed).goes_on("contradictory_claim");
        unverified(&text).goes_on("contradictory_claim");
    }
    verified(&block(Progress::Complete, Tests::Failing, true), CheckOutcome::Failed)
        .goes_on("contradictory_claim");
}

#[test]
fn blocked_ends_the_run_whatever_the_signal_says() {
    for exit in [false, true] {
        let text = block(Progress::Blocked, Tests::Passing, exit);
        verified(&text, CheckOutcome::Passed).ended_with(Reason::Blocked, 2);
        unverified(&text).ended_with(Reason::Blocked, 2);
    }
}

#[test]
fn an_unreadable_block_is_a_no() {
    let cut = done().replace("---END_RALPH_STATUS---", "");
    verified(&format!("{TWO_PHRASES}\n\n{cut}"), CheckOutcome::Passed).goes_on("unreadable_block");
}

#[test]
fn where_promise_and_block_disagree_the_block_decides() {
    verified(&format!("{}\n\n<promise>COMPLETE</promise>", more()), CheckOutcome::Passed)
        .goes_on("explicit_continue");
}

#[test]
fn the_promise_is_the_runs_own() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.gate.promise = "ALL-GREEN".into());
    journal.iteration(PROMISE, true, Some(CheckOutcome::Passed));
    journal.goes_on("no_claim");
    journal.iteration("<promise>ALL-GREEN</promise>", true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_marker_file_is_a_claim_and_no_proof() {
    for (how, ends) in [(CheckOutcome::Passed, true), (CheckOutcome::Failed, false)] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.admit();
        journal.says(NO_WORD);
        journal.tree += 1;
        let mut seen = journal.inspection(1);
        seen.marker = true;
        journal.see(Seen::Inspected(seen));
        journal.verified(how);
        assert_eq!(matches!(journal.answer.next, Next::Exit(_)), ends);
    }
}

#[test]
fn a_failed_call_claims_nothing() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.fails(Class::Truncated, None);
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    journal.goes_on("call_failed");
}

#[test]
fn until_verified_asks_for_proof_alone() {
    let until = |green: bool| Journal::after_baseline(green, |s| s.policy.gate.until = Until::Verified);
    let mut journal = until(false);
    journal.iteration(&more(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
    let mut journal = until(true);
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.goes_on("green_before");
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.goes_on("green_before");
    journal.iteration(NO_WORD, true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
    for text in [done(), more(), NO_WORD.into()] {
        let mut journal = until(false);
        journal.iteration(&text, true, Some(CheckOutcome::Failed));
        journal.goes_on("verification_failed");
        let said = journal.answer.reasons[0].say();
        assert_eq!(said.contains("the agent says it is done"), text == done(), "{said}");
    }
    let mut blocked = until(false);
    blocked.iteration(&block(Progress::Blocked, Tests::NotRun, false), true, Some(CheckOutcome::Passed));
    blocked.ended_with(Reason::Blocked, 2);
}

#[test]
fn signals_of_an_earlier_run_never_count() {
    let first = unverified(TWO_PHRASES);
    drop(first);
    unverified(TWO_PHRASES).goes_on("no_claim");
    let journal = Journal::unverified(|_| {});
    assert!(matches!(journal.answer.next, Next::Do(Step::Admit { .. })));
}

fn marked(journal: &mut Journal, text: &str, how: CheckOutcome) {
    journal.admit();
    journal.says(text);
    let mut seen = journal.inspection(0);
    seen.marker = true;
    journal.see(Seen::Inspected(seen));
    journal.verified(how);
}

#[test]
fn a_marker_file_counts_like_the_signal_in_every_row() {
    let mut journal = Journal::after_baseline(true, |_| {});
    marked(&mut journal, NO_WORD, CheckOutcome::Passed);
    journal.goes_on("see_it_twice");
    marked(&mut journal, NO_WORD, CheckOutcome::Passed);
    journal.ended_with(Reason::AlreadyComplete, 0);
    let mut journal = Journal::after_baseline(false, |_| {});
    marked(&mut journal, &more(), CheckOutcome::Passed);
    journal.goes_on("explicit_continue");
}

#[test]
fn a_contradicted_claim_is_not_the_first_of_two() {
    let mut journal = Journal::after_baseline(true, |_| {});
    journal.iteration(&block(Progress::Complete, Tests::Failing, true), false, Some(CheckOutcome::Passed));
    journal.goes_on("contradictory_claim");
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.goes_on("see_it_twice");
}

#[test]
fn a_failed_call_is_not_the_first_of_two() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.gate.indicators = 1);
    journal.admit();
    journal.fails(Class::Truncated, None);
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    journal.iteration(NO_WORD, true, Some(CheckOutcome::Passed));
    journal.goes_on("no_claim");
}

#[test]
fn as_many_signals_running_as_the_policy_asks_for() {
    let mut journal = Journal::unverified(|s| s.policy.gate.done_signals = 8);
    for _ in 0..7 {
        journal.iteration(TWO_PHRASES, true, None);
        journal.goes_on("no_claim");
    }
    journal.iteration(TWO_PHRASES, true, None);
    journal.ended_with(Reason::CompletionSignals, 0);
}

#[test]
fn a_preset_may_ask_for_the_signal_twice() {
    let twice = |s: &mut ralph_rules::record::RunStarted| {
        s.policy.gate.exit_signals = 2;
        s.policy.gate.done_signals = 2;
        s.policy.gate.explicit_alone = true;
    };
    for second in [PROMISE, TWO_PHRASES] {
        let mut journal = Journal::unverified(twice);
        journal.iteration(PROMISE, true, None);
        journal.goes_on("signal_again");
        journal.iteration(second, true, None);
        assert_eq!(journal.ended().status(), Status::Completed);
    }
    let mut journal = Journal::unverified(twice);
    journal.iteration(PROMISE, true, None);
    journal.iteration(&more(), true, None);
    journal.iteration(PROMISE, true, None);
    journal.goes_on("signal_again");
    let mut journal = Journal::after_baseline(false, twice);
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.goes_on("signal_again");
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}

/// Verification passed before the run and nothing changed: the iteration before must have made the same claim.
#[test]
fn only_the_same_claim_counts_as_the_first_of_two() {
    let contradictory = block(Progress::Complete, Tests::Failing, true);
    for (first, how) in [
        (ONE_PHRASE.to_string(), CheckOutcome::Passed),
        (more(), CheckOutcome::Passed),
        (contradictory, CheckOutcome::Passed),
        (done(), CheckOutcome::Failed),
    ] {
        let mut journal = Journal::after_baseline(true, |_| {});
        journal.iteration(&first, false, Some(how));
        journal.iteration(&done(), false, Some(CheckOutcome::Passed));
        journal.goes_on("see_it_twice");
        journal.iteration(&done(), false, Some(CheckOutcome::Passed));
        journal.ended_with(Reason::AlreadyComplete, 0);
    }
}

/// Without an explicit signal every iteration in the row needs enough indicators and the same verification result.
#[test]
fn only_equal_signals_count_as_in_a_row() {
    for (first, how) in [
        (NO_WORD, CheckOutcome::Passed),
        (TWO_PHRASES, CheckOutcome::Failed),
        (PROMISE, CheckOutcome::Failed),
    ] {
        let mut journal = verified(first, how);
        journal.iteration(TWO_PHRASES, true, Some(CheckOutcome::Passed));
        journal.goes_on("no_claim");
        journal.iteration(TWO_PHRASES, true, Some(CheckOutcome::Passed));
        journal.ended_with(Reason::CompletionSignals, 0);
    }
    let mut journal = unverified(PROMISE);
    journal.goes_on("claim_without_evidence");
    journal.iteration(TWO_PHRASES, true, None);
    journal.goes_on("no_claim");
}
