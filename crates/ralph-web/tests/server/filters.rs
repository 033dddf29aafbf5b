//! What is asked for in a query is answered, or refused: nothing is passed over in silence.

use crate::bed::{Bed, row, write};
use ralph_engine::clock::utc;
use ralph_engine::reset_time::day_of;
use ralph_store::RunRow;
use serde_json::Value;

fn bed() -> Bed {
    let bed = Bed::new();
    let store = bed.store();
    // No process works on it: it crashed, though its row says otherwise.
    write(&store, row("0199a1b2-crashed", 1));
    let ended = RunRow { exit_code: Some(1), reason: Some("STALL".into()), ..row("0199a1b2-stalled", 1) };
    write(&store, RunRow { status: "ABORTED".into(), ..ended });
    bed
}

#[test]
fn runs_are_found_by_the_state_that_is_shown() {
    let bed = bed();
    for (state, expected) in [
        ("CRASHED", &["0199a1b2-crashed"][..]),
        ("RUNNING", &[]),
        ("ABORTED", &["0199a1b2-stalled"]),
        ("STALL", &["0199a1b2-stalled"]),
        ("CRASHED,STALL", &["0199a1b2-stalled", "0199a1b2-crashed"]),
        ("gate_passed,INTERRUPTED", &[]),
        ("", &["0199a1b2-stalled", "0199a1b2-crashed"]),
    ] {
        let list = bed.get(&format!("/api/v1/runs?state={state}")).json();
        let found: Vec<&str> =
            list["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
        assert_eq!(found, expected, "{state}");
    }
}

#[test]
fn what_is_not_known_is_refused_and_said() {
    let bed = bed();
    let unknown = bed.get("/api/v1/runs?state=foo");
    assert_eq!(unknown.status, 400);
    let error = unknown.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("`foo`"), "{error}");
    for state in ["RUNNING", "VERIFYING", "WAITING", "CRASHED", "IN_SESSION", "COMPLETED", "INTERRUPTED"] {
        assert!(error["hint"].as_str().unwrap().contains(state), "{error}");
    }
    for (path, status) in [
        ("/api/v1/runs?state=RUNNING,foo", 400),
        ("/api/v1/runs?state=running", 400),
        ("/api/v1/runs?state=,", 400),
        ("/api/v1/runs?state=%e2%80%ae", 400),
        ("/api/v1/runs?states=RUNNING", 400),
        ("/api/v1/runs?before=0199ffff", 400),
        ("/api/v1/runs?before=stalled", 400),
        ("/api/v1/runs?before=0199a1b2-stalled", 200),
        ("/api/v1/stats?day=7", 400),
        ("/api/v1/stats?days=7", 200),
        ("/api/v1/events?runs=0199a1b2-crashed", 400),
        ("/api/v1/events?run=0199ffff", 404),
        ("/api/v1/runs/crashed/iterations/1/activity?page=2", 400),
        ("/api/v1/overview?limit=1", 400),
        ("/api/v1/runs/crashed?x", 400),
        ("/api/v1/runs/crashed/iterations/1/diff?attempt=1", 400),
        ("/healthz?a=1", 400),
        ("/healthz?", 200),
    ] {
        let got = bed.get(path);
        assert_eq!(got.status, status, "{path}");
        assert!(status == 200 || got.json()["error"]["message"] != Value::Null, "{path}");
    }
}

#[test]
fn the_lines_of_a_run_are_found_by_the_end_of_its_id() {
    let bed = bed();
    for run in ["0199a1b2-crashed", "crashed"] {
        // The stream has begun.
        let mut events = bed.events(&format!("?run={run}"), Some("0"));
        assert!(events.next().is_some(), "{run}");
    }
}

/// One of the two zones has another date than UTC at any time of the day.
#[test]
fn the_day_is_that_of_the_server_in_whose_zone_days_are_counted() {
    for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        let bed = Bed::in_zone(zone);
        let before = day_of(utc(), zone);
        let stats = bed.get("/api/v1/stats?days=14").json();
        let today = stats["today"].as_str().unwrap();
        assert!(today == before || today == day_of(utc(), zone), "{today}");
        assert!(stats["days"].is_array(), "{stats}");
    }
}
