//! The protocol between ralph and a supervisor: one short line per message over the control socket. Orders go to the
//! supervisor, reports come back. Unknown lines are ignored.

use std::fmt;

use crate::line_splitter::LineSplitter;

/// Longest message; a longer line is skipped.
const LONGEST: usize = 128;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The program runs under this process id.
    Started(i32),
    /// The program could not be started.
    Failed(FailedAt, i32),
    /// The program ended with this code.
    Code(i32),
    /// The program was ended by this signal.
    Signal(i32),
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
    Cwd,
    Program,
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
            Self::Failed(FailedAt::Supervisor, errno) => writeln!(f, "failed supervisor {errno}"),
            Self::Failed(FailedAt::Overlay, errno) => writeln!(f, "failed overlay {errno}"),
            Self::Failed(FailedAt::Room, errno) => writeln!(f, "failed room {errno}"),
            Self::Failed(FailedAt::Cwd, errno) => writeln!(f, "failed cwd {errno}"),
            Self::Failed(FailedAt::Program, errno) => writeln!(f, "failed program {errno}"),
            Self::Code(code) => writeln!(f, "ended code {code}"),
            Self::Signal(signal) => writeln!(f, "ended signal {signal}"),
            Self::Left(count) => writeln!(f, "left {count}"),
            Self::Cleared(count) => writeln!(f, "cleared {count}"),
        }
    }
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
        let mut parts = line.split(' ');
        let (verb, first, second) = (parts.next()?, parts.next()?, parts.next());
        match verb {
            "started" => Some(Self::Started(first.parse().ok()?)),
            "failed" => {
                let place = match first {
                    "supervisor" => FailedAt::Supervisor,
                    "overlay" => FailedAt::Overlay,
                    "room" => FailedAt::Room,
                    "cwd" => FailedAt::Cwd,
                    "program" => FailedAt::Program,
                    _ => return None,
                };
                Some(Self::Failed(place, second?.parse().ok()?))
            }
            "ended" if first == "code" => Some(Self::Code(second?.parse().ok()?)),
            "ended" if first == "signal" => Some(Self::Signal(second?.parse().ok()?)),
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
            Report::Failed(FailedAt::Supervisor, 1),
            Report::Failed(FailedAt::Overlay, 16),
            Report::Failed(FailedAt::Room, 22),
            Report::Failed(FailedAt::Cwd, 2),
            Report::Failed(FailedAt::Program, 13),
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
