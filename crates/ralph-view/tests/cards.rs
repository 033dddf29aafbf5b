//! Cards and strips as tables: which group, mark, word and sentence a run has, and what came of each iteration. And the
//! state of every golden journal: rows and journals tell the same one, record by record.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::cast_possible_truncation)]

mod golden;
#[path = "../../ralph-rules/tests/journal/mod.rs"]
mod journal;

use journal::{Journal, more};
use ralph_engine::outcome::last_ending;
use ralph_engine::rebuild::Rows;
use ralph_rules::ending::Status;
use ralph_rules::money::Micro;
use ralph_rules::record::{CheckOutcome, Fact, PriceFrom, Record, Request, Seen};
use ralph_rules::state::State;
use ralph_store::{IterationRow, RunRow};
use ralph_view::card::{Card, CardContext, Group, Tone};
use ralph_view::fact_text::{ending_words, judgement_words};
use ralph_view::listed_run::ListedRun;
use ralph_view::needs_you::Standing;
use ralph_view::run_state::{RunState, ended_by_signal};
use ralph_view::strip::{BarOutcome, Strip};

fn context(state: RunState, standing: Standing) -> CardContext<'static> {
    CardContext { state, standing, doing: None, now: 1_000_000, zone: "UTC" }
}

fn ended(reason: &str, proof: Option<&str>) -> RunRow {
    RunRow {
        id: "01a1e7bf-f7db-7578-acd2-ac5ef2a7fc40".into(),
        workspace: "/home/ada/parser".into(),
        reason: Some(reason.into()),
        proof: proof.map(str::to_owned),
        why: Some("a reason".into()),
        iterations: 2,
        ..RunRow::default()
    }
}

const NEW: Standing = Standing { superseded: false, put_away: false, by_signal: false };
const SEEN: Standing = Standing { superseded: true, ..NEW };

