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
    let told = "you reported PASSING; `test -f done.txt` failed with exit code 1";
    assert!(prompts[1].contains(told), "{}", prompts[1]);
    assert!(prompts[1].contains("you reported 7 modified files; 1 changed"), "{}", prompts[1]);
    let explained = bed.says(&["explain"]);
    assert!(explained.contains("claims that held: 0 of 2: TESTS_STATUS says PASSING"), "{explained}");
}

/// What the agent does and claims in the first iteration, what its next prompt tells it, and how the lie is counted.
const LIES: &[(&str, &str, &str)] = &[
    (
        "write a.txt 1\nclaim complete",
        "you reported that everything is done; `test -f done.txt` failed with exit code 1",
        "done_not_verified",
    ),
    (
        "write a.txt 1\nclaim promise",
        "you reported that everything is done; `test -f done.txt` failed with exit code 1",
        "done_not_verified",
    ),
    (
        "write a.txt 1\nclaim progress tests=PASSING",
        "you reported PASSING; `test -f done.txt` failed with exit code 1",
        "tests_status_not_as_run",
    ),
    (
        "write done.txt 1\nclaim progress tests=FAILING",
        "you reported FAILING; every verify command passed",
        "tests_status_not_as_run",
    ),
    (
        "write a.txt 1\nclaim progress files=4",
        "you reported 4 modified files; 1 changed",
        "files_modified_not_as_counted",
    ),
    ("claim progress files=1", "you reported 1 modified file; 0 changed", "files_modified_not_as_counted"),
    (
        "write done.txt 1\nclaim complete",
        "you reported COMPLETE; plan.md has 2 open items",
        "complete_with_tasks_remaining",
    ),
    (
        "write a.txt 1\nclaim progress tasks=2",
        "you reported 2 completed tasks; 0 items ticked in plan.md",
        "tasks_completed_not_as_counted",
    ),
];

#[test]
fn every_lie_is_told_back_in_the_next_prompt_and_reaches_the_analysis() {
    for (script, told, kind) in LIES {
        let bed = Bed::git(&format!("[1]\n{script}\n[2]\nclaim progress"));
        bed.scratch.files(&[("plan.md", "- [ ] a\n- [ ] b\n")]);
        let done = bed.done(&["--verify", "test -f done.txt", "--plan", "plan.md", "--max-iterations", "2"]);
        assert_eq!(done.code, 3, "{script}: {}", done.err);
        let second = &bed.prompts()[1];
        assert!(second.contains(told), "{script}: {told} is not in\n{second}");
        let explained: serde_json::Value = serde_json::from_str(&bed.says(&["explain", "--json"])).unwrap();
        let code = kind.replace("done_not_verified", "not_done");
        assert!(explained.to_string().contains(&code), "{script}: {kind} is not in\n{explained}");
    }
}
