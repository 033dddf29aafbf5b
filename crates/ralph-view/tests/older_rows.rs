//! Rows that an earlier ralph wrote lack what later ones added. Screens say nothing about it, or what the journal says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::cast_possible_truncation)]

#[path = "../../ralph-rules/tests/journal/mod.rs"]
mod journal;

use journal::{Journal, more, rungs};
use ralph_engine::home::Home;
use ralph_engine::rebuild::Rows;
use ralph_engine::run::put;
use ralph_rules::record::RunStarted;
use ralph_store::{Batch, IterationRow, Row, RunRow, Store};
use ralph_view::board::{Board, BoardSettings};
use ralph_view::run_detail::RunDetail;

/// A run whose agents take turns, with the rows of an earlier ralph or of this one.
fn detail(is_older: bool) -> RunDetail {
    let mut journal = Journal::unverified(|start: &mut RunStarted| {
        (start.ladder, start.rotate) = (rungs(), true);
    });
    for _ in 0..3 {
        journal.iteration(&more(), true, None);
    }
    let id = journal.state.start.as_ref().unwrap().run.clone();
    let rows = Rows::of_records(&id, &journal.records);
    let run = rows.run.unwrap();
    // What there was in version 0.1.
    let older = |row: RunRow| RunRow {
        model: None,
        max_iterations: 0,
        max_cost_micro: 0,
        max_ms: None,
        until: None,
        breaker: None,
        live_micro: 0,
        why: None,
        failing_before: None,
        ..row
    };
    let older_attempt =
        |row: IterationRow| IterationRow { progress: None, failing: None, rung: 0, error: None, ..row };
    let run = if is_older { older(run) } else { run };
    let attempts = rows.iterations.into_iter();
    let attempts = attempts.map(|row| if is_older { older_attempt(row) } else { row }).map(Row::Iteration);
    let stream = format!("run/{id}");
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("state"));
    let batch = Batch {
        put: journal.records.iter().map(|record| put(&stream, record)).collect(),
        rows: std::iter::once(Row::Run(Box::new(run))).chain(attempts).collect(),
        ..Batch::default()
    };
    home.store().unwrap().commit(&batch).unwrap();
    let mut board = Board::new(&home, BoardSettings { zone: "UTC".into(), ..BoardSettings::default() });
    let now = journal.now();
    board.poll(now);
    board.detail(&id, now).unwrap().unwrap()
}

#[test]
fn who_worked_is_read_from_the_journal() {
    let who = |detail: &RunDetail| -> Vec<(u32, u32, String)> {
        let each = detail.iterations.iter();
        each.map(|one| (one.bar.n, one.bar.rung, one.who.clone().unwrap())).collect()
    };
    let (older, newer) = (detail(true), detail(false));
    assert_eq!(who(&older), who(&newer));
    assert_eq!(older.iterations.iter().map(|one| one.bar.rung).collect::<Vec<_>>(), [2, 1, 0]);
}

#[test]
fn a_limit_that_no_row_has_is_not_shown_as_zero() {
    let named = |detail: &RunDetail| detail.limits.iter().map(|limit| limit.name).collect::<Vec<_>>();
    assert!(named(&detail(false)).contains(&"iterations"));
    let older = detail(true);
    assert_eq!(named(&older), Vec::<&str>::new());
    assert!(!older.card.line.contains(" of 0"), "{}", older.card.line);
}
