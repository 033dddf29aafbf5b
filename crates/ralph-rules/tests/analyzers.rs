//! The user's own checks: what their answers do to the end of a run. They delay it, they never grant it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done, more};
use ralph_rules::next::Next;
use ralph_rules::record::{
    AnalyzerGiven, AnalyzerObjection, AnalyzerResult, Check, CheckOutcome, RunStarted, Seen, Verified,
};
use ralph_rules::step::Step;

fn given(required: bool) -> impl FnOnce(&mut RunStarted) {
    move |start| {
        let (name, command) = ("mine".to_owned(), "tools/mine".to_owned());
        start.analyzers = vec![AnalyzerGiven { name, command, timeout: 30_000, required }];
    }
}

fn answer(objections: &[&str], failed: Option<&str>) -> AnalyzerResult {
    let objection = |text: &&str| AnalyzerObjection { code: "c".into(), text: (*text).into() };
    AnalyzerResult {
        name: "mine".into(),
        objections: objections.iter().map(objection).collect(),
        notes: vec!["a note".into()],
        failed: failed.map(str::to_owned),
        ..AnalyzerResult::default()
    }
}

/// The agent claims this and the verification ends so, with this answer.
fn iteration(journal: &mut Journal, text: &str, how: CheckOutcome, answer: AnalyzerResult) {
    journal.admit();
    journal.says(text);
    journal.inspected(true);
    let verified = Verified { analyzers: vec![answer], ..journal.verification(how, "") };
    journal.see(Seen::Verified(verified));
}

#[test]
fn answers_and_what_follows() {
    use CheckOutcome::{Failed, Passed};
    // Required, the verification, the answer, and the code of a reason to continue; none: the proof goes on.
    let rows = [
        (false, Passed, answer(&[], None), None),
        (false, Passed, answer(&["no licence"], None), Some("analyzer_objects")),
        (true, Passed, answer(&["no licence"], None), Some("analyzer_objects")),
        (false, Passed, answer(&[], Some("it hung")), None),
        (true, Passed, answer(&[], Some("it hung")), Some("analyzer_failed")),
        (false, Failed, answer(&[], None), Some("verification_failed")),
        (true, Failed, answer(&[], None), Some("verification_failed")),
    ];
    for (required, how, answer, continues) in rows {
        let mut journal = Journal::after_baseline(false, given(required));
        iteration(&mut journal, &done(), how, answer.clone());
        match continues {
            Some(code) => journal.goes_on(code),
            None => {
                assert!(journal.reasons().contains("compare_wanted"), "{answer:?}: {}", journal.reasons());
            }
        }
    }
}

#[test]
fn an_answer_grants_nothing_to_an_agent_that_claims_nothing() {
    let mut journal = Journal::after_baseline(false, given(true));
    iteration(&mut journal, &more(), CheckOutcome::Passed, answer(&[], None));
    journal.goes_on("explicit_continue");
}

/// Without a verify command they are asked by a verification of their own, once an iteration.
#[test]
fn without_a_verify_command_they_are_asked_once() {
    let mut journal = Journal::unverified(given(false));
    journal.admit();
    journal.says(&done());
    let decision = journal.inspected(true).clone();
    assert!(matches!(decision.next, Next::Do(Step::Verify { check: Check::AsIs, .. })), "{decision:?}");
    let verified = journal.verification(CheckOutcome::Passed, "");
    let analyzers = vec![answer(&["not yet"], None)];
    let decision =
        journal.see(Seen::Verified(Verified { results: Vec::new(), analyzers, ..verified })).clone();
    assert!(matches!(decision.next, Next::Do(Step::Admit { .. })), "{decision:?}");
    journal.goes_on("analyzer_objects");
    assert_eq!(journal.state.signals.last.len(), 1, "one iteration is one signal");
}

#[test]
fn a_run_without_analyzers_takes_no_further_step() {
    let mut journal = Journal::unverified(|_| {});
    journal.iteration(&more(), true, None);
    let verifies =
        journal.envelopes().iter().any(|line| line.contains("\"verify\"") && line.contains("as_is"));
    assert!(!verifies);
}
