//! Presets: the same agent comes to another end under each.

use crate::bed::{Bed, Done};

fn under(script: &str, preset: &str, more: &[&str]) -> Done {
    Bed::git(script).done(&[&["--preset", preset], more].concat())
}

#[test]
fn an_idle_agent_stalls_when_its_preset_says_so() {
    for (preset, iterations) in [("strict", 4), ("classic", 3), ("analyzer", 4), ("wrapper", 5)] {
        let result = under("say Thinking about it\nclaim progress", preset, &[]).ends(1, "STALL");
        assert_eq!(result["iterations"], iterations, "{preset}");
    }
}

#[test]
fn a_promise_alone_is_believed_by_some() {
    let script = "write a.txt 1\nclaim promise";
    assert_eq!(
        under(script, "strict", &["--max-iterations", "2"]).ends(3, "MAX_ITERATIONS")["iterations"],
        2
    );
    for (preset, iterations) in [("classic", 2), ("analyzer", 1), ("wrapper", 1)] {
        let result = under(script, preset, &[]).ends(0, "gate_passed");
        assert_eq!(
            (&result["iterations"], &result["verificationPassed"]),
            (&iterations.into(), &false.into()),
            "{preset}"
        );
    }
}

#[test]
fn no_preset_waives_a_verification_or_a_protected_path() {
    for preset in ["strict", "classic", "analyzer", "wrapper"] {
        let flags = ["--verify", "false", "--max-iterations", "2"];
        under("write a.txt 1\nlie", preset, &flags).ends(3, "MAX_ITERATIONS");
        assert_eq!(
            under("write .env x\nlie", preset, &[]).ends(4, "PROHIBITED_PATH")["iterations"],
            1,
            "{preset}"
        );
        assert_eq!(under("claim blocked", preset, &[]).ends(2, "BLOCKED")["iterations"], 1, "{preset}");
    }
}

#[test]
fn a_declining_output_warns_or_ends() {
    let long = "word ".repeat(400);
    let script = format!(
        "[1]\nmessage {long}\nappend a.txt 1\nclaim progress\n[4]\nappend a.txt 2\nclaim none\nmessage Ok.\n"
    );
    let classic = under(&script, "classic", &["--max-iterations", "4"]);
    assert_eq!(classic.ends(1, "OUTPUT_DECLINE")["iterations"], 4);
    let strict = under(&script, "strict", &["--max-iterations", "4"]);
    assert_eq!(strict.ends(3, "MAX_ITERATIONS")["iterations"], 4);
}

#[test]
fn only_tests_touched_saturates_where_the_preset_knows_it() {
    let script = "append tests/a_test.rs // more\nclaim progress type=TESTING";
    for preset in ["strict", "classic", "analyzer"] {
        assert_eq!(under(script, preset, &[]).ends(1, "TEST_SATURATION")["iterations"], 3, "{preset}");
    }
    assert_eq!(
        under(script, "wrapper", &["--max-iterations", "4"]).ends(3, "MAX_ITERATIONS")["iterations"],
        4
    );
}

/// What used to be fixed numbers of a preset are keys.
#[test]
fn the_decline_and_being_stuck_have_their_keys() {
    let long = "word ".repeat(400);
    let script = format!(
        "[1]\nmessage {long}\nappend a.txt 1\nclaim progress\n[4]\nmessage {}\nappend a.txt 2\nclaim none\n",
        "word ".repeat(150)
    );
    for (below, code, reason) in
        [(30, 3, "MAX_ITERATIONS"), (60, 1, "OUTPUT_DECLINE"), (0, 3, "MAX_ITERATIONS")]
    {
        let bed = Bed::git(&script);
        let keys = format!("preset = \"classic\"\n[breaker]\ndecline_below = {below}\n");
        bed.scratch.files(&[("ralph.toml", &keys)]);
        bed.done(&["--max-iterations", "4"]).ends(code, reason);
    }
    for (stuck, said) in [(2, true), (4, false), (0, false)] {
        let bed = Bed::git("append a.txt 1\nclaim progress");
        bed.scratch.files(&[("ralph.toml", &format!("[breaker]\nstuck = {stuck}\n"))]);
        let done = bed.done(&["--verify", "echo error: boom; false", "--max-iterations", "3"]);
        let decided = format!("{:?}", done.records("decided"));
        assert_eq!(decided.contains("same_error"), said, "{stuck}: {decided}");
    }
}
