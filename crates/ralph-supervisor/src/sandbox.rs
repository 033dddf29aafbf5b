//! A contained program. The supervisor does not start the program itself but ralph's own `__box`, which builds the
//! sandbox of a plan and runs the program in it. What becomes of the program is told by the box over a pipe that the
//! program cannot reach; the exit status of the box itself says nothing about it.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use rustix::fs::OFlags;
use rustix::io::FdFlags;
use rustix::process::Pid;

use crate::wire::{FailedAt, Word, Words};

/// Before the file of the plan on the supervisor's command line.
pub(crate) const SANDBOX: &str = "--sandbox";
/// What makes ralph's program a box.
const BOX: &str = "__box";
/// In the place of the gate's descriptor if there is no gate.
const NO_GATE: &str = "-";
/// The outer process and the first process inside, unless the box says otherwise.
const USUAL_LEVELS: usize = 2;

/// The sandbox of a program.
#[derive(Debug, Clone)]
pub struct SandboxLaunch {
    /// The file with the plan; outside of everything that the program can write.
    pub plan: PathBuf,
    /// The box's end of the socket over which it hands out the listeners of the network's gate, if there is one.
    pub gate: Option<Arc<OwnedFd>>,
}

/// What a box reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BoxReport {
    /// The program runs, below so many processes of the box itself; 0 if a daemon runs it.
    Started(usize),
    /// It could not be started: where, the system's error number, and what was tried.
    Failed(FailedAt, i32, String),
    /// It ended with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// So many processes besides the program were left and have been killed.
    Outlived(u32),
    /// Something in the plan that could not be done, although the program runs.
    Note(String),
}

impl Word for BoxReport {
    fn read(line: &str) -> Option<BoxReport> {
        let mut parts = line.splitn(4, ' ');
        let (verb, first, second) = (parts.next()?, parts.next(), parts.next());
        match verb {
            "started" => {
                Some(BoxReport::Started(first.map_or(Some(USUAL_LEVELS), |levels| levels.parse().ok())?))
            }
            "failed" => {
                let place = FailedAt::read(first?)?;
                Some(BoxReport::Failed(place, second?.parse().ok()?, parts.next().unwrap_or("").to_owned()))
            }
            "ended" if first == Some("code") => Some(BoxReport::Code(second?.parse().ok()?)),
            "ended" if first == Some("signal") => Some(BoxReport::Signal(second?.parse().ok()?)),
            "outlived" => Some(BoxReport::Outlived(first?.parse().ok()?)),
            "note" => Some(BoxReport::Note(line.strip_prefix("note ")?.to_owned())),
            _ => None,
        }
    }
}

/// The supervisor's side of a box.
#[derive(Debug)]
pub(crate) struct Boxed {
    reports: PipeReader,
    words: Words,
    /// How many processes of the box are above the program.
    levels: usize,
    /// The program runs or has run.
    pub(crate) started: bool,
    /// The program could not be started, or has ended, and the box has said so.
    pub(crate) closed: bool,
    /// Processes that the box had to kill.
    pub(crate) outlived: u32,
}

impl Boxed {
    /// The reports that have come since this was last asked.
    pub(crate) fn read(&mut self) -> Vec<BoxReport> {
        let mut found = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            match self.reports.read(&mut bytes) {
                Ok(count @ 1..) => found.extend(self.words.read(bytes.get(..count).unwrap_or_default())),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The end, or nothing more for now.
                Ok(0) | Err(_) => break,
            }
        }
        found.retain(|report| self.take(report));
        found
    }

    /// False for a report that is passed over: of the ends of a program the first counts, whoever of the box tells another.
    fn take(&mut self, report: &BoxReport) -> bool {
        match report {
            BoxReport::Started(levels) => (self.started, self.levels) = (true, *levels),
            BoxReport::Outlived(count) => self.outlived = *count,
            BoxReport::Failed(..) | BoxReport::Code(_) | BoxReport::Signal(_) => {
                return !std::mem::replace(&mut self.closed, true);
            }
            BoxReport::Note(_) => {}
        }
        true
    }

    /// The pipe of the reports, to wait for.
    pub(crate) fn reports(&self) -> &PipeReader {
        &self.reports
    }

    /// Whether the program would outlive its box, which has to be asked to end it.
    pub(crate) fn is_apart(&self) -> bool {
        self.started && self.levels == 0
    }

    /// The box's own processes. They have to be there until the program has ended: a signal for the program and its
    /// descendants is not for them.
    pub(crate) fn own_processes(&self, outer: Pid) -> Vec<Pid> {
        let mut own = vec![outer];
        let mut level = own.clone();
        for _ in 1..self.levels {
            level = level.into_iter().flat_map(ralph_os::children).map(|child| child.pid).collect();
            own.extend(&level);
        }
        own
    }
}

