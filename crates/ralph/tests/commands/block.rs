//! `ralph block`: a block is checked line by line, or written from facts.

use super::scene::Scene;
use serde_json::{Value, json};

const GOOD: &str = "Done.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 2\n\
    TESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: true\nRECOMMENDATION: Ship it\n---END_RALPH_STATUS---\n";

#[test]
fn broken_rules_are_told_with_their_lines() {
    let mut scene = Scene::new();
    let blocked =
        GOOD.replace("STATUS: COMPLETE", "STATUS: BLOCKED").replace("WORK_TYPE", "NOTE: x\nWORK_TYPE");
    scene.scratch.files(&[
        ("good.txt", GOOD),
        ("bad.txt", &blocked),
        ("cut.txt", "---RALPH_STATUS---\nSTATUS: COMPLETE\n"),
        ("none.txt", "I did it.\n"),
        ("promise.txt", "<promise>COMPLETE</promise>\n"),
    ]);
    assert_eq!(scene.show(&["block", "check", "good.txt"]).code, 0);
    assert_eq!(scene.show(&["block", "check", "bad.txt"]).code, 65);
    assert_eq!(scene.show(&["block", "check", "cut.txt"]).code, 65);
    assert_eq!(scene.show(&["block", "check", "none.txt"]).code, 65);
    assert_eq!(scene.show(&["block", "check", "promise.txt"]).code, 65);
    assert_eq!(
        scene
            .show(&["block", "check", "good.txt", "--tests", "failing", "--files", "3", "--remaining", "1"])
            .code,
        65
    );
    assert_eq!(
        scene
            .show(&["block", "check", "good.txt", "--tests", "PASSING", "--files", "2", "--remaining", "0"])
            .code,
        0
    );
    assert_eq!(scene.show(&["block", "check", "good.txt", "--errors", "--work-remains"]).code, 65);
    assert_eq!(scene.show(&["block", "check", "bad.txt", "--json"]).code, 65);
    assert_eq!(scene.show(&["block", "check", "missing.txt"]).code, 65);
    scene.compare("block_check");
}

#[test]
fn a_block_is_written_from_facts_and_passes_its_own_check() {
    let mut scene = Scene::new();
    let facts = ["--remaining", "0", "--files", "3", "--work-type", "implementation"];
    let emit = |more: &[&'static str]| {
        let mut args = vec!["block", "emit"];
        args.extend(facts);
        args.extend(more);
        args
    };
    let done =
        scene.show(&emit(&["--tasks", "1", "--tests", "passing", "--recommendation", "All tasks complete"]));
    assert_eq!(done.code, 0);
    scene.scratch.files(&[("done.txt", &done.out)]);
    let checked: Value =
        serde_json::from_str(&scene.ralph(&["block", "check", "done.txt", "--json"]).out).unwrap();
    assert_eq!((&checked["ok"], &checked["lines"]), (&json!(true), &json!([1, 9])));
    for (more, line) in [
        (&["--tests", "failing", "--recommendation", "Next: mend it"][..], "STATUS: IN_PROGRESS"),
        (&["--tests", "passing", "--blocked", "no key"], "RECOMMENDATION: Blocked: no key"),
        (&["--tests", "passing", "--errors", "--recommendation", "Look at the log"], "STATUS: IN_PROGRESS"),
        (&["--tests", "passing", "--work-remains", "--recommendation", "Next: x"], "STATUS: IN_PROGRESS"),
    ] {
        let answer = scene.ralph(&emit(more));
        assert_eq!(answer.code, 0, "{}", answer.err);
        assert!(answer.out.contains(line), "{line} in {}", answer.out);
        scene.scratch.files(&[("block.txt", &answer.out)]);
        let mut check = vec!["block", "check", "block.txt"];
        check.extend(more.iter().filter(|arg| matches!(**arg, "--errors" | "--work-remains")));
        assert_eq!(scene.ralph(&check).code, 0, "{}", answer.out);
    }
    assert_eq!(scene.show(&emit(&["--tests", "passing", "--recommendation", "Next: mend it"])).code, 64);
    assert_eq!(scene.show(&emit(&["--blocked", ""])).code, 64);
    assert_eq!(scene.show(&emit(&["--recommendation", "<one line summary>"])).code, 64);
    assert_eq!(scene.show(&["block", "emit", "--files", "1"]).code, 64);
    scene.compare("block_emit");
}

#[test]
fn the_promise_of_the_workspace_may_follow_the_block() {
    let scene = Scene::new();
    let promised = format!("{GOOD}\n<promise>LINT_CLEAN</promise>\n");
    scene.scratch.files(&[("promised.txt", &promised)]);
    assert_eq!(scene.ralph(&["block", "check", "promised.txt"]).code, 65);
    scene.scratch.files(&[("ralph.toml", "[gate]\npromise = \"LINT_CLEAN\"\n")]);
    assert_eq!(scene.ralph(&["block", "check", "promised.txt"]).code, 0);
}
