//! Links, special files, strange names, and random trees.

use proptest::prelude::*;

use super::set;
use super::side::{Side, classified, with_classifier};
use crate::change::{RoomContent, Sets, Split};
use crate::files::Kind;

#[test]
fn links_of_the_oracle() {
    let (mut before, mut now) = (Side::default(), Side::default());
    for side in [&mut before, &mut now] {
        side.put(b"tests/data", Kind::Link, b"../shared/data");
        side.put(b"spec", Kind::Link, b"checks");
        side.put(b"loop", Kind::Link, b"loop");
        side.put(b"test_run.sh", Kind::Link, b"second");
        side.put(b"second", Kind::Link, b"tools/third.sh");
        side.put(b"tests/out", Kind::Link, b"/etc/passwd");
        side.put(b"run", Kind::Link, b"bin/real.sh");
    }
    for path in ["shared/data/a.json", "checks/x.py", "tools/third.sh", "bin/real.sh", "other.py"] {
        before.file(path, "1");
        now.file(path, "2");
    }
    let found: Vec<String> = classified(&before, &now, &["./run"])
        .iter()
        .map(|change| format!("{} {}", String::from_utf8_lossy(&change.path), set(change)))
        .collect();
    let wanted = [
        "bin/real.sh oracle",
        "checks/x.py oracle",
        "other.py work",
        "shared/data/a.json oracle",
        "tools/third.sh oracle",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn special_files_and_strange_names() {
    let (mut before, mut now) = (Side::default(), Side::default());
    before
        .file("src/a.py", "1")
        .file("src/b.py", "1")
        .file("package.json", "{}")
        .file("Readme.md", "1")
        .file("src/l.rs", "");
    now.put(b"src/a.py", Kind::Link, b"/tmp/x").put(b"src/b.py", Kind::Other, b"");
    now.put(b"package.json", Kind::Link, b"other.json").put(b"src/l.rs", Kind::Link, b"x");
    now.put(b"submodule", Kind::Other, b"").put(b"tests/fifo", Kind::Other, b"");
    now.put(b"\xff\xfe/\x80.py", Kind::File, b"x").put(b"\xff", Kind::File, b"#!/bin/sh").put(
        b"tests/\xff",
        Kind::File,
        b"",
    );
    now.file("README.md", "1")
        .file(" ", "")
        .file("-rf", "")
        .file("a\nb.py", "")
        .file("src/.py", "")
        .file("...", "");
    let found: Vec<String> = classified(&before, &now, &["sh \u{0}x *", "[", "$("])
        .iter()
        .map(|change| format!("{} {}", String::from_utf8_lossy(&change.path), set(change)))
        .collect();
    for wanted in [
        "src/a.py ambiguous",
        "src/b.py ambiguous",
        "package.json oracle",
        "src/l.rs ambiguous",
        "submodule ambiguous",
        "tests/fifo oracle",
        "\u{fffd}\u{fffd}/\u{fffd}.py work",
        "\u{fffd} work",
        "tests/\u{fffd} oracle",
        "Readme.md docs",
        "README.md docs",
        "a\nb.py work",
        "  ambiguous",
        "-rf ambiguous",
    ] {
        assert!(found.iter().any(|line| line == wanted), "{wanted} is not in {found:#?}");
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "src",
        "tests",
        "package.json",
        "Cargo.toml",
        "Makefile",
        "setup.cfg",
        "lib.rs",
        "tests.rs",
        "a.py",
        "check.sh",
        "json.py",
        "node_modules",
        "vendor",
        "go.mod",
        "tsconfig.json",
        "README.md",
        "pom.xml",
        "conftest.py",
        "x.mk",
    ]);
    let part = prop_oneof![4 => known.prop_map(|part| part.as_bytes().to_vec()), 1 => prop::collection::vec(1_u8..=255, 1..6)];
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(&b'/'))
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "{\"scripts\":{\"test\":\"sh check.sh\"},\"a\":1}",
        "{\"a\":2}",
        "[package]\nname = \"x\"\n[lib]\ntest = false\n",
        "[a]\nb = 1\n",
        "test:\n\tsh check.sh\nall: x\n",
        "A = 1\ninclude x.mk\n",
        "#[cfg(test)] mod tests;\n",
        "#[test] fn a() {}\n",
        "import json\n",
        "#!/bin/sh\n. check.sh\nfor f in *; do sh $f; done\n",
        "[tool:pytest]\na = b\n",
        "",
    ]);
    prop_oneof![3 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..40)]
}

fn side() -> impl Strategy<Value = Side> {
    let kind = prop_oneof![8 => Just(Kind::File), 1 => Just(Kind::Link), 1 => Just(Kind::Other)];
    prop::collection::vec((name(), kind, content()), 0..10).prop_map(|files| {
        let mut side = Side::default();
        for (path, kind, content) in files {
            side.put(&path, kind, &content);
        }
        side
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tree_is_classified(before in side(), now in side(), command in ".{0,40}", list in "[!a-z*./\\[]{0,8}") {
        let commands = [command.as_str(), "make test && npm test", "sh check.sh; python -m a"];
        with_classifier(&before, &now, &commands, &[list.as_str()], &[], |classifier| {
            let changes = classifier.changes();
            let all = Sets { work: true, ambiguous: true, oracle: true };
            for change in &changes {
                prop_assert_eq!(change.in_room(all), RoomContent::Now);
                prop_assert_eq!(change.in_room(Sets::default()), RoomContent::Baseline);
                prop_assert!(change.existed || change.exists);
                prop_assert!(change.split != Split::Oracle || change.has_oracle());
                let _ = classifier.is_oracle(&change.path);
            }
            prop_assert!(changes.windows(2).all(|pair| pair[0].path < pair[1].path));
            let _ = (classifier.baseline_has_tests(), classifier.runs_tests(&command));
            Ok(())
        })?;
    }
}

/// Contents are read only where the changes need them.
#[test]
fn a_large_tree_is_not_read() {
    use crate::classify::{Classifier, Inputs};
    use crate::files::{FileFacts, Files};
    use std::cell::Cell;

    let path = |n: usize| match n % 4 {
        0 => format!("src/d{}/m{n}.py", n % 97),
        1 => format!("tests/d{}/test_{n}.py", n % 89),
        2 => format!("web/d{}/c{n}.ts", n % 83),
        _ => format!("crates/c{}/src/m{n}.rs", n % 79),
    };
    let facts = |shift: u128| {
        (0..10_000_usize).map(move |n| {
            let hash = if n % 500 == 3 { shift } else { 0 };
            (path(n).into_bytes(), FileFacts { kind: Kind::File, executable: false, hash })
        })
    };
    let reads = Cell::new(0_usize);
    let read = |_: &[u8]| {
        reads.set(reads.get() + 1);
        Some(b"fn a() {}\n".to_vec())
    };
    let (before, now) = (Files::new(facts(1), Box::new(read)), Files::new(facts(2), Box::new(read)));
    let commands = ["cargo test".to_owned(), "pytest -q".to_owned(), "npm test".to_owned()];
    let none: [String; 0] = [];
    let classifier = Classifier::new(Inputs {
        before: &before,
        now: &now,
        commands: &commands,
        oracle_paths: &none,
        work_paths: &none,
        installed: &|_| false,
    });
    assert_eq!(classifier.changes().len(), 20);
    assert!(reads.get() < 20 * 150, "{} contents were read", reads.get());
}
