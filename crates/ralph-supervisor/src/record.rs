//! A note on disk about the supervisor of a call: who it is, and at the end that nobody is left. A note without that end
//! says that the supervisor was killed, so that processes without any mark may have survived.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use ralph_os::{Process, read_process};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, getpid, kill_process};

/// Before the path of the note on the supervisor's command line.
pub(crate) const RECORD: &str = "--record";
const CLEARED: &str = "cleared";
/// A supervisor that is still at work gets this long to finish.
const PATIENCE: Duration = Duration::from_secs(8);
const REST: Duration = Duration::from_millis(5);
/// A note has two short lines.
const LONGEST: u64 = 4096;

/// The supervisor's side: it holds the file open, because its path may be hidden by what it mounts.
#[derive(Debug)]
pub(crate) struct Record(Option<File>);

impl Record {
    /// Begins the note. One that cannot be written costs only what a later process would learn from it.
    pub(crate) fn begin(path: &Path) -> Record {
        let mut options = OpenOptions::new();
        // A pipe in its place is not waited for.
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
        let me = getpid();
        let began = read_process(me).map_or(0, |process| process.began);
        let written = file.and_then(|mut file| {
            file.write_all(format!("{me} {began} {}\n", ralph_os::boot()).as_bytes())?;
            Ok(file)
        });
        Record(written.ok())
    }

    /// No note.
    pub(crate) fn none() -> Record {
        Record(None)
    }

    /// Nobody is left.
    pub(crate) fn clear(&mut self) {
        if let Some(file) = &mut self.0 {
            let _ = writeln!(file, "{CLEARED}");
        }
    }
}

/// A supervisor that ended without ending its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostSupervisor {
    pid: Pid,
    began: u64,
}

/// The supervisor that a note is about, if it was killed before nobody was left. One that is still at work is waited
/// for, and continued if somebody has stopped it.
#[must_use]
pub fn lost_supervisor(path: &Path) -> Option<LostSupervisor> {
    let mut lost = read(path)?;
    let since = Instant::now();
    while lost.is_alive() && since.elapsed() < PATIENCE {
        let _ = kill_process(lost.pid, Signal::CONT);
        std::thread::sleep(REST);
        lost = read(path)?;
    }
    Some(lost)
}

fn read(path: &Path) -> Option<LostSupervisor> {
    let bytes = ralph_os::read_regular(path, LONGEST, ralph_os::Links::RefuseLast).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let mut lines = text.lines();
    let mut words = lines.next()?.split(' ');
    let pid = Pid::from_raw(words.next()?.parse().ok()?)?;
    let began = words.next()?.parse().ok()?;
    let same_boot = words.next() == Some(ralph_os::boot().as_str());
    (same_boot && lines.next() != Some(CLEARED)).then_some(LostSupervisor { pid, began })
}

impl LostSupervisor {
    fn is_alive(&self) -> bool {
        read_process(self.pid).is_some_and(|now| now.began == self.began && now.alive)
    }

    /// Kills the processes of its session that work below a directory, and returns how many. A session keeps its number
    /// while it has members, but a later one may get it; so the directory must agree, too.
    #[must_use]
    pub fn end_session(&self, below: &Path) -> usize {
        let leader = read_process(self.pid);
        if leader.is_some_and(|leader| leader.began != self.began) {
            return 0;
        }
        let is_member = |process: &Process| {
            process.session == self.pid.as_raw_pid() && process.began >= self.began && process.alive
        };
        let is_it =
            |pid: Pid| read_process(pid).as_ref().is_some_and(is_member) && ralph_os::works_below(pid, below);
        ralph_os::everyone()
            .into_iter()
            .filter(|pid| *pid != getpid() && ralph_os::kill_if(*pid, is_it))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_note_without_an_end_is_of_a_lost_supervisor() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("supervisor");
        assert_eq!(read(&path), None, "no note");
        let mut record = Record::begin(&path);
        let me = read(&path).unwrap();
        assert_eq!(me.pid, getpid());
        assert!(me.is_alive());
        record.clear();
        assert_eq!(read(&path), None);
        std::fs::write(&path, "77 1 another-boot\n").unwrap();
        assert_eq!(read(&path), None, "nobody survives a reboot");
        std::fs::write(&path, "what").unwrap();
        assert_eq!(read(&path), None);
    }
}
