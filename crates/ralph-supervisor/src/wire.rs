//! The protocol between ralph and a supervisor: one short line per message over the control socket. Orders go to the
//! supervisor, reports come back. Unknown lines are ignored.

use std::fmt;

use crate::line_splitter::LineSplitter;

/// Longest message: a failed sandbox names a path. A longer line is cut.
const LONGEST: usize = 8 * 1024;

/// A message from ralph to a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// SIGTERM to all, SIGKILL after so many milliseconds.
    End(u64),
    /// SIGKILL to all now.
    Kill,
    /// Freeze the whole tree.
    Stop,
    /// Let a frozen tree run again.
    Cont,
}

/// A message from a supervisor to ralph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// The program runs under this process id; a contained one in the box with this process id.
    Started(i32),
    /// The program could not be started: where, the system's error number, and what was tried, where that is told.
    Failed(FailedAt, i32, String),
    /// The program ended with this code.
    Code(i32),
    /// The program was ended by this signal.
    Signal(i32),
    /// The program's sandbox ended without telling what became of the program.
    SandboxLost,
    /// Something in the plan of the program's sandbox could not be done.
    Note(String),
    /// So many processes survive SIGKILL; the supervisor keeps trying.
    Left(u32),
    /// All are dead; so many besides the program had to be killed.
    Cleared(u32),
}

/// Where starting the program failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedAt {
    Supervisor,
    Overlay,
    Room,
    Sandbox,
    Cwd,
    Program,
}

impl FailedAt {
    const NAMED: [(FailedAt, &'static str); 6] = [
        (Self::Supervisor, "supervisor"),
        (Self::Overlay, "overlay"),
        (Self::Room, "room"),
        (Self::Sandbox, "sandbox"),
        (Self::Cwd, "cwd"),
        (Self::Program, "program"),
    ];

    pub(crate) fn read(name: &str) -> Option<FailedAt> {
        Self::NAMED.iter().find(|(_, known)| *known == name).map(|(at, _)| *at)
    }

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(at, _)| *at == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End(ms) => writeln!(f, "end {ms}"),
            Self::Kill => writeln!(f, "kill"),
            Self::Stop => writeln!(f, "stop"),
            Self::Cont => writeln!(f, "cont"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => writeln!(f, "started {pid}"),
            Self::Failed(at, errno, text) => {
                writeln!(f, "{}", format!("failed {} {errno} {}", at.name(), one_line(text)).trim_end())
            }
            Self::SandboxLost => writeln!(f, "ended lost"),
            Self::Code(code) => writeln!(f, "ended code {code}"),
            Self::Signal(signal) => writeln!(f, "ended signal {signal}"),
            Self::Note(text) => writeln!(f, "note {}", one_line(text)),
            Self::Left(count) => writeln!(f, "left {count}"),
            Self::Cleared(count) => writeln!(f, "cleared {count}"),
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, "?")
}

/// A message that can be parsed from a line.
pub(crate) trait Word: Sized {
    /// The message in this line, if it is one.
    fn read(line: &str) -> Option<Self>;
}

impl Word for Order {
    fn read(line: &str) -> Option<Self> {
        let mut parts = line.split(' ');
        match parts.next()? {
            "end" => Some(Self::End(parts.next()?.parse().ok()?)),
            "kill" => Some(Self::Kill),
            "stop" => Some(Self::Stop),
            "cont" => Some(Self::Cont),
            _ => None,
        }
    }
}

impl Word for Report {
    fn read(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let (verb, first, second) = (parts.next()?, parts.next()?, parts.next());
        match verb {
            "started" => Some(Self::Started(first.parse().ok()?)),
            "failed" => {
                let (place, errno) = (FailedAt::read(first)?, second?.parse().ok()?);
                Some(Self::Failed(place, errno, parts.next().unwrap_or("").to_owned()))
            }
            "ended" if first == "lost" => Some(Self::SandboxLost),
            "ended" if first == "code" => Some(Self::Code(second?.parse().ok()?)),
            "ended" if first == "signal" => Some(Self::Signal(second?.parse().ok()?)),
            "note" => Some(Self::Note(line.strip_prefix("note ")?.to_owned())),
            "left" => Some(Self::Left(first.parse().ok()?)),
            "cleared" => Some(Self::Cleared(first.parse().ok()?)),
            _ => None,
        }
    }
}

/// Parses messages from the bytes of the control socket.
#[derive(Debug)]
pub(crate) struct Words(LineSplitter);

impl Words {
    pub(crate) fn new() -> Self {
        Self(LineSplitter::new(LONGEST))
    }

    /// The messages that these bytes complete.
    pub(crate) fn read<W: Word>(&mut self, bytes: &[u8]) -> Vec<W> {
        let mut words = Vec::new();
        self.0.feed(bytes, |line| words.extend(str::from_utf8(line.bytes).ok().and_then(W::read)));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for order in [Order::End(5000), Order::Kill, Order::Stop, Order::Cont] {
            assert_eq!(Words::new().read::<Order>(order.to_string().as_bytes()), vec![order]);
        }
        for report in [
            Report::Started(7),
            Report::Failed(FailedAt::Supervisor, 1, String::new()),
            Report::Failed(FailedAt::Overlay, 16, String::new()),
            Report::Failed(FailedAt::Room, 22, String::new()),
            Report::Failed(FailedAt::Sandbox, 1, "mount /proc: refused".into()),
            Report::Failed(FailedAt::Cwd, 2, String::new()),
            Report::Failed(FailedAt::Program, 13, String::new()),
            Report::SandboxLost,
            Report::Note("no layer over /a b".into()),
            Report::Code(3),
            Report::Signal(9),
            Report::Left(1),
            Report::Cleared(0),
        ] {
            assert_eq!(Words::new().read::<Report>(report.to_string().as_bytes()), vec![report]);
        }
    }

    #[test]
    fn noise_between_words_is_ignored() {
        let mut words = Words::new();
        assert_eq!(words.read::<Order>(b"\xff\xfe\nend soon\nend\nki"), vec![]);
        assert_eq!(words.read::<Order>(b"ll\nstop\n"), vec![Order::Kill, Order::Stop]);
    }
}
