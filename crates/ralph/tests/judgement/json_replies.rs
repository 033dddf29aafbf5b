//! A program whose output is a JSON reply: its status fields count as a block does, in a run and in `ralph analyze`.

use crate::bed::{Bed, Done};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const TEXT: &str = "All tests pass. The implementation is complete.";

/// A program that changes a file and prints this, with a verification that passes then.
fn command(bed: &Bed, reply: &str) -> Command {
    let file = bed.scratch.root().join("reply.json");
    fs::write(&file, reply).unwrap();
    let mut command = bed.ralph(&["run", "Do the work", "--agent", "command", "--json"]);
    command.args(["--max-iterations", "2", "--max-cost", "5", "--verify", "test -f done.txt"]);
    command.args(["--", "sh", "-c", "cat > /dev/null; echo x >> done.txt; cat \"$0\""]).arg(&file);
    command
}

fn run(bed: &Bed, reply: &str) -> Done {
    Done::of(&mut command(bed, reply))
}

/// What `ralph analyze` says of the same output.
fn analyzed(bed: &Bed) -> Value {
    let done = Done::of(bed.ralph(&["analyze"]).arg(bed.scratch.root().join("reply.json")));
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err))
}

fn last_analysis(bed: &Bed) -> Value {
    let view = bed.scratch.workspace().join(".ralph/analysis.json");
    serde_json::from_str(&fs::read_to_string(view).unwrap()).unwrap()
}

#[test]
fn a_reply_that_says_done_completes_a_verified_run() {
    for reply in [
        json!({"result": TEXT, "exit_signal": true, "status": "COMPLETE", "work_type": "IMPLEMENTATION"})
            .to_string(),
        json!({"result": TEXT, "metadata": {"exit_signal": "true", "completion_status": "complete"}})
            .to_string(),
        json!({"result": "Mended.", "exit_signal": true}).to_string(),
        format!("```json\n{{\"result\": \"{TEXT}\", \"exit_signal\": true}}\n```\n"),
        format!("{{\"result\": \"{TEXT}\", exit_signal: true, \"status\": \"COMPLETE\""),
    ] {
        let bed = Bed::git("");
        let done = run(&bed, &reply);
        assert_eq!(done.ends(0, "gate_passed")["iterations"], 1, "{reply}");
        let (seen, analysis) = (last_analysis(&bed), analyzed(&bed));
        assert_eq!(seen["ralph_status"]["exit_signal"], true, "{reply}");
        for field in ["ralph_status", "lints", "evidence", "text", "work_type", "confidence"] {
            assert_eq!(seen[field], analysis[field], "{field} of {reply}");
        }
    }
}

#[test]
fn a_reply_that_says_otherwise_does_not() {
    for (reply, why) in [
        (
            json!({"result": TEXT, "exit_signal": false, "status": "COMPLETE"}).to_string(),
            "explicit_continue",
        ),
        (
            json!({"result": TEXT, "exit_signal": true, "metadata": {"has_errors": true}}).to_string(),
            "contradictory_claim",
        ),
        (
            json!({"result": TEXT, "exit_signal": true, "tests_status": "FAILING"}).to_string(),
            "contradictory_claim",
        ),
        (format!("{{\"result\": \"{TEXT}\" \"exit_signal\": true}}"), "unreadable_block"),
    ] {
        let bed = Bed::git("");
        let done = run(&bed, &reply);
        done.ends(3, "MAX_ITERATIONS");
        assert!(done.out.contains(&format!("\"{why}\"")), "{reply}: {}", done.err);
        assert_eq!(analyzed(&bed)["exit_decision"], "continue", "{reply}");
    }
}

#[test]
fn a_blocked_reply_ends_the_run() {
    let bed = Bed::git("");
    let reply =
        json!({"result": "I cannot log in.", "status": "BLOCKED", "recommendation": "Blocked: need a key"});
    let done = run(&bed, &reply.to_string());
    assert_eq!(done.ends(2, "BLOCKED")["iterations"], 1);
    assert!(done.err.contains("need a key"), "{}", done.err);
    let call = done.call();
    assert_eq!(call["status"], json!({"status": "BLOCKED", "recommendation": "Blocked: need a key"}));
    assert_eq!(call["text"], "I cannot log in.");
}

/// An escape hides a secret from those who look at the output as it was printed.
#[test]
fn a_secret_in_a_field_is_redacted() {
    const TOKEN: &str = "zq4-Tn8vKc2Lw9Xb5Rm1";
    let bed = Bed::git("");
    let escaped = format!("\\u007a{}", &TOKEN[1..]);
    let reply = format!(
        "{{\"result\": \"I cannot.\", \"status\": \"BLOCKED\", \"summary\": \"Blocked: {escaped}\"}}"
    );
    let done = Done::of(command(&bed, &reply).env("MY_API_TOKEN", TOKEN));
    done.ends(2, "BLOCKED");
    assert_eq!(done.call()["status"]["recommendation"], "Blocked: [redacted:MY_API_TOKEN]");
    assert!(!done.out.contains(TOKEN) && !done.err.contains(TOKEN), "{}", done.err);

    // Across the place where a long field is cut.
    let bed = Bed::git("");
    let long = format!("Blocked: {}{escaped}", "x".repeat(285));
    let reply = format!("{{\"result\": \"I cannot.\", \"status\": \"BLOCKED\", \"summary\": \"{long}\"}}");
    let done = Done::of(command(&bed, &reply).env("MY_API_TOKEN", TOKEN));
    done.ends(2, "BLOCKED");
    assert!(!done.out.contains(&TOKEN[..5]), "{}", done.out);
}
