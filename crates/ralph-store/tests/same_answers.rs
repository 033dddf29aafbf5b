//! Property: any sequence of operations gets the same answers from memory and from SQLite, errors included.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::cast_possible_wrap)]

mod common;

use common::*;
use proptest::prelude::*;
use ralph_store::{
    Batch, Delivery, Lease, Limit, OutboxFilter, OutboxRow, Put, RequestId, Reserve, Row, RunFilter, RunRow,
    Settle, Store, Used,
};

#[derive(Debug, Clone)]
enum Op {
    Commit(Box<Batch>),
    Ask(String),
    Lease(String, String, i64, Option<i64>),
    Settle(String, String, Delivery),
    KeepUntil(i64, Option<i64>),
    Prune(i64),
    Reopen,
    Housekeep,
}

fn name(from: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(from).prop_map(str::to_owned)
}

fn stream() -> impl Strategy<Value = String> {
    name(&["run/a", "run/b", "x"])
}

fn meter() -> impl Strategy<Value = String> {
    name(&["m", "n"])
}

fn hold() -> impl Strategy<Value = String> {
    name(&["1", "2", "3", "4"])
}

fn limit() -> impl Strategy<Value = Limit> {
    let cap = prop::option::of(0..60i64);
    prop_oneof![
        (meter(), cap.clone()).prop_map(|(meter, cap)| Limit::Total { meter, cap }),
        (meter(), 1..200_000i64, cap, 0..30i64).prop_map(|(meter, span, cap, add)| Limit::Window {
            meter,
            span,
            cap,
            add
        }),
    ]
}

fn put_any() -> impl Strategy<Value = Put> {
    (stream(), 0..4u64, any::<i64>(), any::<u32>(), ".{0,12}").prop_map(|(stream, expect, at, v, body)| Put {
        stream,
        expect,
        at,
        ran: at / 2,
        v,
        kind: "k".into(),
        body,
    })
}

fn reserve_any() -> impl Strategy<Value = Reserve> {
    (hold(), -3..50i64, prop::collection::vec(limit(), 0..4)).prop_map(|(id, to, against)| Reserve {
        id,
        to,
        against,
    })
}

fn settle_any() -> impl Strategy<Value = Settle> {
    let used = (meter(), -2..40i64).prop_map(|(meter, amount)| Used { meter, amount });
    (hold(), -2..80i64, prop::collection::vec(meter(), 0..2), prop::collection::vec(used, 0..2))
        .prop_map(|(id, actual, meters, used)| Settle { id, actual, meters, used })
}

fn note() -> impl Strategy<Value = OutboxRow> {
    let digest = prop::option::of(name(&["night", "noon"]));
    (name(&["o1", "o2", "o3", "o4", "o5"]), name(&["t", "u"]), 0..100i64, 0..100i64, digest).prop_map(
        |(id, target, at, due, digest)| OutboxRow { id, target, at, due, digest, ..OutboxRow::default() },
    )
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![
        Just(Delivery::Sent),
        (0..100i64).prop_map(Delivery::Retry),
        Just(Delivery::Failed),
        Just(Delivery::Dropped),
    ]
}

fn batch() -> impl Strategy<Value = Batch> {
    let memo = (name(&["k", "l"]), prop::option::of(name(&["1", "2"])));
    let row =
        (name(&["r1", "r2"]), name(&["/w", "/v"]), any::<bool>()).prop_map(|(id, workspace, resumable)| {
            Row::Run(Box::new(RunRow { id, workspace, resumable, ..RunRow::default() }))
        });
    let vec = prop::collection::vec::<BoxedStrategy<Put>>;
    (
        vec(put_any().boxed(), 0..3),
        prop::option::of(reserve_any()),
        prop::collection::vec(settle_any(), 0..2),
        prop::collection::vec((1..4i64).prop_map(RequestId), 0..2),
        prop::collection::vec(row, 0..2),
        prop::collection::vec(memo, 0..2),
        prop::collection::vec(note(), 0..2),
        -400_000..400_000i64,
    )
        .prop_map(|(put, reserve, settle, done, rows, memo, outbox, now)| Batch {
            put,
            reserve,
            settle,
            done,
            rows,
            memo,
            outbox,
            now,
        })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => batch().prop_map(|b| Op::Commit(Box::new(b))),
        1 => name(&["a", "b"]).prop_map(Op::Ask),
        4 => (name(&["x", "y"]), name(&["t", "u"]), 0..120i64, prop::option::of(0..120i64))
            .prop_map(|(owner, target, now, since)| Op::Lease(owner, target, now, since)),
        1 => (0..120i64, prop::option::of(0..120i64)).prop_map(|(now, ends)| Op::KeepUntil(now, ends)),
        1 => (0..120i64).prop_map(Op::Prune),
        4 => (name(&["o1", "o2", "o3", "o4", "o5"]), name(&["x", "y"]), delivery())
            .prop_map(|(id, owner, delivery)| Op::Settle(id, owner, delivery)),
        1 => Just(Op::Reopen),
        1 => Just(Op::Housekeep),
    ]
}

