//! Skipping a test where everybody can see it. libtest has no word for "this machine cannot run the test": a test that
//! returns early counts as passed. `cargo xtask test` names a file in `RALPH_SKIPS_FILE`, lists what was written to it
//! at the end, and counts those tests as skipped instead.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::Path;

/// Names the file that skipped tests are written to, one line each: the test, a tab, the reason.
pub const SKIPS_FILE: &str = "RALPH_SKIPS_FILE";

/// Says that the calling test is skipped and why; the test then returns. Call it once, before the test has checked
/// anything: a test that did half its work was not skipped.
#[track_caller]
pub fn skip(reason: &str) {
    let line = line(&test_name(Location::caller()), reason);
    // Straight to the stream: libtest hides what the print macros write while a test passes.
    let _ = std::io::stderr().write_all(format!("skipped {}", line.replace('\t', ": ")).as_bytes());
    if let Some(path) = std::env::var_os(SKIPS_FILE) {
        append(Path::new(&path), &line);
    }
}

/// As [`skip`], for a test that needs a program of others' which `cargo xtask test` installs. In CI, where nobody reads what
/// was skipped, the test fails instead.
#[track_caller]
pub fn skip_outside_ci(reason: &str) {
    let in_ci = std::env::var_os("CI").is_some();
    assert!(!in_ci, "CI runs every checker, but {reason}");
    skip(reason);
}

/// The program and the test in it. libtest names each test's thread after the test, except with one thread for all.
fn test_name(caller: &Location<'_>) -> String {
    let here = std::thread::current();
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _hash)| name);
    match here.name().filter(|name| *name != "main") {
        Some(test) => format!("{program} {test}"),
        None => format!("{program} {}:{}", caller.file(), caller.line()),
    }
}

fn line(test: &str, reason: &str) -> String {
    format!("{test}\t{}\n", reason.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// One write at the end of the file, so that lines of several test programs do not mix.
fn append(path: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|e| panic!("the skip cannot be recorded in {}: {e}", path.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_line_with_the_test_and_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skips");
        let name = test_name(Location::caller());
        append(&path, &line(&name, "no overlay:\nOperation not permitted"));
        append(&path, &line("other", "needs root"));
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            format!("{name}\tno overlay: Operation not permitted\nother\tneeds root\n")
        );
        assert!(name.starts_with("ralph_testkit "), "{name}");
    }
}
