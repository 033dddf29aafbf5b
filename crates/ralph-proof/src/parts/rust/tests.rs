use super::outline::outline;
use super::*;
use proptest::prelude::*;

/// The names of the test functions that a text has, commented ones left out.
fn test_names(text: &str) -> Vec<String> {
    let lexed = super::lex::lex(text);
    let mut names: Vec<_> = super::outline::members(&lexed)
        .into_iter()
        .filter_map(|span| {
            let code = lexed.code.get(span)?.split("fn ").nth(1)?;
            Some(code.split(['(', '<']).next()?.trim().to_owned())
        })
        .collect();
    names.sort();
    names
}

fn both(before: Option<&str>, now: &str) -> (String, Option<String>) {
    match split(before, now, &Moved::new()) {
        Some(SourceSplit::Both { without_oracle, oracle_only }) => {
            for made in [Some(&without_oracle), oracle_only.as_ref()].into_iter().flatten() {
                assert!(outline(made).balanced, "{made}");
            }
            (without_oracle, oracle_only)
        }
        other => panic!("{other:?} for {now}"),
    }
}

const BEFORE: &str = "\
//! Adds numbers.

/// Adds.
///
/// ```
/// assert_eq!(sums::add(1, 1), 2);
/// ```
pub fn add(a: u8, b: u8) -> u8 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
}
";

#[test]
fn what_changed_is_told() {
    let code = BEFORE.replace("a + b", "a.saturating_add(b)");
    let test = BEFORE.replace("add(1, 2), 3", "add(1, 2), 4");
    let doc = BEFORE.replace("1, 1), 2", "1, 1), 3");
    let prose = BEFORE.replace("/// Adds.", "/// Adds two numbers.");
    let layout = BEFORE.replace("assert_eq!(add(1, 2), 3);", "assert_eq!(\n  add(1, 2),\n 3);");
    let inside_string = BEFORE.replace("3);", "3, \"a b\");");
    let rows = [
        (code.as_str(), SourceSplit::Work),
        (prose.as_str(), SourceSplit::Work),
        (layout.as_str(), SourceSplit::Work),
        (test.as_str(), SourceSplit::Oracle),
        (doc.as_str(), SourceSplit::Oracle),
        (inside_string.as_str(), SourceSplit::Oracle),
    ];
    for (now, expected) in rows {
        assert_eq!(split(Some(BEFORE), now, &Moved::new()), Some(expected), "{now}");
    }
    let spaced = inside_string.replace("a b", "ab");
    assert_eq!(split(Some(&inside_string), &spaced, &Moved::new()), Some(SourceSplit::Oracle));
    assert_eq!(split(None, "fn main() {}", &Moved::new()), Some(SourceSplit::Work));
    assert_eq!(split(Some("fn a() {"), "fn a() {}", &Moved::new()), None);
    assert_eq!(split(Some("fn a() {}"), "fn a() {}}", &Moved::new()), None);
}

#[test]
fn each_mixture_has_the_code_of_one_and_the_tests_of_the_other() {
    let now = BEFORE
        .replace("a + b", "a.saturating_add(b)")
        .replace("add(1, 2), 3", "add(255, 2), 255")
        .replace("1, 1), 2", "255, 1), 255");
    let (without_oracle, oracle_only) = both(Some(BEFORE), &now);
    assert_eq!(without_oracle, BEFORE.replace("a + b", "a.saturating_add(b)"));
    assert_eq!(oracle_only.as_deref(), Some(now.replace("a.saturating_add(b)", "a + b").as_str()));
}

