//! What a chore did: its stages with their times, and its tests. Printed at the end, whether or not all went well.

use crate::shell::{Done, target};
use crate::tally::{Skipped, Tally};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The same name as in `ralph_testkit::skip`, which writes to the file.
const SKIPS_FILE: &str = "RALPH_SKIPS_FILE";

/// One command of a chore.
struct Stage {
    what: String,
    took: Duration,
    ok: bool,
}

/// Everything a chore did so far.
pub struct Summary {
    /// Where the output of tests goes, and the summary.
    out: Box<dyn Write>,
    /// Where it says what it does.
    talk: Box<dyn Write>,
    stages: Vec<Stage>,
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<Skipped>,
    second_try: Vec<String>,
}

impl Summary {
    /// Nothing yet.
    pub fn new(out: Box<dyn Write>, talk: Box<dyn Write>) -> Summary {
        Summary {
            out,
            talk,
            stages: Vec::new(),
            passed: 0,
            failed: Vec::new(),
            skipped: Vec::new(),
            second_try: Vec::new(),
        }
    }

    /// Runs a command to its end; it must succeed.
    pub fn run(&mut self, what: &str, command: &mut Command) -> Done {
        let done = self.attempt(what, command);
        if done.is_err() {
            self.failed.push(what.to_owned());
        }
        done
    }

    /// Runs a command that may fail.
    pub fn attempt(&mut self, what: &str, command: &mut Command) -> Done {
        self.stage(what, command, |command, _| command.status())
    }

    /// Runs tests to their end, passes on what they print as it comes, and counts them; all must pass.
    pub fn tests(&mut self, what: &str, command: &mut Command) -> Done {
        let (tally, done) = self.tally(what, command);
        self.add(what, tally, done.is_ok());
        done
    }

    /// Runs tests; those that fail run once more, one at a time, and may pass then. `again` makes the command for that.
    pub fn tests_with_second_try(
        &mut self,
        what: &str,
        command: &mut Command,
        again: impl Fn(&[String]) -> Command,
    ) -> Done {
        let (mut tally, done) = self.tally(what, command);
        let failed = std::mem::take(&mut tally.failed);
        if done.is_ok() || failed.is_empty() {
            self.add(what, tally, done.is_ok());
            return done;
        }
        self.add(what, tally, true);
        self.say(&format!("── {} failed; once more, one at a time\n", failed.len()));
        let what = format!("{what}, second try");
        let (tally, done) = self.tally(&what, &mut again(&failed));
        self.second_try.extend(failed.into_iter().filter(|test| !tally.failed.contains(test)));
        self.add(&what, tally, done.is_ok());
        done
    }

    /// Something that is checked elsewhere could not be checked here.
    pub fn skip(&mut self, test: &str, why: &str) {
        self.say(&format!("── skipped {test}: {why}\n"));
        self.skipped.push(Skipped { test: test.to_owned(), why: why.to_owned() });
    }

    /// Runs tests and counts them.
    fn tally(&mut self, what: &str, command: &mut Command) -> (Tally, Done) {
        let skips = skips_file();
        let mut tally = Tally::default();
        command.env(SKIPS_FILE, &skips);
        let done = self.stage(what, command, |command, out| pass_on(command, &mut tally, out));
        tally.skip(&fs::read_to_string(&skips).unwrap_or_default());
        let _ = fs::remove_file(&skips);
        (tally, done)
    }

    fn add(&mut self, what: &str, tally: Tally, ok: bool) {
        // Tests that do not build or are killed have no name to report.
        if !ok && tally.failed.is_empty() {
            self.failed.push(what.to_owned());
        }
        self.passed += tally.passed;
        self.failed.extend(tally.failed);
        self.skipped.extend(tally.skipped);
    }

    fn stage(
        &mut self,
        what: &str,
        command: &mut Command,
        start: impl FnOnce(&mut Command, &mut dyn Write) -> std::io::Result<ExitStatus>,
    ) -> Done {
        self.say(&format!("\n── {what}\n"));
        let begun = Instant::now();
        let done = match start(command, &mut *self.out) {
            Err(e) => Err(format!("{what}: cannot start {command:?}: {e}")),
            Ok(status) if !status.success() => Err(format!("{what} failed ({status})")),
            Ok(_) => Ok(()),
        };
        let stage = Stage { what: what.to_owned(), took: begun.elapsed(), ok: done.is_ok() };
        self.say(&format!("── {what}: {} in {:.1} s\n", stage.verdict(), stage.took.as_secs_f64()));
        self.stages.push(stage);
        done
    }

