//! The sets of many paths, as data; files that are taken apart; hostile names.

mod hostile;
mod parts;
mod rust;
mod side;

use self::side::{Side, classified};
use crate::change::{Change, Split};

const ROWS: &str = include_str!("tests/rows.tsv");

fn set(change: &Change) -> &'static str {
    match &change.split {
        Split::Work => "work",
        Split::Ambiguous if change.docs => "docs",
        Split::Ambiguous => "ambiguous",
        Split::Oracle => "oracle",
        Split::Parts(_) => "parts",
    }
}

#[test]
fn sets_of_many_paths() {
    let mut wrong = Vec::new();
    let rows: Vec<&str> = ROWS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() > 250);
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let [state, path, wanted, why, command, others] = columns.as_slice() else { panic!("{row}") };
        let (mut before, mut now) = (Side::default(), Side::default());
        for other in others.split(' ').filter(|other| !other.is_empty()) {
            let (name, content) = other.split_once('=').unwrap_or((other, ""));
            before.file(name, &content.replace('·', " "));
            now.file(name, &content.replace('·', " "));
        }
        if *state != "new" {
            before.file(path, "1\n");
        }
        if *state != "gone" {
            now.file(path, "2\n");
        }
        let changes = classified(&before, &now, &[command]);
        let change = changes.iter().find(|change| change.path == path.as_bytes()).unwrap();
        if set(change) != *wanted || !change.why.contains(why) {
            wrong.push(format!("{row}\n    is {} because: {}", set(change), change.why));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lists_of_the_user() {
    let (before, mut now) = (Side::default(), Side::default());
    for path in ["tests/a.py", "src/a.py", "golden/x", "vite.config.ts", "README.md"] {
        now.file(path, "x");
    }
    let sets = |oracle: &[&str], work: &[&str]| -> Vec<String> {
        let changes = side::with_lists(&before, &now, &[], oracle, work);
        changes
            .iter()
            .map(|change| format!("{} {}", String::from_utf8_lossy(&change.path), set(change)))
            .collect()
    };
    let usual =
        ["README.md docs", "golden/x oracle", "src/a.py work", "tests/a.py oracle", "vite.config.ts oracle"];
    assert_eq!(sets(&[], &[]), usual);
    assert_eq!(sets(&["src/"], &["src/a.py", "tests/"])[2..4], ["src/a.py oracle", "tests/a.py work"]);
    assert_eq!(sets(&["!vite.config.*"], &[])[4], "vite.config.ts work");
    let replaced =
        ["README.md docs", "golden/x oracle", "src/a.py work", "tests/a.py work", "vite.config.ts work"];
    assert_eq!(sets(&["!*", "golden/"], &[]), replaced);
}

#[test]
fn whether_there_are_tests_and_who_runs_them() {
    let mut side = Side::default();
    side.file("src/app.py", "")
        .file("tests/data.json", "")
        .file("run.sh", "")
        .file("Makefile", "test:\n\tpytest\n");
    side.file("package.json", r#"{"scripts":{"test":"node check.js","build":"tsc"}}"#).file("check.js", "");
    side::with_classifier(&side, &side, &["sh run.sh"], &[], &[], |classifier| {
        assert!(!classifier.baseline_has_tests());
        for command in [
            "pytest",
            "cargo test",
            "make test",
            "npm test",
            "sh run.sh",
            "python -m pytest -q",
            "cd x; go test ./...",
        ] {
            assert!(classifier.runs_tests(command), "{command}");
        }
        for command in ["npm run build", "grep x src/app.py", "cargo build", "true", "ruff check ."] {
            assert!(!classifier.runs_tests(command), "{command}");
        }
        assert!(classifier.is_oracle(b"run.sh") && classifier.is_oracle(b"tests/data.json"));
        assert!(!classifier.is_oracle(b"src/app.py") && !classifier.is_oracle(b"package.json"));
    });
    for path in ["tests/test_a.py", "t/a.t", "a_test.go", "x.bats"] {
        let mut more = Side::default();
        more.file(path, "");
        side::with_classifier(&more, &more, &[], &[], &[], |classifier| {
            assert!(classifier.baseline_has_tests(), "{path}");
        });
    }
}

#[test]
fn renamed_tests_that_still_run() {
    let renamed = |from: &str, to: &str| {
        let (mut before, mut now) = (Side::default(), Side::default());
        before.file(from, "same");
        now.file(to, "same");
        let changes = classified(&before, &now, &[]);
        changes.len() == 2 && changes.iter().all(|change| change.layout_only)
    };
    assert!(renamed("tests/test_a.py", "tests/test_b.py"));
    assert!(renamed("tests/test_a.py", "tests/unit/test_a.py"));
    assert!(renamed("a/x_test.go", "b/y_test.go"));
    assert!(!renamed("tests/test_a.py", "tests/a.py"), "pytest does not collect it");
    assert!(!renamed("tests/a.rs", "tests/old/a.rs"), "cargo does not collect it");
    assert!(!renamed("tests/test_a.py", "tests/test_a.txt"));
    assert!(!renamed("tests/test_a.py", "src/a.py"));
    assert!(!renamed("tests/test_a.py", "tests/Test_a.py"), "runners tell them apart");
}
