//! The outbox: written with its record, delivered by one at a time, never lost.

use crate::common::*;
use ralph_store::{Batch, Delivery, Lease, OutboxFilter, OutboxRow, OutboxState, Store};
use std::collections::BTreeSet;
use std::sync::Mutex;

fn row(id: &str, target: &str, due: i64) -> OutboxRow {
    OutboxRow {
        id: id.into(),
        run: "a".into(),
        seq: 7,
        event: "completed".into(),
        target: target.into(),
        at: due - 1,
        due,
        digest: None,
        body: format!("{{\"of\":\"{id}\"}}"),
    }
}

fn add(store: &dyn Store, rows: Vec<OutboxRow>) {
    store.commit(&Batch { outbox: rows, ..Batch::default() }).unwrap();
}

fn lease<'a>(owner: &'a str, target: &'a str, now: i64) -> Lease<'a> {
    Lease { owner, target, now, until: now + 60, not_tried_since: None }
}

fn taken(store: &dyn Store, wanted: &Lease<'_>) -> Vec<String> {
    store.outbox_lease(wanted).unwrap().into_iter().map(|e| e.row.id).collect()
}

fn settle(store: &dyn Store, id: &str, owner: &str, delivery: &Delivery) -> usize {
    store.outbox_settle((&[id.to_owned()], owner, 500), delivery, "200").unwrap()
}

pub fn a_note_is_written_with_its_record_and_once(place: &dyn Place) {
    let store = place.open();
    let stale = Batch { outbox: vec![row("1", "t", 10)], ..puts(vec![put("run/a", 3, "{}")]) };
    store.commit(&stale).unwrap_err();
    assert!(store.outbox(&OutboxFilter::default()).unwrap().is_empty(), "no record, no note");
    let batch = Batch { outbox: vec![row("1", "t", 10)], ..puts(vec![put("run/a", 0, "{}")]) };
    assert!(!batch.is_empty());
    store.commit(&batch).unwrap();
    let again = OutboxRow { body: "other".into(), due: 99, ..row("1", "t", 10) };
    add(&*store, vec![again, row("2", "t", 20)]);
    let all = place.open().outbox(&OutboxFilter::default()).unwrap();
    assert_eq!(all.iter().map(|e| e.row.clone()).collect::<Vec<_>>(), [row("1", "t", 10), row("2", "t", 20)]);
    assert!(all.iter().all(|e| e.state == OutboxState::Pending && e.attempts == 0));
}

pub fn a_lease_is_held_by_one_and_ends(place: &dyn Place) {
    let store = place.open();
    add(&*store, vec![row("1", "t", 10), row("2", "t", 200), row("3", "u", 10)]);
    assert!(taken(&*store, &lease("a", "t", 9)).is_empty(), "not due");
    assert_eq!(taken(&*store, &lease("a", "t", 100)), ["1"]);
    assert!(taken(&*place.open(), &lease("b", "t", 159)).is_empty(), "taken");
    assert_eq!(taken(&*store, &lease("b", "u", 159)), ["3"], "another target");
    assert_eq!(taken(&*store, &lease("b", "t", 160)), ["1"], "the lease is over");
    assert_eq!(settle(&*store, "1", "a", &Delivery::Sent), 0, "it is somebody else's now");
    assert_eq!(settle(&*store, "1", "b", &Delivery::Sent), 1);
    let not_tried = Lease { not_tried_since: Some(1_000), ..lease("a", "t", 199) };
    assert!(taken(&*store, &not_tried).is_empty(), "2 is not due, and did not fail");
}

