//! Which paths look like tests, so that a caller can say "only test files changed".
//!
//! A guess by name, as test runners make it: good for a warning, never for proof.

/// True if the path looks like a test, a test's helper or a test's data.
#[must_use]
pub fn looks_like_test(path: &[u8]) -> bool {
    let mut parts = path.rsplit(|&byte| byte == b'/');
    let name = parts.next().unwrap_or_default();
    parts.any(is_test_directory) || is_test_file(name)
}

fn is_test_directory(name: &[u8]) -> bool {
    matches!(
        name.to_ascii_lowercase().as_slice(),
        b"tests"
            | b"test"
            | b"__tests__"
            | b"__test__"
            | b"spec"
            | b"specs"
            | b"e2e"
            | b"testdata"
            | b"__mocks__"
            | b"__snapshots__"
    )
}

fn is_test_file(name: &[u8]) -> bool {
    let dot = name.iter().position(|&byte| byte == b'.').filter(|&at| at > 0);
    let (stem, rest) = name.split_at(dot.unwrap_or(name.len()));
    let low = stem.to_ascii_lowercase();
    if rest.is_empty() {
        return false;
    }
    // The middle parts of `login.test.ts` and `login.spec.component.ts`.
    let mut middle = rest.rsplit(|&byte| byte == b'.').skip(1);
    middle.any(|part| matches!(part, b"test" | b"tests" | b"spec" | b"e2e"))
        || matches!(low.as_slice(), b"test" | b"tests" | b"conftest")
        || [&b"_test"[..], b"_tests", b"_spec", b"-test", b"-spec"].iter().any(|end| low.ends_with(end))
        || low.starts_with(b"test_")
        || (camel_case(rest)
            && (stem.ends_with(b"Test") || stem.ends_with(b"Tests") || stem.ends_with(b"Spec")))
}

/// Languages whose test classes are named `LoginTest`.
fn camel_case(rest: &[u8]) -> bool {
    matches!(
        rest,
        b".java" | b".kt" | b".scala" | b".groovy" | b".cs" | b".php" | b".swift" | b".hs" | b".dart"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_by_name() {
        for path in [
            "tests/login.rs",
            "crates/a/tests/snapshots/x.snap",
            "test/helper.rb",
            "web/__tests__/Button.js",
            "spec/models/user_spec.rb",
            "pkg/login_test.go",
            "app/test_login.py",
            "app/conftest.py",
            "src/login.test.ts",
            "src/login.spec.component.ts",
            "src/main/LoginTest.java",
            "src/LoginTests.cs",
            "src/tests.rs",
            "app/tests.py",
            "src/Test/java/X.java",
            "ui/button-test.js",
        ] {
            assert!(looks_like_test(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn work_that_only_sounds_like_tests() {
        for path in [
            "src/latest.py",
            "src/contest.rs",
            "src/Contest.java",
            "src/attestation/mod.rs",
            "src/inspect.rs",
            "README.md",
            "test",
            "src/protest_march.py",
            ".test",
            "src/spectrum.rs",
            "",
        ] {
            assert!(!looks_like_test(path.as_bytes()), "{path}");
        }
    }
}
