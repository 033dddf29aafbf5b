//! The spans of calls and verifications with everything that records can hold: tokens, models, failures, limits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::cast_possible_truncation)]

#[path = "../../ralph-rules/tests/journal/mod.rs"]
mod journal;
mod trace_checks;

use journal::{Journal, done, more};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Why;
use ralph_rules::record::*;
use ralph_rules::suite::Counts;
use trace_checks::{Received, check};

fn named(records: &[Record], name: &str) -> Vec<Received> {
    check(records).into_iter().filter(|span| span.name.starts_with(name)).collect()
}

/// The call of a run whose only call closes so.
fn call(with: impl FnOnce(&mut CallEnded)) -> Received {
    let mut journal = Journal::after_baseline(false, |start| start.agent.model = Some("opus".into()));
    journal.later(1_000).admit();
    let mut closing = journal.closing(&more());
    with(&mut closing);
    journal.later(5_000).see(Seen::CallEnded(Box::new(closing)));
    let [call] = named(&journal.records, "invoke_agent").try_into().unwrap();
    call
}

#[test]
fn a_call_has_the_attributes_of_the_conventions() {
    let call = call(|ended| {
        ended.usage = Usage { input: 10, output: 20, cache_read: 300, cache_write: 4_000 };
        ended.model = Some("claude-opus-4-5[1m]".into());
        ended.session = Some("0199-abc".into());
        ended.charged = Micro(1_234_567);
        ended.denials = vec!["Bash".into(), "Write".into()];
    });
    for (key, value) in [
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.provider.name", "anthropic"),
        ("gen_ai.agent.name", "claude"),
        ("gen_ai.request.model", "opus"),
        ("gen_ai.response.model", "claude-opus-4-5[1m]"),
        ("gen_ai.conversation.id", "0199-abc"),
        ("gen_ai.usage.input_tokens", "4310"),
        ("gen_ai.usage.output_tokens", "20"),
        ("gen_ai.usage.cache_read.input_tokens", "300"),
        ("gen_ai.usage.cache_write.input_tokens", "4000"),
        ("ralph.run.id", "0198c1d2-aaaa-7bbb-8ccc-1234567890ab"),
        ("ralph.iteration.number", "1"),
        ("ralph.call.attempt", "1"),
        ("ralph.call.rung", "0"),
        ("ralph.call.cost_usd", "1.234567"),
        ("ralph.call.cost_from", "reported"),
        ("ralph.call.exit_code", "0"),
        ("ralph.call.denied_tools", "2"),
        ("ralph.call.review", ""),
        ("error.type", ""),
    ] {
        assert_eq!(call.get(key), value, "{key}");
    }
    assert_eq!((call.name.as_str(), call.kind, call.to - call.from), ("invoke_agent claude", 3, 5_000));
    assert_eq!(call.keys().count(), 18);
}

#[test]
fn an_agent_that_reports_no_tokens_has_none_of_their_attributes() {
    let reported = |usage| {
        let span = call(|ended| ended.usage = usage);
        span.keys().filter(|key| key.starts_with("gen_ai.usage.")).count()
    };
    assert_eq!(reported(Usage::default()), 0);
    assert_eq!(reported(Usage { cache_read: 1, ..Usage::default() }), 4);
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    let id = journal.state.calls.id;
    journal.resume();
    let (usage, transcript) = (Usage::default(), FileRef::default());
    journal.see(Seen::CallLost(CallLost { id, charged: Micro(1), usage, outlived: 0, transcript }));
    let [lost] = named(&journal.records, "invoke_agent").try_into().unwrap();
    assert!(!lost.keys().any(|key| key.starts_with("gen_ai.usage.")), "{lost:?}");
}

#[test]
fn a_call_that_failed_is_an_error_and_one_that_was_ended_is_not() {
    let failure = |class| Some(Failure { class, message: "words".into(), reset_at: None });
    for (class, ended_by, error) in [
        (None, None, ""),
        (Some(Class::UsageLimit), None, "usage_limit"),
        (Some(Class::Auth), None, "auth"),
        (Some(Class::Aborted), None, "aborted"),
        (Some(Class::Aborted), Some(Why::Deadline), "deadline"),
        (Some(Class::Aborted), Some(Why::Silence), "silence"),
        (Some(Class::Aborted), Some(Why::Person), ""),
        (Some(Class::Aborted), Some(Why::Time), ""),
        (Some(Class::Budget), Some(Why::Budget), ""),
    ] {
        let call = call(|ended| (ended.failure, ended.ended_by) = (class.and_then(failure), ended_by));
        assert_eq!(call.get("error.type"), error, "{class:?} {ended_by:?}");
    }
}

