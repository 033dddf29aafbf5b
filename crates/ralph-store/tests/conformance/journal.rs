//! Records: appended, conflicting, chained, followed.

use crate::common::*;
use ralph_store::{Batch, CommitError, Row, RunRow, Settle, Totals};
use std::thread;

pub fn records_are_appended_and_read_back(place: &dyn Place) {
    let store = place.open();
    assert!(store.read("run/a", 0).unwrap().is_empty());
    assert_eq!(store.head("run/a").unwrap(), None);
    let done =
        store.commit(&puts(vec![put("run/a", 0, "1"), put("run/b", 0, "x"), put("run/a", 1, "2")])).unwrap();
    assert_eq!(done.position, Some(3));
    store.commit(&puts(vec![put("run/a", 2, "\u{0}ü\n")])).unwrap();
    let all = place.open().read("run/a", 0).unwrap();
    let seen: Vec<_> = all.iter().map(|e| (e.seq, e.body.as_str())).collect();
    assert_eq!(seen, [(1, "1"), (2, "2"), (3, "\u{0}ü\n")]);
    let e = &all[0];
    assert_eq!((e.stream.as_str(), e.at, e.ran, e.v, e.kind.as_str()), ("run/a", 10, 5, 1, "seen"));
    assert_eq!(store.read("run/a", 2).unwrap().len(), 1);
    assert!(store.read("run/a", 9).unwrap().is_empty());
    assert_eq!(store.head("run/a").unwrap().unwrap().seq, 3);
    assert_eq!(store.streams("run/").unwrap(), ["run/a", "run/b"]);
    assert_eq!(store.streams("run/b").unwrap(), ["run/b"]);
    assert_eq!(store.commit(&Batch::default()).unwrap().position, None);
}

pub fn a_stale_head_is_a_conflict_and_nothing_is_written(place: &dyn Place) {
    let store = place.open();
    store.commit(&puts(vec![put("run/a", 0, "1")])).unwrap();
    let id = store.ask("a", "{}", 1).unwrap();
    let stale = Batch {
        put: vec![put("run/c", 0, "c"), put("run/a", 1, "2"), put("run/a", 1, "3")],
        settle: vec![Settle { meters: vec!["day".into()], ..settle("x", 5) }],
        done: vec![id],
        memo: vec![("k".into(), Some("v".into()))],
        rows: vec![Row::Run(Box::new(RunRow { id: "a".into(), ..RunRow::default() }))],
        ..reserve("r", 7, vec![total("day", None)], 0)
    };
    match store.commit(&stale).unwrap_err() {
        CommitError::Conflict { stream, head, expected } => {
            assert_eq!((stream.as_str(), head, expected), ("run/a", 1, 1));
        }
        other => panic!("{other}"),
    }
    assert!(store.read("run/c", 0).unwrap().is_empty());
    assert_eq!(store.read("run/a", 0).unwrap().len(), 1);
    assert_eq!(store.meter("day").unwrap(), Totals::default());
    assert_eq!(store.requests("a").unwrap().len(), 1);
    assert_eq!(store.memo("k").unwrap(), None);
    assert_eq!(store.run("a").unwrap(), None);
}

pub fn the_chain_depends_on_every_record(place: &dyn Place) {
    let store = place.open();
    store.commit(&puts(vec![put("a", 0, "1"), put("b", 0, "1"), put("c", 0, "2")])).unwrap();
    let chain = |s: &str| store.head(s).unwrap().unwrap().chain;
    assert_ne!(chain("a"), chain("b"), "the stream's name counts");
    let first = chain("a");
    store.commit(&puts(vec![put("a", 1, "2")])).unwrap();
    assert_ne!(chain("a"), first);
    assert_ne!(chain("a"), chain("c"));
}

pub fn following_all_streams_leaves_no_gap(place: &dyn Place) {
    let store = place.open();
    for n in 0..5 {
        store.commit(&puts(vec![put("run/a", n, "a"), put("other", n, "o"), put("run/b", n, "b")])).unwrap();
    }
    let all = store.since("run/", 0, 100).unwrap();
    assert_eq!((all.entries.len(), all.next), (10, 15));
    let mut at = 0;
    let mut found = Vec::new();
    loop {
        let tail = store.since("run/", at, 3).unwrap();
        at = tail.next;
        if tail.entries.is_empty() {
            break;
        }
        found.extend(tail.entries);
    }
    assert_eq!(found, all.entries);
    assert!(found.windows(2).all(|w| w[0].0 < w[1].0));
    assert_eq!(store.since("run/", 15, 10).unwrap().next, 15);
    assert_eq!(store.since("run/", 99, 10).unwrap().next, 99, "never goes back");
    assert_eq!(store.since("run/", 3, 0).unwrap().next, 3);
}

pub fn following_live_writers_leaves_no_gap(place: &dyn Place) {
    let store = place.open();
    let writers: Vec<_> = (0..3)
        .map(|w| {
            let store = place.open();
            thread::spawn(move || {
                for n in 0..20 {
                    store.commit(&puts(vec![put(&format!("run/{w}"), n, "{}")])).unwrap();
                }
            })
        })
        .collect();
    let (mut at, mut found, mut seen) = (0, Vec::new(), None);
    while found.len() < 60 {
        let now = store.changed().unwrap();
        if seen.replace(now) == Some(now) {
            thread::yield_now();
            continue;
        }
        let tail = store.since("run/", at, usize::MAX).unwrap();
        at = tail.next;
        found.extend(tail.entries);
    }
    writers.into_iter().for_each(|w| w.join().unwrap());
    let positions: Vec<u64> = found.iter().map(|(p, _)| *p).collect();
    assert_eq!(positions, (1..=60).collect::<Vec<_>>());
}
