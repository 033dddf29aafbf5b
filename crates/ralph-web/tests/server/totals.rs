//! What `/metrics` counts: a counter never goes down, so only what is settled is in one.

use crate::bed::{Bed, row, write};
use ralph_engine::ledger::run_meter;
use ralph_rules::account::RunAccount;
use ralph_store::{AccountRow, Batch, Limit, Reserve, Row, Store};

#[test]
fn what_is_reserved_is_in_no_total() {
    let bed = Bed::new();
    let store = bed.store();
    let id = "0199a1b2-calls";
    write(&store, row(id, 1));
    let account = RunAccount { run: id.into(), agent: "claude".into(), ..RunAccount::default() };
    let account = AccountRow {
        run: id.into(),
        workspace: "/work".into(),
        started: 1,
        key: "claude".into(),
        body: serde_json::to_string(&account).unwrap(),
    };
    let meter = run_meter(id);
    let reserve = Reserve {
        id: format!("{id}/1.1"),
        to: 500_000,
        against: vec![Limit::Total { meter: meter.clone(), cap: None }],
    };
    let batch = Batch { rows: vec![Row::Account(account)], reserve: Some(reserve), ..Batch::default() };
    store.commit(&batch).unwrap();
    assert_eq!(store.meter(&meter).unwrap().held, 500_000);
    let metrics = bed.get("/metrics").body;
    assert!(metrics.contains("ralph_runs_started_total 1\n"), "{metrics}");
    for name in ["ralph_calls_total", "ralph_cost_dollars_total"] {
        assert!(!metrics.contains(name), "{metrics}");
    }
}
