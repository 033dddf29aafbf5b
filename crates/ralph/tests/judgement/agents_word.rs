//! What the agent says of itself, compared with what ralph saw: promises in the wrong form, errors it reports, blocks that
//! are wrong.

use crate::bed::Bed;

const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];

#[test]
fn a_promise_in_the_wrong_form_is_told_and_taken_the_second_time() {
    let bed = Bed::git("write done.txt yes\nmessage Fixed it. <promise>COMPLETE</promise>\nclaim none");
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    assert!(
        done.err.contains("the last line must be <promise>COMPLETE</promise> and nothing else"),
        "{}",
        done.err
    );
    assert!(done.err.contains("though not in the right form"), "{}", done.err);
    let prompts = bed.prompts();
    assert!(prompts[1].contains("the last line must be <promise>COMPLETE</promise>"), "{}", prompts[1]);
}

#[test]
fn an_error_that_every_answer_reports_stops_the_run_though_files_change() {
    for preset in ["strict", "classic", "analyzer", "wrapper"] {
        let bed = Bed::git(
            "append a.txt x\nmessage <<END\nIt does not build:\n\nerror[E0308]: mismatched types\nEND\nclaim none",
        );
        let done = bed.done(&["--preset", preset, "--max-iterations", "7"]);
        assert_eq!(done.ends(1, "SAME_ERROR_5X")["iterations"], 5, "{preset}");
    }
}

#[test]
fn a_block_that_says_something_else_than_ralph_saw_is_told() {
    let bed = Bed::git(
        "[1]\nwrite a.txt 1\nclaim progress tests=PASSING files=7\n[2]\nwrite done.txt yes\nclaim complete",
    );
    let done = bed.done(&GREEN);
    done.ends(0, "gate_passed");
    let prompts = bed.prompts();
    assert!(prompts[1].contains("TESTS_STATUS says PASSING, but the tests are FAILING"), "{}", prompts[1]);
    assert!(prompts[1].contains("FILES_MODIFIED says 7, but 1 changed"), "{}", prompts[1]);
    let explained = bed.says(&["explain"]);
    assert!(explained.contains("claims that held: 0 of 2: TESTS_STATUS says PASSING"), "{explained}");
}