#[test]
fn tests_come_and_go() {
    let rows: [(&str, &str, &[&str]); 12] = [
        // Removed with the code that changed.
        ("fn a() {}\n#[test]\nfn t() {}\n", "fn b() {}\n", &["t"]),
        // New ones are left out.
        ("fn a() {}\n", "fn b() {}\n#[test] fn t() {}\n", &[]),
        // A module of tests without a cfg.
        ("fn a() {}\nmod tests { #[test] fn t() {} }", "fn b() {}\nmod tests { #[test] fn u() {} }", &["t"]),
        ("fn a() {}\n#[allow(x)]\npub mod tests { #[test] fn t() {} }", "fn b() {}", &["t"]),
        // Tests inside of an ordinary module.
        ("mod m { pub fn a() {}\n #[test] fn t() {} }", "mod m { pub fn b() {} }", &["t"]),
        ("mod m { pub fn a() {}\n #[test] fn t() {} }", "fn c() {}", &["t"]),
        // Other attributes.
        (
            "fn a() {}\n#[tokio::test]\nasync fn t() {}",
            "fn b() {}\n#[tokio::test]\nasync fn t() { x }",
            &["t"],
        ),
        ("fn a() {}\n#[rstest]\n#[case(1)]\nfn t(#[case] n: u8) {}", "fn b() {}", &["t"]),
        ("fn a() {}\n#[cfg(all(test, unix))] mod t { #[test] fn t() {} }", "fn b() {}", &["t"]),
        // Two of the same name.
        (
            "fn a() {}\nmod m { #[test] fn t() {} } mod n { #[test] fn t() {} }",
            "fn b() {} mod m {} mod n {}",
            &["t", "t"],
        ),
        // Braces in strings and comments.
        ("fn a() {}\n#[test] fn t() { \"}\"; '}'; /* } */ } // }", "fn b() {}", &["t"]),
        (
            "fn a() {}\n/// Why.\n#[test]\nfn t() {}",
            "fn b() {}\n/// Why.\n#[test]\nfn t() { x }\nfn c() {}",
            &["t"],
        ),
    ];
    for (before, now, names) in rows {
        let (without_oracle, _) = both(Some(before), now);
        assert_eq!(test_names(&without_oracle), names, "{without_oracle}");
    }
}

#[test]
fn a_new_file_loses_its_tests() {
    let (without_oracle, oracle_only) = both(None, BEFORE);
    assert_eq!(oracle_only, None);
    assert_eq!(test_names(&without_oracle), Vec::<String>::new());
    assert!(
        without_oracle.contains("/// ```text\n/// assert_eq!(sums::add(1, 1), 2);\n/// ```\n"),
        "{without_oracle}"
    );
    assert!(!without_oracle.contains("mod tests"), "{without_oracle}");
}

