//! What the program really prints, beside its shapes.

use crate::fits::misfits;
use crate::shape::Shape;
use ralph_testkit::Scratch;
use serde_json::Value;

/// What a command prints on stdout.
pub fn ralph(scratch: &Scratch, args: &[&str]) -> String {
    let output =
        scratch.command(env!("CARGO_BIN_EXE_ralph")).args(args).stdin(std::process::Stdio::null()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Fails where a value has not the shape of this name.
#[track_caller]
pub fn fits(name: &str, value: &Value) {
    let mut found = Vec::new();
    misfits(value, &Shape::read(name).schema(), name, &mut found);
    assert!(found.is_empty(), "describe it in schemas/{name}.shape:\n{}", found.join("\n"));
}

/// Parses.
#[track_caller]
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// One run that completes, one that reaches its limit.
fn lived_in() -> Scratch {
    let scratch = Scratch::git_repo();
    let limits = ["--agent", "sim", "--max-iterations", "2", "--max-cost", "1", "-q"];
    for (task, verify, script) in [
        ("Do it", "grep -q ok a", "write a ok; claim complete"),
        ("More", "false", "append a x; claim progress"),
    ] {
        let mut args = vec!["run", task, "--verify", verify];
        args.extend(limits);
        args.extend(["--", "--do", script]);
        ralph(&scratch, &args);
    }
    scratch
}

#[test]
fn every_line_of_a_run_fits_its_shape() {
    let scratch = Scratch::new();
    let mut seen = Vec::new();
    for script in ["say Looking; write a ok; claim complete", "claim blocked", "claim none"] {
        let out = ralph(
            &scratch,
            &[
                "run",
                script,
                "--agent",
                "sim",
                "--max-iterations",
                "1",
                "--max-cost",
                "1",
                "--json",
                "--",
                "--do",
                script,
            ],
        );
        for line in out.lines().map(json) {
            let kind = line["type"].as_str().unwrap().to_string();
            fits(&kind, &line);
            seen.push(kind);
        }
    }
    for kind in ["record", "activity", "result"] {
        assert!(seen.iter().any(|it| it == kind), "{kind}");
    }
    fits("result", &json(&ralph(&scratch, &["run", "x", "--json"])));
}

#[test]
fn a_record_without_a_body_fits_its_shape() {
    let scratch = Scratch::new();
    let script = scratch.root().join("agent.sim");
    std::fs::write(&script, "[1.1]\nfail usage_limit reset=+1s\n[1.2]\nwrite a ok\nclaim complete\n")
        .unwrap();
    let (script, calls) = (script.display().to_string(), scratch.root().join("calls").display().to_string());
    let limits =
        ["run", "x", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1", "--verify", "test -f a"];
    let run = [&limits[..], &["--json", "--", "--script", &script, "--calls", &calls]].concat();
    let lines: Vec<Value> = ralph(&scratch, &run).lines().map(json).collect();
    let woke = lines.iter().find(|line| line["kind"] == "woke").expect("it waited");
    fits("record", woke);
    let records = json(&ralph(&scratch, &["explain", "--json"]));
    let woke = records.as_array().unwrap().iter().find(|record| record["kind"] == "woke").unwrap();
    assert!(woke.get("body").is_none());
    fits("record", woke);
}

#[test]
fn what_commands_after_a_run_print_fits_its_shape() {
    let scratch = lived_in();
    fits("diff", &json(&ralph(&scratch, &["diff", "--json"])));
    let runs = json(&ralph(&scratch, &["list", "--json"]));
    for (run, commits) in [(1, true), (0, true), (0, false)] {
        let accepted = ralph(&scratch, &["accept", runs[run]["id"].as_str().unwrap(), "--json"]);
        let accepted = json(accepted.lines().last().unwrap());
        fits("commit", &accepted);
        assert_eq!(accepted["commit"].is_string(), commits, "{accepted}");
    }
    for flag in ["--dry-run", "--yes", "--yes"] {
        fits("reject", &json(&ralph(&scratch, &["reject", flag, "--json"])));
    }
}

#[test]
fn the_views_in_the_workspace_fit_their_shapes() {
    let scratch = lived_in();
    for (file, name) in [
        ("status.json", "view-status"),
        ("progress.json", "view-progress"),
        ("session.json", "view-session"),
        ("analysis.json", "analysis"),
    ] {
        fits(name, &json(&scratch.read(&format!(".ralph/{file}"))));
    }
}

#[test]
fn an_analysis_fits_its_shape() {
    let scratch = Scratch::new();
    scratch.files(&[
        ("a.txt", "All tests pass.\n"),
        ("b.txt", "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\nX: 1\n---END_RALPH_STATUS---\n"),
        ("c.json", "{\"is_error\":true,\"result\":\"boom\"}"),
    ]);
    for file in ["a.txt", "b.txt", "c.json"] {
        fits("analysis", &json(&ralph(&scratch, &["analyze", file])));
    }
}

#[test]
fn a_field_that_nobody_described_is_noticed() {
    let mut found = Vec::new();
    let value = serde_json::json!({"v": 1, "type": "doctor", "rows": [{"name": "x", "state": "well", "fact": "y", "more": 1}], "repaired": null});
    misfits(&value, &Shape::read("doctor").schema(), "doctor", &mut found);
    assert_eq!(found.len(), 3, "{found:?}");
}
