//! Which earlier runs had an error, and what is said of them: journals by the rules, rows by the engine, as runs write them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::cast_possible_truncation)]

#[path = "../../ralph-rules/tests/journal/mod.rs"]
mod journal;

use journal::{Journal, done, more};
use ralph_engine::rebuild::Rows;
use ralph_engine::run::put;
use ralph_rules::failure::Class;
use ralph_rules::fingerprint::Fingerprint;
use ralph_rules::record::{CheckOutcome, Seen};
use ralph_store::{Batch, Memory, Row, Store};
use ralph_view::seen_before::{SeenBefore, latest_error, seen_before};

const BROKEN: &str = "error: expected `;`";

fn started(id: &str, check: &str) -> Journal {
    Journal::after_baseline(true, |start| {
        (start.run, start.verify) = (id.into(), vec![check.into()]);
    })
}

/// One more iteration, whose check fails with this output.
fn fails(journal: &mut Journal, output: &str) {
    journal.later(1_000).admit();
    journal.later(1_000).says(&more());
    journal.inspected(true);
    journal.later(1_000).verified_saying(CheckOutcome::Failed, output);
}

/// One more attempt, which the provider turns away; then the run has waited.
fn is_overloaded(journal: &mut Journal) {
    journal.later(1_000).admit();
    journal.fails(Class::Outage, Some(60_000));
    journal.inspected(false);
    journal.later(120_000).see(Seen::Woke);
}

/// A run with such iterations: `e` fails with the error, `o` with another, `s` in silence, `x` is an attempt that finds the
/// provider overloaded, `f` fixes everything.
fn run(id: &str, check: &str, iterations: &str) -> Journal {
    let mut journal = started(id, check);
    for kind in iterations.chars() {
        match kind {
            'e' => fails(&mut journal, BROKEN),
            'o' => fails(&mut journal, "assertion failed: left == right"),
            's' => fails(&mut journal, ""),
            'x' => is_overloaded(&mut journal),
            'f' => drop(journal.iteration(&done(), true, Some(CheckOutcome::Passed)).clone()),
            other => panic!("{other}"),
        }
    }
    journal
}

fn write(store: &dyn Store, journal: &Journal) -> Option<String> {
    let id = journal.state.start.as_ref().unwrap().run.clone();
    let rows = Rows::of_records(&id, &journal.records);
    let error = rows.iterations.last().and_then(|row| row.error.clone());
    let attempts = rows.iterations.into_iter().map(Row::Iteration);
    let stream = format!("run/{id}");
    let batch = Batch {
        put: journal.records.iter().map(|record| put(&stream, record)).collect(),
        rows: attempts.chain(rows.run.map(|row| Row::Run(Box::new(row)))).collect(),
        ..Batch::default()
    };
    store.commit(&batch).unwrap();
    error
}

/// What a run that is opened says of the others, which are started in the order in which they stand here.
fn told(runs: &[(&str, &str, &str)], opened: &str) -> Vec<SeenBefore> {
    let store = Memory::new();
    let mut error = None;
    for (id, check, iterations) in runs {
        let ended_with = write(&store, &run(id, check, iterations));
        error = if *id == opened { ended_with } else { error };
    }
    seen_before(&store, "/work", &error.expect("the run ends with an error"), opened).unwrap()
}

#[test]
fn an_error_that_earlier_runs_had_names_them_and_what_was_changed() {
    let gone = |run: &str, n: u32| {
        format!("run {run} had this error; it was gone after iteration {n} changed src/0.rs")
    };
    let stuck =
        |run: &str, n: u32| format!("run {run} had this error and did not get past it (iteration {n})");
    let (make, cargo) = ("make test", "cargo test");
    // The runs as they were started, the one that is opened, and what it says.
    type Row = (Vec<(&'static str, &'static str, &'static str)>, &'static str, Vec<String>);
    let table: Vec<Row> = vec![
        (vec![("one", make, "ef"), ("two", make, "e")], "two", vec![gone("one", 2)]),
        (vec![("one", make, "ee"), ("two", make, "e")], "two", vec![stuck("one", 2)]),
        (vec![("one", make, "eo"), ("two", make, "e")], "two", vec![gone("one", 2)]),
        (vec![("one", make, "o"), ("two", make, "e")], "two", vec![]),
        // Every check that fails so fails with the same error.
        (vec![("one", cargo, "ef"), ("two", make, "e")], "two", vec![gone("one", 2)]),
        // Only runs that were started before are earlier.
        (vec![("one", make, "e"), ("two", make, "ef")], "one", vec![]),
        (vec![("one", make, "ef"), ("two", make, "e"), ("three", make, "ef")], "two", vec![gone("one", 2)]),
        // An attempt that the provider turned away is no answer; the one after it is.
        (vec![("one", make, "exf"), ("two", make, "e")], "two", vec![gone("one", 2)]),
        (vec![("one", make, "exxf"), ("two", make, "e")], "two", vec![gone("one", 2)]),
        (vec![("one", make, "exe"), ("two", make, "e")], "two", vec![stuck("one", 2)]),
        (vec![("one", make, "ex"), ("two", make, "e")], "two", vec![stuck("one", 1)]),
        // Of what failed without a word only the command is known.
        (vec![("one", "test -s a", "sf"), ("two", "test -s b", "s")], "two", vec![]),
        (vec![("one", "test -s a", "sf"), ("two", "test -s a", "s")], "two", vec![gone("one", 2)]),
    ];
    for (runs, opened, wanted) in table {
        let said: Vec<String> = told(&runs, opened).into_iter().map(|before| before.text).collect();
        assert_eq!(said, wanted, "{opened} of {runs:?}");
    }
}

#[test]
fn the_latest_error_is_that_of_the_latest_iteration_that_ended() {
    let rows = |journal: &Journal| Rows::of_records("run", &journal.records).iterations;
    let mut journal = run("run", "make test", "e");
    let error = rows(&journal).last().unwrap().error.clone();
    assert!(error.is_some());
    journal.later(1_000).admit();
    let under_way = rows(&journal);
    assert_eq!((under_way.len(), under_way[1].error.as_deref()), (2, None));
    assert_eq!(latest_error(&under_way), error.as_deref());
    for (iterations, wanted) in [("", None), ("ex", error.as_deref()), ("ef", None)] {
        assert_eq!(latest_error(&rows(&run("run", "make test", iterations))), wanted, "{iterations}");
    }
}

#[test]
fn silent_checks_in_rows_of_an_earlier_ralph_are_not_compared() {
    let store = Memory::new();
    for (id, check) in [("one", "test -s a"), ("two", "test -s b")] {
        let journal = run(id, check, "s");
        write(&store, &journal);
        let mut rows = Rows::of_records(id, &journal.records).iterations;
        rows.iter_mut().for_each(|row| row.error = Some(Fingerprint::SILENT.into()));
        let rows = rows.into_iter().map(Row::Iteration).collect();
        store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    }
    assert_eq!(seen_before(&store, "/work", Fingerprint::SILENT, "two").unwrap(), []);
}