/// A state, whether somebody has seen the run, reason and proof; then group, mark and word.
type Row = (RunState, Standing, &'static str, Option<&'static str>, Group, Tone, &'static str);
const TABLE: &[Row] = &[
    (RunState::Running, NEW, "", None, Group::Working, Tone::Live, "Working"),
    (RunState::Verifying, NEW, "", None, Group::Working, Tone::Live, "Verifying"),
    (RunState::InSession, NEW, "", None, Group::Working, Tone::Live, "In a session"),
    (RunState::Waiting { until: None }, NEW, "", None, Group::Waiting, Tone::Wait, "Waiting"),
    (RunState::Paused, NEW, "", None, Group::Waiting, Tone::Wait, "Paused"),
    (RunState::Crashed, NEW, "", None, Group::NeedsYou, Tone::Bad, "Crashed"),
    (RunState::Crashed, SEEN, "", None, Group::Ended, Tone::Quiet, "Crashed"),
    (RunState::Ended(Status::Aborted), NEW, "BLOCKED", None, Group::NeedsYou, Tone::Need, "Blocked"),
    (
        RunState::Ended(Status::Aborted),
        NEW,
        "MAX_ITERATIONS",
        None,
        Group::NeedsYou,
        Tone::Need,
        "Max iterations",
    ),
    (
        RunState::Ended(Status::Aborted),
        NEW,
        "PROHIBITED_PATH",
        None,
        Group::NeedsYou,
        Tone::Bad,
        "Prohibited path",
    ),
    (RunState::Ended(Status::Aborted), SEEN, "STALL", None, Group::Ended, Tone::Quiet, "Stall"),
    (
        RunState::Ended(Status::Error),
        NEW,
        "VERIFY_CANNOT_RUN",
        None,
        Group::NeedsYou,
        Tone::Bad,
        "Verify cannot run",
    ),
    (RunState::Ended(Status::Interrupted), NEW, "INTERRUPTED", None, Group::Ended, Tone::Quiet, "Stopped"),
    (
        RunState::Ended(Status::Completed),
        NEW,
        "gate_passed",
        Some("proven"),
        Group::Completed,
        Tone::Good,
        "Proven",
    ),
    (
        RunState::Ended(Status::Completed),
        NEW,
        "gate_passed",
        Some("tested"),
        Group::Completed,
        Tone::Good,
        "Tested",
    ),
    (
        RunState::Ended(Status::Completed),
        NEW,
        "gate_passed",
        Some("unbroken"),
        Group::Completed,
        Tone::Quiet,
        "Unbroken",
    ),
    (
        RunState::Ended(Status::Completed),
        NEW,
        "accepted",
        Some("revised"),
        Group::Completed,
        Tone::Quiet,
        "Accepted",
    ),
    (
        RunState::Ended(Status::Completed),
        NEW,
        "gate_passed",
        None,
        Group::Completed,
        Tone::Quiet,
        "Completed",
    ),
];

#[test]
fn a_card_says_where_a_run_stands_in_a_word() {
    for (state, standing, reason, proof, group, tone, word) in TABLE.iter().copied() {
        let run = ListedRun { row: ended(reason, proof), reserved_micro: 0 };
        let card = Card::of(run, &[], context(state, standing));
        assert_eq!((card.group, card.tone, card.word.as_str()), (group, tone, word), "{state:?} {reason}");
        assert_eq!((card.name.as_str(), card.short.as_str()), ("parser", "f2a7fc40"));
    }
}

/// A row that ended by this signal, as the engine writes it.
fn interrupted_by(signal: i32) -> (RunRow, Option<String>, RunState) {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    journal.later(1_000).ask(Request::Stop { after: false, signal });
    let stopping = RunState::of(&journal.state);
    journal.says(&more());
    journal.inspected(true);
    let row = Rows::of_records("run", &journal.records).run.unwrap();
    let Fact::Decided(decision) = &journal.records.last().unwrap().fact else { panic!() };
    let (ending, reasons) = last_ending(&journal.records).unwrap();
    // Rows, the ends of runs and their iterations say the same.
    assert_eq!(row.why, judgement_words(decision));
    assert_eq!(row.why, Some(ending_words(&ending, reasons)));
    (row.clone(), row.why, stopping)
}

#[test]
fn a_run_that_a_signal_ended_needs_somebody_and_names_it() {
    for (signal, name) in [(15, "SIGTERM"), (1, "SIGHUP")] {
        let (row, why, stopping) = interrupted_by(signal);
        assert_eq!((row.status.as_str(), ended_by_signal(&row)), ("INTERRUPTED", Some(name)));
        assert_eq!(why.unwrap(), format!("{name} ended it"));
        // Killed before it had ended: nobody stopped it.
        assert_eq!(stopping.alive(false), RunState::Crashed);
        let standing = Standing { by_signal: true, ..NEW };
        let run = ListedRun { row, reserved_micro: 0 };
        let card = Card::of(run, &[], context(RunState::Ended(Status::Interrupted), standing));
        assert_eq!((card.group, card.tone), (Group::NeedsYou, Tone::Bad));
        assert_eq!((card.word, card.line), ("Interrupted".to_owned(), format!("{name} ended it")));
    }
    let (row, why, stopping) = interrupted_by(2);
    assert_eq!((ended_by_signal(&row), why.as_deref()), (None, Some("stop requested")));
    assert_eq!(stopping.alive(false), RunState::Ended(Status::Interrupted));
}

#[test]
fn a_card_says_in_a_sentence_what_a_run_does_or_why_it_ended() {
    let line = |row: RunRow, state, rows: &[IterationRow], doing| {
        let context = CardContext { doing, ..context(state, Standing::default()) };
        Card::of(ListedRun { row, reserved_micro: 0 }, rows, context).line
    };
    let at = |n| IterationRow { n, attempt: 1, ..IterationRow::default() };
    let most = RunRow { max_iterations: 10, ..RunRow::default() };
    assert_eq!(line(most.clone(), RunState::Running, &[], None), "before the first iteration");
    assert_eq!(line(most.clone(), RunState::Running, &[at(3)], None), "iteration 3 of 10");
    assert_eq!(line(most.clone(), RunState::Verifying, &[at(3)], None), "verifying, iteration 3 of 10");
    assert_eq!(line(most, RunState::Running, &[at(3)], Some("Edit\x1b[2J a.rs")), "Edit\\u{1b}[2J a.rs");
    let waits = RunRow { until: Some(32_040_000), ..RunRow::default() };
    assert_eq!(line(waits, RunState::Waiting { until: None }, &[], None), "continues at 08:54:00");
    assert_eq!(line(ended("STALL", None), RunState::Ended(Status::Aborted), &[], None), "a reason");
    let fixed = RunRow { failing_before: Some(14), ..ended("gate_passed", Some("proven")) };
    let passes = IterationRow { failing: Some(0), ..at(2) };
    let done = RunState::Ended(Status::Completed);
    assert_eq!(line(fixed.clone(), done, &[passes], None), "2 iterations, 14 tests fixed");
    assert_eq!(line(fixed, done, &[], None), "2 iterations");
}

#[test]
fn iterations_are_counted_as_lists_count_them() {
    let at = |n| IterationRow { n, attempt: 1, ..IterationRow::default() };
    let card = |state, iterations, last| {
        let row = RunRow { iterations, ..ended("", None) };
        let rows: Vec<IterationRow> = (1..=last).map(at).collect();
        Card::of(ListedRun { row, reserved_micro: 0 }, &rows, context(state, NEW))
    };
    let stopped = RunState::Ended(Status::Interrupted);
    let table = [
        (RunState::Running, 2, 3, 3, "Working in iteration 3"),
        (RunState::Crashed, 2, 3, 2, "Crashed in iteration 3"),
        (RunState::Crashed, 3, 3, 3, "Crashed after 3 iterations"),
        (stopped, 0, 1, 0, "Stopped in iteration 1"),
        (stopped, 1, 1, 1, "Stopped after 1 iteration"),
        (stopped, 0, 0, 0, "Stopped before the first iteration"),
    ];
    for (state, iterations, last, shown, outcome) in table {
        let card = card(state, iterations, last);
        assert_eq!(
            (card.iteration, card.outcome().as_str()),
            (shown, outcome),
            "{state:?} {iterations} {last}"
        );
    }
}

#[test]
fn a_bar_is_filled_by_what_came_of_the_iteration() {
    use BarOutcome::*;
    let judged =
        IterationRow { n: 1, attempt: 1, decision: "verification_failed".into(), ..IterationRow::default() };
    let open = RunRow::default();
    let over = |reason: &str, proof: Option<&str>, status: &str| RunRow {
        exit_code: Some(i32::from(status != "COMPLETED")),
        status: status.into(),
        ..ended(reason, proof)
    };
    let under_way = IterationRow { decision: String::new(), ..judged.clone() };
    let worked = IterationRow { progress: Some(true), verified: Some(false), ..judged.clone() };
    let nothing = IterationRow { progress: Some(false), ..judged.clone() };
    let failed = IterationRow { failure: Some("bad_request".into()), ..judged.clone() };
    let inspected = IterationRow { progress: Some(true), ..under_way.clone() };
    let idle = IterationRow { progress: Some(false), ..under_way.clone() };
    let in_state = |state: RunState| RunRow { status: state.name().into(), ..RunRow::default() };
    let (paused, waiting) = (in_state(RunState::Paused), in_state(RunState::Waiting { until: None }));
    let (verifying, working) = (in_state(RunState::Verifying), in_state(RunState::Running));
    let crashed = in_state(RunState::Crashed);
    let noted = IterationRow { decision: "paused".into(), ..inspected.clone() };
    let ended_by_us = IterationRow { failure: Some("aborted".into()), ..judged.clone() };
    let last_words = IterationRow { failure: Some("unknown".into()), ..judged.clone() };
    let old = IterationRow { files: 3, ..judged };
    let table = [
        (&open, &under_way, true, UnderWay),
        (&open, &under_way, false, Wrong),
        (&open, &worked, true, Worked),
        (&open, &nothing, true, NothingNew),
        (&open, &failed, true, Wrong),
        (&open, &old, true, Worked),
        // Under way is only what is open.
        (&working, &under_way, true, UnderWay),
        (&working, &inspected, true, UnderWay),
        (&verifying, &inspected, true, UnderWay),
        (&paused, &inspected, true, Worked),
        (&paused, &idle, true, NothingNew),
        (&paused, &noted, true, Worked),
        (&waiting, &inspected, true, Worked),
        (&working, &noted, true, Worked),
        (&crashed, &noted, false, Worked),
        (&crashed, &inspected, false, Wrong),
        (&over("gate_passed", Some("proven"), "COMPLETED"), &worked, false, Proven),
        (&over("gate_passed", Some("unbroken"), "COMPLETED"), &worked, false, Worked),
        (&over("PROHIBITED_PATH", None, "ABORTED"), &worked, false, Wrong),
        (&over("ORACLE_CHANGED", Some("revised"), "ABORTED"), &worked, false, Wrong),
        (&over("STALL", None, "ABORTED"), &nothing, false, NothingNew),
        (&over("VERIFY_CANNOT_RUN", None, "ERROR"), &worked, false, Wrong),
        (&over("INTERRUPTED", None, "INTERRUPTED"), &under_way, false, Stopped),
        (&over("INTERRUPTED", None, "INTERRUPTED"), &ended_by_us, false, Stopped),
        (&over("TIME_LIMIT", None, "ABORTED"), &ended_by_us, false, Wrong),
        (&over("INTERRUPTED", None, "INTERRUPTED"), &last_words, false, Stopped),
        (&open, &last_words, true, Wrong),
        (&over("INTERRUPTED", None, "INTERRUPTED"), &worked, false, Worked),
        (&over("INTERRUPTED", None, "INTERRUPTED"), &failed, false, Wrong),
    ];
    for (run, row, is_open, outcome) in table {
        let strip = Strip::of(run, std::slice::from_ref(row), is_open);
        assert_eq!(strip.bars[0].outcome, outcome, "{run:?} {row:?}");
    }
}

#[test]
fn a_limit_that_is_waited_for_did_not_go_wrong() {
    use BarOutcome::*;
    let waiting = RunRow { status: "WAITING".into(), ..RunRow::default() };
    let gave_up = RunRow { exit_code: Some(1), status: "ABORTED".into(), ..ended("RATE_LIMIT", None) };
    let crashed = RunRow { status: "CRASHED".into(), ..RunRow::default() };
    let table = [
        ("usage_limit", NothingNew),
        ("rate_limited", NothingNew),
        ("outage", NothingNew),
        ("network", NothingNew),
        ("auth", Wrong),
        ("billing", Wrong),
        ("context_too_long", Wrong),
        ("refusal", Wrong),
        ("aborted", Wrong),
        ("unknown", Wrong),
        ("lost", Wrong),
    ];
    for (class, outcome) in table {
        let row = IterationRow {
            n: 1,
            attempt: 1,
            failure: Some(class.into()),
            progress: Some(false),
            ..IterationRow::default()
        };
        for (run, is_open) in [(&waiting, true), (&gave_up, false), (&crashed, false)] {
            let strip = Strip::of(run, std::slice::from_ref(&row), is_open);
            assert_eq!(strip.bars[0].outcome, outcome, "{class} {}", run.status);
        }
        // What it did before the limit counts.
        let changed = IterationRow { progress: Some(true), ..row };
        let strip = Strip::of(&waiting, &[changed], true);
        assert_eq!(strip.bars[0].outcome, if outcome == Wrong { Wrong } else { Worked }, "{class}");
    }
}

/// Every row of a run's latest attempt, record by record.
#[test]
fn an_iteration_is_over_while_the_run_waits_before_the_next_call() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    let last = |journal: &Journal, is_open| {
        let rows = Rows::of_records("run", &journal.records);
        let (run, attempts) = (rows.run.unwrap(), rows.iterations);
        let bar = Strip::of(&run, &attempts, is_open).bars.pop().unwrap();
        let row = attempts.last().unwrap();
        (run.status, row.decision.clone(), row.error.is_some(), bar.outcome)
    };
    let told = |status: &str, decision: &str, error, outcome| {
        (status.to_owned(), decision.to_owned(), error, outcome)
    };
    use BarOutcome::*;
    assert_eq!(last(&journal, true), told("RUNNING", "", false, UnderWay));
    journal.later(1_000).ask(Request::Pause);
    assert_eq!(last(&journal, true), told("RUNNING", "", false, UnderWay));
    journal.later(1_000).says(&more());
    assert_eq!(last(&journal, true), told("RUNNING", "", false, UnderWay));
    journal.inspected(true);
    assert_eq!(last(&journal, true), told("VERIFYING", "", false, UnderWay));
    journal.verified(CheckOutcome::Failed);
    assert_eq!(last(&journal, true), told("PAUSED", "paused", true, Worked));
    // Its process is gone: the iteration was over.
    assert_eq!(last(&journal, false), told("PAUSED", "paused", true, Worked));
    journal.later(1_000).ask(Request::Continue);
    let (status, decision, error, outcome) = last(&journal, true);
    assert_eq!((status.as_str(), error, outcome), ("RUNNING", true, Worked));
    assert_ne!(decision, "paused", "why it continues is known now");
}

