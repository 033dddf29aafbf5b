//! Plans are read: checkboxes and what only looks like one, sections that do not block, prd.json in its five dialects,
//! broken files with the place of the mistake. Whatever the bytes, nothing panics and nothing is quadratic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use proptest::prelude::*;
use ralph_rules::plan::{NAMED, Plan, TEXT, read};

fn markdown(text: &str) -> Plan {
    read("fix_plan.md", text.as_bytes()).unwrap()
}

fn counts(plan: &Plan) -> (u32, u32, u32) {
    (plan.done, plan.pending, plan.optional)
}

#[test]
fn a_checkbox_is_not_whatever_looks_like_one() {
    let plan = markdown(include_str!("plans/look_alikes.md"));
    assert_eq!(plan.next, ["first", "star", "plus", "numbered", "indented", "wide", "last"]);
    assert_eq!(counts(&plan), (4, 7, 0));
}

#[test]
fn the_same_with_other_line_ends_and_a_mark_at_the_start() {
    let text = include_str!("plans/look_alikes.md");
    let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(markdown(&crlf), markdown(text));
}

#[test]
fn optional_sections_do_not_block() {
    let plan = markdown(include_str!("plans/sections.md"));
    assert_eq!(plan.next, ["needed", "needed, the heading is another one"]);
    assert_eq!(counts(&plan), (2, 2, 7));
    for (heading, optional) in [
        ("Nice to have (optional)", true),
        ("Polish (optional)", true),
        ("Future (2027)", true),
        ("Polish (soon)", false),
        ("(", false),
        (")", false),
    ] {
        let plan = markdown(&format!("## {heading}\n- [ ] a\n"));
        assert_eq!(plan.optional == 1, optional, "{heading}");
    }
}

#[test]
fn what_is_never_closed_hides_nothing() {
    for open in ["```rust", "~~~", "<!-- a note", "````"] {
        assert_eq!(counts(&markdown(&format!("{open}\n- [ ] a\n```x\n- [x] b"))), (1, 1, 0), "{open}");
    }
}

#[test]
fn complete_means_ticked_and_not_merely_empty() {
    let table = [
        ("- [x] a\n- [x] b", true),
        ("- [x] a\n## Optional\n- [ ] b", true),
        ("- [x] a\n- [ ] b", false),
        ("# Plan\n\nNothing is written here.", false),
        ("## Optional\n- [x] a\n- [ ] b", false),
        ("", false),
    ];
    for (text, complete) in table {
        assert_eq!(markdown(text).complete(), complete, "{text}");
    }
}

#[test]
fn the_named_items_are_bounded() {
    let long = format!("- [ ] {}é\n", "wörd ".repeat(200)).repeat(300);
    let plan = markdown(&long);
    assert_eq!((plan.pending, plan.next.len()), (300, NAMED));
    assert!(plan.next.iter().all(|text| text.len() <= TEXT + "…".len()), "{:?}", plan.next);
}

/// Its name, a file in it, how many are done and open, and what is next.
type Dialect = (&'static str, &'static str, (u32, u32), &'static [&'static str]);

/// Each dialect of the older tools, as its tool writes it: counts, and the texts in the order to take them.
const DIALECTS: [Dialect; 6] = [
    (
        "first",
        r#"{"project":"p","generated":"2026-01-01","granularity":"micro","stories":[
            {"id":"US-001","title":"Login","parent_spec":"S01","estimated_minutes":20,"priority":1,"passes":true},
            {"id":"US-002","title":"Logout","parent_spec":"S01","estimated_minutes":15,"priority":3,"passes":false},
            {"id":"US-003","title":"Reset","priority":2,"passes":false}]}"#,
        (1, 2),
        &["US-003: Reset", "US-002: Logout"],
    ),
    (
        "second",
        r#"{"version":"2.0","branchName":"b","projectName":"p","config":{"max_iterations":50,"test_command":"t"},
            "userStories":[
            {"id":"US-1","title":"A","category":"c","complexity":"S","priority":1,"status":"completed","passes":true,
             "acceptanceCriteria":[{"id":"AC1","description":"d","done":false}],"tasks":[],
             "dependencies":{"depends_on":[],"blocks":["US-2"]},"execution":{"attempts":1,"files_modified":[]}},
            {"id":"US-2","title":"B","priority":1,"status":"failed","passes":false,"dependencies":{"depends_on":["US-3"]}},
            {"id":"US-3","title":"C","priority":9,"status":"pending","passes":false,"dependencies":{"depends_on":["US-1"]}}]}"#,
        (1, 2),
        &["US-3: C", "US-2: B"],
    ),
    (
        "common",
        r#"{"project":"p","branchName":"b","description":"d","userStories":[
            {"id":"US-001","title":"A","description":"d","acceptanceCriteria":["x"],"priority":1,"passes":false,"notes":""},
            {"id":"US-002","title":"","description":"only described","priority":2,"passes":false}]}"#,
        (0, 2),
        &["US-001: A", "US-002: only described"],
    ),
    (
        "named",
        r#"{"name":"p","userStories":[
            {"id":"a","title":"A","labels":["x"],"dependsOn":["b"],"priority":1,"passes":false,"completionNotes":""},
            {"id":"b","title":"B","priority":2,"passes":false}],"metadata":{"k":[1,{"x":null}]}}"#,
        (0, 2),
        &["b: B", "a: A"],
    ),
    (
        "by status",
        r#"{"name":"p","qualityGates":["npm test"],"userStories":[
            {"id":"a","title":"A","status":"done","startedAt":"s","completedAt":"c"},
            {"id":"b","title":"B","status":"in_progress"},
            {"id":"c","title":"C","status":"open","dependsOn":["a"],"parallel_group":2},
            {"id":"d","title":"D","completionCriteria":["npm test"]}]}"#,
        (1, 3),
        &["b: B", "c: C", "d: D"],
    ),
    (
        "odd but readable",
        r#"{"stories":[{"id":7,"priority":"P1","passes":null,"status":"completed"},{},{"passes":false,"status":"completed"}]}"#,
        (1, 2),
        &["(story without a title)", "(story without a title)"],
    ),
];