pub fn a_failure_is_tried_again_when_it_is_due(place: &dyn Place) {
    let store = place.open();
    add(&*store, vec![row("1", "t", 10)]);
    assert_eq!(taken(&*store, &lease("a", "t", 20)), ["1"]);
    assert_eq!(settle(&*store, "1", "a", &Delivery::Retry(90)), 1);
    assert!(taken(&*store, &lease("b", "t", 89)).is_empty());
    let soon = |moment| Lease { not_tried_since: Some(moment), until: 51, ..lease("b", "t", 50) };
    assert!(taken(&*store, &soon(500)).is_empty(), "it was tried at that moment");
    assert_eq!(taken(&*store, &soon(501)), ["1"]);
    assert_eq!(taken(&*store, &lease("b", "t", 90)), ["1"]);
    let listed = store.outbox(&OutboxFilter::default()).unwrap();
    assert_eq!(
        (listed[0].attempts, listed[0].tried, listed[0].answer.as_deref()),
        (1, Some(500), Some("200"))
    );
    assert_eq!(settle(&*store, "1", "b", &Delivery::Failed), 1);
    let failed = OutboxFilter { state: Some(OutboxState::Failed), ..OutboxFilter::default() };
    assert_eq!(place.open().outbox(&failed).unwrap()[0].attempts, 2);
    assert!(taken(&*store, &lease("a", "t", 9_000)).is_empty(), "given up");
}

/// A program that is started at most once is marked before; that it failed is still said.
pub fn what_was_handed_over_is_not_leased_again_and_can_still_fail(place: &dyn Place) {
    let store = place.open();
    add(&*store, vec![row("1", "t", 10)]);
    taken(&*store, &lease("a", "t", 20));
    assert_eq!(settle(&*store, "1", "a", &Delivery::Sent), 1);
    assert!(taken(&*place.open(), &lease("b", "t", 9_000)).is_empty());
    assert_eq!(settle(&*store, "1", "a", &Delivery::Failed), 1);
    assert_eq!(store.outbox(&OutboxFilter::default()).unwrap()[0].state, OutboxState::Failed);
}

pub fn a_digest_is_leased_as_a_whole(place: &dyn Place) {
    let store = place.open();
    let held = |id: &str, at: i64, target: &str| OutboxRow {
        at,
        digest: Some("night".into()),
        ..row(id, target, 100)
    };
    add(&*store, vec![held("2", 30, "t"), held("1", 40, "t"), held("3", 35, "u"), row("4", "t", 101)]);
    assert_eq!(taken(&*store, &lease("a", "t", 100)), ["2", "1"], "in the order in which they happened");
    assert_eq!(taken(&*store, &lease("b", "t", 110)), ["4"]);
    let ids = ["2".to_owned(), "1".to_owned()];
    assert_eq!(store.outbox_settle((&ids, "a", 120), &Delivery::Sent, "204").unwrap(), 2);
    let pending = OutboxFilter { state: Some(OutboxState::Pending), ..OutboxFilter::default() };
    let left: Vec<String> = store.outbox(&pending).unwrap().into_iter().map(|e| e.row.id).collect();
    assert_eq!(left, ["3", "4"]);
    let of = |run: &str| OutboxFilter { run: Some(run.into()), limit: Some(3), ..OutboxFilter::default() };
    assert_eq!((store.outbox(&of("a")).unwrap().len(), store.outbox(&of("b")).unwrap().len()), (3, 0));
}

fn night(id: &str, due: i64) -> OutboxRow {
    OutboxRow { at: due - 80, digest: Some(due.to_string()), ..row(id, "t", due) }
}

pub fn what_is_kept_for_quiet_hours_can_be_asked_for(place: &dyn Place) {
    let store = place.open();
    add(&*store, vec![night("1", 100), night("2", 100), row("3", "t", 100)]);
    assert!(taken(&*store, &lease("a", "t", 50)).is_empty(), "the hours last");
    let asked = Lease { not_tried_since: Some(50), ..lease("a", "t", 50) };
    assert_eq!(taken(&*store, &asked), ["1", "2"], "as one digest; 3 is not due");
    let ids = ["1".to_owned(), "2".to_owned()];
    assert_eq!(store.outbox_settle((&ids, "a", 51), &Delivery::Retry(60), "503").unwrap(), 2);
    assert!(taken(&*store, &asked).is_empty(), "tried since");
}

