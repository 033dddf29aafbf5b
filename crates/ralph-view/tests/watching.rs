//! Runs as somebody watches them, record by record: their lines, states and views, alone and several at once.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod golden;

use golden::journal;
use ralph_agents::Activity;
use ralph_engine::run_state::RunState;
use ralph_rules::ending::Status;
use ralph_rules::record::Record;
use ralph_rules::state::State;
use ralph_view::fact_text::clock_time;
use ralph_view::run_lines::{NewLines, RunLines};
use ralph_view::style::Style;
use ralph_view::view_fold::ViewFold;

/// Everything that a screen shows of a run.
fn watch(lines: &mut RunLines, record: &Record) -> String {
    let NewLines { lines, receipt } = lines.record(record, record.at);
    let mut text = lines.join("\n");
    text.extend(receipt);
    text
}

fn watched_alone(records: &[Record]) -> Vec<String> {
    let mut lines = RunLines::new(&[], Style::default());
    records.iter().map(|record| watch(&mut lines, record)).collect()
}

#[test]
fn a_run_is_told_from_its_start_to_its_receipt() {
    let told = watched_alone(&journal("completed_in_3")).join("\n");
    for words in [
        "Run 567890ab with claude, verified by make test",
        "✗ before: `make test` failed, exit ",
        "\nIteration 1 of 10  $0.00 of $5.00, ",
        "agent finished in ",
        "  → continuing: ",
        "✓ `make test` passed",
        "COMPLETED, proven\n",
        "  iterations  3 of 10\n",
        "  sandbox     none\n",
        "why each decision was made",
    ] {
        assert!(told.contains(words), "{words:?} is not in:\n{told}");
    }
}

#[test]
fn a_run_without_a_verify_command_says_so() {
    let told = watched_alone(&journal("unverified")).join("\n");
    assert!(told.contains("with claude, no verify command: completion cannot be verified"), "{told}");
    assert!(told.contains("COMPLETED, unverified"), "{told}");
}

#[test]
fn two_runs_in_one_process_do_not_mix() {
    let (first, second) = (journal("completed_in_3"), journal("stall"));
    let mut lines = [RunLines::new(&[], Style::default()), RunLines::new(&[], Style::default())];
    let mut folds = [ViewFold::default(), ViewFold::default()];
    let mut told = [Vec::new(), Vec::new()];
    for n in 0..first.len().max(second.len()) {
        for (which, records) in [&first, &second].into_iter().enumerate() {
            let Some(record) = records.get(n) else { continue };
            told[which].push(watch(&mut lines[which], record));
            folds[which].record(record);
        }
    }
    assert_eq!(told[0], watched_alone(&first));
    assert_eq!(told[1], watched_alone(&second));
    let status = |fold: &ViewFold| fold.status(0, Default::default());
    assert_eq!((status(&folds[0]).status, status(&folds[0]).exit_reason), ("COMPLETED", Some("gate_passed")));
    assert_eq!((status(&folds[1]).status, status(&folds[1]).exit_reason), ("ABORTED", Some("STALL")));
    assert_eq!(folds[0].session.iterations.len(), 3);
}

#[test]
fn what_the_agent_does_is_told_of_its_own_run() {
    let records = journal("completed_in_3");
    let (mut busy, mut idle) =
        (RunLines::new(&records[..1], Style::default()), RunLines::new(&[], Style::default()));
    let tool = Activity::Tool { name: "Edit".into(), detail: "/work/src/parser.rs".into(), file: None };
    assert_eq!(busy.activity(&tool).as_deref(), Some("  · Edit src/parser.rs"));
    assert_eq!((busy.doing(), idle.doing()), ("Edit src/parser.rs", ""));
    let said = Activity::Said { text: "a line\x1b[2J\nand another".into() };
    assert_eq!(idle.activity(&said).as_deref(), Some("  · a line\\u{1b}[2J\n    and another"));
    assert_eq!(busy.doing(), "Edit src/parser.rs");
    assert_eq!(busy.activity(&Activity::ToolEnded { failed: false }), None);
    assert_eq!(busy.doing(), "thinking, after Edit src/parser.rs", "a finished tool does not look running");
}

#[test]
fn every_screen_agrees_on_the_state_of_a_run() {
    for name in
        ["blocked", "budget", "completed_in_3", "crash_and_resume", "rate_limit", "stall", "unverified"]
    {
        let (mut state, mut fold) = (State::default(), ViewFold::default());
        for record in journal(name) {
            state.apply(&record);
            fold.record(&record);
            let known = RunState::of(&state);
            assert_eq!(
                fold.status(0, Default::default()).status,
                known.name(),
                "{name}, record {}",
                record.seq
            );
            assert_eq!(fold.progress(0).status, known.name(), "{name}, record {}", record.seq);
            let forced = RunState::Ended(Status::Interrupted);
            let gone = if known == RunState::Stopping { forced } else { RunState::Crashed };
            assert_eq!(known.alive(false), if known.is_open() { gone } else { known });
            assert_eq!(RunState::named(known.name()).map(RunState::name), Some(known.name()));
        }
        assert!(matches!(RunState::of(&state), RunState::Ended(_)), "{name}");
    }
}

#[test]
fn a_run_that_waits_for_a_limit_is_waiting_and_counts_down() {
    let (mut state, mut lines) = (State::default(), RunLines::new(&[], Style::default()));
    let mut waits = 0;
    for record in journal("rate_limit") {
        state.apply(&record);
        watch(&mut lines, &record);
        if let RunState::Waiting { until: Some(until) } = RunState::of(&state) {
            waits += 1;
            lines.tick(until - 90_000);
            assert!(lines.is_waiting());
            let ends = clock_time(until, &state.start.as_ref().unwrap().zone);
            let words = format!("waiting until {ends} (1m30s left): ");
            assert!(lines.doing().starts_with(&words), "{}", lines.doing());
        } else {
            assert!(!lines.is_waiting());
        }
    }
    assert!(waits > 0, "the journal has a wait");
}

#[test]
fn states_have_the_names_that_scripts_read() {
    let table = [
        (RunState::Running, "RUNNING", true),
        (RunState::Verifying, "VERIFYING", true),
        (RunState::Stopping, "STOPPING", true),
        (RunState::Waiting { until: None }, "WAITING", true),
        (RunState::Paused, "PAUSED", true),
        (RunState::Crashed, "CRASHED", false),
        (RunState::InSession, "IN_SESSION", true),
        (RunState::Ended(Status::Completed), "COMPLETED", false),
        (RunState::Ended(Status::Aborted), "ABORTED", false),
        (RunState::Ended(Status::Error), "ERROR", false),
        (RunState::Ended(Status::Interrupted), "INTERRUPTED", false),
    ];
    for (state, name, open) in table {
        assert_eq!((state.name(), state.is_open(), RunState::named(name)), (name, open, Some(state)));
    }
    assert_eq!(RunState::named("SOMETHING_NEW"), None);
}
