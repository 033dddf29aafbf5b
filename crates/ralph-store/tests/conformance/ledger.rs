//! Money: reserved, raised, settled, raced for.

use crate::common::*;
use crate::{refusal, totals};
use ralph_store::{Batch, Grant, Refusal, Settle, Store, Totals, WindowUse};
use std::sync::Arc;
use std::thread;

pub fn a_reservation_is_held_until_settled(place: &dyn Place) {
    let store = place.open();
    let both = vec![total("run/1", 100), total("day", 1000)];
    let done = store.commit(&reserve("1/1/1", 60, both, 0)).unwrap();
    assert_eq!(done.grant, Some(Grant { to: 60, settled: false }));
    assert_eq!(store.meter("run/1").unwrap(), totals(0, 60));
    assert_eq!(store.meter("day").unwrap().total(), 60);
    place.open().commit(&settles(vec![settle("1/1/1", 25)], 0)).unwrap();
    assert_eq!(store.meter("run/1").unwrap(), totals(25, 0));
    assert_eq!(store.meter("day").unwrap(), totals(25, 0));
    assert_eq!(store.meter("never").unwrap(), Totals::default());
}

pub fn all_limits_grant_or_none_is_touched(place: &dyn Place) {
    let store = place.open();
    let against = vec![total("run/1", 100), window("calls", 1000, 5, 1), total("day", 50)];
    let batch = Batch { put: vec![put("run/1", 0, "{}")], ..reserve("r", 60, against, 0) };
    let no = refusal(&*store, &batch);
    let full = Refusal { meter: "day".into(), total: 0, wanted: 60, cap: 50, free_at: None };
    assert_eq!(no, full);
    assert_eq!(store.meter("run/1").unwrap(), Totals::default());
    assert_eq!(store.window("calls", 1000, 0).unwrap(), WindowUse::default());
    assert!(store.read("run/1", 0).unwrap().is_empty());
    // Without a cap a meter only counts.
    store.commit(&reserve("r", 60, vec![total("day", None), total("run/1", 60)], 0)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(0, 60));
    assert_eq!(refusal(&*store, &reserve("q", 1, vec![total("run/1", 60)], 0)).total, 60);
    assert_eq!(
        refusal(&*store, &reserve("q", 0, vec![total("run/1", 59)], 0)).wanted,
        0,
        "overdrawn grants not even 0"
    );
    // The same meter under two caps: both hold.
    assert_eq!(refusal(&*store, &reserve("q", 5, vec![total("x", 9), total("x", 4)], 0)).cap, 4);
    store.commit(&reserve("q", 4, vec![total("x", 9), total("x", 4)], 0)).unwrap();
    assert_eq!(store.meter("x").unwrap(), totals(0, 4), "and charge it once");
}

pub fn the_same_reservation_again_is_the_same_grant(place: &dyn Place) {
    let store = place.open();
    let batch = reserve("r", 60, vec![total("day", 60), window("calls", 1000, 1, 1)], 100);
    let first = store.commit(&batch).unwrap().grant;
    assert_eq!(place.open().commit(&batch).unwrap().grant, first);
    // Also when the cap was lowered meanwhile, or less is asked for.
    let again = reserve("r", 20, vec![total("day", 10), window("calls", 1000, 0, 1)], 300);
    assert_eq!(store.commit(&again).unwrap().grant, first);
    assert_eq!(store.meter("day").unwrap(), totals(0, 60));
    assert_eq!(store.window("calls", 1000, 300).unwrap(), WindowUse { used: 1, leaves: Some(1100) });
}

pub fn raising_a_reservation_checks_only_the_difference(place: &dyn Place) {
    let store = place.open();
    let against = |cap| vec![total("day", cap)];
    store.commit(&reserve("r", 60, against(100), 0)).unwrap();
    store.commit(&reserve("r", 100, against(100), 0)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(0, 100));
    let no = refusal(&*store, &reserve("r", 101, against(100), 0));
    assert_eq!((no.total, no.wanted), (100, 1));
    assert_eq!(store.meter("day").unwrap(), totals(0, 100), "what was granted stays");
    // A meter that joins later is charged in full.
    store.commit(&reserve("r", 100, vec![total("run", 100)], 0)).unwrap();
    assert_eq!(store.meter("run").unwrap(), totals(0, 100));
    store.commit(&settles(vec![settle("r", 30)], 0)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(30, 0));
    let after = store.commit(&reserve("r", 90, against(100), 0)).unwrap().grant;
    assert_eq!(after, Some(Grant { to: 100, settled: true }), "nothing is added to what is settled");
    assert_eq!(store.meter("day").unwrap(), totals(30, 0));
}