pub fn quiet_hours_that_end_at_another_time_keep_notes_until_then(place: &dyn Place) {
    let store = place.open();
    let other = OutboxRow { target: "u".into(), ..night("4", 100) };
    add(&*store, vec![night("1", 100), night("2", 300), row("3", "t", 100), other]);
    assert_eq!(store.outbox_keep_until(50, Some(100)).unwrap(), 1, "1 and 4 wait until then already");
    assert_eq!(store.outbox_keep_until(50, Some(100)).unwrap(), 0);
    assert_eq!(taken(&*store, &lease("a", "u", 100)), ["4"]);
    assert_eq!(store.outbox_keep_until(60, Some(200)).unwrap(), 2, "4 is somebody's");
    assert!(taken(&*store, &lease("a", "t", 60)).is_empty());
    assert_eq!(store.outbox_keep_until(70, None).unwrap(), 2);
    assert_eq!(taken(&*place.open(), &lease("a", "t", 70)), ["1", "2"], "due now, as one digest");
    assert_eq!(taken(&*store, &lease("a", "t", 99)), [""; 0], "3 was not kept for anything");
    let ids = ["1".to_owned(), "2".to_owned()];
    store.outbox_settle((&ids, "a", 80), &Delivery::Retry(900), "503").unwrap();
    assert_eq!(store.outbox_keep_until(800, Some(5_000)).unwrap(), 0, "they wait for another attempt");
}

pub fn only_rows_that_were_closed_long_ago_are_deleted(place: &dyn Place) {
    let store = place.open();
    let ends = [
        ("1", Delivery::Sent),
        ("2", Delivery::Failed),
        ("3", Delivery::Dropped),
        ("4", Delivery::Retry(90)),
    ];
    add(&*store, ends.iter().map(|(id, _)| row(id, id, 10)).chain([row("5", "t", 10)]).collect());
    for (id, end) in &ends {
        taken(&*store, &lease("a", id, 20));
        assert_eq!(settle(&*store, id, "a", end), 1);
    }
    assert_eq!(store.outbox_prune(500).unwrap(), 0, "they were closed at 500");
    assert_eq!(store.outbox_prune(501).unwrap(), 3);
    assert_eq!(store.outbox_prune(501).unwrap(), 0);
    let left = place.open().outbox(&OutboxFilter::default()).unwrap();
    let left: Vec<&str> = left.iter().map(|e| e.row.id.as_str()).collect();
    assert_eq!(left, ["5", "4"], "what is to be delivered stays");
}

pub fn a_clock_that_is_set_back_holds_nothing_up(place: &dyn Place) {
    let store = place.open();
    let later = 1_000_000_000_000;
    add(&*store, vec![row("1", "t", later), row("2", "t", 10)]);
    let wanted = Lease { until: later + 60, ..lease("a", "t", later) };
    assert_eq!(taken(&*store, &wanted), ["2"]);
    assert_eq!(taken(&*store, &lease("b", "t", 20)), ["2"], "the lease was given in a time to come");
    assert_eq!(taken(&*store, &lease("b", "t", 20)), ["1"]);
}

pub fn racing_deliverers_never_get_the_same_note(place: &dyn Place) {
    let store = place.open();
    add(&*store, (0..60).map(|n| row(&format!("{n:02}"), "t", n)).collect());
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|threads| {
        for nth in 0..4 {
            let (store, seen) = (place.open(), &seen);
            threads.spawn(move || {
                let owner = format!("deliverer {nth}");
                loop {
                    let ids = taken(&*store, &lease(&owner, "t", 1_000));
                    if ids.is_empty() {
                        return;
                    }
                    seen.lock().unwrap().extend(ids);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 60);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 60);
}
