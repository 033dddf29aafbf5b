//! Every command that has `--json`, run for real: what it prints has the shape that `schemas/` describes, and so has its
//! error. A command without a row here fails a test.

use crate::real::{fits, json, ralph};
use crate::shape::{self, Shape};
use ralph_testkit::Scratch;
use serde_json::Value;
use std::process::Stdio;

/// A command, the rest of what is typed, and the shape. `{case}`, `{receipt}` and `{done}` stand for what the workspace
/// has of them. A shape with `*` is that of each line.
const ROWS: &[(&str, &[&str], &str)] = &[
    (
        "run",
        &["x", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1", "--", "--do", "claim none"],
        "run*",
    ),
    ("run", &["x"], "run*"),
    ("run", &["x", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1", "--dry-run"], "dry-run"),
    ("advise", &["Fix the crash in src/list.rs", "--verify", "true"], "advice"),
    ("advise", &["Deploy to production"], "advice"),
    ("resume", &["{limit}", "--max-iterations", "3"], "run*"),
    ("resume", &["nowhere"], "run*"),
    ("accept", &["{review}"], "run*"),
    ("demo", &[], "run*"),
    ("list", &[], "list"),
    ("status", &["{limit}"], "status"),
    ("status", &["{unverified}"], "status"),
    ("logs", &["{done}"], "logs*"),
    ("logs", &["{limit}", "-i", "1"], "logs*"),
    ("explain", &["{done}"], "explain"),
    ("report", &[], "report"),
    ("stats", &[], "stats"),
    ("stats", &["--all"], "stats"),
    ("diff", &["{done}"], "diff"),
    ("undo", &["{done}", "--dry-run"], "undo"),
    ("undo", &["{done}", "--yes", "--newer-too"], "undo"),
    ("quarantine", &[], "quarantine"),
    ("quarantine list", &["--all"], "quarantine"),
    ("quarantine show", &["{case}"], "quarantine-show"),
    ("quarantine restore", &["{case}", "--dry-run"], "quarantine-restore"),
    ("quarantine restore", &["{case}", "--yes"], "quarantine-restore"),
    ("plan list", &["plan.md"], "plan"),
    ("plan next", &["plan.md"], "plan-next"),
    ("plan next", &["finished.md"], "plan-next"),
    ("plan check", &["plan.md"], "plan-check"),
    ("plan check", &["wrong.md"], "plan-check"),
    ("plan import", &["plan.md", "-o", "new.json"], "plan-import"),
    ("circuit status", &[], "circuit"),
    ("circuit record", &["--files", "1"], "circuit-record"),
    ("circuit status", &[], "circuit"),
    ("circuit reset", &[], "circuit-reset"),
    ("notify list", &[], "notify"),
    ("verify", &["--verify", "true"], "receipt"),
    ("verify", &["--check", "{receipt}"], "receipt-check"),
    ("replay", &["{done}"], "replay"),
    ("analyze", &["answer.txt"], "analysis"),
    ("block check", &["answer.txt"], "block-check"),
    ("block check", &["block.txt"], "block-check"),
    ("config show", &[], "config-show"),
    ("config show", &["--skill", "tdd"], "config-show"),
    ("config explain", &["run.timeout"], "config-explain"),
    ("config explain", &[], "config-explain*"),
    ("config check", &[], "config-check"),
    ("agents", &[], "agents"),
    ("skills list", &[], "skills"),
    ("skills show", &["tdd"], "skill"),
    ("skills check", &["tdd"], "skill-check"),
    ("skills check", &["broken"], "skill-check"),
    ("prices", &[], "prices"),
    ("hook status", &[], "hook-status"),
    ("doctor", &[], "doctor"),
    ("doctor", &["--repair", "--full"], "doctor"),
    ("reject", &["{limit}", "--yes"], "reject"),
    ("redact", &["{done}"], "redact"),
    ("prune", &["--dry-run"], "prune"),
    ("prune", &["--keep", "1s", "--max-size", "0", "--yes"], "prune"),
    // The last one: it holds the workspace for a moment.
    (
        "run",
        &[
            "y",
            "--agent",
            "sim",
            "--max-iterations",
            "1",
            "--max-cost",
            "1",
            "--detach",
            "--",
            "--do",
            "claim none",
        ],
        "detached",
    ),
];

/// A workspace in which everything has happened, and what to type for each placeholder.
fn lived_in() -> (Scratch, Vec<(&'static str, String)>) {
    let scratch = Scratch::new();
    scratch.files(&[
        ("answer.txt", "All tests pass.\n"),
        ("block.txt", "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n"),
        ("check.sh", "test -f done.txt\n"),
        (".claude/skills/broken/SKILL.md", "---\nname: broken\n"),
        (".agents/skills/tdd/SKILL.md", "---\nname: tdd\ndescription: Ours\n---\n"),
        ("plan.md", "- [ ] T1: a\n  - it works\n  - verify: true\n- [x] b\n"),
        ("finished.md", "- [x] b\n"),
        ("wrong.md", "- [ ] T1: a\n  - depends on: T9\n"),
    ]);
    let run = |task: &str, verify: &[&str], script: &str| {
        let start =
            ["run", task, "--agent", "sim", "--max-iterations", "2", "--max-cost", "1", "-q", "--fresh"];
        ralph(&scratch, &[&start[..], verify, &["--", "--do", script]].concat());
        let rows = json(&ralph(&scratch, &["list", "--json"]));
        rows[0]["id"].as_str().unwrap().to_owned()
    };
    let mut known = vec![
        ("{review}", run("Judge", &["--verify", "sh check.sh"], "write done.txt yes; claim complete")),
        ("{done}", run("Do it", &["--verify", "grep -q ok a"], "write a ok; claim complete")),
        ("{unverified}", run("Wonder", &[], "claim none")),
        ("{limit}", run("More", &["--verify", "false"], "append a x; claim progress")),
    ];
    run("Touch", &["--verify", "true"], "write secrets/key x; claim complete");
    let cases = json(&ralph(&scratch, &["quarantine", "--json"]));
    known.push(("{case}", cases[0]["case"].as_str().unwrap().to_owned()));
    std::fs::write(
        scratch.root().join("receipt.json"),
        ralph(&scratch, &["verify", "--verify", "true", "--json"]),
    )
    .unwrap();
    known.push(("{receipt}", scratch.root().join("receipt.json").display().to_string()));
    scratch.files(&[("ralph.toml", "preset = \"classic\"\n[run]\nmax_iterations = 99\n")]);
    (scratch, known)
}

fn typed(command: &str, rest: &[&str], known: &[(&str, String)]) -> Vec<String> {
    let value = |word: &str| known.iter().find(|(name, _)| *name == word).map(|(_, value)| value.clone());
    let (own, agents): (Vec<&str>, Vec<&str>) = {
        let at = rest.iter().position(|word| *word == "--").unwrap_or(rest.len());
        (rest[..at].to_vec(), rest[at..].to_vec())
    };
    let words = command.split(' ').chain(own).chain(["--json"]).chain(agents);
    words.map(|word| value(word).unwrap_or_else(|| word.to_owned())).collect()
}

#[test]
fn what_every_command_prints_has_its_shape() {
    let (scratch, known) = lived_in();
    for (command, rest, shape) in ROWS {
        let args = typed(command, rest, &known);
        let out = ralph(&scratch, &args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!out.is_empty(), "{args:?} prints nothing");
        match shape.strip_suffix('*') {
            Some("config-explain") => {
                json(&out).as_array().unwrap().iter().for_each(|key| fits("config-explain", key));
            }
            Some(lines) => out.lines().map(json).for_each(|line| of_a_run(lines, &line)),
            None => fits(shape, &json(&out)),
        }
    }
    // Nothing may be under way when the directory goes.
    ralph(&scratch, &["logs", "-f"]);
}

/// By its own type, so that what does not fit is named.
fn of_a_run(lines: &str, line: &Value) {
    fits(line["type"].as_str().unwrap_or_else(|| panic!("{line}")), line);
    fits(lines, line);
}

/// The headings below which help lists commands.
const LISTS: [&str; 7] = ["Run:", "Look:", "Control:", "Prove:", "Settings:", "Other:", "Commands:"];

/// The commands below one whose help lists `--json`.
fn with_json(scratch: &Scratch, path: &str, found: &mut Vec<String>) {
    let words: Vec<&str> = path.split_whitespace().chain(["--help"]).collect();
    let help = ralph(scratch, &words);
    if help.lines().any(|line| line.trim_start().starts_with("--json")) {
        found.push(path.to_owned());
    }
    let mut listed = false;
    for line in help.lines() {
        listed = if line.starts_with(' ') { listed } else { LISTS.contains(&line) };
        let name = line.strip_prefix("  ").filter(|rest| listed && rest.starts_with(char::is_alphabetic));
        let name = name.and_then(|rest| rest.split_whitespace().next());
        if let Some(name) = name.filter(|name| !["help", "agent-sim"].contains(name)) {
            with_json(scratch, format!("{path} {name}").trim(), found);
        }
    }
}

#[test]
fn every_command_with_json_has_a_row_a_shape_and_an_error() {
    let scratch = Scratch::new();
    // `analyze` prints nothing but JSON, so its help does not list the flag.
    let mut commands = vec!["analyze".to_owned()];
    with_json(&scratch, "", &mut commands);
    assert!(commands.len() >= 29, "{commands:?}");
    let abouts: Vec<String> =
        shape::names().iter().map(|name| Shape::read(name).about().to_owned()).collect();
    for command in &commands {
        assert!(
            ROWS.iter().any(|(known, ..)| known == command),
            "`ralph {command} --json` has no row in ROWS"
        );
        let named = format!("`ralph {command} ");
        assert!(abouts.iter().any(|about| about.contains(&named)), "no shape says {named}--json`");
        for wrong in ["--no-such-flag", "--color=none"] {
            let mut args: Vec<&str> = command.split(' ').collect();
            args.extend(["--json", wrong]);
            fails_with_an_object(&scratch, &args, 64);
        }
        fails_with_an_object(
            &scratch,
            &[&["-C", "nowhere"], &command.split(' ').collect::<Vec<_>>()[..], &["--json"]].concat(),
            64,
        );
    }
    for (command, ..) in ROWS {
        assert!(commands.iter().any(|known| known == command), "`ralph {command}` has no --json");
    }
}

fn fails_with_an_object(scratch: &Scratch, args: &[&str], code: i32) {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_ralph"));
    let output = command.args(args).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let value = json(&text);
    let kind = value["type"].as_str().unwrap();
    fits(kind, &value);
    let said = if kind == "result" { &value["exitCode"] } else { &value["code"] };
    assert_eq!((output.status.code(), said), (Some(code), &code.into()), "{args:?}: {text}");
    assert!(["result", "error"].contains(&kind) && text.lines().count() == 1, "{args:?}: {text}");
}

#[test]
fn settings_that_are_wrong_are_told_in_both_ways() {
    let scratch = Scratch::new();
    scratch.files(&[("ralph.toml", "[agent]\nname = \"cluade\"\n")]);
    fits("config-check", &json(&ralph(&scratch, &["config", "check", "--json"])));
    let error = json(&ralph(&scratch, &["config", "show", "--json"]));
    fits("error", &error);
    assert!(error["excerpt"].as_str().unwrap().contains("cluade"), "{error}");
    assert_eq!((&error["hint"], &error["code"]), (&"did you mean \"claude\"?".into(), &78.into()));
}
