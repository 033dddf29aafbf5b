//! What a box says about its program, a line each, over a pipe that the program cannot reach.

use ralph_os::in_words;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The program runs, below so many processes of the box. A signal to the program and its descendants is not for those.
    /// 0 if it is not below the box at all, and would outlive it: a daemon runs it.
    Started(usize),
    /// The program was not started.
    Failed(Failure),
    /// The program has ended. The first such line counts.
    Ended(End),
    /// So many processes were still alive when the program had ended, and were killed.
    Outlived(u64),
    /// Something in the plan that could not be done, although the program runs.
    Note(String),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", .detail, reason(*.errno, .detail))]
pub struct Failure {
    /// What failed.
    pub stage: Stage,
    /// The system's error number; 0 if there is none.
    pub errno: i32,
    /// The step or path it failed at; may be empty.
    pub detail: String,
}

/// What can fail before a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Building the sandbox.
    Sandbox,
    /// Entering the program's working directory.
    Cwd,
    /// Starting the program.
    Program,
}

impl Failure {
    /// A failure to build the sandbox.
    #[must_use]
    pub fn sandbox(detail: impl Into<String>, errno: i32) -> Failure {
        Failure { stage: Stage::Sandbox, errno, detail: detail.into() }
    }
}

/// What the system says of an error, after what failed.
fn reason(errno: i32, detail: &str) -> String {
    match (errno, detail) {
        (0, _) => String::new(),
        (_, "") => in_words(&std::io::Error::from_raw_os_error(errno)),
        _ => format!(": {}", in_words(&std::io::Error::from_raw_os_error(errno))),
    }
}

impl Stage {
    fn word(self) -> &'static str {
        match self {
            Stage::Sandbox => "sandbox",
            Stage::Cwd => "cwd",
            Stage::Program => "program",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Started(levels) => writeln!(f, "started {levels}"),
            Line::Failed(Failure { stage, errno, detail }) => {
                let space = if detail.is_empty() { "" } else { " " };
                writeln!(f, "failed {} {errno}{space}{}", stage.word(), one_line(detail))
            }
            Line::Ended(End::Code(code)) => writeln!(f, "ended code {code}"),
            Line::Ended(End::Signal(signal)) => writeln!(f, "ended signal {signal}"),
            Line::Outlived(count) => writeln!(f, "outlived {count}"),
            Line::Note(text) => writeln!(f, "note {}", one_line(text)),
        }
    }
}

/// A path may have any character in its name; it must not begin another line.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "?")
}

impl Line {
    /// The line that was written so; `None` if it is not one.
    #[must_use]
    pub fn parse(line: &str) -> Option<Line> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "started" => rest.parse().ok().map(Line::Started),
            "failed" => parse_failure(rest).map(Line::Failed),
            "ended" => match rest.split_once(' ')? {
                ("code", code) => Some(Line::Ended(End::Code(code.parse().ok()?))),
                ("signal", signal) => Some(Line::Ended(End::Signal(signal.parse().ok()?))),
                _ => None,
            },
            "outlived" => rest.parse().ok().map(Line::Outlived),
            "note" => Some(Line::Note(rest.to_owned())),
            _ => None,
        }
    }
}

fn parse_failure(rest: &str) -> Option<Failure> {
    let (stage, rest) = rest.split_once(' ')?;
    let (errno, detail) = rest.split_once(' ').unwrap_or((rest, ""));
    let stage = [Stage::Sandbox, Stage::Cwd, Stage::Program].into_iter().find(|it| it.word() == stage)?;
    Some(Failure { stage, errno: errno.parse().ok()?, detail: detail.to_owned() })
}

/// The end of the pipe that is written to.
#[derive(Debug)]
pub struct Reporter(File);

impl Reporter {
    /// Writes to this descriptor.
    #[must_use]
    pub fn new(pipe: OwnedFd) -> Reporter {
        Reporter(File::from(pipe))
    }

    /// Writes a line. Where nobody reads any more, nobody is told.
    pub fn send(&mut self, line: &Line) {
        let _ = self.0.write_all(line.to_string().as_bytes());
    }

    /// The descriptor.
    #[must_use]
    pub fn pipe(&self) -> &File {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_as_it_was_written() {
        let failed =
            |stage, errno, detail: &str| Line::Failed(Failure { stage, errno, detail: detail.into() });
        for line in [
            Line::Started(2),
            failed(Stage::Sandbox, 1, "unshare: user namespaces"),
            failed(Stage::Cwd, 2, ""),
            failed(Stage::Program, 13, "a b  c"),
            Line::Ended(End::Code(0)),
            Line::Ended(End::Code(255)),
            Line::Ended(End::Signal(9)),
            Line::Outlived(12),
            Line::Note("layer /a b: not made".into()),
        ] {
            let written = line.to_string();
            assert_eq!(written.matches('\n').count(), 1, "{written:?}");
            assert_eq!(Line::parse(written.trim_end_matches('\n')), Some(line));
        }
    }

    #[test]
    fn a_name_with_a_line_break_does_not_begin_another_line() {
        let line = Line::Note("protect a\nended code 0".into());
        assert_eq!(line.to_string(), "note protect a?ended code 0\n");
    }

    #[test]
    fn reasons_are_words() {
        let said = |detail: &str, errno| Failure::sandbox(detail, errno).to_string();
        assert_eq!(said("mount /home/me", 1), "mount /home/me: Operation not permitted");
        assert_eq!(said("", 2), "No such file or directory");
        assert_eq!(said("Landlock is off", 0), "Landlock is off");
    }

    #[test]
    fn nothing_else_is_a_line() {
        for text in [
            "",
            "started",
            "started now",
            "ended",
            "ended code",
            "ended code x",
            "failed sandbox",
            "outlived",
            "x",
        ] {
            assert_eq!(Line::parse(text), None, "{text:?}");
        }
    }
}
