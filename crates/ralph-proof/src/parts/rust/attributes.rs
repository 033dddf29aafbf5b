//! Attributes, and whether they make a test of what they stand before.

use std::ops::Range;

/// Attributes in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outer {
    /// Where the item begins.
    pub end: usize,
    /// The item is compiled for tests only.
    pub only_for_tests: bool,
    /// The item is a test function.
    pub test_function: bool,
    /// The `#[doc = "…"]` among them.
    pub docs: Vec<Range<usize>>,
}

/// What begins with a `#`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// No attribute.
    None,
    /// An attribute that never ends.
    Unclosed,
    /// `#![…]`.
    Inner {
        /// Everything around it is compiled for tests only.
        test: bool,
        /// It is documentation.
        doc: bool,
        /// Past its bracket.
        end: usize,
    },
    /// `#[…]`, as many as follow each other.
    Outer(Outer),
}

/// Reads the attributes that begin here, in blanked code.
pub fn run(code: &str, at: usize) -> Run {
    let mut run = Outer::default();
    let mut from = at;
    loop {
        let rest = code.get(from..).unwrap_or_default();
        let Some(opened) = opening(rest, "#").or_else(|| (from == at).then(|| opening(rest, "#!")).flatten())
        else {
            break;
        };
        let Some(length) = closing(rest.get(opened..).unwrap_or_default()) else { return Run::Unclosed };
        let inside = rest.get(opened..opened + length).unwrap_or_default().trim();
        let end = from + opened + length + 1;
        if rest.starts_with("#!") {
            return Run::Inner { test: is_cfg_test(inside), doc: is_doc(inside), end };
        }
        run.only_for_tests |= is_cfg_test(inside);
        run.test_function |= is_test(inside);
        run.docs.extend(is_doc(inside).then_some(from..end));
        let after = code.get(end..).unwrap_or_default();
        run.end = end;
        from = end + (after.len() - after.trim_start().len());
    }
    if from == at { Run::None } else { Run::Outer(Outer { end: from, ..run }) }
}

/// The length of `#[`, which may have spaces in it.
fn opening(rest: &str, mark: &str) -> Option<usize> {
    let after = rest.strip_prefix(mark)?.trim_start();
    after.starts_with('[').then(|| rest.len() - after.len() + 1)
}

/// The length up to the bracket that closes the one before.
fn closing(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' if depth == 0 => return Some(at),
            b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_doc(attribute: &str) -> bool {
    attribute.strip_prefix("doc").is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// `#[test]`, `#[tokio::test]`, `#[rstest]` and their like.
fn is_test(attribute: &str) -> bool {
    let path = attribute.split(['(', '=', '{', '[']).next().unwrap_or_default();
    let last = path.rsplit("::").next().unwrap_or_default().trim();
    matches!(
        last,
        "test"
            | "rstest"
            | "test_case"
            | "test_matrix"
            | "bench"
            | "quickcheck"
            | "proptest"
            | "property_test"
            | "parameterized"
            | "wasm_bindgen_test"
            | "gtest"
            | "googletest"
            | "fixture"
    )
}

fn is_cfg_test(attribute: &str) -> bool {
    let Some(rest) = attribute.strip_prefix("cfg") else { return false };
    let rest = rest.trim();
    rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).is_some_and(|rest| needs_test(rest, 8))
}

/// Whether a `cfg` predicate can hold only in tests. Deeper predicates than anybody writes are taken as false.
fn needs_test(predicate: &str, depth: usize) -> bool {
    let predicate = predicate.trim();
    if predicate == "test" || depth == 0 {
        return predicate == "test";
    }
    let inside = |name| {
        let rest = predicate.strip_prefix(name).map(str::trim)?;
        rest.strip_prefix('(')?.strip_suffix(')').map(members)
    };
    if let Some(members) = inside("all") {
        return members.iter().any(|member| needs_test(member, depth - 1));
    }
    inside("any").is_some_and(|members| members.iter().all(|member| needs_test(member, depth - 1)))
}

fn members(list: &str) -> Vec<&str> {
    let (mut members, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                members.extend(list.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    members.extend(list.get(from..).filter(|last| !last.trim().is_empty()));
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_make_tests() {
        let rows = [
            ("#[cfg(test)] mod tests {}", true, false),
            ("# [ cfg ( test ) ] fn f() {}", true, false),
            ("#[cfg(all(test, unix))] fn f() {}", true, false),
            ("#[cfg(all(unix, all(test, x =    )))] fn f() {}", true, false),
            ("#[cfg(any(test, unix))] fn f() {}", false, false),
            ("#[cfg(any(test,))] fn f() {}", true, false),
            ("#[cfg(not(test))] fn f() {}", false, false),
            ("#[cfg(feature =       )] fn f() {}", false, false),
            ("#[cfg_attr(test, derive(Debug))] struct S;", false, false),
            ("#[test] fn f() {}", false, true),
            ("#[tokio::test(flavor =    )] async fn f() {}", false, true),
            ("#[allow(x)]\n#[rstest]\nfn f() {}", false, true),
            ("#[test_case(1, 2)] fn f() {}", false, true),
            ("#[derive(Debug)] struct S;", false, false),
            ("#[latest] fn f() {}", false, false),
        ];
        for (code, only_for_tests, test_function) in rows {
            let Run::Outer(run) = run(code, 0) else { panic!("no attribute: {code}") };
            assert_eq!((run.only_for_tests, run.test_function), (only_for_tests, test_function), "{code}");
        }
    }

    #[test]
    fn other_uses_of_the_sign_are_no_attributes() {
        assert_eq!(run("#name", 0), Run::None);
        assert_eq!(run("#[cfg(test", 0), Run::Unclosed);
        assert_eq!(run("#![cfg(test)]", 0), Run::Inner { test: true, doc: false, end: 13 });
    }
}
