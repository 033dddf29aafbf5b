use super::*;
use proptest::prelude::*;

/// Lines before and now.
type Changed = (Range<usize>, Range<usize>);

#[test]
fn near_changes_are_one_hunk() {
    let before = "a\nb\nc\nd\ne\nf\ng\n";
    let rows: &[(&str, &[Changed])] = &[
        ("a\nb\nc\nd\ne\nf\ng\n", &[]),
        ("A\nb\nc\nd\ne\nf\ng\n", &[(0..1, 0..1)]),
        ("A\nb\nC\nd\ne\nf\ng\n", &[(0..3, 0..3)]),
        ("A\nb\nc\nD\ne\nf\ng\n", &[(0..1, 0..1), (3..4, 3..4)]),
        ("a\nb\nc\nd\ne\nf\ng\nh\n", &[(7..7, 7..8)]),
        ("", &[(0..7, 0..0)]),
    ];
    for (now, expected) in rows {
        let found: Vec<_> =
            hunks(b"a.py", before, now).into_iter().map(|hunk| (hunk.old, hunk.new)).collect();
        assert_eq!(&found, expected, "{now}");
    }
}

#[test]
fn one_hunk_can_be_put_back() {
    let (before, now) = ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n");
    let found = hunks(b"a.py", before, now);
    assert_eq!(put_back(before, now, &found[..1]), "a\nb\nc\nd\nE\n");
    assert_eq!(put_back(before, now, &found[1..]), "A\nb\nc\nd\ne\n");
    // The end of the file may have no line end on one side.
    let (before, now) = ("a\nb", "a\nc\n");
    assert_eq!(put_back(before, now, &hunks(b"a.py", before, now)), "a\nb");
    let (before, now) = ("a", "a\nx\ny\nb\n");
    assert_eq!(put_back(before, now, &hunks(b"a", before, now)), "a");
}

#[test]
fn what_no_test_can_notice_is_trivial() {
    let rows = [
        ("a.py", "x = 1\n", "x = 1\n\n# why\n", true),
        (
            "a.py",
            "def f():\n    return 1\n",
            "def f():\n    \"\"\"Why.\n\n    More.\n    \"\"\"\n    return 1\n",
            true,
        ),
        ("a.py", "x = 1\n", "x = 1  # why\n", false),
        ("a.py", "x = '''\na\n'''\n", "x = '''\n# a\n'''\n", false),
        ("a.rs", "fn f() {}\n", "/// Why.\nfn f() {}\n", true),
        ("a.rs", "fn f() {}\n", "/* a\n b */\nfn f() {}\n", true),
        ("a.rs", "fn f() {}\n", "#[inline]\nfn f() {}\n", false),
        ("a.rs", "const A: &str = \"\na\n\";\n", "const A: &str = \"\n// a\n\";\n", false),
        ("a.js", "f();\n", "/* a\n * b\n */\nf();\n", true),
        ("a.js", "f();\n", "// a\nf();\n", true),
        ("a.js", "f();\n", "/* a */ g();\nf();\n", false),
        ("a.go", "package a\n", "//go:build x\npackage a\n", false),
        ("a.sh", "true\n", "#!/bin/sh\ntrue\n", false),
        ("a.sh", "true\n", "true\n# why\n", true),
        ("a.json", "{}\n", "{}\n\n", true),
        ("README.md", "a\n", "b\n", true),
        ("a.unknown", "a\n", "# b\n", false),
    ];
    for (path, before, now, trivial) in rows {
        let found = hunks(path.as_bytes(), before, now);
        assert!(!found.is_empty(), "{path}: {now}");
        assert_eq!(found.iter().all(|hunk| hunk.trivial), trivial, "{path}: {now}");
    }
}

#[test]
fn texts_without_a_common_line_are_one_hunk() {
    let text = |word: &str| (0..9000).map(|n| format!("{word}{n}\n")).collect::<String>();
    let (before, now) = (text("a"), text("b"));
    assert_eq!(hunks(b"a.py", &before, &now).len(), 1);
}

#[test]
fn hunks_of_one_function_are_a_group() {
    let python = "import a\n\ndef f():\n    x\n    y\n    z\n\nclass A:\n    def g(self):\n        x\n        y\n        z\n    def h(self):\n        x\n";
    let rust = "use a;\n\nfn f() {\n    x;\n    y;\n    z;\n}\nimpl A {\n    fn g() {\n        x;\n        y;\n        z;\n    }\n    fn h() {\n        x\n    }\n}\n";
    for now in [python, rust] {
        let at = |line: usize| Hunk { old: 0..0, new: line..line + 1, trivial: false };
        let last = now.lines().position(|line| line.contains(" h(")).unwrap() + 1;
        let hunks = [at(0), at(3), at(5), at(9), at(11), at(last)];
        assert_eq!(groups(now, &hunks), [vec![0], vec![1, 2], vec![3, 4], vec![5]], "{now}");
    }
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a"),
        Just("b"),
        Just("c"),
        Just("# d"),
        Just(""),
        Just("\"\"\""),
        Just("/*"),
        Just("ä\r")
    ];
    (proptest::collection::vec(line, 0..25), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

proptest! {
    #[test]
    fn all_or_none_can_be_put_back(before in text(), now in text()) {
        for path in [&b"a.py"[..], b"a.rs", b"a.js", b"a"] {
            let found = hunks(path, &before, &now);
            prop_assert_eq!(put_back(&before, &now, &found), before.clone());
            prop_assert_eq!(put_back(&before, &now, &[]), now.clone());
        }
    }
}