    fn say(&mut self, text: &str) {
        let _ = self.talk.write_all(text.as_bytes());
    }

    /// Prints it; the counts of the tests are the last line.
    pub fn print(&mut self) {
        if !self.stages.is_empty() {
            let text = self.text();
            let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        }
    }

    fn text(&self) -> String {
        let mut text = String::from("\n");
        let total: Duration = self.stages.iter().map(|stage| stage.took).sum();
        let width = self.stages.iter().map(|stage| stage.what.chars().count()).max().unwrap_or(0);
        for stage in &self.stages {
            let (what, seconds) = (&stage.what, stage.took.as_secs_f64());
            let share = 100.0 * seconds / total.as_secs_f64().max(0.001);
            let _ = writeln!(text, "{what:width$}  {:6}  {seconds:7.1} s  {share:3.0} %", stage.verdict());
        }
        let _ = writeln!(text, "{:width$}  {:6}  {:7.1} s", "total", "", total.as_secs_f64());
        let skipped: Vec<String> = self.skipped.iter().map(|s| format!("{}: {}", s.test, s.why)).collect();
        for (heading, names) in
            [("skipped", &skipped), ("needed a second try", &self.second_try), ("failed", &self.failed)]
        {
            if !names.is_empty() {
                let _ = writeln!(text, "\n{} {heading}:\n  {}", names.len(), names.join("\n  "));
            }
        }
        let (passed, failed, skipped) = (self.passed, self.failed.len(), skipped.len());
        let _ = writeln!(text, "\n{passed} passed, {failed} failed, {skipped} skipped");
        text
    }
}

impl Stage {
    fn verdict(&self) -> &'static str {
        if self.ok { "ok" } else { "FAILED" }
    }
}

/// A file that no other command writes to, also of another test run.
fn skips_file() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    target().join(format!("skips-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Runs the command with what it prints both passed on at once and counted.
fn pass_on(command: &mut Command, tally: &mut Tally, to: &mut dyn Write) -> std::io::Result<ExitStatus> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut from = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no output"))?;
    let mut chunk = [0; 8192];
    loop {
        let length = match from.read(&mut chunk) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            length => length?,
        };
        let Some(read) = chunk.get(..length).filter(|read| !read.is_empty()) else { break };
        tally.feed(read);
        // Whoever closed our output still wants the tests run and the exit code.
        let _ = to.write_all(read).and_then(|()| to.flush());
    }
    child.wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn summary() -> Summary {
        Summary::new(Box::new(std::io::sink()), Box::new(std::io::sink()))
    }

    const PASSES: &str = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'";

    fn closing_line(summary: &Summary) -> String {
        summary.text().lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn tests_are_counted_and_skips_told_apart_from_passes() {
        let mut summary = summary();
        let script = format!("{PASSES}; printf 'a b\\tno root\\n' >> \"$RALPH_SKIPS_FILE\"");
        summary.tests("tests", &mut sh(&script)).unwrap();
        assert_eq!(closing_line(&summary), "1 passed, 0 failed, 1 skipped");
        assert!(summary.text().contains("1 skipped:\n  a b: no root\n"), "{}", summary.text());
    }

    #[test]
    fn a_stage_that_fails_without_a_failed_test_counts_as_one() {
        let mut summary = summary();
        summary.run("lints", &mut sh("exit 1")).unwrap_err();
        summary.tests("tests", &mut sh("exit 101")).unwrap_err();
        assert_eq!(closing_line(&summary), "0 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn only_what_failed_is_tried_again_and_listed() {
        let mut summary = summary();
        let first = "echo 'test one ... FAILED'; echo 'test two ... FAILED'
            echo 'test result: FAILED. 5 passed; 2 failed; 0 ignored'; exit 101";
        let again = |names: &[String]| {
            assert_eq!(names, ["one", "two"]);
            sh(
                "echo 'test two ... FAILED'; echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 101",
            )
        };
        summary.tests_with_second_try("live", &mut sh(first), again).unwrap_err();
        assert_eq!(closing_line(&summary), "6 passed, 1 failed, 0 skipped");
        assert!(summary.text().contains("1 needed a second try:\n  one\n"), "{}", summary.text());
    }
}
