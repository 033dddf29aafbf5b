//! Honest actions: files, commands, commits, money, claims, and which section is played.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{call, command, heard, play};
use ralph_testkit::Scratch;
use std::io::Write;

#[test]
fn files_really_change_and_the_block_counts_them() {
    let scratch = Scratch::new();
    scratch.files(&[("old.txt", "bye\n"), ("dir/x", "")]);
    let script = "write src/lib.rs <<END\nlet c = a - b; # keep\nEND\nreplace src/lib.rs \"a - b\" \"a + b\"\n\
                  append notes.md \"# Title\"\ndelete old.txt\ndelete dir\nmkdir made/here\nclaim complete";
    let heard = play(&scratch, script);
    assert_eq!(scratch.read("src/lib.rs"), "let c = a + b; # keep\n");
    assert_eq!(scratch.read("notes.md"), "# Title\n");
    assert!(!scratch.workspace().join("old.txt").exists() && !scratch.workspace().join("dir").exists());
    assert!(scratch.workspace().join("made/here").is_dir());
    let result = heard.result()["result"].as_str().unwrap().to_owned();
    assert!(result.contains("FILES_MODIFIED: 4\n"), "{result}");
    assert!(result.contains("STATUS: COMPLETE\n") && result.contains("EXIT_SIGNAL: true\n"));
    let edit = &heard.of_type("assistant")[1]["message"]["content"][0];
    assert_eq!(edit["name"], "Edit");
    assert_eq!(edit["input"]["file_path"], scratch.workspace().join("src/lib.rs").to_str().unwrap());
}

#[test]
fn a_tool_that_fails_is_told_and_the_call_goes_on() {
    let scratch = Scratch::new();
    for (script, words) in [
        ("replace none.txt a b", "No such file"),
        ("write a.txt x; replace a.txt zzz b", "String to replace not found"),
        ("delete none.txt", "No such file"),
        ("run echo out\\; echo err >&2\\; exit 3", "Exit code 3\nout\nerr"),
        ("commit Nothing here", "Exit code 128"),
    ] {
        let heard = play(&scratch, script);
        let answer = heard.of_type("user").pop().unwrap()["message"]["content"][0].clone();
        assert_eq!(answer["is_error"], true, "{script}");
        assert!(answer["content"].as_str().unwrap().contains(words), "{script}: {answer}");
        assert_eq!(heard.code, Some(0));
    }
}

#[test]
fn an_honest_block_tells_how_the_last_command_ended() {
    let scratch = Scratch::new();
    for (script, words) in
        [("say a", "NOT_RUN"), ("run false", "FAILING"), ("run false; run true", "PASSING")]
    {
        let result = play(&scratch, script).result()["result"].as_str().unwrap().to_owned();
        assert!(result.contains(&format!("TESTS_STATUS: {words}\n")), "{script}: {result}");
        assert!(result.contains("STATUS: IN_PROGRESS\n"));
    }
    assert!(!play(&scratch, "claim none").text().contains("RALPH_STATUS"));
}

#[test]
fn a_command_that_leaves_a_process_behind_returns_at_once() {
    let scratch = Scratch::new();
    // The process waits for the test's word, so no clock decides; it gives up after a minute all the same.
    let waits = "n=0; while [ ! -e stop ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done; touch ended";
    let heard = play(&scratch, &format!("run <<END\n({waits}) & echo started\nEND\n"));
    let still_running = !scratch.workspace().join("ended").exists();
    scratch.files(&[("stop", "")]);
    assert_eq!(heard.tool_result()["content"], "started");
    assert!(still_running);
}

#[test]
fn a_commit_is_a_real_one() {
    let scratch = Scratch::git_repo();
    let heard = play(&scratch, "write a.txt hello; commit Add a greeting");
    assert_eq!(heard.code, Some(0));
    assert_eq!(scratch.git(&["log", "-1", "--format=%s", "--name-only"]), "Add a greeting\n\na.txt");
}

#[test]
fn what_is_spent_is_reported_live_and_in_the_end() {
    let scratch = Scratch::new();
    let heard = call(&scratch, &["--do", "say free; spend 0.05 x10; claim progress"]);
    let result = heard.result();
    assert_eq!(result["total_cost_usd"], 0.5);
    assert_eq!(result["num_turns"], 12);
    let live = heard.of_type("stream_event");
    let deltas = live.iter().map(|e| &e["event"]).filter(|e| e["type"] == "message_delta");
    let output: u64 = deltas.map(|e| e["usage"]["output_tokens"].as_u64().unwrap()).sum();
    assert_eq!(result["usage"]["output_tokens"], output);
    let count = |key: &str| result["usage"][key].as_u64().unwrap();
    let micro =
        (30 * count("input_tokens") + 150 * count("output_tokens") + 3 * count("cache_read_input_tokens"))
            / 10;
    assert!((500_000..500_010).contains(&micro), "{micro}");
}

