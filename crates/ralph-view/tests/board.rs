//! The board against a real store: many runs written at once, processes that are gone, runs that are put away.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use ralph_engine::home::Home;
use ralph_store::{Batch, Put, Row, RunRow, Store};
use ralph_view::board::{Board, BoardSettings, RecordSeen};
use ralph_view::card::Group;
use ralph_view::put_away::put_away;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

const RUNS: u64 = 50;
const RECORDS: u64 = 40;

fn put(run: &str, seq: u64) -> Put {
    Put {
        stream: format!("run/{run}"),
        expect: seq - 1,
        kind: "test".into(),
        body: "{}".into(),
        v: 1,
        ..Put::default()
    }
}

fn row(run: &str, workspace: &str, head: u64) -> RunRow {
    let (id, workspace) = (run.to_owned(), workspace.to_owned());
    RunRow { id, workspace, head, status: "RUNNING".into(), resumable: true, ..RunRow::default() }
}

fn write(store: &dyn Store, row: RunRow) {
    let put = vec![put(&row.id, row.head)];
    store.commit(&Batch { put, rows: vec![Row::Run(Box::new(row))], ..Batch::default() }).unwrap();
}

fn board(home: &Home) -> Board {
    Board::new(home, BoardSettings { zone: "UTC".into(), ..BoardSettings::default() })
}

/// By run: the numbers of its records, which must come in order and once each.
fn check(records: &[RecordSeen], seen: &mut BTreeMap<String, u64>) {
    for record in records {
        let last = seen.entry(record.run.clone()).or_default();
        assert_eq!(record.seq, *last + 1, "{record:?} after {last}");
        *last = record.seq;
    }
}

#[test]
fn nothing_is_missed_or_told_twice_while_fifty_runs_write() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    drop(home.store().unwrap());
    let (start, over) = (Arc::new(Barrier::new(6)), Arc::new(AtomicBool::new(false)));
    let writers: Vec<_> = (0..5)
        .map(|writer| {
            let (home, start) = (home.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                let store = home.store().unwrap();
                start.wait();
                for seq in 1..=RECORDS {
                    for run in (0..RUNS).filter(|run| run % 5 == writer) {
                        write(&store, row(&format!("run-{run:02}"), &format!("/w{run}"), seq));
                    }
                }
            })
        })
        .collect();
    let mut first = board(&home);
    assert!(first.poll(0).reset, "the first look reads everything");
    let mut followed = BTreeMap::new();
    start.wait();
    let waiting = std::thread::spawn({
        let over = Arc::clone(&over);
        move || {
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            over.store(true, Ordering::SeqCst);
        }
    });
    let mut restarted: Vec<Restarted> = Vec::new();
    let mut position = first.position();
    loop {
        let done = over.load(Ordering::SeqCst);
        let news = first.poll(0);
        assert!(!news.reset && news.trouble.is_none(), "{news:?}");
        check(&news.records, &mut followed);
        let positions: Vec<u64> = news.records.iter().map(|record| record.position).collect();
        assert!(positions.is_sorted() && positions.first().is_none_or(|first| *first > position));
        position = news.position;
        let told: BTreeSet<&String> = news.records.iter().map(|record| &record.run).collect();
        let changed: BTreeSet<&String> = news.changes.iter().map(|change| &change.card.run.row.id).collect();
        assert_eq!(told, changed, "a run that has a new record has a new card");
        if restarted.len() < 3 {
            restarted.push(Restarted::open(&home, &first));
        }
        if done {
            break;
        }
    }
    waiting.join().unwrap();
    assert!(!restarted.is_empty());
    restarted.into_iter().for_each(Restarted::follow_to_the_end);
    assert_eq!(followed.len() as u64, RUNS);
    assert!(followed.values().all(|last| *last == RECORDS), "{followed:?}");
}

/// A board that is opened meanwhile, with what every run had written when it was: the rows up to its position.
struct Restarted {
    board: Board,
    heads: BTreeMap<String, u64>,
}

impl Restarted {
    fn open(home: &Home, first: &Board) -> Restarted {
        let mut board = board(home);
        assert!(board.poll(0).reset);
        assert!(board.position() >= first.position());
        let mut heads = BTreeMap::new();
        for (position, entry) in board.store().unwrap().since("run/", 0, usize::MAX).unwrap().entries {
            if position <= board.position() {
                heads.insert(entry.stream.trim_start_matches("run/").to_owned(), entry.seq);
            }
        }
        Restarted { board, heads }
    }

