//! The demonstration: three attempts on a real failing test, the first of which claims too early.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{command, heard};
use ralph_sim::demo::{FILES, PROMPT, SCRIPT, VERIFY};
use ralph_testkit::Scratch;

fn verify(scratch: &Scratch) -> (bool, String) {
    let output = scratch.command("sh").arg("-c").arg(VERIFY).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_third_attempt_is_the_first_that_passes() {
    let scratch = Scratch::git_repo();
    scratch.files(&FILES);
    let (passed, output) = verify(&scratch);
    assert!(!passed && output.contains("4 of 6 cases failed"), "{output}");

    let attempts = [
        ("1", "EXIT_SIGNAL: true", false, "3 of 6 cases failed"),
        ("2", "STATUS: IN_PROGRESS", false, "2 of 6 cases failed"),
        ("3", "EXIT_SIGNAL: true", true, "6 of 6 cases passed"),
    ];
    for (iteration, claim, proven, words) in attempts {
        let mut command = command(&scratch, &["--do", SCRIPT]);
        let heard = heard(command.env("RALPH_ITERATION", iteration).spawn().unwrap(), PROMPT);
        let result = heard.result();
        assert!(result["result"].as_str().unwrap().contains(claim), "attempt {iteration}: {result}");
        let cost = result["total_cost_usd"].as_f64().unwrap();
        assert!((0.02..0.20).contains(&cost), "attempt {iteration} costs {cost}");
        let edits = heard.of_type("user");
        assert_eq!(edits[0]["message"]["content"][0]["is_error"], false, "attempt {iteration}");
        let (passed, output) = verify(&scratch);
        assert_eq!(passed, proven, "attempt {iteration}: {output}");
        assert!(output.contains(words), "attempt {iteration}: {output}");
    }
    assert_eq!(scratch.git(&["status", "--porcelain"]).lines().count(), FILES.len());
}

#[test]
fn a_person_can_watch_it_without_waiting() {
    let slept: u32 = SCRIPT
        .lines()
        .filter_map(|line| line.strip_prefix("sleep ")?.strip_suffix("ms")?.parse::<u32>().ok())
        .sum();
    assert!((1000..3000).contains(&slept), "{slept} ms");
}
