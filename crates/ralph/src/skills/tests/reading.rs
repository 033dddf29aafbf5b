//! What is read of a skill's text, and what is only an example in it.

use crate::skills::document::read;

const FRONT: &str = "---\nname: a\ndescription: b\n---\n";

#[test]
fn criteria_and_promise_are_read_and_examples_are_not() {
    let body = "# A\n\n```markdown\n## Completion Criteria\n- [ ] an example\n## Ralph Integration\n```\n\n\
        ### Completion Criteria ###\n\nAll of these:\n\n- [ ] One\n- [x] Two,\n  in two lines\n- no box\n* [ ]\n\
        1. [X] `three` (a)\n#### Below\n  + [ ] Four\n## Ralph Integration\n\n    When done:\n\n```\n<promise>DONE</promise>\n```\n\
        and again <promise> DONE </promise>\n\n````toml ralph\n# <promise>NOT</promise>\nmax_iterations = 3\n````\n## Other\n<promise>OTHER</promise>\n";
    let text = format!("{FRONT}{body}");
    let found = read(&text).unwrap();
    assert_eq!(found.criteria, ["One", "Two, in two lines", "`three` (a)", "Four"]);
    assert_eq!(found.promise.as_deref(), Some("DONE"));
    let (start, end) = found.block.unwrap();
    assert_eq!(text.get(start..end), Some("# <promise>NOT</promise>\nmax_iterations = 3\n"));
    assert!(text.get(found.body..).unwrap().starts_with("# A"));
}

#[test]
fn a_skill_for_people_alone_has_neither() {
    let found = read(&format!("{FRONT}# Just a method\n")).unwrap();
    assert_eq!((found.promise, found.criteria.len(), found.block), (None, 0, None));
    assert_eq!((found.criteria_at, found.integration_at), (None, None));
}

#[test]
fn the_seed_of_the_analyzer_is_read() {
    let text = "---\nname: ralph-analyzer\ndescription: >-\n  Analyzes Ralph Wiggum loop outputs for completion detection, stuck loop\n  \
        identification, and progress tracking. Implements dual-condition exit logic.\n  Use when: @ralph-executor needs to analyze \
        Claude responses.\n  Not for: Direct invocation, used internally by Ralph components.\n---\n\n# Ralph Analyzer Skill\n";
    let found = read(text).unwrap();
    assert_eq!(found.name.text, "ralph-analyzer");
    assert!(found.description.ends_with(
        "Use when: @ralph-executor needs to analyze Claude responses. Not for: Direct \
        invocation, used internally by Ralph components."
    ));
}