#[test]
fn every_dialect_of_prd_is_read() {
    for (name, text, counts, next) in DIALECTS {
        for text in [text.to_string(), format!("\u{feff}{}", text.replace('\n', "\r\n"))] {
            let plan = read("PRD.JSON", text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((plan.done, plan.pending), counts, "{name}");
            assert_eq!(plan.next, next, "{name}");
        }
    }
}

#[test]
fn a_broken_prd_is_told_with_its_place() {
    let deep = format!("{{\"stories\":{}", "[".repeat(100_000));
    let table = [
        ("", "line 1, column 1: the JSON ends too early"),
        ("{\"stories\": [\n  {\"id\": 1,", "line 2, column 11: the JSON ends too early"),
        (
            "{\"stories\": [\n  {\"passes\": \"yes\"}]}",
            "line 2, column 18: invalid type: string \"yes\", expected a boolean",
        ),
        ("{\"stories\": [{}],}", "line 1, column 18: trailing comma"),
        (
            "{\"stories\": [1]}",
            "line 1, column 14: invalid type: integer `1`, expected a story, an object with `title` and `passes`",
        ),
        ("\n [[], []]", "line 2, column 2: expected an object with `stories` or `userStories`"),
        ("{\"project\": \"p\"}", "line 1, column 1: neither `stories` nor `userStories` found"),
        ("{\"stories\": []} x", "line 1, column 17: trailing characters"),
        (&deep, "line 1, column 138: recursion limit exceeded"),
    ];
    for (text, said) in table {
        let error = read("prd.json", text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), said, "{}", &text[..text.len().min(40)]);
    }
    assert!(read("prd.json", b"{\"stories\": [{\"title\": \"\xff\"}]}").is_err());
}

#[test]
fn a_million_lines_are_read_in_one_pass() {
    let openers = "```a\n~~~b\n<!-- c\n- [ ] d\n".repeat(250_000);
    assert_eq!(markdown(&openers).pending, 250_000);
    let growing: String = (3..1_000).map(|n| format!("{}\n- [ ] a\n", "`".repeat(n))).collect();
    assert_eq!(markdown(&growing).pending + markdown(&growing).done, markdown(&growing).pending);
    let headings = "# Optional\n## Future\n- [ ] a\n".repeat(100_000);
    assert_eq!(counts(&markdown(&headings)), (0, 0, 100_000));
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read("a.md", &bytes);
        let _ = read("a.json", &bytes);
    }

    /// A slow and obvious reader of plans without fences, comments and headings agrees.
    #[test]
    fn checkboxes_are_those_a_slow_reader_sees(lines in proptest::collection::vec("[ \t]{0,2}[-*+x]?[ ]{0,2}\\[[ xXv]{0,2}\\][ a(:]{0,2}[a-z]{0,3}", 0..30)) {
        let pattern = regex::Regex::new(r"^[ \t]*[-*+][ \t]+\[([ xX])\][ \t]+\S").unwrap();
        let ticks: Vec<&str> = lines.iter().filter_map(|l| Some(pattern.captures(l)?.get(1)?.as_str())).collect();
        let open = ticks.iter().filter(|tick| **tick == " ").count();
        let plan = markdown(&lines.join("\n"));
        prop_assert_eq!((plan.done as usize, plan.pending as usize), (ticks.len() - open, open));
    }
}
