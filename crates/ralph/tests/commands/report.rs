//! What is kept of runs: the metrics line, the receipt, the daily report, the history and the estimate from it.

use crate::scene::{self, Answer, LIMITS, Scene};
use serde_json::Value;

const RED: &str =
    "test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s";

const GREEN: &str =
    "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s";

fn verify(file: &str) -> String {
    format!("if test -f {file}; then echo '{GREEN}'; else echo '{RED}'; false; fi")
}

/// A run of a `claude` that does what a script says: those of `--agent sim` are no part of reports.
fn claude(scene: &Scene, task: &str, more: &[&str], script: &str) -> Answer {
    scene.ralph(&scene::claude(task, more, script))
}

fn proven(scene: &Scene, file: &str) -> Answer {
    let verify = verify(file);
    let script = format!("write {file} x; spend 0.04; claim complete");
    claude(scene, "Fix the parser", &["--verify", &verify, "--fresh"], &script)
}

fn lines(scene: &Scene) -> Vec<Value> {
    let path = scene.scratch.workspace().join(".ralph/metrics/ralph-loops.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn json(scene: &Scene, args: &[&str]) -> Value {
    let answer = scene.ralph(args);
    assert_eq!(answer.code, 0, "{}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn every_run_leaves_one_line_with_every_field_of_the_wrapper() {
    let scene = Scene::with_claude();
    assert_eq!(proven(&scene, "a").code, 0);
    let line = &lines(&scene)[0];
    for field in [
        "loopId",
        "skill",
        "taskType",
        "startTime",
        "endTime",
        "status",
        "iterations",
        "costUSD",
        "durationSeconds",
        "filesModified",
        "testsFixed",
        "completionPromiseDetected",
        "verificationPassed",
    ] {
        assert!(!line[field].is_null(), "{field}: {line}");
    }
    assert_eq!((line["status"].as_str(), line["taskType"].as_str()), (Some("COMPLETED"), Some("bug")));
    assert_eq!((line["testsFixed"].as_i64(), line["filesModified"].as_u64()), (Some(3), Some(1)));
    assert_eq!((line["costUSD"].as_f64(), line["abortReason"].as_str()), (Some(0.04), None));
    assert_eq!(line["verificationPassed"], true);
    let ignored = std::fs::read_to_string(scene.scratch.workspace().join(".ralph/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}

#[test]
fn bent_tests_are_not_fixed() {
    let scene = Scene::new();
    scene.scratch.files(&[("check.sh", &verify("a")), ("green.sh", &format!("echo '{GREEN}'"))]);
    let bent = scene.sim("Fix it", &["--verify", "sh check.sh"], "run cp green.sh check.sh; claim complete");
    assert_eq!(bent.code, 4, "{}", bent.err);
    assert_eq!(lines(&scene)[0]["abortReason"], "ORACLE_CHANGED");
    assert_eq!(lines(&scene)[0]["testsFixed"], 0);
}

#[test]
fn a_run_that_goes_on_has_its_line_once_and_a_lost_file_is_made_again() {
    let scene = Scene::with_claude();
    let stopped = scene.sim("Go", &["--max-iterations", "1", "--max-cost", "1"], "say hm; claim progress");
    assert_eq!(stopped.code, 3, "{}", stopped.err);
    assert_eq!(lines(&scene)[0]["abortReason"], "MAX_ITERATIONS");
    assert_eq!(scene.ralph(&["resume", "--max-iterations", "2"]).code, 3);
    assert_eq!((lines(&scene).len(), lines(&scene)[0]["iterations"].as_u64()), (1, Some(2)));
    std::fs::remove_dir_all(scene.scratch.workspace().join(".ralph")).unwrap();
    assert_eq!(proven(&scene, "b").code, 0);
    let reasons: Vec<Value> = lines(&scene).iter().map(|line| line["abortReason"].clone()).collect();
    assert_eq!(reasons, [Value::from("MAX_ITERATIONS"), Value::Null]);
}

#[test]
fn the_days_report_counts_what_was_proven_and_what_it_cost() {
    let scene = Scene::with_claude();
    let empty = scene.ralph(&["report"]);
    assert!(empty.code == 0 && empty.out.contains("No runs on this day."), "{}", empty.out);
    proven(&scene, "a");
    claude(&scene, "Go", &["--max-iterations", "1", "--max-cost", "1"], "say hm; spend 0.5; claim progress");
    scene.sim("Play", &["--max-iterations", "1", "--max-cost", "1"], "say hm; spend 0.5; claim progress");
    let report = json(&scene, &["report", "today", "--json"]);
    let all = &report["overall"];
    assert_eq!(
        (all["loops"].as_u64(), all["completed"].as_u64(), all["verified"].as_u64()),
        (Some(2), Some(1), Some(1))
    );
    assert_eq!((all["completionRate"].as_f64(), all["costUSD"].as_f64()), (Some(50.0), Some(0.54)));
    assert_eq!(all["costPerVerifiedTaskUSD"].as_f64(), Some(0.54));
    assert_eq!((all["avgIterations"].as_f64(), all["avgCostUSD"].as_f64()), (Some(1.0), Some(0.04)));
    let others = &all["notCompleted"];
    assert_eq!((others["loops"].as_u64(), others["avgCostUSD"].as_f64()), (Some(1), Some(0.5)));
    assert_eq!(all["workTypes"], serde_json::json!({"IMPLEMENTATION": 2}));
    assert_eq!(report["abortReasons"]["MAX_ITERATIONS"], 1);
    assert_eq!((&report["byAgent"][0]["agent"], &report["byAgent"][1]), (&"claude".into(), &Value::Null));
    assert_eq!(report["scriptedRuns"], 1);
    assert_eq!(report["waste"]["idleIterations"], 1);
    let text = scene.ralph(&["report"]).out;
    assert!(text.starts_with("# Ralph Loop Performance Report - 20"), "{text}");
    assert!(text.contains("- Completion rate: 50% ❌ (target: >70%)"), "{text}");
    assert!(text.contains("- Avg cost: $0.04 (p95: $0.04)"), "{text}");
    assert!(text.contains("- Not completed: 1, avg iterations 1.0 (p95: 1), avg cost $0.50"), "{text}");
    let stats = scene.ralph(&["stats"]).out;
    assert!(text.contains("- Not counted: 1 run of the scripted agent (sim)\n"), "{text}");
    for line in [
        "             not counted: 1 run of the scripted agent (sim)",
        "iterations   1.0 (p95: 1) per completed run",
        "             1.0 (p95: 1) per run that was not completed",
        "work types   IMPLEMENTATION 2",
        "             $0.04 per completed run (p95: $0.04)",
        "             $0.50 per run that was not completed (p95: $0.50)",
    ] {
        assert!(stats.lines().any(|l| l == line), "{line}\n{stats}");
    }
    let yesterday = scene.ralph(&["report", "yesterday"]);
    assert!(yesterday.code == 0 && yesterday.out.contains("No runs"));
    let since = json(&scene, &["report", "--since", "yesterday", "--json"]);
    assert_eq!(since["overall"]["loops"], 2);
}

#[test]
fn a_day_that_is_none_is_refused() {
    let scene = Scene::new();
    for day in ["2026-02-30", "tomorrow", "2026-2-3", "", "20260220", "2026-02-20T10:00"] {
        let answer = scene.ralph(&["report", day]);
        assert_eq!(answer.code, 64, "{day}: {}", answer.err);
        assert!(answer.err.contains("2026-02-20"), "{}", answer.err);
    }
    assert_eq!(scene.ralph(&["report", "2026-02-20", "--since", "2026-02-21"]).code, 64);
}

#[test]
fn history_gives_the_estimate_and_the_stats() {
    let scene = Scene::with_claude();
    let quote = |scene: &Scene| {
        let args = [
            "run",
            "x",
            "--agent",
            "claude",
            "--max-iterations",
            "9",
            "--max-cost",
            "1",
            "--dry-run",
            "--json",
        ];
        json(scene, &args)["estimate"].clone()
    };
    assert_eq!((quote(&scene)["runs"].as_u64(), quote(&scene)["reservedUSD"].as_f64()), (Some(0), Some(0.5)));
    proven(&scene, "a");
    proven(&scene, "b");
    let found = quote(&scene);
    assert_eq!((found["runs"].as_u64(), found["iterationsPerRun"]["p90"].as_u64()), (Some(2), Some(1)));
    assert_eq!(found["costPerIterationUSD"]["p50"].as_f64(), Some(0.04));
    assert_eq!(found["reservedUSD"].as_f64(), Some(0.04));
    let stats = json(&scene, &["stats", "--json"]);
    assert_eq!(
        (stats["overall"]["loops"].as_u64(), stats["estimates"][0]["runs"].as_u64()),
        (Some(2), Some(2))
    );
    let text = scene.ralph(&["stats"]).out;
    for line in [
        "runs         2",
        "             2 of 2 completed (100%, 95% interval 34% to 100%)",
        "             2 of 2 proven or tested (100%, 95% interval 34% to 100%)",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    assert!(text.contains("\nTYPICAL") && text.lines().all(|l| l.chars().count() <= 80), "{text}");
    let rates = &stats["rates"];
    for rate in [&rates["completed"], &rates["proven"], &rates["stalled"], &stats["bySkill"][0]["completed"]]
    {
        assert_eq!((rate["of"].as_u64(), rate["high"].as_f64().is_some()), (Some(2), true), "{stats}");
    }
    assert_eq!(stats["bySkill"][0]["completed"], rates["completed"]);
}

#[test]
fn statistics_say_what_is_behind_a_rate_and_nothing_where_there_is_nothing() {
    let scene = Scene::with_claude();
    claude(&scene, "Fix it", &["--verify", "false"], "fail auth");
    let text = scene.ralph(&["stats"]).out;
    assert!(text.contains("0 of 1 completed (0%, 95% interval 0% to 79%)"), "{text}");
    assert!(!text.contains("TYPICAL"), "{text}");
}

#[test]
fn the_receipt_has_reported_and_computed_cost_within_a_terminals_width() {
    let scene = Scene::with_claude();
    proven(&scene, "a");
    let status = json(&scene, &["status", "--json"]);
    let receipt = &status["receipts"][0];
    assert_eq!((receipt["reportedUSD"].as_f64(), receipt["bookedUSD"].as_f64()), (Some(0.04), Some(0.04)));
    assert!(receipt["computedUSD"].as_f64().is_some_and(|usd| (usd - 0.04).abs() < 0.001), "{receipt}");
    assert_eq!(
        (receipt["priceFrom"].as_str(), receipt["verificationPassed"].as_bool()),
        (Some("reported"), Some(true))
    );
    assert_eq!(status["iterations"][0]["work_type"], "IMPLEMENTATION");
    assert!(receipt["tokens"]["input"].as_u64() > Some(0) && receipt["decision"] == "claim_and_proof");
    let text = scene.ralph(&["status"]).out;
    let table = text.lines().skip_while(|l| !l.contains("REPORTED")).take_while(|l| !l.is_empty());
    assert!(table.clone().count() == 2 && table.clone().all(|l| l.chars().count() <= 80), "{text}");
}

#[test]
fn stats_and_report_say_how_often_the_agents_word_was_true() {
    let scene = Scene::with_claude();
    let script = scene.scratch.root().join("agent.sim");
    let lies_once =
        "[1]\nwrite a one\nclaim progress tests=PASSING files=7\n[2]\nwrite done yes\nclaim complete\n";
    std::fs::write(&script, lies_once).unwrap();
    let args = ["run", "Two", "--agent", "claude", "--max-iterations", "3", "--max-cost", "1", "--verify"];
    let run =
        scene.ralph(&[&args[..], &["test -f done", "--", "--script", script.to_str().unwrap()]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    // False: the tests and the files of the first block. True: those of the second, and that it was done.
    let stats = scene.ralph(&["stats"]).out;
    assert!(stats.lines().any(|line| line == "claims that held: 3 of 5"), "{stats}");
    let report = scene.ralph(&["report"]).out;
    assert!(report.contains("- Claims that held: 3 of 5\n") && report.contains("| 3 of 5 |\n"), "{report}");
    let json = json(&scene, &["stats", "--json"]);
    let agent = &json["byAgent"][0];
    assert_eq!((&agent["claims"], &agent["claimsHeld"]), (&5.into(), &3.into()));
    let wrong = serde_json::json!({"files_modified_not_as_counted": 1, "tests_status_not_as_run": 1});
    assert_eq!(agent["differences"], wrong);
    let told = "reported wrongly by claude";
    assert!(
        stats.lines().any(|line| line.contains(told) && line.contains("tests_status_not_as_run 1")),
        "{stats}"
    );
    assert_eq!((&json["overall"]["claims"], &json["overall"]["claimsHeld"]), (&5.into(), &3.into()));
}

#[test]
fn claims_are_counted_once_however_often_a_run_is_resumed() {
    let scene = Scene::with_claude();
    let limits = ["--max-iterations", "1", "--max-cost", "1"];
    assert_eq!(claude(&scene, "Go", &limits, "append a x; claim progress files=3").code, 3);
    assert_eq!(scene.ralph(&["resume", "--max-iterations", "2"]).code, 3);
    let stats = scene.ralph(&["stats"]).out;
    assert!(stats.contains("claims that held: 0 of 2\n"), "{stats}");
}

#[test]
fn an_unknown_cost_is_marked_in_every_sum() {
    let scene = Scene::new();
    scene.scratch.files(&[("agent.sh", "echo done\n")]);
    let run = [
        "run",
        "x",
        "--agent",
        "command",
        "--max-iterations",
        "1",
        "--max-cost",
        "1",
        "--",
        "sh",
        "agent.sh",
    ];
    assert_eq!(scene.ralph(&run).code, 3);
    for command in ["stats", "report"] {
        let text = scene.ralph(&[command]).out;
        let spent: Vec<&str> = text.lines().filter(|line| line.contains("$0.50")).collect();
        assert!(spent.len() >= 3 && spent.iter().all(|line| line.contains("~$0.50")), "{text}");
    }
}

#[test]
fn a_workspace_with_scripted_runs_only_has_no_statistics() {
    let scene = Scene::new();
    scene.sim("Play", &["--max-iterations", "1", "--max-cost", "1"], "claim progress");
    let stats = scene.ralph(&["stats"]);
    assert!(
        stats.out.is_empty() && stats.err.contains("Not counted: 1 run of the scripted agent (sim).\n"),
        "{}",
        stats.err
    );
}

#[test]
fn a_call_that_was_cut_off_is_counted_with_a_mark() {
    let scene = Scene::new();
    let script = "touch started; exec sleep 600";
    let args = [&["run", "Work"][..], &LIMITS, &["--agent", "command", "--", "sh", "-c", script]].concat();
    let mut run = scene.command(&args).stderr(std::process::Stdio::null()).spawn().unwrap();
    let started = scene.scratch.workspace().join("started");
    let begun = (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        started.exists()
    });
    assert!(begun, "the agent was never called");
    run.kill().unwrap();
    run.wait().unwrap();
    for command in ["report", "stats", "list"] {
        let out = scene.ralph(&[command]).out;
        assert!(out.contains("~$0.50"), "{command}: {out}");
    }
    let listed: serde_json::Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
    let run = listed.get(0).or(listed["runs"].get(0)).unwrap_or(&listed);
    assert_eq!(run["cost_complete"], false, "{listed}");
}
