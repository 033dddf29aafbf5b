//! Resuming from every phase: an open call is found out about and never begun again, every other open step is begun
//! again, a wait or a limit is looked at anew.

use crate::journal::{Journal, block, done, given, more};
use ralph_rules::breaker::Breaker;
use ralph_rules::claim::{Progress, Tests};
use ralph_rules::ending::Reason;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::{Next, Why};
use ralph_rules::policy::OnViolation;
use ralph_rules::record::*;
use ralph_rules::state::{Phase, State};
use ralph_rules::step::Step;

/// The name of the step that is begun.
pub(super) fn step(journal: &Journal) -> String {
    let Next::Do(step) = &journal.answer.next else { return format!("{:?}", journal.answer.next) };
    let name = serde_json::to_value(step).unwrap();
    match step {
        Step::Verify { check, .. } => format!("verify {check:?}"),
        Step::Admit { id, .. } | Step::Call { id, .. } | Step::Recover { id, .. } => {
            format!("{} {id}", name["step"].as_str().unwrap())
        }
        _ => name["step"].as_str().unwrap().into(),
    }
}

fn calling() -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal
}

pub(super) fn inspecting() -> Journal {
    let mut journal = calling();
    journal.says(&done());
    journal
}

pub(super) fn restoring() -> Journal {
    let mut journal = Journal::after_baseline(false, |s| s.policy.on_violation = OnViolation::Restore);
    journal.admit();
    journal.says(&done());
    let mut seen = journal.inspection(1);
    seen.violations = vec![Violation::new(".env", How::Added)];
    journal.see(Seen::Inspected(seen));
    journal
}

/// Verifying the workspace; `proof`: the changes are being compared, or a room is verified.
pub(super) fn verifying(proof: u32) -> Journal {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.by_hand = true;
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    if proof > 0 {
        journal.verified(CheckOutcome::Passed);
    }
    if proof > 1 {
        journal.compare();
    }
    journal
}

#[test]
fn a_step_that_was_open_is_begun_again_and_a_call_is_recovered() {
    let mut ending = calling();
    ending.stop();
    let mut recovering = calling();
    recovering.resume();
    let mut waiting = calling();
    waiting.fails(Class::Outage, None);
    waiting.inspected(false);
    waiting.later(6_000);
    let mut refused = Journal::after_baseline(false, |_| {});
    refused.refuse(Refuser::CallsPerHour, Some(HOUR));
    let mut extending = calling();
    extending.spent(450_000, 100_000);
    for (name, mut journal, then) in [
        ("baseline", Journal::start(|_| {}), "verify Baseline"),
        ("admitting", Journal::after_baseline(false, |_| {}), "admit 001.a1"),
        ("refused", refused, "admit 001.a1"),
        ("calling", calling(), "recover 001.a1"),
        ("extending", extending, "recover 001.a1"),
        ("ending", ending, "recover 001.a1"),
        ("recovering", recovering, "recover 001.a1"),
        ("inspecting", inspecting(), "inspect"),
        ("restoring", restoring(), "restore"),
        ("verifying", verifying(0), "verify AsIs"),
        ("comparing", verifying(1), "verify AsIs"),
        ("verifying in a room", verifying(2), "verify AsIs"),
        ("waiting", waiting, "admit 001.a2"),
    ] {
        journal.later(1_000).resume();
        assert_eq!(step(&journal), then, "{name}");
    }
}

#[test]
fn a_process_that_dies_between_fact_and_answer_loses_nothing() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    let call = journal.closing(&done());
    journal.hear_and_die(Seen::CallEnded(Box::new(call)));
    journal.resume();
    assert_eq!(step(&journal), "inspect");
    let mut born = Journal::start(|s| s.verify.clear());
    born.resume();
    assert_eq!(step(&born), "admit 001.a1");
}

#[test]
fn a_grant_that_was_never_used_is_given_back_and_asked_for_anew() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.stop();
    journal.admit();
    journal.ended_with(Reason::Interrupted, 130);
    assert_eq!(journal.state.phase, Phase::Admitted);
    journal.resume();
    assert_eq!(step(&journal), "admit 001.a2");
    assert_eq!(journal.state.budget.reserved, Micro::ZERO);
}

#[test]
fn a_recovered_call_is_judged_like_another() {
    let mut journal = calling();
    journal.later(1_000).resume();
    let call = CallEnded { recovered: true, ..journal.closing(&done()) };
    journal.see(Seen::CallEnded(Box::new(call)));
    journal.inspected(true);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_lost_call_is_charged_counted_and_claims_nothing() {
    let mut journal = calling();
    journal.later(1_000).resume();
    let Next::Do(Step::Recover { id, reserved }) = journal.answer.next else {
        panic!("{:?}", journal.answer)
    };
    assert_eq!(reserved, Micro(500_000));
    let transcript = FileRef::default();
    journal.see(Seen::CallLost(CallLost {
        id,
        charged: reserved,
        usage: Usage::default(),
        outlived: 1,
        transcript,
    }));
    assert_eq!((journal.state.budget.spent, journal.state.calls.done), (Micro(500_000), 1));
    journal.inspected(true);
    journal.later(6_000).verified(CheckOutcome::Passed);
    journal.goes_on("call_failed");
}

#[test]
fn limits_that_were_raised_let_the_run_go_on() {
    let mut journal = Journal::after_baseline(false, |s| s.policy.max_iterations = 1);
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal.ended_with(Reason::MaxIterations, 3);
    journal.resume();
    journal.ended_with(Reason::MaxIterations, 3);
    let mut policy = given().policy;
    policy.max_iterations = 3;
    journal.see(Seen::PolicyChanged(Box::new(PolicyChanged { policy })));
    journal.holds();
    journal.resume();
    journal.goes_on("explicit_continue");
    assert_eq!(step(&journal), "admit 002.a1");
}

#[test]
fn crashes_of_the_agent_are_forgotten_on_resume() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for n in 0..3 {
        if n > 0 {
            journal.later(6_000).see(Seen::Woke);
        }
        journal.admit();
        journal.fails(Class::Aborted, None);
        journal.inspected(false);
        journal.verified(CheckOutcome::Failed);
    }
    journal.ended_with(Reason::AgentUnavailable, 69);
    journal.later(6_000).resume();
    journal.goes_on("call_failed");
}

