//! A run from its start to its account, as a person sees it.

use super::scene::{Scene, sim};
use ralph_testkit::Scratch;

const REPAIR: &str = "say Looking; write a.txt good; claim complete";

#[test]
fn a_proven_run_and_everything_told_about_it() {
    let mut scene = Scene::new();
    scene.show(&["list"]);
    scene.show(&["status"]);
    let args = sim("Write a.txt", &["--verify", "grep -q good a.txt"], REPAIR);
    assert_eq!(scene.show(&args).code, 0);
    scene.show(&["list"]);
    scene.show(&["list", "--all"]);
    scene.show(&["status"]);
    scene.show(&["explain"]);
    scene.show(&["replay"]);
    scene.show(&["resume"]);
    scene.show(&["stop"]);
    scene.show(&["circuit", "status"]);
    scene.show(&["circuit", "reset"]);
    scene.compare("runs_proven");
}

#[test]
fn a_run_that_stalls_opens_the_breaker_until_it_is_reset() {
    let mut scene = Scene::new();
    let stall = ["--max-iterations", "9", "--max-cost", "5"];
    let args = sim("Stand still", &stall, "message Nothing to report; claim none");
    assert_eq!(scene.show(&args).code, 1);
    assert_eq!(scene.show(&args).code, 1);
    assert_eq!(scene.show(&["circuit", "status"]).code, 0);
    assert_eq!(scene.show(&["circuit", "reset"]).code, 0);
    scene.show(&["circuit", "status"]);
    scene.compare("runs_stalled");
}

#[test]
fn a_limit_can_be_raised_and_the_receipt_counts_from_the_start() {
    let mut scene = Scene::new();
    let limits = ["--max-iterations", "1", "--max-cost", "1", "--verify", "grep -q good a.txt"];
    let args = sim("Go on", &limits, "append a.txt good; claim progress");
    assert_eq!(scene.ralph(&args).code, 3);
    assert_eq!(scene.show(&["resume"]).code, 3);
    assert_eq!(scene.show(&["resume", "--max-iterations", "2"]).code, 3);
    scene.compare("runs_resumed");
}

/// No record has it: the reservation is far from exceeded.
#[test]
fn what_a_call_under_way_has_spent_is_shown_before_it_ends() {
    let scene = Scene::new();
    let script = "spend 0.05 x3; say Working; sleep 120s; claim complete";
    let limits = ["--max-iterations", "1", "--max-cost", "5"];
    let mut run = scene.command(&sim("Spend", &limits, script)).spawn().unwrap();
    let listed = || -> serde_json::Value {
        serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap_or_default()
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    // Three turns, and the few tokens of the message.
    let all = 150_000..151_000_i64;
    let mut live = 0;
    while !all.contains(&live) && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(100));
        live = listed()[0]["live_micro"].as_i64().unwrap_or(0);
    }
    let (list, status) = (scene.ralph(&["list"]).out, scene.ralph(&["status"]).out);
    let status_json: serde_json::Value =
        serde_json::from_str(&scene.ralph(&["status", "--json"]).out).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(all.contains(&live), "{live}");
    assert!(list.contains("  ~$0.1500  Spend"), "{list}");
    assert!(status.contains("~$0.15"), "{status}");
    let run = &status_json["run"];
    assert_eq!((&run["live_micro"], &run["cost_micro"]), (&live.into(), &0.into()));
}

#[test]
fn a_run_of_a_plain_command_says_what_it_does_not_know() {
    let mut scene = Scene::new();
    let args = ["run", "x", "--agent", "command", "--max-iterations", "1", "--max-cost", "1", "--", "true"];
    assert_eq!(scene.show(&args).code, 3);
    scene.compare("runs_command");
}

#[test]
fn quiet_prints_only_the_receipt() {
    let scene = Scene::new();
    let answer = scene.sim("x", &["-q", "--verify", "true"], REPAIR);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""));
    assert!(answer.err.starts_with("\nCOMPLETED, unbroken only\n"), "{}", answer.err);
}

#[test]
fn a_run_is_found_by_the_end_of_its_id() {
    let mut scene = Scene::new();
    for task in ["one", "two"] {
        scene.sim(task, &["--verify", "true"], REPAIR);
    }
    let list = scene.ralph(&["list"]).out;
    let short = list.lines().nth(2).and_then(|line| line.split_whitespace().next()).unwrap();
    let status = scene.ralph(&["status", short]);
    assert!(status.out.contains("task       one"), "{}", status.out);
    assert_eq!(scene.show(&["status", "nowhere"]).code, 64);
    assert_eq!(scene.show(&["explain", "0"]).code, 64);
    assert_eq!(scene.show(&["replay", ""]).code, 64);
    scene.compare("runs_which");
}

#[test]
fn a_touched_protected_path_ends_the_run_and_nobody_advises_to_commit_it() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    let answer = scene.sim("x", &["--verify", "true"], "write .env SECRET=1; claim complete");
    assert_eq!(answer.code, 4, "{}", answer.err);
    for words in [
        "STOPPED: PROHIBITED_PATH",
        "protected path changed: .env (added)",
        "  restored    .env (added)\n",
        "  quarantine  the agent's version: ",
        "see the agent's version of the protected paths",
        "/001.1  write the agent's version back, if it is right",
        "start again, once the task says what to do instead",
        "ralph diff ",
    ] {
        assert!(answer.err.contains(words), "{words} is not in:\n{}", answer.err);
    }
    assert!(!answer.err.contains("ralph accept"), "{}", answer.err);
}

#[test]
fn work_of_a_run_that_stopped_can_be_committed_and_its_end_is_named() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    assert_eq!(scene.sim("x", &["--verify", "true"], "write a x; write .env S=1; claim complete").code, 4);
    let accepted = scene.ralph(&["accept"]);
    assert_eq!(accepted.code, 0, "{}", accepted.err);
    let ended = "The run ended with PROHIBITED_PATH and did not prove this change.\n";
    assert!(accepted.err.ends_with(ended), "{}", accepted.err);
}

#[test]
fn the_first_commit_of_a_repository_can_be_a_run() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::new();
    scene.scratch.git(&["init", "-q", "-b", "main"]);
    let answer = scene.sim("x", &["--verify", "true"], "write a x; claim complete");
    assert!(answer.err.contains("  ralph accept "), "{}", answer.err);
}

#[test]
fn work_that_waits_for_a_review_is_not_called_aborted() {
    let scene = Scene::new();
    scene.scratch.files(&[("ralph.toml", "[gate]\nrequire = \"proven\"\nask_for_test = 0\n")]);
    let left = scene.sim("Look at it", &["--verify", "true"], "write a x; claim complete");
    assert_eq!(left.code, 2, "{}", left.err);
    let list = scene.ralph(&["list"]).out;
    let row = list.lines().last().unwrap();
    assert!(row.contains("  NEEDS_REVIEW  -  ") && !row.contains("ABORTED"), "{list}");
    let status = scene.ralph(&["status"]).out;
    assert!(status.contains("status     NEEDS_REVIEW\n"), "{status}");
    let rows: serde_json::Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
    assert_eq!((&rows[0]["status"], &rows[0]["reason"]), (&"ABORTED".into(), &"NEEDS_REVIEW".into()));
}
