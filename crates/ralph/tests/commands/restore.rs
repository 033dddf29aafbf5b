//! A database that is damaged, gone or restored from a copy: nothing that was spent is forgotten, and no run begins anew
//! by accident.

use super::scene::Scene;
use ralph_store::{Batch, Limit, Reserve, Settle, Store};
use ralph_tree::WorkspaceLock;
use serde_json::Value;
use std::path::PathBuf;

fn state(scene: &Scene) -> PathBuf {
    scene.scratch.state().join("ralph")
}

fn database(scene: &Scene) -> PathBuf {
    state(scene).join("ralph.db")
}

/// Two iterations, a copy of the database, and two more iterations that the copy does not have.
fn worked_on_after_a_copy() -> Scene {
    let scene = Scene::new();
    let first = scene.sim("x", &["--max-iterations", "2", "--max-cost", "1"], "write a x; say more");
    assert_eq!(first.code, 3, "{}", first.err);
    ralph_store::open(&state(&scene)).unwrap().daily_copy("20260101").unwrap();
    let more = scene.ralph(&["resume", "--max-iterations", "4"]);
    assert_eq!(more.code, 3, "{}", more.err);
    // The runs make a copy of today by themselves; when exactly is not known.
    for copy in ralph_store::copies(&state(&scene)).into_iter().skip(1) {
        std::fs::remove_file(copy).unwrap();
    }
    scene
}

fn run_of(scene: &Scene) -> Value {
    let status = scene.ralph(&["status", "--json"]);
    assert_eq!(status.code, 0, "{}", status.err);
    serde_json::from_str::<Value>(&status.out).unwrap()["run"].clone()
}

fn cost(run: &Value) -> i64 {
    run["cost_micro"].as_i64().unwrap()
}

/// The rows of `doctor --full` about the ledger.
fn ledger(scene: &Scene) -> Vec<(String, String)> {
    let rows: Value = serde_json::from_str(&scene.ralph(&["doctor", "--full", "--json"]).out).unwrap();
    let rows = rows["rows"].as_array().unwrap().clone();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter()
        .filter(|row| row["name"] == "ledger")
        .map(|row| (text(row, "state"), text(row, "fact")))
        .collect()
}

/// The restored run goes on after its transcripts, and every dollar is counted.
fn goes_on(scene: &Scene, before: &Value) {
    let folder = state(scene).join("runs").join(before["id"].as_str().unwrap());
    let third = std::fs::read(folder.join("003.a1.out.jsonl")).unwrap();
    let resumed = scene.ralph(&["resume", "--max-iterations", "5"]);
    assert_eq!(resumed.code, 3, "{}", resumed.err);
    assert!(resumed.err.contains("2 further calls, up to iteration 4"), "{}", resumed.err);
    assert_eq!(std::fs::read(folder.join("003.a1.out.jsonl")).unwrap(), third, "kept as it was");
    assert!(folder.join("005.a1.out.jsonl").exists());
    let run = run_of(scene);
    assert_eq!(run["iterations"], 5);
    let each = cost(before) / 4;
    assert_eq!(cost(&run), cost(before) + each, "four calls before, one since");
    assert_eq!(ledger(scene)[0].0, "ok", "{:?}", ledger(scene));
    assert_eq!(scene.ralph(&["replay"]).code, 0);
}

#[test]
fn a_damaged_database_is_restored_as_the_message_says() {
    let scene = worked_on_after_a_copy();
    let before = run_of(&scene);
    assert!(cost(&before) > 0);
    std::fs::write(database(&scene), "not a database at all".repeat(500)).unwrap();
    let refused = scene.ralph(&["list"]);
    assert_eq!(refused.code, 74);
    assert!(refused.err.contains("`ralph doctor --restore`"), "{}", refused.err);

    let restored = scene.ralph(&["doctor", "--restore"]);
    assert!(restored.err.contains("Counted 2 calls since then"), "{}", restored.err);
    let found = ledger(&scene);
    assert!(found[0].0 == "bad" && found[0].1.contains("its journal does not hold"), "{found:?}");
    goes_on(&scene, &before);
}

