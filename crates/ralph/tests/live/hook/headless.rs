//! Headless sessions: what ends a run in them, and what it cost.

use super::client::{Client, VERIFY, clients, result, told};
use crate::cli::Cli;
use crate::clis::{CLAUDE, CODEX};
use crate::tests;
use serde_json::{Value, json};

tests! {
    claude_proves_its_work_in_two_iterations => proven_in_two(&CLAUDE);
    codex_proves_its_work_in_two_iterations => proven_in_two(&CODEX);
    claude_is_refused_a_wrong_start => refused_start(&CLAUDE);
    codex_is_refused_a_wrong_start => refused_start(&CODEX);
    claude_keeps_a_promise => promise(&CLAUDE);
    codex_keeps_a_promise => promise(&CODEX);
    claude_reaches_the_limit => ends_with(&CLAUDE, "nostatus", "--max-iterations 2", "MAX_ITERATIONS", 2);
    codex_reaches_the_limit => ends_with(&CODEX, "nostatus", "--max-iterations 2", "MAX_ITERATIONS", 2);
    claude_stalls => ends_with(&CLAUDE, "nostatus", "--max-iterations 9", "STALL", 4);
    codex_stalls => ends_with(&CODEX, "nostatus", "--max-iterations 9", "STALL", 4);
}

/// The first iteration claims too early, the second mends it; the journal replays, and the ledger has what the client
/// itself says.
fn proven_in_two(cli: &'static Cli) {
    let client = Client::with_plugin(cli, "work");
    let done = client.says(&client.loop_command("--max-iterations 4"));
    assert_eq!(done.code, 0, "{}", done.story());
    let run = client.only_run();
    let ended = &run["result"];
    assert_eq!((&ended["reason"], &ended["proof"]), (&json!("gate_passed"), &json!("proven")), "{run:#}");
    assert_eq!(ended["iterations"], 2, "{run:#}");
    assert_eq!(client.place.read("greeting.txt"), "hello\n");
    let charged = (ended["costUSD"].as_f64().unwrap() * 1e6).round();
    let turns = 5.0;
    #[allow(clippy::cast_precision_loss)] // cents
    let price = cli.price.1 as f64;
    assert!((charged - turns * price).abs() < f64::EPSILON, "{charged}: {run:#}");
    if cli.info.name == CLAUDE.info.name {
        #[allow(clippy::cast_possible_truncation)] // cents
        let charged = charged as i64;
        assert_eq!(result(&done).1, charged, "what Claude Code says itself");
        let told = told(&done);
        assert!(told.iter().any(|line| line.contains("iteration 2 of 4")), "{told:#?}");
        assert!(told.last().unwrap().contains("completed (proven) after 2 iterations"), "{told:#?}");
    }
    client.place.replays();
}

/// Wrong flags and missing limits are refused before any model is asked, and no run is left.
fn refused_start(cli: &'static Cli) {
    let client = Client::with_plugin(cli, "ok");
    for (rest, why) in [("--max-iterations many", "whole number"), ("--max-iteration 3", "--max-iterations")]
    {
        let done = client.says(&client.loop_command(rest));
        if cli.info.name == CLAUDE.info.name {
            assert!(told(&done).iter().any(|line| line.contains(why)), "{:#?}", told(&done));
        }
    }
    let start = client.loop_command("");
    let done = client.says(start.split(" --max-cost").next().unwrap());
    if cli.info.name == CLAUDE.info.name {
        assert!(
            told(&done).iter().any(|line| line.contains("--max-iterations and --max-cost")),
            "{}",
            done.out()
        );
    }
    assert_eq!(client.requests(), 0, "a model was asked");
    assert!(client.runs().is_empty(), "{:#?}", client.runs());
}

/// A promise ends a run only with proof.
fn promise(cli: &'static Cli) {
    let client = Client::with_plugin(cli, "promise");
    client.says(&client.loop_command("--max-iterations 3 --promise GREETED"));
    let run = client.only_run();
    assert_eq!(run["result"]["reason"], "gate_passed", "{run:#}");
    ends_with(cli, "promiseonly", "--max-iterations 2 --promise GREETED", "MAX_ITERATIONS", 2);
}

fn ends_with(cli: &'static Cli, scenario: &str, flags: &str, reason: &str, iterations: u32) {
    let client = Client::with_plugin(cli, scenario);
    let done = client.says(&client.loop_command(flags));
    assert_eq!(done.code, 0, "{}", done.story());
    let run = client.only_run();
    assert_eq!(
        (&run["result"]["reason"], &run["result"]["iterations"]),
        (&json!(reason), &json!(iterations)),
        "{run:#}"
    );
    client.place.replays();
}