#[test]
fn helpers_and_fields_for_tests_leave_whole() {
    let before = "struct S { a: u8 }\nimpl S { fn go(&self) {} }\n";
    let now = "struct S { a: u8, #[cfg(test)] m: HashMap<u8, Vec<u8>>, b: u8 }
#[cfg(test)] use std::collections::{HashMap, BTreeMap};
impl S { fn run(&self) {}\n #[cfg(test)] fn fake() -> S { S { a: 1 } }\n }
#[cfg(test)] const X: P = P { a: 1 };
enum E { A, #[cfg(test)] B { x: u8 }, C }
fn f(e: E) { match e { #[cfg(test)] E::B { x } => { go() }, #[cfg(test)] E::D(y) => g(y, 1), _ => {} } }
#[cfg(test)] #[path = \"t.rs\"] mod other;
";
    let (without_oracle, _) = both(Some(before), now);
    let squeezed = without_oracle.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        squeezed,
        "struct S { a: u8, b: u8 } impl S { fn run(&self) {} } enum E { A, C } fn f(e: E) { match e { _ => {} } }"
    );
}

#[test]
fn a_helper_of_the_baseline_tests_returns_to_its_place() {
    let before = "struct S;\nimpl S { fn a(&self) {}\n #[cfg(test)]\n fn fake() -> S { S } }\n#[test] fn t() { S::fake(); }";
    let now = "struct S;\nimpl S { fn b(&self) {} }\n#[test] fn t() { S.b(); }";
    let (without_oracle, _) = both(Some(before), now);
    assert!(
        without_oracle.contains("impl S { fn b(&self) {} \n#[cfg(test)]\n fn fake() -> S { S }\n}"),
        "{without_oracle}"
    );
}

#[test]
fn what_the_product_now_defines_itself_is_not_added_again() {
    let rows = [
        (
            "#[cfg(test)] use std::fmt::Debug;\nfn a() {}\n",
            "use std::fmt::{Debug, Display};\nfn b() {}\n",
            "Debug",
        ),
        ("#[cfg(test)] fn help() {}\nfn a() {}\n", "fn help() {}\nfn b() {}\n", "fn help"),
        ("#[cfg(test)] const N: u8 = 1;\nfn a() {}\n", "pub const N: u8 = 1;\nfn b() {}\n", "const N"),
    ];
    for (before, now, once) in rows {
        let (without_oracle, _) = both(Some(before), now);
        assert_eq!(without_oracle.matches(once).count(), 1, "{without_oracle}");
    }
}

#[test]
fn examples_outlive_their_item() {
    let now = BEFORE
        .replace("pub fn add(", "pub fn plus(")
        .replace("/// Adds.\n///\n/// ```\n/// assert_eq!(sums::add(1, 1), 2);\n/// ```\n", "");
    let (without_oracle, _) = both(Some(BEFORE), &now);
    assert!(
        without_oracle.ends_with(
            "/// assert_eq!(sums::add(1, 1), 2);\n/// ```\n#[doc(hidden)]\nmod kept_documentation_0 {}\n"
        ),
        "{without_oracle}"
    );
    let module = "//! ```\n//! run();\n//! ```\nfn a() {}\n";
    let (without_oracle, _) = both(Some(module), "fn b() {}\n");
    assert_eq!(
        without_oracle,
        "fn b() {}\n\n/// ```\n/// run();\n/// ```\n#[doc(hidden)]\nmod kept_documentation_0 {}\n"
    );
}

#[test]
fn only_what_rustdoc_runs_is_an_example() {
    let rows = [
        ("/// ```\n/// a();\n/// ```\nfn f() {}", true),
        ("/// ```rust,no_run\n/// a();\n/// ```\nfn f() {}", true),
        ("/// ```text\n/// a();\n/// ```\nfn f() {}", false),
        ("/// ```sh\n/// a\n/// ```\nfn f() {}", false),
        ("/// Text.\n///\n///     a();\nfn f() {}", true),
        ("/// - item\n///\n///     more\nfn f() {}", false),
        ("/** Text.\n * ```\n * a();\n * ```\n */\nfn f() {}", true),
        ("#[doc = \"```\"]\n#[doc = \"a();\"]\n#[doc = \"```\"]\nfn f() {}", true),
        ("// ```\n// a();\n// ```\nfn f() {}", false),
        ("fn f() { \"/// ```\"; }", false),
    ];
    for (text, expected) in rows {
        assert_eq!(has_tests(text), expected, "{text}");
    }
}

#[test]
fn moved_tests_stay_where_they_are_now() {
    let one = "#[test] fn one() { a() }";
    let two = "#[test] fn two() { b() }";
    let before = format!("fn a() {{}} fn b() {{}}\n#[cfg(test)] mod tests {{ use super::*; {one} {two} }}");
    let here = format!("fn a() {{}}\n#[cfg(test)] mod tests {{ use super::*; {one} }}");
    let there =
        format!("fn b() {{}}\n#[cfg(test)] mod tests {{ use super::b; {two} #[test] fn new() {{}} }}");
    let moved: Moved = tests(&before).intersection(&tests(&there)).cloned().collect();
    assert_eq!(moved.len(), 1);
    assert_eq!(split(Some(&before), &here, &moved), Some(SourceSplit::Work));
    // A file that is gone lost nothing if its tests are elsewhere.
    let alone = format!("fn b() {{}}\n#[cfg(test)] mod tests {{ use super::*; {two} }}");
    assert_eq!(split(Some(&alone), "", &moved), Some(SourceSplit::Work));
    assert_ne!(split(Some(&before), "", &moved), Some(SourceSplit::Work));
    let Some(SourceSplit::Both { without_oracle, .. }) = split(None, &there, &moved) else { panic!("both") };
    assert_eq!(test_names(&without_oracle), ["two"]);
    // Without the other file, the test is gone, and comes back.
    let Some(SourceSplit::Both { without_oracle, .. }) = split(Some(&before), &here, &Moved::new()) else {
        panic!("both")
    };
    assert_eq!(test_names(&without_oracle), ["one", "two"]);
}

#[test]
fn tests_that_go_to_a_file_of_their_own_stay_inside() {
    let before = "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n";
    let now = "fn b() {}\n#[cfg(test)]\nmod tests;\n";
    let (without_oracle, oracle_only) = both(Some(before), now);
    assert_eq!(without_oracle, before.replace("fn a", "fn b"));
    assert_eq!(oracle_only, Some(now.replace("fn b", "fn a")));
}

#[test]
fn test_modules_in_files_of_their_own_are_named() {
    let text = "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[path = \"x/t.rs\"]\npub(crate) mod more;\n#[cfg(test)] mod here {}";
    assert_eq!(
        test_modules(text),
        [("tests".to_owned(), None), ("more".to_owned(), Some("x/t.rs".to_owned()))]
    );
}

#[test]
fn a_file_only_for_tests_is_one_test() {
    let before = "#![cfg(test)]\nfn help() {}\n#[test] fn t() {}\n";
    assert_eq!(
        split(Some(before), &before.replace("help", "other"), &Moved::new()),
        Some(SourceSplit::Oracle)
    );
}

#[test]
fn hostile_sources_take_linear_time() {
    let rows = [
        "#[",
        "#[cfg(test)] ",
        "#[cfg(all(",
        "/// ```\n",
        "{",
        "}",
        "mod tests { #[test] fn t() {} } ",
        "'\\",
        "r#",
        "pub(",
        "#[doc = \"",
    ];
    for piece in rows {
        let text = piece.repeat(40_000);
        let now = format!("{text} fn x() {{}}");
        if let Some(SourceSplit::Both { without_oracle, .. }) = split(Some(&text), &now, &Moved::new()) {
            assert!(without_oracle.len() <= 4 * now.len(), "{piece}");
        }
        assert!(tests(&text).len() <= 40_000, "{piece}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("fn a() { b() }\n"),
        Just("#[test]\nfn t() { 1 }\n"),
        Just("#[cfg(test)]\nmod tests {\n"),
        Just("}\n"),
        Just("mod m {\n"),
        Just("/// ```\n"),
        Just("//! x\n"),
        Just("\"{\""),
        Just("'a"),
        Just("'}'"),
        Just("// }\n"),
        Just("/* "),
        Just("*/"),
        Just("r#\""),
        Just("\"#"),
        Just("#[cfg(all(test, x))]"),
        Just("use a::{b};\n"),
        Just("ä"),
        Just("struct S { #[cfg(test)] a: B<C, D>, e: f }\n"),
        Just("proptest! { }\n"),
        Just(","),
        Just(";"),
        Just("#![doc = \"```\"]"),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_two_texts_can_be_mixed(before in pieces(), now in pieces()) {
        let moved: Moved = tests(&before).intersection(&tests(&now)).take(1).cloned().collect();
        let _ = (split(Some(&before), &now, &moved), split(None, &now, &Moved::new()), test_modules(&now));
    }

    #[test]
    fn a_mixture_of_a_file_with_itself_is_the_file(text in pieces()) {
        let outline = outline(&text);
        prop_assert_eq!(mix(&outline, &outline, &Moved::new()), text.clone());
    }
}
