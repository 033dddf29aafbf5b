//! The breaker's history, what the guards say, and the grounds behind a judgement.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, block, done, more};
use ralph_rules::breaker::{Breaker, HISTORY};
use ralph_rules::claim::{Progress, Tests};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::grounds::{Grounds, Moved, grounds};
use ralph_rules::objection::Objection;
use ralph_rules::policy::Decline;
use ralph_rules::record::{CallEnded, CheckOutcome, Fact, RunStarted, Seen};
use ralph_rules::state::State;

/// From, to, after which iteration, and the code of why.
fn history(state: &State) -> Vec<(Breaker, Breaker, u32, String)> {
    let why = |o: &Option<Objection>| o.as_ref().map(Objection::code).unwrap_or_default();
    state.circuit.history.iter().map(|t| (t.from, t.to, t.iteration, why(&t.reason))).collect()
}

fn row(from: Breaker, to: Breaker, iteration: u32, why: &str) -> (Breaker, Breaker, u32, String) {
    (from, to, iteration, why.into())
}

#[test]
fn every_change_is_remembered_with_its_reason() {
    let mut journal = Journal::unverified(|start| start.policy.max_iterations = 100);
    for changed in [false, false, false, true, false, false, false, false] {
        journal.iteration(&more(), changed, None);
    }
    assert_eq!(
        history(&journal.state),
        [
            row(Breaker::Closed, Breaker::HalfOpen, 3, "half_open"),
            row(Breaker::HalfOpen, Breaker::Closed, 4, "progress_again"),
            row(Breaker::Closed, Breaker::HalfOpen, 7, "half_open"),
            row(Breaker::HalfOpen, Breaker::Open, 8, "no_progress"),
        ]
    );
    journal.ended_with(Reason::Stall, 1);
}

#[test]
fn the_history_has_bounds() {
    let mut journal = Journal::unverified(|start| start.policy.max_iterations = 1_000);
    journal.cost = 1_000;
    for _ in 0..15 {
        for changed in [false, false, false, true] {
            journal.iteration(&more(), changed, None);
        }
    }
    assert_eq!(journal.state.circuit.history.len(), HISTORY);
    assert_eq!(journal.state.circuit.history.last().unwrap().iteration, 60);
}