#[test]
fn the_database_of_an_active_run_is_not_replaced() {
    let scene = worked_on_after_a_copy();
    let before = std::fs::read(database(&scene)).unwrap();
    let elsewhere = scene.scratch.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let lock =
        WorkspaceLock::take(&state(&scene).join("locks"), &elsewhere, "run abc, process 2000000000").unwrap();
    let refused = scene.ralph(&["doctor", "--restore"]);
    assert_eq!(refused.code, 73, "{}", refused.err);
    for words in [elsewhere.to_str().unwrap(), "run abc, process 2000000000", "stop it first"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    assert_eq!(std::fs::read(database(&scene)).unwrap(), before);
    assert!(!state(&scene).join("ralph.db.replaced-1").exists());
    drop(lock);
    let restored = scene.ralph(&["doctor", "--restore"]);
    assert!(restored.err.contains("Restored "), "{}", restored.err);
}

#[test]
fn a_run_that_began_after_the_copy_is_counted_and_no_error_for_ever() {
    let mut scene = Scene::new();
    scene.set("RALPH_AGENT", "sim");
    assert_eq!(scene.sim("x", &["--verify", "test -f a"], "write a x; claim complete").code, 0);
    ralph_store::open(&state(&scene)).unwrap().daily_copy("20260101").unwrap();
    let limits = ["--max-iterations", "1", "--max-cost", "1", "--fresh"];
    assert_eq!(scene.sim("y", &limits, "write b x; say more").code, 3);
    let later = run_of(&scene)["id"].as_str().unwrap().to_owned();
    for copy in ralph_store::copies(&state(&scene)).into_iter().skip(1) {
        std::fs::remove_file(copy).unwrap();
    }
    let restored = scene.ralph(&["doctor", "--restore", "--full"]);
    assert!(restored.err.contains("Counted 1 call since then"), "{}", restored.err);
    assert!(restored.err.contains("cannot be resumed"), "{}", restored.err);
    assert_eq!(restored.code, 0, "{}", restored.out);
    let found = ledger(&scene);
    let states: Vec<&str> = found.iter().map(|(state, _)| state.as_str()).collect();
    assert_eq!(states, ["ok", "warn"], "{found:?}");
    assert_eq!(found[0].1, "1 call agrees with the journal of 1 run");
    assert!(found[1].1.contains(&later) && found[1].1.contains("has no journal"), "{found:?}");
    assert!(restored.out.contains("its cost is counted; it cannot be resumed"), "{}", restored.out);
}

#[test]
fn a_call_that_printed_nothing_is_counted_too() {
    let scene = worked_on_after_a_copy();
    let silent = [
        "run",
        "y",
        "--fresh",
        "--max-iterations",
        "2",
        "--max-cost",
        "5",
        "--agent",
        "command",
        "--",
        "true",
    ];
    assert_eq!(scene.ralph(&silent).code, 3);
    for copy in ralph_store::copies(&state(&scene)).into_iter().skip(1) {
        std::fs::remove_file(copy).unwrap();
    }
    std::fs::remove_file(database(&scene)).unwrap();
    let restored = scene.ralph(&["doctor", "--restore"]);
    let said = format!("{}{}", restored.out, restored.err);
    assert!(said.contains("Counted 4 calls"), "two of each run: {said}");
}

#[test]
fn a_copy_put_in_place_by_hand_is_counted_by_the_next_run() {
    let scene = worked_on_after_a_copy();
    let before = run_of(&scene);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(state(&scene).join(format!("ralph.db{suffix}")));
    }
    std::fs::copy(state(&scene).join("copies/ralph-20260101.db"), database(&scene)).unwrap();
    goes_on(&scene, &before);
}

#[test]
fn a_lost_database_is_not_taken_for_a_new_start() {
    for copy in [true, false] {
        let scene = worked_on_after_a_copy();
        if !copy {
            std::fs::remove_dir_all(state(&scene).join("copies")).unwrap();
        }
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(state(&scene).join(format!("ralph.db{suffix}")));
        }
        std::fs::write(database(&scene), "").unwrap();
        let words = if copy { "ralph-20260101.db with `ralph doctor --restore`" } else { "There is no copy" };
        let run =
            ["run", "y", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1", "--", "--do", "say x"];
        for command in [&["list"][..], &["status"], &["resume"], &run] {
            let answer = scene.ralph(command);
            assert_eq!(answer.code, 74, "{command:?}: {}", answer.err);
            assert!(answer.err.contains(words) && answer.err.contains("holds 1 run"), "{}", answer.err);
            assert!(answer.err.contains("To start anew"), "{}", answer.err);
        }
        assert_eq!(std::fs::metadata(database(&scene)).unwrap().len(), 0, "left as it is");
        std::fs::rename(state(&scene).join("runs"), state(&scene).join("runs-old")).unwrap();
        assert_eq!(scene.ralph(&run).code, 3, "on purpose it is possible");
    }
}

#[test]
fn what_ledger_and_journals_do_not_agree_on_is_named() {
    let scene = Scene::new();
    assert_eq!(scene.sim("x", &["--verify", "true"], "write a x; claim complete").code, 0);
    assert_eq!(ledger(&scene)[0].0, "ok", "{:?}", ledger(&scene));
    let run = run_of(&scene)["id"].as_str().unwrap().to_owned();
    let store = ralph_store::open(&state(&scene)).unwrap();
    let against = vec![Limit::Total { meter: format!("run/{run}"), cap: None }];
    let reserve = Some(Reserve { id: format!("{run}/007.a1"), to: 1_230_000, against });
    let settle = vec![Settle {
        id: format!("{run}/008.a1"),
        actual: 4_560_000,
        meters: vec!["day/2026-01-01".into()],
        used: Vec::new(),
    }];
    store.commit(&Batch { reserve, settle, ..Batch::default() }).unwrap();
    let found = ledger(&scene);
    assert!(found.iter().all(|(state, _)| state == "bad"), "{found:?}");
    for words in [
        "$1.23 is reserved for call",
        "$4.56 is booked for calls that its journal does not hold",
        "day/2026-01-01: $0.00 by the journals, $4.56 by the ledger",
    ] {
        assert!(found.iter().any(|(_, fact)| fact.contains(words)), "{words}: {found:?}");
    }
    assert_ne!(scene.ralph(&["doctor", "--full"]).code, 0);
}