#[test]
fn a_verification_says_what_it_found() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    journal.later(1_000).says(&more());
    journal.inspected(true);
    let mut verified = journal.verification(CheckOutcome::Failed, "words");
    verified.results[0].counts = Some(Counts::new(10, 2, 1));
    journal.later(7_000).see(Seen::Verified(verified));
    let spans = named(&journal.records, "verification");
    let get = |key: &str| spans[1].get(&format!("ralph.verification.{key}"));
    assert_eq!(
        [get("check"), get("passed"), get("tests"), get("tests_failed")],
        ["as_is", "false", "13", "2"]
    );
    assert_eq!([get("tests_skipped"), get("commands"), get("commands_failed")], ["1", "1", "1"]);
    assert_eq!((spans[1].to - spans[1].from, spans[1].is_error), (7_000, false));
}

#[test]
fn a_verification_that_gave_no_answer_is_an_error() {
    for (how, error, passed) in [
        (CheckOutcome::Passed, "", "true"),
        (CheckOutcome::Failed, "", "false"),
        (CheckOutcome::TimedOut, "timed_out", ""),
        (CheckOutcome::NotRun, "not_run", ""),
        (CheckOutcome::Interrupted, "", ""),
    ] {
        let mut journal = Journal::after_baseline(false, |_| {});
        journal.by_hand = true;
        journal.later(1_000).admit();
        journal.says(&done());
        journal.inspected(true);
        journal.verified(how);
        let span = &named(&journal.records, "verification")[1];
        assert_eq!(
            [span.get("error.type"), span.get("ralph.verification.passed")],
            [error, passed],
            "{how:?}"
        );
    }
}

#[test]
fn a_pause_by_a_person_is_a_wait_after_the_iteration() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    journal.later(1_000).ask(Request::Pause);
    journal.later(1_000).says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    journal.later(600_000).ask(Request::Continue);
    journal.later(1_000).admit();
    let [wait] = named(&journal.records, "wait").try_into().unwrap();
    assert_eq!((wait.get("ralph.wait.reason").as_str(), wait.to - wait.from), ("paused", 600_000));
    let iterations = named(&journal.records, "iteration");
    assert_eq!(wait.parent.as_ref(), Some(&check(&journal.records)[0].id));
    assert_eq!([iterations[0].to, iterations[1].from], [wait.from, wait.to]);
}

#[test]
fn a_stopped_run_that_is_resumed_continues_its_iteration() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    journal.later(1_000).stop();
    journal.later(1_000).says("");
    journal.inspected(true);
    journal.ended();
    journal.asleep(86_400_000).resume();
    journal.later(1_000).admit();
    journal.later(1_000).says(&more());
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    let iterations = named(&journal.records, "iteration");
    let [first] = iterations.as_slice() else { panic!("{iterations:?}") };
    assert_eq!([first.get("ralph.iteration.number"), first.get("ralph.iteration.calls")], ["1", "2"]);
    assert!(first.to - first.from > 86_400_000, "{first:?}");
}

#[test]
fn a_review_after_a_stop_belongs_to_the_iteration_that_it_reads() {
    let mut journal = Journal::after_baseline(false, |start| {
        let agent = AgentChoice { name: "codex".into(), ..AgentChoice::default() };
        start.review = Some(ReviewGiven { agent, rounds: 2 });
    });
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.later(100).admit();
    journal.stop();
    journal.fails(Class::Aborted, None);
    journal.later(60_000).resume();
    journal.later(100).admit();
    journal.later(5_000).says("VERDICT: none");
    let iterations = named(&journal.records, "iteration");
    let calls = named(&journal.records, "invoke_agent");
    assert_eq!((iterations.len(), calls.len()), (1, 3));
    assert!(calls.iter().all(|call| call.parent.as_ref() == Some(&iterations[0].id)), "{calls:?}");
}