/// Half of the puts would never fit; give them the head they need, so that records really grow.
fn helped(store: &dyn Store, mut batch: Batch) -> Batch {
    let mut grown: Vec<String> = Vec::new();
    for put in batch.put.iter_mut().filter(|p| p.expect > 0) {
        let head = store.head(&put.stream).unwrap().map_or(0, |h| h.seq);
        put.expect = head + grown.iter().filter(|s| **s == put.stream).count() as u64;
        grown.push(put.stream.clone());
    }
    batch
}

/// Everything a reader can see.
fn view(s: &dyn Store, now: i64) -> String {
    let mut seen = format!("{:?}", s.since("", 0, usize::MAX).unwrap());
    for stream in ["run/a", "run/b", "x"] {
        seen += &format!("{:?}{:?}", s.head(stream).unwrap(), s.read(stream, 2).unwrap());
    }
    for meter in ["m", "n"] {
        seen += &format!("{:?}{:?}", s.meter(meter).unwrap(), s.window(meter, 100_000, now).unwrap());
    }
    for run in ["a", "b"] {
        seen += &format!("{:?}", s.requests(run).unwrap());
    }
    let of_w = RunFilter { workspace: Some("/w".into()), ..RunFilter::default() };
    seen += &format!("{:?}{:?}", s.runs(&RunFilter::default()).unwrap(), s.runs(&of_w).unwrap());
    seen += &format!("{:?}", s.outbox(&OutboxFilter::default()).unwrap());
    seen + &format!("{:?}{:?}", s.memo("k").unwrap(), s.streams("run/").unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_answer_alike(ops in prop::collection::vec(op(), 1..40)) {
        let (memory, disk) = (InMemory::new(), OnDisk::quick());
        let (a, mut b) = (memory.open(), disk.open());
        for op in ops {
            match op {
                Op::Commit(batch) => {
                    let batch = helped(&*a, *batch);
                    let answers = (a.commit(&batch), b.commit(&batch));
                    prop_assert_eq!(format!("{:?}", answers.0), format!("{:?}", answers.1));
                    prop_assert_eq!(view(&*a, batch.now), view(&*b, batch.now));
                }
                Op::Ask(run) => prop_assert_eq!(a.ask(&run, "{}", 1).unwrap(), b.ask(&run, "{}", 1).unwrap()),
                Op::Lease(owner, target, now, not_tried_since) => {
                    let lease = Lease { owner: &owner, target: &target, now, until: now + 30, not_tried_since };
                    prop_assert_eq!(a.outbox_lease(&lease).unwrap(), b.outbox_lease(&lease).unwrap());
                }
                Op::Settle(id, owner, delivery) => {
                    let settle = |s: &dyn Store| s.outbox_settle((std::slice::from_ref(&id), &owner, 50), &delivery, "x");
                    prop_assert_eq!(settle(&*a).unwrap(), settle(&*b).unwrap());
                    prop_assert_eq!(view(&*a, 0), view(&*b, 0));
                }
                Op::KeepUntil(now, ends) => {
                    let answers = (a.outbox_keep_until(now, ends), b.outbox_keep_until(now, ends));
                    prop_assert_eq!(answers.0.unwrap(), answers.1.unwrap());
                    prop_assert_eq!(view(&*a, 0), view(&*b, 0));
                }
                Op::Prune(before) => {
                    prop_assert_eq!(a.outbox_prune(before).unwrap(), b.outbox_prune(before).unwrap());
                    prop_assert_eq!(view(&*a, 0), view(&*b, 0));
                }
                Op::Reopen => b = disk.open(),
                Op::Housekeep => b.housekeep().and_then(|()| b.truncate()).unwrap(),
            }
        }
    }
}
