//! Plans item by item: ids, criteria, commands and dependencies in Markdown and in every dialect of prd.json; the bytes
//! of each tick; which item is next; mistakes with their lines; whose changes count; and what an import writes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use proptest::prelude::*;
use ralph_rules::plan::{Choice, Document, Item, Ledger, TickEdit, choose, document, import};
use std::collections::BTreeSet;

fn md(text: &str) -> Document {
    document("plan.md", text.as_bytes()).unwrap()
}

fn prd(text: &str) -> Document {
    document("prd.json", text.as_bytes()).unwrap()
}

fn on(item: &Item) -> Vec<&str> {
    item.depends_on.iter().map(|d| d.on.as_str()).collect()
}

const MARKDOWN: &str = "# Plan\n- [ ] US-1: The parser\n  It reads *everything*.\n\n  - keeps comments\n  - verify: `cargo test parser`\n  \
    - Priority: 2\n- [x] **T2**: Done before\n- [ ] The lexer\n  - [ ] tokens\n  - [ ] errors\n    - names the line\n  - depends on: US-1, T2\n\
    Not a detail.\n## Optional\n- [ ] http://example.org: look at it\n- [ ] tokens\n";

#[test]
fn markdown_has_details_below_its_checkboxes() {
    let plan = md(MARKDOWN);
    let keys: Vec<&str> = plan.items.iter().map(|item| item.key.as_str()).collect();
    assert_eq!(
        keys,
        ["US-1", "T2", "The lexer", "tokens", "errors", "http://example.org: look at it", "tokens (2)"]
    );
    let first = &plan.items[0];
    assert_eq!((first.title.as_str(), first.text.as_str()), ("The parser", "It reads *everything*."));
    assert_eq!((first.criteria.as_slice(), first.priority), (&["keeps comments".to_string()][..], Some(2)));
    assert_eq!(first.verify, ["cargo test parser"]);
    assert_eq!(on(&plan.items[2]), ["US-1", "T2", "tokens", "errors"], "what is nested comes first");
    assert_eq!(plan.items[4].criteria, ["names the line"]);
    assert_eq!(plan.checked(), Ok(()));
    assert!(plan.items[5].optional && plan.items[1].done);
}

/// A dialect, and what its second story is read as: criteria, commands, dependencies.
type Dialect = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const DIALECTS: [Dialect; 5] = [
    (r#"{"stories":[{"id":"1"},{"id":"2","passes":false,"priority":1}]}"#, &[], &[], &[]),
    (
        r#"{"userStories":[{"id":"1","dependencies":{"depends_on":[],"blocks":["2"]}},{"id":"2","status":"pending","passes":false,
           "acceptanceCriteria":[{"id":"AC","description":"works","done":false}],"dependencies":{"depends_on":["3"]}},{"id":"3"}]}"#,
        &["works"],
        &[],
        &["3", "1"],
    ),
    (
        r#"{"userStories":[{"id":1},{"id":"2","acceptanceCriteria":["a","b"],"passes":false,"verify":"make b"}]}"#,
        &["a", "b"],
        &["make b"],
        &[],
    ),
    (
        r#"{"name":"p","userStories":[{"id":"1"},{"id":"2","dependsOn":["1"],"passes":false}]}"#,
        &[],
        &[],
        &["1"],
    ),
    (
        r#"{"qualityGates":["x"],"userStories":[{"id":"1"},{"id":"2","status":"open","dependencies":["1"],"completionCriteria":["npm test"]}]}"#,
        &[],
        &["npm test"],
        &["1"],
    ),
];

#[test]
fn every_dialect_has_criteria_commands_and_dependencies() {
    for (text, criteria, verify, depends_on) in DIALECTS {
        let plan = prd(text);
        let story = &plan.items[1];
        assert_eq!(story.criteria, criteria, "{text}");
        assert_eq!(story.verify, verify, "{text}");
        assert_eq!(on(story), depends_on, "{text}");
    }
}

/// Ticks one item, and gives what differs.
fn ticked(name: &str, text: &str, key: &str) -> String {
    let plan = document(name, text.as_bytes()).unwrap();
    let item = plan.item(key).unwrap();
    assert!(!item.done);
    let new = TickEdit::apply(vec![TickEdit::done(item)], text.as_bytes());
    let again = document(name, &new).unwrap();
    assert!(again.item(key).unwrap().done, "{}", String::from_utf8_lossy(&new));
    let others = |plan: &Document| -> Vec<bool> {
        plan.items.iter().filter(|i| i.key != key).map(|i| i.done).collect()
    };
    assert_eq!(others(&again), others(&plan));
    String::from_utf8(new).unwrap()
}

