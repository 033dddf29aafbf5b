//! A database that is not there, newer, damaged or gone: a sentence, never an empty page or a bare number.

use super::bed::{Bed, row, write};
use super::client::SOON;
use ralph_engine::home::Home;
use ralph_store::{Batch, Put, RunRow, Store};
use std::time::Instant;

fn message(bed: &Bed, path: &str) -> String {
    let got = bed.get(path);
    assert_eq!(got.status, 503, "{got:?}");
    let error = &got.json()["error"];
    assert!(error["hint"].as_str().unwrap().len() > 10);
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_database_there_are_no_runs_and_nothing_is_created() {
    let bed = Bed::new();
    let overview = bed.get("/api/v1/overview").json();
    assert_eq!(overview["headline"], "Nothing has run yet.");
    assert_eq!(bed.get("/api/v1/runs").json(), serde_json::json!({"runs": [], "next": null}));
    assert_eq!(bed.get("/api/v1/runs/0199").status, 404);
    assert_eq!(bed.get("/api/v1/stats").json()["overall"]["loops"], 0);
    assert_eq!(bed.get("/metrics").status, 200);
    assert!(!bed.home.dir().exists());
    // The first run appears without a restart.
    let mut events = bed.events("", None);
    write(&bed.store(), row("first", 1));
    assert_eq!(events.next().unwrap().name, "reset");
    assert_eq!(bed.get("/api/v1/overview").json()["cards"][0]["id"], "first");
}

#[test]
fn a_file_that_is_no_database_is_said_to_be_one_until_it_is_gone() {
    let bed = Bed::with(|home: &Home| {
        std::fs::create_dir_all(home.dir()).unwrap();
        std::fs::write(home.dir().join(ralph_store::DATABASE), "this is not a database at all\n".repeat(100))
            .unwrap();
    });
    for path in ["/api/v1/overview", "/api/v1/runs", "/api/v1/runs/0199", "/metrics", "/api/v1/stats"] {
        for _ in 0..3 {
            assert!(message(&bed, path).contains("database"), "{path}");
        }
    }
    assert_eq!(bed.get("/healthz").status, 200);
    let mut events = bed.events("", None);
    let trouble = events.next().unwrap();
    assert_eq!(trouble.name, "trouble");
    assert!(trouble.data["text"].as_str().unwrap().contains("database"));
}

#[test]
fn a_database_that_is_removed_is_said_to_be_gone_and_found_again() {
    let bed = Bed::with(|home| write(&home.store().unwrap(), row("0199-a", 1)));
    let mut events = bed.events("", None);
    assert_eq!(bed.get("/api/v1/overview").status, 200);
    let away = bed.dir.path().join("away");
    std::fs::rename(bed.home.dir(), &away).unwrap();
    let until = Instant::now() + SOON;
    let gone = loop {
        let event = events.next().unwrap();
        if event.name == "trouble" {
            break event;
        }
        assert!(Instant::now() < until);
    };
    assert!(gone.data["text"].as_str().unwrap().contains("was removed or replaced"), "{gone:?}");
    let _ = std::fs::remove_dir_all(bed.home.dir());
    std::fs::rename(&away, bed.home.dir()).unwrap();
    let back = std::iter::from_fn(|| events.next()).find(|event| event.name == "reset");
    assert!(back.is_some());
    assert_eq!(bed.get("/api/v1/overview").json()["cards"][0]["id"], "0199-a");
}

#[test]
fn a_run_of_a_newer_ralph_is_said_to_be_unreadable_and_others_are_shown() {
    let bed = Bed::with(|home| {
        let store = home.store().unwrap();
        write(&store, RunRow { status: "COMPLETED".into(), ..row("0199-a", 1) });
        let put = Put {
            stream: "run/0199-a".into(),
            expect: 1,
            v: 9_999,
            kind: "run.started".into(),
            body: "{\"unheard\": true}".into(),
            ..Put::default()
        };
        store.commit(&Batch { put: vec![put], now: 1_700_000_000_000, ..Batch::default() }).unwrap();
    });
    for path in ["/api/v1/runs/0199-a", "/api/v1/runs/0199-a/iterations/1"] {
        let got = bed.get(path);
        let error = got.json()["error"].take();
        assert_eq!((got.status, error["code"].as_str()), (422, Some("unreadable_run")), "{path}: {error}");
        assert!(error["message"].as_str().unwrap().len() > 20, "{error}");
    }
    assert_eq!(bed.get("/api/v1/overview").json()["cards"][0]["id"], "0199-a");
}

fn open_beside(bed: &Bed) -> rusqlite::Connection {
    rusqlite::Connection::open(bed.home.dir().join(ralph_store::DATABASE)).unwrap()
}

#[test]
fn a_database_of_a_newer_ralph_is_shown_and_not_written() {
    let bed =
        Bed::on(tempfile::tempdir().unwrap(), true, |home| write(&home.store().unwrap(), row("0199-a", 1)));
    open_beside(&bed).pragma_update(None, "user_version", 9_999).unwrap();
    assert_eq!(bed.get("/api/v1/overview").json()["cards"][0]["id"], "0199-a");
    let refused = bed.post("/api/v1/runs/0199-a/requests", "{\"request\":\"put_away\"}");
    assert_eq!(refused.status, 503);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("schema 9999") && message.contains("Update ralph"), "{message}");
}

#[test]
fn a_database_that_somebody_holds_delays_answers_and_neither_streams_nor_the_page() {
    let bed = Bed::with(|home| write(&home.store().unwrap(), row("0199-a", 1)));
    let holder = open_beside(&bed);
    holder.execute_batch("pragma locking_mode = exclusive; begin exclusive;").unwrap();
    let waiting = std::thread::scope(|scope| {
        let overview = scope.spawn(|| bed.get("/api/v1/overview"));
        for path in ["/", "/app.js", "/healthz", "/api/v1/openapi.json"] {
            assert_eq!(bed.get(path).status, 200, "{path}");
        }
        overview.join().unwrap()
    });
    // Held or not, it answers: a log that readers share may let them through.
    if waiting.status != 200 {
        assert_eq!(waiting.status, 503);
        assert!(waiting.json()["error"]["message"].as_str().unwrap().contains("database"), "{waiting:?}");
    }
    drop(holder);
    let until = Instant::now() + 2 * SOON;
    while bed.get("/api/v1/overview").status != 200 {
        assert!(Instant::now() < until, "it never answered again");
    }
}