#[test]
fn tokens_set_what_each_turn_uses() {
    let scratch = Scratch::new();
    let result = play(&scratch, "tokens in=8000 out=400; say a; say b; claim none").result();
    assert_eq!(result["usage"]["input_tokens"], 24_000);
    assert_eq!(result["total_cost_usd"], 0.09);
    assert_eq!(play(&scratch, "claim none").result()["total_cost_usd"], 0.00375);
    let haiku = call(&scratch, &["--model", "claude-haiku-4-5", "--do", "claim none"]).result();
    assert_eq!(haiku["total_cost_usd"], 0.00125);
}

#[test]
fn the_prompt_is_read_to_its_end_before_anything_is_said() {
    let scratch = Scratch::new();
    let mut child =
        command(&scratch, &["--append-system-prompt", "RULES", "--do", "echo-prompt; echo-system"])
            .spawn()
            .unwrap();
    let long = "x".repeat(300_000);
    child.stdin.as_mut().unwrap().write_all(long.as_bytes()).unwrap();
    let heard = heard(child, "END");
    let said = heard.of_type("assistant");
    assert_eq!(said[0]["message"]["content"][0]["text"], format!("{long}END"));
    assert_eq!(said[1]["message"]["content"][0]["text"], "RULES");
    let last = play(&scratch, "echo-prompt final; message Yes.; claim none").result();
    assert_eq!(last["result"], "Fix it.\n\n\nYes.");
}

#[test]
fn the_section_follows_the_iteration() {
    let scratch = Scratch::new();
    let file = scratch.root().join("agent.sim");
    std::fs::write(&file, "# a script\n[1]\nmessage one\nclaim none\n[3]\nmessage three\nclaim none\n")
        .unwrap();
    for (iteration, text) in [(None, "one"), (Some("1"), "one"), (Some("2"), "one"), (Some("3"), "three")] {
        let mut command = command(&scratch, &["--format", "text"]);
        command.env("RALPH_SIM_SCRIPT", &file).envs(iteration.map(|n| ("RALPH_ITERATION", n)));
        assert_eq!(heard(command.spawn().unwrap(), "").text().trim_end(), text, "{iteration:?}");
    }
}

#[test]
fn calls_of_one_iteration_are_counted_by_run() {
    let scratch = Scratch::new();
    let file = scratch.root().join("calls");
    let script = "[1]; fail rate_limited; [1.2]; claim complete; [2]; claim blocked";
    let codes = |run: &str, iteration: &str| {
        let mut command = command(&scratch, &["--do", script, "--calls", file.to_str().unwrap()]);
        command.env("RALPH_RUN", run).env("RALPH_ITERATION", iteration);
        heard(command.spawn().unwrap(), "").code
    };
    assert_eq!(codes("a", "1"), Some(1));
    assert_eq!(codes("b", "1"), Some(1));
    assert_eq!(codes("a", "1"), Some(0));
    assert_eq!(codes("a", "2"), Some(0));
}

#[test]
fn mistakes_end_with_64_and_say_where() {
    let scratch = Scratch::new();
    let file = scratch.root().join("bad.sim");
    std::fs::write(&file, "[1]\nsay hi\nwirte x y\nsleep long\n").unwrap();
    let path = file.to_str().unwrap();
    for (args, words) in [
        (
            vec!["--script", path],
            vec!["bad.sim, line 3: unknown action wirte", "did you mean write", "bad.sim, line 4: sleep"],
        ),
        (vec!["--do", "say a; hnag"], vec!["--do, line 2: unknown action hnag"]),
        (vec![], vec!["no script", "--script FILE"]),
        (vec!["--script", "/nowhere/x.sim"], vec!["cannot read the script /nowhere/x.sim"]),
        (vec!["--do", "[2]; say a"], vec!["no section for iteration 1"]),
        (vec!["--do", "[1.2]; say a"], vec!["--calls FILE"]),
        (vec!["--do", "say a", "--format", "xml"], vec!["unknown --format xml"]),
    ] {
        let heard = call(&scratch, &args);
        assert_eq!(heard.code, Some(64), "{args:?}");
        assert!(heard.bytes.is_empty(), "{args:?}");
        for word in words {
            assert!(heard.stderr.contains(word), "{args:?}: {}", heard.stderr);
        }
    }
}

#[test]
fn help_and_version_need_no_script() {
    let scratch = Scratch::new();
    let help = call(&scratch, &["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.text().contains("Examples:") && help.text().lines().all(|line| line.chars().count() <= 120));
    assert_eq!(call(&scratch, &["--version"]).text(), "2.1.325 (Claude Code)\n");
}