/// The last bar's cost, as the rows of this journal have it.
fn last_cost(journal: &Journal, state: RunState, reserved_micro: i64) -> String {
    let rows = Rows::of_records("run", &journal.records);
    let row = RunRow { status: state.name().into(), ..rows.run.unwrap() };
    let run = ListedRun { row, reserved_micro };
    let card = Card::of(run, &rows.iterations, context(state, NEW));
    card.strip.bars.last().unwrap().cost()
}

#[test]
fn a_cost_that_nobody_knows_is_marked() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.later(1_000).admit();
    assert_eq!(last_cost(&journal, RunState::Running, 500_000), "~$0.00");
    // Its process was killed: the call counts as its reservation.
    assert_eq!(last_cost(&journal, RunState::Crashed, 500_000), "~$0.50");
    let mut estimated = Journal::after_baseline(false, |_| {});
    estimated.later(1_000).admit();
    let mut closing = estimated.closing(&more());
    (closing.price, closing.charged) = (PriceFrom::Unpriced, Micro(250_000));
    estimated.later(1_000).see(Seen::CallEnded(Box::new(closing)));
    assert_eq!(last_cost(&estimated, RunState::Running, 0), "~$0.25");
    journal.later(1_000).says(&more());
    assert!(last_cost(&journal, RunState::Running, 0).starts_with('$'));
}