/// A session that nobody asked for a loop: the hooks are called, and nobody notices.
#[test]
fn a_session_without_a_run_is_left_alone() {
    for cli in clients() {
        let client = Client::with_plugin(cli, "ok");
        let done = client.says("Write hello into greeting.txt.");
        assert_eq!(done.code, 0, "{}", done.story());
        assert!(told(&done).is_empty(), "{:#?}", told(&done));
        assert!(client.runs().is_empty());
    }
}

/// While a subagent works nothing is judged; its tokens are paid all the same.
#[test]
fn claude_waits_for_its_subagent() {
    let client = Client::with_plugin(&CLAUDE, "subagent");
    let done = client.says(&client.loop_command("--max-iterations 3"));
    let run = client.only_run();
    assert_eq!(run["result"]["iterations"], 1, "{run:#}");
    assert_eq!(run["result"]["proof"], "proven", "{run:#}");
    let cost = (run["result"]["costUSD"].as_f64().unwrap() * 1e6).round();
    #[allow(clippy::cast_possible_truncation)] // cents
    let cost = cost as i64;
    // Three turns of the session, three of the subagent.
    assert_eq!((cost, result(&done).1), (6 * 5540, 6 * 5540), "{run:#}");
}

/// A shell in the background does not keep ralph from judging, and is named.
#[test]
fn claude_is_judged_beside_a_shell() {
    let client = Client::with_plugin(&CLAUDE, "bgshell");
    let done = client.says(&client.loop_command("--max-iterations 3"));
    let told = told(&done);
    assert!(told.iter().any(|line| line.contains("still running") && line.contains("sleep 6")), "{told:#?}");
    assert_eq!(client.only_run()["result"]["proof"], "proven");
}

/// What is typed about a run is answered without a model.
#[test]
fn status_and_cancel_cost_no_request() {
    for (cli, mark) in [(&CLAUDE, '/'), (&CODEX, '$')] {
        let client = Client::with_plugin(cli, "ok");
        for command in ["status", "cancel"] {
            let done = client.says(&format!("{mark}ralph:{command}"));
            assert_eq!(client.requests(), 0, "{}", done.story());
            if cli.info.name == CLAUDE.info.name {
                assert!(done.out().contains("This session has no run"), "{}", done.out());
            }
        }
    }
}

/// What the client writes into its hooks is what ralph reads; a version that stops saying it fails here first.
#[test]
fn hooks_are_told_what_ralph_needs() {
    for cli in clients() {
        let mut client = Client::with_plugin(cli, "ok");
        let seen = client.place.root().join("seen");
        let spy = client.place.root().join("spy");
        std::fs::write(&spy, format!("#!/bin/sh\ncat >> {}\necho >> {0}\n", seen.display())).unwrap();
        std::process::Command::new("chmod").arg("+x").arg(&spy).status().unwrap();
        client.place.set("RALPH_BIN", &spy.display().to_string());
        client.says("Write hello into greeting.txt.");
        let text = std::fs::read_to_string(seen).unwrap();
        let inputs: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let [prompt, stop] = inputs.as_slice() else { panic!("{text}") };
        assert_eq!(prompt["prompt"], "Write hello into greeting.txt.");
        assert!(stop["last_assistant_message"].as_str().unwrap().contains("RALPH_STATUS"), "{stop:#}");
        assert_eq!(prompt["session_id"], stop["session_id"]);
        assert!(std::path::Path::new(stop["transcript_path"].as_str().unwrap()).exists(), "{stop:#}");
        assert_eq!(stop["turn_id"].is_string(), cli.info.name == CODEX.info.name, "{stop:#}");
    }
}

/// A skill with `--persist` is a loop with that method and that promise.
#[test]
fn a_skill_that_persists_is_a_loop() {
    for (cli, mark) in [(&CLAUDE, '/'), (&CODEX, '$')] {
        let client = Client::with_plugin(cli, "work");
        let flags = format!("--persist --max-iterations 4 --max-cost 5 --verify '{VERIFY}'");
        let done = client.says(&format!("{mark}ralph:tdd \"Write hello into greeting.txt.\" {flags}"));
        let run = client.only_run();
        assert_eq!(run["result"]["proof"], "proven", "{run:#}\n{}", done.story());
        assert!(run.to_string().contains("tdd"), "{run:#}");
    }
}