/// A guard's code, and an iteration that it objects to.
type Opens = (&'static str, fn(&mut Journal));

#[test]
fn each_guard_that_opens_it_is_named() {
    let table: [Opens; 3] = [
        ("same_error", |j| {
            j.iteration(&more(), true, Some(CheckOutcome::Failed));
        }),
        ("denied", |j| {
            j.admit();
            let call = CallEnded { denials: vec!["Bash".into()], ..j.closing(&more()) };
            j.see(Seen::CallEnded(Box::new(call)));
            j.inspected(false);
            j.verified(CheckOutcome::Passed);
        }),
        ("output_decline", |j| {
            let text =
                if j.state.calls.done == 3 { "Ok." } else { "I looked at the parser, then at the rest." };
            j.iteration(text, true, Some(CheckOutcome::Failed));
        }),
    ];
    for (code, iteration) in table {
        let mut journal = Journal::after_baseline(false, |start| {
            start.policy.breaker.decline = Decline::Open;
            start.policy.breaker.same_error = if code == "output_decline" { 0 } else { 5 };
        });
        while journal.state.ending.is_none() {
            iteration(&mut journal);
        }
        let last = history(&journal.state).pop().unwrap();
        assert_eq!((last.1, last.3.as_str()), (Breaker::Open, code));
    }
}

#[test]
fn a_blocked_agent_is_noted_and_a_proven_one_opens_nothing() {
    let mut journal = Journal::unverified(|_| {});
    journal.iteration(&block(Progress::Blocked, Tests::NotRun, true), false, None);
    assert_eq!(history(&journal.state), [row(Breaker::Closed, Breaker::Closed, 1, "blocked")]);

    let mut journal = Journal::after_baseline(false, |start| start.policy.breaker.same_error = 0);
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    (0..3).for_each(|_| drop(journal.iteration(&more(), false, Some(CheckOutcome::Failed)).clone()));
    journal.iteration(&done(), false, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.state.circuit.now, Breaker::HalfOpen);
}

#[test]
fn refused_tools_are_named_with_the_setting_that_allows_them() {
    let mut journal = Journal::unverified(|s| s.agent.allow = "--allowedTools {tools}".into());
    for _ in 0..3 {
        journal.admit();
        let call = CallEnded { denials: vec!["Bash".into(), "Edit".into()], ..journal.closing(&more()) };
        journal.see(Seen::CallEnded(Box::new(call)));
        journal.inspected(false);
    }
    journal.ended_with(Reason::PermissionDenied, 1);
    let said = journal.answer.reasons[0].say();
    assert!(said.starts_with("Bash, Edit denied in 3 iterations"), "{said}");
    assert!(said.ends_with("to allow: --allowedTools Bash,Edit"), "{said}");
}

#[test]
fn a_tree_seen_before_is_told_with_its_iteration() {
    let mut journal = Journal::unverified(|_| {});
    for (tree, back) in [(2, None), (3, None), (2, Some(1)), (1, Some(0)), (1, None)] {
        journal.admit();
        journal.says(&more());
        journal.tree = tree;
        let seen = journal.inspection(u32::from(tree != journal.state.trees.before));
        journal.see(Seen::Inspected(seen));
        let said = journal.answer.reasons.iter().find_map(|o| match o {
            Objection::SeenBefore { iteration } => Some(*iteration),
            _ => None,
        });
        assert_eq!(said, back, "tree {tree}");
    }
}

#[test]
fn broken_rules_of_the_block_are_told() {
    let mut journal = Journal::unverified(|_| {});
    let text = more().replace("RECOMMENDATION:", "MOOD: fine\nRECOMMENDATION:");
    journal.iteration(&text, true, None);
    let said: Vec<String> = journal.answer.reasons.iter().map(Objection::code).collect();
    assert_eq!(said, ["explicit_continue", "lint"]);
    let prompt = ralph_rules::prompt::compose(&journal.state);
    assert!(prompt.contains("extra_field"), "{prompt}");
}

#[test]
fn a_providers_failure_breaks_no_row() {
    let mut journal = Journal::unverified(|_| {});
    for class in [Class::Refusal, Class::Outage, Class::Refusal] {
        journal.admit();
        journal.fails(class, None);
        journal.inspected(false);
        if class == Class::Outage {
            let wait = journal.waits_until() - journal.now();
            journal.later(wait).see(Seen::Woke);
        }
    }
    journal.ended_with(Reason::Blocked, 2);

    let mut journal = Journal::unverified(|_| {});
    for class in [Class::Aborted, Class::Network, Class::Aborted, Class::Aborted] {
        journal.admit();
        journal.fails(class, None);
        journal.inspected(false);
        if journal.state.ending.is_none() {
            let wait = journal.waits_until() - journal.now();
            journal.later(wait).see(Seen::Woke);
        }
    }
    journal.ended_with(Reason::AgentUnavailable, 69);
}

/// The grounds of every judgement of a journal.
fn judged(journal: &Journal) -> Vec<Grounds> {
    let mut state = State::default();
    let mut all = Vec::new();
    for record in &journal.records {
        if matches!(record.fact, Fact::Decided(_)) {
            all.extend(grounds(&state));
        }
        state.apply(record);
    }
    all
}

#[test]
fn a_judgement_stands_on_what_was_counted() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal.iteration(&more(), false, Some(CheckOutcome::Failed));
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    let judged = judged(&journal);
    assert_eq!(judged.len(), 3);
    assert_eq!(judged.iter().map(|g| g.iteration).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(judged.iter().map(|g| g.files).collect::<Vec<_>>(), [Moved::New, Moved::Nothing, Moved::New]);
    assert_eq!(judged.iter().map(|g| g.same_error.running).collect::<Vec<_>>(), [1, 2, 0]);
    assert_eq!(judged[1].no_progress.running, 1);
    assert_eq!(
        judged[2].lines(),
        [
            "the agent says it is done; 3 indicators (status_complete, tests_passing, verified), 2 needed; verification passed (failed before the run)",
            "files changed to a new state: progress",
            "claims that held: 3 of 3",
        ]
    );
    let said = judged[1].lines().join("\n");
    assert!(said.contains("2 times in a row (stuck at 3, stop at 5): error: expected"), "{said}");
    assert!(said.ends_with("breaker CLOSED, no progress 1 of 4"), "{said}");
}

#[test]
fn nothing_but_a_judgement_has_grounds() {
    let mut journal = Journal::after_baseline(true, |start: &mut RunStarted| start.policy.max_iterations = 1);
    assert_eq!(grounds(&journal.state), None);
    journal.admit();
    assert_eq!(grounds(&journal.state), None);
    journal.fails(Class::Outage, None);
    journal.inspected(false);
    assert_eq!(grounds(&journal.state), None, "a provider's failure is no iteration");
}