#[test]
fn attempts_of_an_iteration_are_one_bar() {
    let row = |n, attempt, cost_micro, failing| IterationRow {
        n,
        attempt,
        cost_micro,
        dur_ms: 10,
        failing,
        decision: "x".into(),
        failure: (attempt == 1).then(|| "overloaded".into()),
        progress: Some(true),
        ..IterationRow::default()
    };
    let run = RunRow { max_iterations: 10, failing_before: Some(9), live_micro: 7, ..RunRow::default() };
    let rows = [
        row(4, 1, 5, None),
        row(4, 2, 6, Some(3)),
        IterationRow { n: 5, attempt: 1, ..IterationRow::default() },
    ];
    let strip = Strip::of(&run, &rows, true);
    let bars: Vec<_> =
        strip.bars.iter().map(|bar| (bar.n, bar.cost_micro, bar.ms, bar.attempts, bar.outcome)).collect();
    assert_eq!(bars, [(4, 11, 20, 2, BarOutcome::Worked), (5, 7, 0, 1, BarOutcome::UnderWay)]);
    assert_eq!((strip.earlier, strip.left, strip.most_micro), (3, 5, 11));
    // What was before bars that are not shown is not shown either.
    assert_eq!(strip.failing(), [3]);
}

#[test]
fn rows_and_journals_tell_the_same_state() {
    let mut states = std::collections::BTreeSet::new();
    for records in golden::journals() {
        for end in 1..=records.len() {
            let so_far: &[Record] = &records[..end];
            let Some(row) = Rows::of_records("run", so_far).run else { continue };
            let told = RunState::of(&State::of(so_far));
            // A decision's row is written before the decision is applied: it says what comes next.
            let (named, told) = (RunState::named(&row.status).unwrap(), told.name());
            assert!(
                named.name() == told
                    || !matches!(so_far.last().unwrap().fact, ralph_rules::record::Fact::Seen(_)),
                "record {end}: {} in the row, {told} in the journal",
                row.status
            );
            assert_eq!(row.until.is_some(), row.status == "WAITING", "{row:?}");
            states.insert(row.status);
        }
    }
    for state in ["RUNNING", "VERIFYING", "WAITING", "COMPLETED", "ABORTED"] {
        assert!(states.contains(state), "{state} in {states:?}");
    }
}