    /// From its position on every record comes once, and then each run is complete.
    fn follow_to_the_end(mut self) {
        check(&self.board.poll(0).records, &mut self.heads);
        assert_eq!(self.heads.len() as u64, RUNS);
        assert!(self.heads.values().all(|last| *last == RECORDS), "{:?}", self.heads);
    }
}

#[test]
fn what_needs_somebody_comes_first_and_can_be_put_away() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let store = home.store().unwrap();
    let ended = |id: &str, workspace: &str, status: &str, reason: &str| RunRow {
        status: status.into(),
        reason: Some(reason.into()),
        exit_code: Some(i32::from(status != "COMPLETED")),
        resumable: false,
        ..row(id, workspace, 1)
    };
    write(&store, ended("old", "/a", "ABORTED", "STALL"));
    write(&store, ended("fine", "/a", "COMPLETED", "gate_passed"));
    write(&store, ended("stuck", "/b", "ABORTED", "BLOCKED"));
    write(&store, ended("mine", "/c", "INTERRUPTED", "INTERRUPTED"));
    write(&store, row("gone", "/d", 1));
    let mut board = board(&home);
    board.poll(0);
    let groups = |board: &Board| {
        let overview = board.overview(0).unwrap();
        let cards = overview.cards.iter().map(|card| (card.run.row.id.clone(), card.group));
        (overview.headline.clone(), cards.collect::<Vec<_>>())
    };
    let named = |id: &str, group| (id.to_owned(), group);
    let (headline, cards) = groups(&board);
    assert_eq!(headline, "Two need you.");
    let expected = [
        named("gone", Group::NeedsYou),
        named("stuck", Group::NeedsYou),
        named("fine", Group::Completed),
        named("mine", Group::Ended),
        named("old", Group::Ended),
    ];
    assert_eq!(cards, expected);
    put_away(&store, &store.run("stuck").unwrap().unwrap(), true).unwrap();
    let news = board.poll(1);
    let change = &news.changes[0].card;
    assert_eq!((change.run.row.id.as_str(), change.group, change.put_away), ("stuck", Group::Ended, true));
    assert_eq!(groups(&board).0, "One needs you.");
    // It changed since: whoever put it away has not seen this.
    write(&store, RunRow { head: 2, ..ended("stuck", "/b", "ABORTED", "STALL") });
    board.poll(2);
    assert_eq!(groups(&board).0, "Two need you.");
    put_away(&store, &store.run("stuck").unwrap().unwrap(), true).unwrap();
    put_away(&store, &store.run("stuck").unwrap().unwrap(), false).unwrap();
    board.poll(3);
    assert_eq!(groups(&board).0, "Two need you.");
}

#[test]
fn a_waiting_run_says_until_when_and_a_new_one_supersedes() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let mut board = board(&home);
    assert!(board.poll(0).is_empty(), "nothing has run yet");
    assert_eq!(board.overview(0).unwrap().headline, "Nothing has run yet.");
    let store = home.store().unwrap();
    write(&store, RunRow { exit_code: Some(1), status: "ABORTED".into(), ..row("first", "/a", 1) });
    assert!(board.poll(2_000).reset);
    assert_eq!(board.overview(0).unwrap().counts.needs_you, 1);
    write(&store, RunRow { exit_code: Some(0), status: "COMPLETED".into(), ..row("second", "/a", 1) });
    let changed = board.poll(2_050).changes;
    let changed: Vec<_> =
        changed.iter().map(|change| (change.card.short.as_str(), change.card.group)).collect();
    assert_eq!(
        changed,
        [("first", Group::Ended), ("second", Group::Completed)],
        "the one before needs nobody now"
    );
    assert_eq!(board.overview(0).unwrap().counts.needs_you, 0);
    assert_eq!(board.find("econd").unwrap().as_deref(), Some("second"));
    assert_eq!((board.find("nobody").unwrap(), board.find("").unwrap()), (None, None));
    assert_eq!(board.detail("nobody", 0).unwrap().map(|_| ()), None);
}