pub fn a_settlement_is_never_refused_and_counts_once(place: &dyn Place) {
    let store = place.open();
    store.commit(&reserve("r", 60, vec![total("day", 100)], 0)).unwrap();
    store.commit(&settles(vec![settle("r", 500)], 0)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(500, 0), "overdrawn");
    assert_eq!(refusal(&*store, &reserve("q", 1, vec![total("day", 100)], 0)).total, 500);
    store.commit(&settles(vec![settle("r", 1), settle("r", 2)], 0)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(500, 0), "the first one stands");
    let unknown =
        Settle { meters: vec!["day".into(), "run".into()], used: vec![used("calls", 1)], ..settle("u", 7) };
    store.commit(&settles(vec![unknown.clone(), unknown], 40)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(507, 0), "never reserved, booked all the same");
    assert_eq!(store.meter("run").unwrap(), totals(7, 0));
    assert_eq!(store.window("calls", 100, 50).unwrap(), WindowUse { used: 1, leaves: Some(140) });
}

pub fn a_settlement_frees_room_for_the_reservation_beside_it(place: &dyn Place) {
    let store = place.open();
    let day = || vec![total("day", 100)];
    store.commit(&reserve("1", 90, day(), 0)).unwrap();
    let next = Batch { settle: vec![settle("1", 10)], ..reserve("2", 90, day(), 0) };
    store.commit(&next).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(10, 90));
    let refused = Batch { settle: vec![settle("2", 20)], ..reserve("3", 90, day(), 0) };
    refusal(&*store, &refused);
    assert_eq!(store.meter("day").unwrap(), totals(10, 90), "the settlement went with the refusal");
    store.commit(&settles(vec![settle("2", 5)], 0)).unwrap();
    assert_eq!(store.meter("day").unwrap(), totals(15, 0));
}

pub fn absurd_amounts_do_not_overflow(place: &dyn Place) {
    let store = place.open();
    let against = || vec![total("day", None), window("t", 10, None, i64::MAX)];
    store.commit(&reserve("a", i64::MAX, against(), i64::MAX)).unwrap();
    let long_ago = i64::MIN + 100;
    store.commit(&reserve("b", i64::MAX, against(), long_ago)).unwrap();
    assert_eq!(store.meter("day").unwrap().total(), i64::MAX);
    assert_eq!(store.window("t", 10, long_ago).unwrap().used, i64::MAX);
    store.window("t", i64::MAX, i64::MIN).unwrap();
    store.window("t", i64::MIN, i64::MAX).unwrap();
    store.commit(&reserve("c", -5, vec![total("n", 0), window("w", 10, 0, -5)], 0)).unwrap();
    let minus = Settle { meters: vec!["n".into()], used: vec![used("w", -9)], ..settle("c", -7) };
    store.commit(&settles(vec![minus], 0)).unwrap();
    assert_eq!(store.meter("n").unwrap(), Totals::default(), "less than nothing is nothing");
    assert_eq!(store.window("w", 10, 5).unwrap().used, 0);
}

pub fn racing_writers_never_get_more_than_the_cap(place: &dyn Place) {
    let racers: Vec<_> = (0..8)
        .map(|w| {
            let store: Arc<dyn Store> = place.open();
            thread::spawn(move || {
                let ask = |n| {
                    reserve(&format!("{w}/{n}"), 37, vec![total("day", 1000), window("c", 9999, 20, 1)], 5)
                };
                (0..10).filter(|n| store.commit(&ask(*n)).is_ok()).count()
            })
        })
        .collect();
    let granted: usize = racers.into_iter().map(|r| r.join().unwrap()).sum();
    assert_eq!(granted, 20);
    let store = place.open();
    assert_eq!(store.meter("day").unwrap(), totals(0, 740));
    assert_eq!(store.window("c", 9999, 5).unwrap().used, 20);
}