/// The command of a box that runs this program, and the pipe of its reports. The descriptors it inherits stay open here
/// until the returned values are dropped; no other program may be started meanwhile.
pub(crate) struct BoxCommand {
    pub(crate) command: Command,
    reports: PipeReader,
    _inherited: [Option<OwnedFd>; 2],
}

impl BoxCommand {
    /// `args` are the program and its arguments; it runs in the directory that the supervisor is in.
    pub(crate) fn new(
        plan: &OsString,
        gate: Option<OwnedFd>,
        program: OsString,
        args: impl Iterator<Item = OsString>,
    ) -> io::Result<BoxCommand> {
        let (reports, to_us) = io::pipe()?;
        let flags = rustix::fs::fcntl_getfl(&reports)?;
        rustix::fs::fcntl_setfl(&reports, flags | OFlags::NONBLOCK)?;
        let to_us = OwnedFd::from(to_us);
        let mut command = Command::new(ralph_os::own_program()?);
        // As it is listed inside; what it is started by says nothing to anybody.
        command.arg0("ralph");
        command.arg(BOX).arg(plan).arg(inheritable(&to_us)?);
        match &gate {
            Some(gate) => command.arg(inheritable(gate)?),
            None => command.arg(NO_GATE),
        };
        command.arg(std::env::current_dir()?).arg(program).args(args);
        Ok(BoxCommand { command, reports, _inherited: [Some(to_us), gate] })
    }

    /// The box has been started.
    pub(crate) fn started(self) -> Boxed {
        let (started, closed) = (false, false);
        Boxed {
            reports: self.reports,
            words: Words::new(),
            levels: USUAL_LEVELS,
            started,
            closed,
            outlived: 0,
        }
    }
}

/// Lets the next program inherit a descriptor, and returns its number.
fn inheritable(descriptor: &OwnedFd) -> io::Result<String> {
    rustix::io::fcntl_setfd(descriptor.as_fd(), FdFlags::empty())?;
    Ok(descriptor.as_raw_fd().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_report_is_read_with_its_text() {
        let read = |line: &str| BoxReport::read(line);
        assert_eq!(read("started"), Some(BoxReport::Started(2)));
        assert_eq!(read("started 1"), Some(BoxReport::Started(1)));
        assert_eq!(read("started twice"), None);
        let text = "cannot mount /home/me: refused";
        assert_eq!(
            read(&format!("failed sandbox 1 {text}")),
            Some(BoxReport::Failed(FailedAt::Sandbox, 1, text.into()))
        );
        assert_eq!(read("failed cwd 2"), Some(BoxReport::Failed(FailedAt::Cwd, 2, String::new())));
        assert_eq!(read("failed program 13"), Some(BoxReport::Failed(FailedAt::Program, 13, String::new())));
        assert_eq!(read("failed elsewhere 13"), None);
        assert_eq!(read("ended code 3"), Some(BoxReport::Code(3)));
        assert_eq!(read("ended signal 9"), Some(BoxReport::Signal(9)));
        assert_eq!(read("outlived 4"), Some(BoxReport::Outlived(4)));
        assert_eq!(read("note no layer over /a b"), Some(BoxReport::Note("no layer over /a b".into())));
        assert_eq!(read("ended"), None);
    }
}