#[test]
fn a_blocked_run_that_is_resumed_is_verified_and_called_again() {
    let mut journal = Journal::after_baseline(false, |_| {});
    let blocked = block(Progress::Blocked, Tests::NotRun, false);
    journal.iteration(&blocked, true, Some(CheckOutcome::Failed));
    journal.ended_with(Reason::Blocked, 2);
    journal.later(60_000).resume();
    assert_eq!(step(&journal), "verify AsIs", "the files may have changed since");
    journal.verified(CheckOutcome::Failed);
    assert_eq!(step(&journal), "admit 002.a1");
}

#[test]
fn a_stalled_run_that_is_resumed_counts_anew() {
    let mut journal = Journal::after_baseline(false, |_| {});
    for next in ["admit 005.a1", "admit 009.a1"] {
        for _ in 0..4 {
            journal.iteration(&more(), false, Some(CheckOutcome::Failed));
        }
        journal.ended_with(Reason::Stall, 1);
        assert_eq!(journal.state.circuit.now, Breaker::Open);
        journal.later(60_000).resume();
        journal.verified(CheckOutcome::Failed);
        assert_eq!((step(&journal).as_str(), journal.state.circuit.now), (next, Breaker::Closed));
    }
}

#[test]
fn a_run_that_is_over_stays_over() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
    journal.resume();
    journal.holds();
    assert_eq!(journal.state.phase, Phase::Over);
}

#[test]
fn an_empty_journal_waits_to_be_born() {
    let state = State::default();
    assert!(matches!(ralph_rules::next::next(&state).next, Next::Wait { .. }));
    let mut ending = calling();
    ending.stop();
    ending.ends_call(Why::Person);
    ending.holds_still();
}

impl Journal {
    /// Whatever is heard while a step is heard out, nothing else is begun.
    fn holds_still(&mut self) {
        self.see(Seen::Woke);
        self.holds();
        self.spent(1_000_000_000, 1_000);
        self.holds();
        self.see(Seen::Silent(Silent { ms: 1_000_000 }));
        self.holds();
    }
}

/// The pause after a crash is for agents that crash: nobody who resumes a run has to sit it out.
#[test]
fn a_resumed_run_does_not_wait_after_a_call_that_was_cut_short() {
    let mut crashed = calling();
    crashed.fails(Class::Aborted, None);
    crashed.inspected(false);
    crashed.verified(CheckOutcome::Failed);
    assert!(matches!(crashed.answer.next, Next::Wait { .. }), "{:?}", crashed.answer.next);
    crashed.resume();
    assert_eq!(step(&crashed), "admit 002.a1", "a call that ended abruptly");
    let mut lost = calling();
    lost.resume();
    lost.see(Seen::CallLost(CallLost {
        id: lost.state.calls.id,
        charged: Micro(500_000),
        usage: Usage::default(),
        outlived: 0,
        transcript: FileRef::default(),
    }));
    lost.inspected(false);
    lost.verified(CheckOutcome::Failed);
    assert_eq!(step(&lost), "admit 002.a1", "a call that ralph's own death cut short");
}

#[test]
fn calls_that_only_their_transcripts_show_are_not_made_again() {
    let found = |last| {
        let days = [("2026-11-15".to_owned(), Micro(30_000)), ("2026-11-16".to_owned(), Micro(12_000))];
        Seen::CallsFound(CallsFound {
            calls: 3,
            last,
            days: days.into(),
            unpriced: 1,
            ..CallsFound::default()
        })
    };
    // The copy was made during the first call: it is recovered, and counts once.
    let mut journal = calling();
    journal.hear_and_die(Seen::Resumed(Resumed::default()));
    journal.see(found(4));
    assert_eq!(step(&journal), "recover 001.a1");
    assert_eq!(journal.state.budget.spent, Micro(42_000));
    assert_eq!(journal.state.budget.unpriced, 1);
    journal.says(&more());
    assert_eq!(journal.state.calls.done, 4);
    journal.inspected(true);
    journal.verified(CheckOutcome::Failed);
    assert_eq!(step(&journal), "admit 005.a1");

    // The copy was made between two calls.
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.hear_and_die(Seen::Resumed(Resumed::default()));
    journal.see(found(2));
    assert_eq!(step(&journal), "admit 003.a1");
}
