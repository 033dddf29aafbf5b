//! `ralph resume --hint`: a run that could not continue by itself goes on with an answer, and only with one.

use crate::bed::{Bed, Done};

fn ralph(bed: &Bed, args: &[&str]) -> Done {
    Done::of(&mut bed.ralph(args))
}

/// Ends so, needs an answer, gets one and completes.
fn answered(script: &str, (code, reason): (i32, &str), ask: impl Fn(&Bed) -> Done) {
    let bed = Bed::git(script);
    let left = bed.done(&["--verify", "test -f done", "--max-iterations", "9"]);
    left.ends(code, reason);
    assert!(left.err.contains("--hint \"…\""), "{}", left.err);
    let refused = ralph(&bed, &["resume"]);
    assert!(refused.code == 64 && refused.err.contains("needs an answer"), "{reason}: {}", refused.err);
    bed.script("write done yes\nclaim complete");
    let done = ask(&bed);
    done.ends(0, "gate_passed");
    assert!(bed.prompts().last().unwrap().contains("Look in the cellar"), "{reason}");
    assert_eq!(ralph(&bed, &["replay"]).code, 0, "{reason}");
    let circuit = ralph(&bed, &["circuit", "status"]).out;
    assert!(circuit.contains("CLOSED"), "{circuit}");
}

fn with_hint(bed: &Bed) -> Done {
    ralph(bed, &["resume", "--json", "--hint", "Look in the cellar"])
}

#[test]
fn a_blocked_run_continues_with_an_answer() {
    answered("recommendation Which port?\nclaim blocked", (2, "BLOCKED"), with_hint);
}

#[test]
fn a_stalled_run_continues_with_an_answer_and_its_breaker_closes() {
    answered("say Thinking\nclaim progress", (1, "STALL"), with_hint);
}

#[test]
fn a_hint_that_waits_in_the_inbox_is_an_answer() {
    answered("say Thinking\nclaim progress", (1, "STALL"), |bed| {
        let sent = ralph(bed, &["hint", "Look in the cellar"]);
        assert_eq!(sent.code, 0, "{}", sent.err);
        ralph(bed, &["resume", "--json"])
    });
}

#[test]
fn refusals_are_forgiven_by_an_answer() {
    answered("fail refusal", (2, "BLOCKED"), with_hint);
}

#[test]
fn a_limit_takes_a_hint_too() {
    let bed = Bed::git("append a.txt x\nclaim progress");
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    let done = ralph(&bed, &["resume", "--max-iterations", "2", "--hint", "Look in the cellar", "--json"]);
    done.ends(3, "MAX_ITERATIONS");
    assert!(bed.prompts().last().unwrap().contains("Look in the cellar"));
    let empty = ralph(&bed, &["resume", "--hint", " "]);
    assert!(empty.code == 64 && empty.err.contains("the hint is empty"), "{}", empty.err);
}

#[test]
fn a_run_that_is_over_takes_no_hint() {
    let bed = Bed::git("write .env SECRET=1\nclaim complete");
    bed.done(&["--verify", "true"]).ends(4, "PROHIBITED_PATH");
    let refused = ralph(&bed, &["resume", "--hint", "Again"]);
    assert!(refused.code == 64 && refused.err.contains("cannot resume"), "{}", refused.err);
}

#[test]
fn a_hint_from_stdin_reaches_a_run_in_the_background() {
    let bed = Bed::git("append a.txt x\nclaim progress");
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    bed.script("write done yes\nclaim complete");
    let text = bed.scratch.root().join("hint.txt");
    std::fs::write(&text, "Look in the cellar\n").unwrap();
    let mut resume = bed.ralph(&["resume", "--detach", "--max-iterations", "2", "--hint", "-"]);
    let output = resume.stdin(std::fs::File::open(text).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    bed.nobody_is_left();
    assert!(bed.prompts().last().unwrap().contains("Look in the cellar"));
}
