//! Templates: ralph's own hold on everything, the user's are checked before the run and bounded in it, and none of them
//! can lose what a person said or end a run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, more};
use ralph_rules::prompt::template::{CONTEXT, DEBUGGING, MOST, OWN, PROTOCOL, check, examples, render};
use ralph_rules::prompt::{Composed, compose, composed, protocol};
use ralph_rules::record::{CheckOutcome, PlanSeen, Request, RunStarted};
use std::collections::BTreeMap;

fn with(name: &str, source: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_string(), source.to_string())])
}

fn given(start: &mut RunStarted, name: &str, source: &str) {
    start.prompting.templates = with(name, source);
}

fn second(with: impl FnOnce(&mut RunStarted)) -> Journal {
    let mut journal = Journal::after_baseline(false, with);
    journal.iteration(&more(), true, Some(CheckOutcome::Failed));
    journal
}

#[test]
fn ralphs_own_hold() {
    check(&BTreeMap::new()).unwrap();
    for (name, own) in OWN {
        assert_eq!(check(&with(name, own)), Ok(()), "{name}");
        for data in examples() {
            let text = render(name, &BTreeMap::new(), &data).unwrap();
            assert!(!text.is_empty() && !text.contains("{%") && !text.contains("\n\n\n"), "{text}");
        }
    }
}