#[test]
fn a_tick_changes_its_own_bytes_and_nothing_else() {
    for (name, before, key, after) in [
        ("p.md", "\u{feff}- [ ] a\r\n- [ ] ü\r\n", "ü", "\u{feff}- [ ] a\r\n- [x] ü\r\n"),
        ("p.md", "1. [x] a\n\t* [ ]  b", "b", "1. [x] a\n\t* [x]  b"),
        (
            "p.json",
            "\u{feff}{\"stories\":[\r\n {\"id\":\"\\u0041\",\"passes\" :  false, \"x\":{\"passes\":false}}]}",
            "A",
            "\u{feff}{\"stories\":[\r\n {\"id\":\"\\u0041\",\"passes\" :  true, \"x\":{\"passes\":false}}]}",
        ),
        (
            "p.json",
            r#"{"stories":[{"status":"in_progress","id":"A"},{"status":"pending"}]}"#,
            "A",
            r#"{"stories":[{"status":"completed","id":"A"},{"status":"pending"}]}"#,
        ),
        (
            "p.json",
            r#"{"stories":[{"status":"open","id":"A"}]}"#,
            "A",
            r#"{"stories":[{"status":"done","id":"A"}]}"#,
        ),
        ("p.json", r#"{"stories":[{"id":"A"}]}"#, "A", r#"{"stories":[{"passes": true, "id":"A"}]}"#),
        (
            "p.json",
            r#"{"stories":[{"id":"A","passes":null,"status":"open"}]}"#,
            "A",
            r#"{"stories":[{"id":"A","passes":null,"status":"done"}]}"#,
        ),
    ] {
        assert_eq!(ticked(name, before, key), after);
    }
    // A line that is no text moves nothing.
    let bytes = b"- [ ] \xff\xfe\n- [ ] b\n";
    let plan = document("p.md", bytes).unwrap();
    let new = TickEdit::apply(vec![TickEdit::done(&plan.items[1])], bytes);
    assert_eq!(new, b"- [ ] \xff\xfe\n- [x] b\n");
}

#[test]
fn the_next_item_is_ready_and_has_the_lowest_number() {
    let next = |text: &str, aside: &[&str]| {
        let plan = prd(text);
        let aside: BTreeSet<String> = aside.iter().map(ToString::to_string).collect();
        match choose(&plan.items, &aside) {
            Choice::Take(item) => item.key.clone(),
            Choice::Complete => "complete".into(),
            Choice::Stuck(left) => {
                format!("stuck: {}", left.iter().map(|item| item.key.as_str()).collect::<Vec<_>>().join(","))
            }
        }
    };
    let table: &[(&str, &[&str], &str)] = &[
        (r#"[{"id":"a","priority":2},{"id":"b","priority":1}]"#, &[], "b"),
        (r#"[{"id":"a","priority":1,"dependsOn":["b"]},{"id":"b","priority":9}]"#, &[], "b"),
        (r#"[{"id":"a","priority":1},{"id":"b","priority":1}]"#, &[], "a"),
        (r#"[{"id":"a"},{"id":"b","priority":"P1"},{"id":"c","priority":"high"}]"#, &[], "b"),
        (r#"[{"id":"a","passes":true},{"id":"b","dependsOn":["a"]}]"#, &[], "b"),
        (r#"[{"id":"a","passes":true},{"id":"b","optional":true}]"#, &[], "complete"),
        (r#"[{"id":"a","dependsOn":["b"]},{"id":"b","optional":true}]"#, &[], "b"),
        (r#"[{"id":"a"},{"id":"b","dependsOn":["a"]}]"#, &["a"], "stuck: a,b"),
        (r#"[{"id":"a"},{"id":"b"}]"#, &["a"], "b"),
        (r#"[{"id":"a","status":"blocked"}]"#, &[], "stuck: a"),
        (r#"[{"id":"a","status":"failed","passes":false}]"#, &[], "a"),
        ("[]", &[], "complete"),
    ];
    for (stories, aside, expected) in table {
        assert_eq!(next(&format!("{{\"stories\":{stories}}}"), aside), *expected, "{stories}");
    }
}

#[test]
fn an_impossible_order_is_told_with_its_line() {
    let table = [
        (
            "{\"stories\":[\n{\"id\":\"a\",\"dependsOn\":[\"b\",\n\"zz\"]},{\"id\":\"b\"}]}",
            vec!["line 3, column 1: a depends on zz, which is not in the plan"],
        ),
        (
            "{\"stories\":[{\"id\":\"a\",\"dependsOn\":\"b\"},\n{\"id\":\"b\",\"dependsOn\":[\"c\"]},\n{\"id\":\"c\",\"dependsOn\":[\"a\"]}]}",
            vec!["line 3, column 24: the dependencies form a cycle: a → b → c → a"],
        ),
        (
            "{\"stories\":[{\"id\":\"a\",\"dependsOn\":[\"a\"]}]}",
            vec!["line 1, column 36: the dependencies form a cycle: a → a"],
        ),
        (
            "{\"stories\":[{\"id\":\"a\"},\n {\"id\":\"a\"}]}",
            vec!["line 2, column 2: the id a is used twice, first in line 1"],
        ),
    ];
    for (text, said) in table {
        let found: Vec<String> = prd(text).problems().iter().map(ToString::to_string).collect();
        assert_eq!(found, said, "{text}");
    }
    let plan = md("- [ ] T1: a\n  - depends on: T9\n");
    assert_eq!(
        plan.checked().unwrap_err().to_string(),
        "line 2, column 17: T1 depends on T9, which is not in the plan"
    );
}

const TWO: &str = r#"{"stories":[{"id":"a","passes":false,"verify":["make a"]},{"id":"b","passes":false,"verify":["make b"]}]}"#;

fn states(ledger: &Ledger) -> Vec<(String, bool, usize)> {
    ledger.items().iter().map(|item| (item.key.clone(), item.done, item.verify.len())).collect()
}

/// What is known of the plan after these looks: each text is seen while nothing runs, or after a command ran.
fn looks(texts: &[(bool, &str)]) -> (Ledger, Vec<TickEdit>) {
    let (mut ledger, mut edits) = (Ledger::default(), Vec::new());
    for (ran, text) in texts {
        match ran {
            true => edits = ledger.distrust(&prd(text)),
            false => ledger.trust(&prd(text)),
        }
    }
    (ledger, edits)
}

#[test]
fn a_tick_counts_only_if_nothing_ran_meanwhile() {
    let b_ticked = TWO.replacen("\"b\",\"passes\":false", "\"b\",\"passes\":true", 1);
    let (ledger, _) = looks(&[(false, TWO), (false, &b_ticked)]);
    assert!(ledger.items()[1].done && ledger.put_back.is_empty(), "a person's");
    let (ledger, edits) = looks(&[(false, TWO), (true, &b_ticked)]);
    assert!(!ledger.items()[1].done);
    assert_eq!(ledger.put_back, ["b"]);
    assert_eq!(TickEdit::apply(edits, b_ticked.as_bytes()), TWO.as_bytes());
    // One that could not be put back stays what it was.
    let (ledger, _) = looks(&[(false, TWO), (true, &b_ticked), (false, &b_ticked)]);
    assert!(!ledger.items()[1].done);
    // A tick that was taken away comes back.
    let (ledger, edits) = looks(&[(false, &b_ticked), (true, TWO)]);
    assert!(ledger.items()[1].done);
    assert_eq!(TickEdit::apply(edits, TWO.as_bytes()), b_ticked.as_bytes());
}

#[test]
fn what_was_asked_stays_asked() {
    let weak = TWO.replace("make b", "true");
    let (ledger, edits) = looks(&[(false, TWO), (true, &weak)]);
    assert_eq!((edits, &ledger.items()[1].verify[..]), (vec![], &["make b".to_string()][..]));
    assert_eq!(ledger.ignored, ["b was changed; it counts as it was"]);
    // Still so at the next look, until a person writes something else.
    let (ledger, _) = looks(&[(false, TWO), (true, &weak), (false, &weak)]);
    assert_eq!(ledger.items()[1].verify, ["make b"]);
    let own = TWO.replace("make b", "make c");
    let (ledger, _) = looks(&[(false, TWO), (true, &weak), (false, &own)]);
    assert_eq!(ledger.items()[1].verify, ["make c"]);
    let without = r#"{"stories":[{"id":"a","passes":false,"verify":["make a"]}]}"#;
    let (ledger, _) = looks(&[(false, TWO), (true, without), (false, without)]);
    assert_eq!(states(&ledger), [("a".into(), false, 1), ("b".into(), false, 1)]);
    assert_eq!(ledger.ignored, ["b was removed; it still counts"]);
    let (ledger, _) = looks(&[(false, TWO), (false, without)]);
    assert_eq!(states(&ledger), [("a".into(), false, 1)], "a person may remove a story");
    // A new story is welcome; commands that come with it while something runs are not run.
    let more = TWO.replacen("[{", "[{\"id\":\"n\",\"passes\":true,\"verify\":[\"true\"]},{", 1);
    let (ledger, edits) = looks(&[(false, TWO), (true, &more)]);
    assert_eq!((states(&ledger)[0].clone(), edits.len()), (("n".into(), false, 0), 1));
    let (ledger, _) = looks(&[(false, TWO), (false, &more)]);
    assert_eq!(states(&ledger)[0], ("n".into(), true, 1));
}

#[test]
fn whatever_is_imported_can_be_read_and_loses_nothing() {
    let imported = import("plan.md", MARKDOWN.as_bytes()).unwrap();
    let plan = prd(&imported.text());
    assert_eq!(plan.checked(), Ok(()));
    let old = md(MARKDOWN);
    assert_eq!(plan.items.len(), old.items.len());
    for (new, old) in plan.items.iter().zip(&old.items) {
        assert_eq!((&new.title, &new.text, new.done), (&old.title, &old.text, old.done));
        assert_eq!((&new.criteria, &new.verify), (&old.criteria, &old.verify));
        assert_eq!((new.priority, new.optional), (old.priority, old.optional));
        assert_eq!(new.depends_on.len(), old.depends_on.len());
    }
    for (text, ..) in DIALECTS {
        let plan = prd(&import("a.json", text.as_bytes()).unwrap().text());
        let old = prd(text);
        let same = |a: &Item, b: &Item| (&a.id, a.done, on(a) == on(b)) == (&b.id, b.done, true);
        assert!(plan.items.iter().zip(&old.items).all(|(a, b)| same(a, b)), "{text}");
    }
    let odd = r#"{"meta":{"k":[1]},"stories":[{"title":"x","mine":{"deep":null},"passes":null}]}"#;
    let text = import("a.json", odd.as_bytes()).unwrap().text();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["meta"]["k"][0], 1);
    let story = &value["userStories"][0];
    assert_eq!(
        (&story["id"], &story["passes"], &story["mine"]),
        (&"S-001".into(), &false.into(), &serde_json::json!({"deep": null}))
    );
}

#[test]
fn issues_become_stories() {
    let issues = r##"[{"number":12,"title":"Log in","body":"As a user.\r\n- [ ] a form\r\n- [x] a button\r\nDepends on #7 and #99","labels":[{"id":"x","name":"priority: high"}],"assignees":[]},
        {"number":7,"title":"Users","body":"Blocked by #12?","labels":[{"name":"P2"}],"url":"u"},{"number":8,"title":"t","body":null,"labels":[]}]"##;
    let text = import("issues.json", issues.as_bytes()).unwrap().text();
    let plan = prd(&text);
    let keys: Vec<&str> = plan.items.iter().map(|item| item.key.as_str()).collect();
    assert_eq!(keys, ["GH-12", "GH-7", "GH-8"]);
    assert_eq!((plan.items[0].priority, on(&plan.items[0])), (Some(1), vec!["GH-7"]));
    assert_eq!(plan.items[0].criteria, ["a form", "a button"]);
    assert_eq!(on(&plan.items[1]), ["GH-12"]);
    assert!(text.contains("\"url\": \"u\"") && text.contains("\"priority: high\""), "{text}");
    assert_eq!(plan.problems().len(), 1, "the two wait for each other, and that is said");
    for wrong in ["[1]", "[", "[{]"] {
        assert!(import("i.json", wrong.as_bytes()).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a.md", "a.json"] {
            let _ = import(name, &bytes);
            if let Ok(plan) = document(name, &bytes) {
                let _ = (plan.problems(), choose(&plan.items, &BTreeSet::new()));
                for item in &plan.items {
                    let _ = TickEdit::apply(vec![TickEdit::done(item)], &bytes);
                }
            }
        }
    }

    /// Whatever happens while something runs, no story becomes done by it.
    #[test]
    fn nothing_is_done_by_a_change_while_something_runs(
        steps in proptest::collection::vec((any::<bool>(), proptest::collection::vec((0u8..4, any::<bool>()), 0..5)), 1..12)
    ) {
        let mut ledger = Ledger::default();
        for (ran, stories) in steps {
            let unique: std::collections::BTreeMap<u8, bool> = stories.into_iter().collect();
            let list: Vec<String> = unique.iter().map(|(id, done)| format!("{{\"id\":\"{id}\",\"passes\":{done}}}")).collect();
            let plan = prd(&format!("{{\"stories\":[{}]}}", list.join(",")));
            let done = |ledger: &Ledger| -> BTreeSet<String> {
                ledger.items().iter().filter(|item| item.done).map(|item| item.key.clone()).collect()
            };
            let before = done(&ledger);
            if ran {
                let _ = ledger.distrust(&plan);
                prop_assert_eq!(done(&ledger), before);
            } else {
                ledger.trust(&plan);
            }
        }
    }
}
