//! Sliding windows, also under a clock that jumps.

use crate::common::*;
use crate::refusal;
use ralph_store::{Refusal, Settle, WindowUse};

pub fn windows_slide(place: &dyn Place) {
    const HOUR: i64 = 3_600_000;
    let store = place.open();
    let call = |id: &str, now| reserve(id, 0, vec![window("calls", HOUR, 2, 1)], now);
    store.commit(&call("a", 0)).unwrap();
    store.commit(&call("b", HOUR - 1)).unwrap();
    let no = refusal(&*place.open(), &call("c", HOUR - 1));
    assert_eq!(no, Refusal { meter: "calls".into(), total: 2, wanted: 1, cap: 2, free_at: Some(HOUR) });
    store.commit(&call("c", HOUR)).unwrap();
    // No fixed hour: a minute later the two of the last hour still count.
    assert_eq!(refusal(&*store, &call("d", HOUR + 60_000)).free_at, Some(2 * HOUR - 1));
    assert_eq!(
        store.window("calls", HOUR, HOUR + 5).unwrap(),
        WindowUse { used: 2, leaves: Some(2 * HOUR - 1) }
    );
    assert_eq!(store.window("calls", HOUR, 9 * HOUR).unwrap(), WindowUse::default());
    // More than the cap in one piece never fits.
    assert_eq!(refusal(&*store, &reserve("e", 0, vec![window("calls", HOUR, 2, 3)], 9 * HOUR)).free_at, None);
}

pub fn windows_share_a_meter_with_other_spans_and_are_corrected_by_settling(place: &dyn Place) {
    let store = place.open();
    let call =
        |id: &str, now, add| reserve(id, 0, vec![window("t", 100, 50, add), window("t", 1000, 80, add)], now);
    store.commit(&call("a", 0, 40)).unwrap();
    assert_eq!(refusal(&*store, &call("b", 50, 40)).cap, 50);
    assert_eq!(refusal(&*store, &call("b", 100, 41)).free_at, Some(1000), "the longer span refuses");
    store.commit(&call("b", 100, 40)).unwrap();
    assert_eq!(store.window("t", 1000, 100).unwrap().used, 80, "counted once");
    store.commit(&settles(vec![Settle { used: vec![used("t", 10)], ..settle("b", 0) }], 150)).unwrap();
    assert_eq!(store.window("t", 100, 150).unwrap(), WindowUse { used: 10, leaves: Some(200) });
    store.commit(&settles(vec![settle("a", 0)], 150)).unwrap();
    assert_eq!(store.window("t", 1000, 150).unwrap().used, 50, "not named, so as reserved");
    // Raising the amount is an extension of the same event.
    store.commit(&call("c", 160, 5)).unwrap();
    store.commit(&call("c", 170, 12)).unwrap();
    assert_eq!(store.window("t", 50, 180).unwrap(), WindowUse { used: 12, leaves: Some(210) });
}

pub fn windows_survive_a_clock_that_jumps(place: &dyn Place) {
    const HOUR: i64 = 3_600_000;
    let store = place.open();
    let call = |id: &str, now| reserve(id, 0, vec![window("calls", HOUR, 2, 1)], now);
    let later = 100 * HOUR;
    store.commit(&call("a", later)).unwrap();
    store.commit(&call("b", later)).unwrap();
    // Set back by days: what lies in the future counts as now.
    let now = 10 * HOUR;
    assert_eq!(store.window("calls", HOUR, now).unwrap(), WindowUse { used: 2, leaves: Some(now + HOUR) });
    assert_eq!(refusal(&*store, &call("c", now)).free_at, Some(now + HOUR));
    // And it stays at that moment, even though the call was refused: an hour later there is room.
    assert_eq!(refusal(&*place.open(), &call("c", now + HOUR / 2)).free_at, Some(now + HOUR));
    store.commit(&call("c", now + HOUR + 10_000)).unwrap();
    // A few seconds back are two clocks read in turn: nothing is moved.
    store.commit(&call("d", now + HOUR + 7000)).unwrap();
    assert_eq!(store.window("calls", HOUR, now + 2 * HOUR + 9999).unwrap().used, 1);
    // Forward by years, and far back again.
    store.commit(&call("e", 900_000 * HOUR)).unwrap();
    refusal(&*store, &call("f", -5 * HOUR));
    store.commit(&call("f", -4 * HOUR)).unwrap();
}
