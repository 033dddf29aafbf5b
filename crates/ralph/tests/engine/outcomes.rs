//! How runs end, as a script sees it: the exit code, the reason, and what the next run then meets.

use crate::bed::{Bed, Done};

const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];
const WORKS: &str = "write done.txt yes\nclaim complete";

#[test]
fn refused_tools_open_the_breaker_until_it_is_reset() {
    let bed = Bed::git("deny Bash rm -rf build\nclaim progress");
    let done = bed.done(&[]);
    let result = done.ends(1, "PERMISSION_DENIED");
    assert_eq!(result["iterations"], 3);
    assert!(done.err.contains("Bash"), "{}", done.err);

    bed.script(WORKS);
    let refused = bed.done(&GREEN);
    let result = refused.ends(1, "CIRCUIT_OPEN");
    assert!(result["runId"].is_null());
    assert!(refused.err.contains("ralph circuit reset"), "{}", refused.err);

    assert_eq!(Done::of(&mut bed.ralph(&["circuit", "reset"])).code, 0);
    bed.done(&GREEN).ends(0, "gate_passed");
}

#[test]
fn nothing_changed_four_times_is_a_stall() {
    let bed = Bed::git("say Thinking about it\nclaim progress");
    assert_eq!(bed.done(&[]).ends(1, "STALL")["iterations"], 4);
}

#[test]
fn work_that_is_committed_is_progress() {
    let sections: String =
        (1..=5).map(|n| format!("[{n}]\nwrite a.txt {n}\ncommit Step {n}\nclaim progress\n")).collect();
    let bed = Bed::git(&sections);
    let done = bed.done(&[]);
    assert_eq!(done.ends(3, "MAX_ITERATIONS")["iterations"], 5);
    assert!(done.records("inspected").iter().all(|seen| seen["files"] == 1));
    assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_lie_is_believed_by_nobody() {
    let bed = Bed::git("[1]\nwrite a.txt 1\nlie\n[*]\nwrite a.txt 2\nlie");
    let done = bed.done(&["--max-iterations", "2", "--verify", "false"]);
    let result = done.ends(3, "MAX_ITERATIONS");
    assert_eq!(result["verificationPassed"], false);
    assert!(done.err.contains("the agent says it is done, but"), "{}", done.err);
}

#[test]
fn a_blocked_agent_asks_for_a_person() {
    let bed = Bed::git("recommendation Which database is meant?\nclaim blocked");
    let done = bed.done(&[]);
    done.ends(2, "BLOCKED");
    assert!(done.err.contains("Which database is meant?"), "{}", done.err);
}

#[test]
fn the_budget_holds_within_two_turns() {
    let bed = Bed::git("spend 0.40 x10 every 500ms\nclaim progress");
    let done = bed.done(&["--max-cost", "1"]);
    let cost = done.ends(3, "COST_LIMIT")["costUSD"].as_f64().unwrap();
    assert!((1.0..=1.8).contains(&cost), "{cost}");
    assert_eq!(done.call()["ended_by"], "budget");
}

#[test]
fn without_a_login_there_is_no_run() {
    let bed = Bed::git("fail auth");
    assert_eq!(bed.done(&[]).ends(69, "AGENT_UNAVAILABLE")["iterations"], 0);
}

#[test]
fn a_usage_limit_is_waited_for_and_counts_no_iteration() {
    let bed = Bed::git("[1]\nfail usage_limit reset=+2s\n[1.2]\nwrite done.txt yes\nclaim complete");
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 1);
    assert_eq!(done.records("call_ended").len(), 2);
    assert_eq!(done.records("woke").len(), 1, "it waited");
}

#[test]
fn who_does_not_want_to_wait_gets_75() {
    let bed = Bed::git("fail usage_limit reset=+1h");
    let done = bed.done(&["--no-wait"]);
    assert_eq!(done.ends(75, "RATE_LIMIT")["iterations"], 0);
}

#[test]
fn a_protected_path_ends_the_run_also_where_git_ignores_it() {
    for path in [".env", "src/auth/token.rs"] {
        let bed = Bed::git(&format!("write {path} changed\nwrite done.txt yes\nclaim complete"));
        bed.scratch.files(&[(".gitignore", ".env\n"), ("src/auth/token.rs", "fn token() {}\n")]);
        let done = bed.done(&GREEN);
        let result = done.ends(4, "PROHIBITED_PATH");
        assert_eq!(result["details"]["files"][0]["path"], path, "{result}");
        assert!(done.err.contains(path), "{}", done.err);
    }
}

#[test]
fn a_path_protected_by_flag_is_protected_too() {
    let bed = Bed::git("append fixtures/a.txt more\nwrite done.txt yes\nclaim complete");
    bed.scratch.files(&[("fixtures/a.txt", "given\n")]);
    let done = bed.done(&[&GREEN[..], &["--protect", "fixtures/"]].concat());
    assert_eq!(done.ends(4, "PROHIBITED_PATH")["details"]["files"][0]["path"], "fixtures/a.txt");
    assert_eq!(bed.scratch.read("fixtures/a.txt"), "given\n", "put back");
    assert!(bed.scratch.workspace().join("done.txt").exists(), "the rest of the work stays");
}

#[test]
fn a_run_at_its_limit_goes_on_with_a_higher_one() {
    let bed = Bed::git("[1]\nwrite a.txt half\nclaim progress\n[*]\nwrite done.txt yes\nclaim complete");
    bed.done(&[&GREEN[..], &["--max-iterations", "1"]].concat()).ends(3, "MAX_ITERATIONS");
    Done::of(&mut bed.ralph(&["resume", "--json"])).ends(3, "MAX_ITERATIONS");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json", "--max-iterations", "3"]));
    assert_eq!(resumed.ends(0, "gate_passed")["iterations"], 2);
    assert_eq!(Done::of(&mut bed.ralph(&["resume"])).code, 64, "a run that is over stays so");
}