#[test]
fn the_context_says_what_it_is_meant_to_say() {
    let [busy, quiet] = examples();
    let text = render(CONTEXT, &BTreeMap::new(), &busy).unwrap();
    for part in [
        "This is attempt #3 of 10.",
        "- Files changed in the last iteration: 14 (src/parser.rs, …)\n",
        "- Verification: `make test` failed with exit code 2 (tests: 12 passing, 1 failing)\n  The end of its output:\n\
         ```\n1 test failed\n```\n",
        "- Last error, 3 times in a row since iteration 1: 1 test failed (tests/parser.rs:7)\n",
        "- Latest commits: Read quoted names\n",
        "- Still open in the plan fix_plan.md: 2\n  - Read comments\n",
        "\nWhy the work was not accepted:\n- no progress in 3 iterations\n",
        "Nobody will answer questions",
        "- Iteration 2: 1 file changed (src/parser.rs); 1 test failed; reported: Next: the lexer\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    let text = render(CONTEXT, &BTreeMap::new(), &quiet).unwrap();
    assert!(text.ends_with("- Files changed in the last iteration: none\n"), "{text}");
}

/// A template written for the names that there were at first.
#[test]
fn earlier_templates_keep_working() {
    let earlier = "{% if verification and not verification.passed %}{% for r in verification.failing %}{{ r.command }} \
                   {{ r.said }} {{ r.tail }} {{ r.fence }}{% endfor %}{% endif %}{% if last_error %} \
                   {{ last_error.times }} {{ last_error.text }}{% endif %}";
    assert_eq!(check(&with(CONTEXT, earlier)), Ok(()));
    let journal = second(|s| given(s, CONTEXT, earlier));
    let text = compose(&journal.state);
    assert!(
        text.contains("make test `make test` failed with exit code 1 error: expected 1, found 2 ```"),
        "{text}"
    );
    assert!(text.ends_with(" 1 error: expected 1, found 2\n"), "{text}");
}

#[test]
fn mistakes_are_found_before_the_night_with_their_line() {
    let table = [
        (CONTEXT, "one\n{{ iteratoin }}\n", 2, "undefined"),
        (CONTEXT, "{% if iteration %}\n", 0, "unexpected end"),
        (CONTEXT, "a\nb\n{{ files.cuont }}", 3, "undefined"),
        (DEBUGGING, "\n\n{% for x in tried %}{{ x.nothing }}{% endfor %}", 3, "undefined"),
        (PROTOCOL, "{{ promise | shout }}", 1, "unknown filter"),
        (CONTEXT, "{% include 'other.j2' %}", 1, "template not found"),
        (CONTEXT, "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", 1, "fuel"),
        (CONTEXT, "{% include 'context.j2' %}", 1, "recursion"),
    ];
    for (name, source, line, what) in table {
        let mistake = check(&with(name, source)).unwrap_err();
        assert_eq!(mistake.name, name, "{source}");
        assert!(line == 0 || mistake.line == line, "{source}: {mistake}");
        assert!(mistake.to_string().contains(what), "{source}: {mistake}");
    }
    let mistake = check(&with("contxt.j2", "x")).unwrap_err();
    assert!(mistake.what.contains("context.j2, debugging.j2, protocol.j2"), "{mistake}");
}

#[test]
fn the_users_template_takes_the_place_of_ralphs() {
    let journal =
        second(|s| given(s, CONTEXT, "Call {{ iteration }}, {{ verification.failing | length }} red."));
    let prompt = compose(&journal.state);
    assert_eq!(prompt, "Mend the parser.\n\n---\nCall 2, 1 red.\n");
    let journal = second(|s| given(s, PROTOCOL, "Say <promise>{{ promise }}</promise>."));
    let start = journal.state.start.as_deref().unwrap();
    assert_eq!(protocol(start), "Say <promise>COMPLETE</promise>.");
    assert!(compose(&journal.state).contains("[Ralph Loop Context"), "the others stay");
}

#[test]
fn what_a_template_makes_is_bounded() {
    let long = "{% for n in range(5000) %}{{ n }} bottles{% endfor %}";
    let text = render(CONTEXT, &with(CONTEXT, long), &examples()[0]).unwrap();
    assert!(text.len() <= MOST + 4, "{}", text.len());
}

#[test]
fn a_template_that_fails_in_the_night_gives_way_to_ralphs() {
    // It holds on the examples: there the files' names are known.
    let fragile = "{% if commits %}{{ commits[0] }}{% elif files.count == 1 %}{{ nowhere }}{% endif %}";
    assert_eq!(check(&with(CONTEXT, fragile)), Ok(()));
    let journal = second(|s| given(s, CONTEXT, fragile));
    let Composed { text, mistake } = composed(&journal.state);
    assert!(text.contains("[Ralph Loop Context"), "{text}");
    assert_eq!(mistake.unwrap().line, 1);
}

#[test]
fn no_template_loses_what_a_person_said() {
    let mut journal = second(|s| given(s, CONTEXT, ""));
    journal.ask(Request::Hint { text: "look at the lexer".into() });
    assert!(compose(&journal.state).contains("- look at the lexer"));
    let mut journal = second(|s| s.prompting.context = false);
    assert_eq!(compose(&journal.state), "Mend the parser.");
    journal.ask(Request::Hint { text: "look at the lexer".into() });
    assert!(compose(&journal.state).ends_with("From the person you work for:\n- look at the lexer\n"));
}

#[test]
fn open_tasks_are_named_within_bounds() {
    let mut state = second(|_| {}).state.clone();
    state.tasks.file = "plan.md".into();
    let next = (1..=30).map(|n| format!("task {n} {}", "word ".repeat(100))).collect();
    state.tasks.latest = Some(PlanSeen { pending: 30, next, ..PlanSeen::default() });
    let text = compose(&state);
    assert!(text.contains("- Still open in the plan plan.md: 30\n  - task 1 word"), "{text}");
    assert!(text.contains("task 10 ") && !text.contains("task 11 "));
    assert!(text.len() < 4_000, "{}", text.len());
}

#[test]
fn text_in_the_facts_is_never_taken_for_a_template() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.admit();
    journal.says(&more().replace("Next: the parser", "{{ 7 * 7 }} <b>&amp;</b>"));
    journal.inspected(true);
    journal.verified_saying(CheckOutcome::Failed, "{% raw %} {{ iteration }} <br>");
    let text = compose(&journal.state);
    assert!(text.contains("{% raw %} {{ iteration }} <br>"), "{text}");
}
