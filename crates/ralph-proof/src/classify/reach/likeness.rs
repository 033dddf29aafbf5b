//! What a name says of a file: that it checks something, or that it holds what is expected.

use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::classify::paths;

fn regex(cell: &'static OnceLock<Option<Regex>>, pattern: &str) -> Option<&'static Regex> {
    cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

/// Its name, or a directory it is in, says that it checks something.
pub fn check_like(path: &[u8]) -> bool {
    static WORDS: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r"(?i-u)(^|[^a-z])(un)?tests?([^a-z]|$)|check|verif|(^|[^a-z])specs?([^a-z]|$)|lint|assert|expect|validat|suite|(^|[._/-])ci([._/-]|$)|(^|[._/-])gate([._/-]|$)|acceptance|(^|[^a-z])(run|self)_?tests?|(?-i:(Test|Spec)s?([^a-z]|$))";
    regex(&WORDS, pattern).is_some_and(|words| words.is_match(path))
}

/// Named like an expectation, or like something that only tests use.
pub fn expectation_like(path: &[u8]) -> bool {
    static WORDS: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r"(?i-u)(^|[._/-])(expect\w*|golden\w*|want\w*|approved|oracle|fixtures?|helpers?|mocks?|stubs?|fakes?|testutils?|test_?util\w*|testlib|testkit|test_?support|harness|matchers?|assertions?|failures?)([._/-]|$)";
    regex(&WORDS, pattern).is_some_and(|words| words.is_match(path))
}

/// Named like a program of the work, which a verify command may run to try it out.
pub fn program_like(path: &[u8]) -> bool {
    let stem = paths::stem(path).to_ascii_lowercase();
    let shell = matches!(paths::extension(path).as_slice(), b"" | b"sh" | b"bash" | b"zsh" | b"mk");
    let main: [&[u8]; 14] = [
        b"main",
        b"__main__",
        b"__init__",
        b"app",
        b"index",
        b"server",
        b"cli",
        b"manage",
        b"program",
        b"solution",
        b"hello",
        b"client",
        b"worker",
        b"demo",
    ];
    let source: [&[u8]; 6] = [b"src", b"lib", b"app", b"bin", b"cmd", b"pkg"];
    !shell
        && (main.contains(&stem.as_slice())
            || paths::directories(path).next().is_some_and(|dir| source.contains(&dir)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_check() {
        for path in [
            "check.sh",
            "scripts/verify_all.py",
            "run_tests.js",
            "ci/run.sh",
            "self_test",
            "lint.rb",
            "tools/test/x",
        ] {
            assert!(check_like(path.as_bytes()), "{path}");
        }
        for path in
            ["app.py", "latest.py", "contest.js", "inspect.sh", "circle.py", "delegate.py", "specific.rb"]
        {
            assert!(!check_like(path.as_bytes()), "{path}");
        }
        assert!(expectation_like(b"src/expected.py") && expectation_like(b"lib/test_utils.rs"));
        assert!(!expectation_like(b"src/expand.py"));
        assert!(
            program_like(b"main.py")
                && program_like(b"src/x.js")
                && !program_like(b"run.sh")
                && !program_like(b"run.py")
        );
    }
}