#[test]
fn a_wait_that_the_journal_does_not_end_is_there() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    journal.later(1_000).fails(Class::UsageLimit, Some(3_600_000));
    journal.inspected(false);
    let waits = |journal: &Journal| -> Vec<(String, Ms, String)> {
        let waits = named(&journal.records, "wait").into_iter();
        waits
            .map(|wait| (wait.get("ralph.wait.reason"), wait.to - wait.from, wait.get("ralph.unfinished")))
            .collect()
    };
    let limit = |ms, unfinished: &str| ("usage_limit".to_owned(), ms, unfinished.to_owned());
    assert_eq!(waits(&journal), [limit(0, "true")]);
    // Killed while it waited; the next process waits for the rest.
    journal.later(60_000).resume();
    assert_eq!(waits(&journal), [limit(0, "true"), limit(0, "true")]);
    journal.later(3_600_000).see(Seen::Woke);
    assert_eq!(waits(&journal), [limit(0, "true"), limit(3_600_000, "")]);
}

#[test]
fn an_open_run_ends_with_its_last_record() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    journal.later(9_000).spent(10_000, 10_000);
    let spans = check(&journal.records);
    let open: Vec<(&str, String)> =
        spans.iter().map(|span| (span.name.as_str(), span.get("ralph.unfinished"))).collect();
    let expected = [
        ("invoke_workflow ralph", "true"),
        ("verification", ""),
        ("invoke_agent claude", "true"),
        ("iteration", "true"),
    ];
    assert_eq!(open, expected.map(|(name, open)| (name, open.to_string())));
    assert_eq!(spans[2].to - spans[2].from, 9_000);
    assert_eq!(spans[0].get("ralph.run.status"), "");
    assert!(spans.iter().all(|span| !span.is_error));
}

#[test]
fn what_a_crashed_run_left_open_is_an_error() {
    let errors = |journal: &Journal, over| -> Vec<(String, String)> {
        let spans = trace_checks::received(&ralph_otel::export(&journal.records, over));
        let spans = spans.into_iter().inspect(|s| assert_eq!(s.is_error, !s.get("error.type").is_empty()));
        let failed = spans.filter(|span| span.is_error);
        failed.map(|span| (span.name.clone(), span.get("error.type"))).collect()
    };
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    let crashed = |name: &str| (name.to_owned(), "crashed".to_owned());
    assert_eq!(errors(&journal, true), [crashed("invoke_workflow ralph"), crashed("invoke_agent claude")]);
    assert_eq!(errors(&journal, false), []);
    journal.later(9_000).says(&more());
    journal.inspected(true);
    assert_eq!(errors(&journal, true), [crashed("invoke_workflow ralph"), crashed("verification")]);
    // One that a person stopped has ended, however late its trace is made.
    journal.verified(CheckOutcome::Failed);
    journal.later(1_000).stop();
    journal.later(1_000).says("");
    journal.inspected(true);
    journal.ended();
    assert_eq!(errors(&journal, true), []);
}

#[test]
fn only_a_run_with_a_uuid_has_a_trace() {
    assert_eq!(ralph_otel::export(&[], false), Vec::<Vec<u8>>::new());
    let mut journal = Journal::start(|_| {});
    let mut records = journal.records.clone();
    assert_eq!(ralph_otel::export(&records, false).len(), 1);
    assert_eq!(ralph_otel::export(&records[1..], false), Vec::<Vec<u8>>::new());
    let Fact::Seen(Seen::RunStarted(start)) = &mut records[0].fact else { panic!() };
    start.run = "../../etc/passwd".into();
    assert_eq!(ralph_otel::export(&records, false), Vec::<Vec<u8>>::new());
    journal.stop();
}

#[test]
fn a_time_before_1970_is_1970() {
    let mut journal = Journal::start(|_| {});
    let mut records = journal.records.clone();
    records.iter_mut().for_each(|record| record.at = -5);
    let spans = trace_checks::received(&ralph_otel::export(&records, false));
    assert!(spans.iter().all(|span| (span.from, span.to) == (0, 0)), "{spans:?}");
    journal.stop();
}
