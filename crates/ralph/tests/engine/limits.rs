//! Limits as a person meets them: a provider that another run found limited, a day with little left, a limit that comes
//! near, a deadline that passes during a verification.

use crate::bed::{Bed, Done};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

/// Writes a ceiling into the user's own config.
fn ceiling(bed: &Bed, text: &str) {
    let dir = bed.scratch.root().join("config/ralph");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.toml"), format!("[ceilings]\n{text}\n")).unwrap();
}

fn refusals(done: &Done) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    done.records("refused").iter().map(|r| (word(&r["by"]), word(&r["class"]))).collect()
}

#[test]
fn a_limit_that_one_run_met_spares_the_others_the_call_until_one_succeeds() {
    let bed = Bed::git("fail usage_limit reset=+3000s");
    let first = bed.done(&["--no-wait"]);
    first.ends(75, "RATE_LIMIT");
    assert_eq!(first.records("call_ended").len(), 1);
    // Another run knows it from the first one, and calls nobody.
    let second = bed.done(&["--no-wait", "--fresh"]);
    second.ends(75, "RATE_LIMIT");
    assert_eq!(refusals(&second), [("provider".into(), "usage_limit".into())], "{}", second.err);
    assert!(second.records("call_ended").is_empty() && second.records("admitted").is_empty());
    assert!(second.err.contains("met by run "), "{}", second.err);
    // One that waits holds no money; a person may have it tried at once, and what it finds is known to all.
    bed.script("write a.txt x\nclaim complete");
    let waits = bed.start(&["--fresh", "--verify", "test -f a.txt"]);
    waits.awaits("refused");
    waits.signal(Signal::USR1);
    let third = waits.end();
    third.ends(0, "gate_passed");
    assert_eq!(third.records("asked").len(), 1, "{}", third.err);
    let fourth = bed.done(&["--no-wait", "--fresh", "--verify", "test -f a.txt"]);
    assert!(refusals(&fourth).is_empty(), "{}", fourth.err);
    assert!(!fourth.records("call_ended").is_empty());
}

#[test]
fn an_outage_is_shared_too_and_ends_otherwise() {
    let bed = Bed::git("fail outage");
    bed.done(&["--no-wait"]).ends(69, "AGENT_UNAVAILABLE");
    let second = bed.done(&["--no-wait", "--fresh"]);
    let result = second.ends(69, "AGENT_UNAVAILABLE");
    // The back-off of a first failure may have passed already; then it was tried and failed again.
    let spared = refusals(&second) == [("provider".into(), "outage".into())];
    assert!(spared || second.records("call_ended").len() == 1, "{}", second.err);
    assert_eq!(result["iterations"], 0);
}

#[test]
fn a_short_limit_is_waited_for_and_the_same_iteration_goes_on() {
    let bed = Bed::git("[1.1]\nfail usage_limit reset=+1s\n[1.2]\nwrite a.txt x\nclaim complete");
    let done = bed.done(&["--verify", "test -f a.txt"]);
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["iterations"], 1, "{}", done.err);
    let ids: Vec<(i64, i64)> = done
        .records("admitted")
        .iter()
        .map(|a| (a["id"]["iteration"].as_i64().unwrap(), a["id"]["attempt"].as_i64().unwrap()))
        .collect();
    assert_eq!(ids, [(1, 1), (1, 2)]);
}

#[test]
fn the_days_rest_bounds_the_first_reservation_and_then_the_day_is_over() {
    // Told at the end of the call: a cost that is seen before would be too high for the day, and end the call.
    let bed = Bed::git("cost 0.85\nwrite a.txt x\nclaim complete");
    ceiling(&bed, "daily_cost_usd = 1.0");
    let first = bed.done(&["--verify", "test -f a.txt"]).ends(0, "gate_passed");
    let alerts: Vec<&str> =
        first["details"]["alerts"].as_array().unwrap().iter().map(|a| a["code"].as_str().unwrap()).collect();
    assert_eq!(alerts, ["day_nearly"]);
    bed.script("cost 0.10\nclaim progress");
    let second = bed.done(&["--fresh", "--max-iterations", "3"]);
    let granted: Vec<i64> = second.records("admitted").iter().map(|a| a["grant"].as_i64().unwrap()).collect();
    assert_eq!(granted, [150_000, 50_000], "what the day has left\n{}", second.err);
    second.ends(3, "DAILY_BUDGET");
}

#[test]
fn limits_that_come_near_are_told_once_as_records_on_screen_and_in_the_result() {
    let bed = Bed::git("spend 0.3\nrun date +%N > a.txt\nclaim progress");
    let done = bed.done(&["--max-iterations", "10", "--max-cost", "1"]);
    let result = done.ends(3, "COST_LIMIT");
    let decided = done.records("decided");
    let told = |decision: &&Value| {
        // Whether the cost is seen while the call runs or after it depends on the machine.
        let step = &decision["next"]["what"]["step"];
        (step == "inspect" || step == "extend")
            && decision["because"].as_array().unwrap().iter().any(|b| b["code"] == "cost_nearly")
    };
    assert_eq!(decided.iter().filter(told).count(), 1, "{}", done.err);
    assert_eq!(done.err.matches("over 80%").count(), 1, "{}", done.err);
    assert_eq!(result["details"]["alerts"][0]["code"], "cost_nearly");
    assert_eq!(result["details"]["alerts"].as_array().unwrap().len(), 1);
}

#[test]
fn the_runs_deadline_ends_a_verification_under_way() {
    let bed = Bed::git("write a.txt x\nclaim complete");
    let before = bed.done(&["--max-time", "1s", "--verify", "sleep 300"]);
    before.ends(3, "TIME_LIMIT");
    assert!(before.records("call_ended").is_empty(), "{}", before.err);
    let after = bed.done(&["--fresh", "--max-time", "8s", "--verify", "test ! -f a.txt || sleep 300"]);
    let result = after.ends(3, "TIME_LIMIT");
    assert_eq!(result["verificationPassed"], false);
    assert_eq!(after.records("verified").last().unwrap()["interrupted"], true, "{}", after.err);
    bed.nobody_is_left();
}

#[test]
fn figures_that_are_none_never_reach_the_books() {
    for says in ["nan", "negative", "none", "huge", "1000000000000"] {
        let bed = Bed::git(&format!("cost {says}\nwrite a.txt x\nclaim complete"));
        let done = bed.done(&["--verify", "test -f a.txt", "--max-cost", "3"]);
        let cost = done.ends(0, "gate_passed")["costUSD"].as_f64().unwrap();
        assert!(cost > 0.0 && cost <= 3.0, "{says}: {cost}");
        assert_ne!(done.call()["price"], "reported", "{says}");
    }
    let bed =
        Bed::git("tokens in=18446744073709551615 out=18446744073709551615\nwrite a.txt x\nclaim complete");
    let done = bed.done(&["--verify", "test -f a.txt", "--max-cost", "3"]);
    assert!(done.code == 0 || done.code == 3, "{}", done.err);
    let again = bed.done(&["--verify", "test -f a.txt", "--max-cost", "3", "--fresh", "--no-wait"]);
    assert_ne!(again.code, 75, "tokens that nobody used fill no window\n{}", again.err);
}
