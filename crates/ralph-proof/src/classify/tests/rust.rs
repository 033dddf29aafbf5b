//! Rust: test modules in files of their own, tests inside sources, moved tests.

use super::set;
use super::side::{Side, classified};

/// The sets of all changes: these files before, and these now.
fn sets(before: &[(&str, &str)], now: &[(&str, &str)]) -> Vec<String> {
    let side = |files: &[(&str, &str)]| {
        let mut side = Side::default();
        for (path, text) in files {
            side.file(path, text);
        }
        side
    };
    let changes = classified(&side(before), &side(now), &["cargo test"]);
    changes
        .iter()
        .map(|change| format!("{} {}", String::from_utf8_lossy(&change.path), set(change)))
        .collect()
}

#[test]
fn modules_in_files_of_their_own() {
    let declares = "#[cfg(test)]\nmod tests;\nmod test;\npub mod a;\n#[cfg(test)]\n#[path = \"odd_name.rs\"]\nmod odd;\n";
    let nested = "#[cfg(test)]\nmod tests;\n";
    let roots = [("src/lib.rs", declares), ("src/a/mod.rs", nested)];
    let changed = |path: &str| {
        let before: Vec<(&str, &str)> = roots.iter().copied().chain([(path, "fn a() {}\n")]).collect();
        let now: Vec<(&str, &str)> = roots.iter().copied().chain([(path, "fn b() {}\n")]).collect();
        sets(&before, &now).pop().unwrap()
    };
    for (path, wanted) in [
        ("src/tests.rs", "oracle"),
        ("src/tests/helper.rs", "oracle"),
        ("src/tests/deep/x.rs", "oracle"),
        ("src/test.rs", "work"),
        ("src/a/tests.rs", "oracle"),
        ("src/a/tests/mod.rs", "oracle"),
        ("src/a/b.rs", "work"),
        ("src/odd_name.rs", "oracle"),
        ("src/commands/test.rs", "work"),
        ("src/test_util/io.rs", "work"),
        ("tests/it.rs", "oracle"),
        ("tests/fixture/src/lib.rs", "oracle"),
        ("crates/x/tests/common/mod.rs", "oracle"),
        ("crates/x/benches/b.rs", "oracle"),
        ("build.rs", "work"),
        ("examples/e.rs", "ambiguous"),
    ] {
        assert_eq!(changed(path), format!("{path} {wanted}"));
    }
}

#[test]
fn tests_inside_sources() {
    let code = "pub fn a() -> i32 { 1 }\n";
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(super::a(), 1); }\n}\n";
    let both = format!("{code}{tests}");
    let one =
        |before: &str, now: &str| sets(&[("src/lib.rs", before)], &[("src/lib.rs", now)]).pop().unwrap();
    assert_eq!(one(&both, &both.replace("{ 1 }", "{ 2 }")), "src/lib.rs work");
    assert_eq!(one(&both, &both.replace(", 1)", ", 2)")), "src/lib.rs oracle");
    assert_eq!(one(&both, &both.replace("{ 1 }", "{ 2 }").replace(", 1)", ", 2)")), "src/lib.rs parts");
    assert_eq!(sets(&[("src/x.rs", &both)], &[]), ["src/x.rs oracle"]);
    assert_eq!(sets(&[("src/x.rs", code)], &[]), ["src/x.rs work"]);
    assert_eq!(sets(&[], &[("src/x.rs", &both)]), ["src/x.rs parts"]);
    let moved = sets(&[("src/x.rs", &both), ("src/y.rs", "")], &[("src/y.rs", &both)]);
    assert_eq!(moved, ["src/x.rs work", "src/y.rs work"]);
}
