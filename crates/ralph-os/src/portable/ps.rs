//! The list of processes as `ps` prints it: the one source that every Unix has.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::{Command, Stdio};

use rustix::process::Pid;

use crate::Process;

/// Every process there is but the `ps` that was asked; empty where there is no `ps`.
pub(super) fn list() -> Vec<Process> {
    let mut ps = Command::new("ps");
    ps.args(["-A", "-o", "pid=,ppid=,pgid=,stat=,time=,lstart="]).env("LC_ALL", "C");
    ps.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(child) = ps.spawn() else { return Vec::new() };
    let asked = child.id();
    let Ok(answer) = child.wait_with_output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&answer.stdout);
    let found = text.lines().filter_map(parse);
    found.filter(|process| process.pid.as_raw_pid().unsigned_abs() != asked).collect()
}

fn parse(line: &str) -> Option<Process> {
    let mut fields = line.split_ascii_whitespace();
    let pid = Pid::from_raw(fields.next()?.parse().ok()?)?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let state = fields.next()?;
    let (alive, stopped) = (!state.starts_with(['Z', 'X']), state.starts_with('T'));
    let own_ms = milliseconds(fields.next()?)?;
    let mut began = DefaultHasher::new();
    fields.for_each(|field| field.hash(&mut began));
    // Which session a process is in is not printed alike anywhere; who leads one leads its group too.
    let session = if group == pid.as_raw_pid() { group } else { 0 };
    Some(Process { pid, parent, group, session, alive, stopped, began: began.finish(), own_ms, waited_ms: 0 })
}

/// `[[days-]hours:]minutes:seconds[.hundredths]`
fn milliseconds(time: &str) -> Option<u64> {
    let (days, time) = time.split_once('-').unwrap_or(("0", time));
    let (whole, part) = time.split_once('.').unwrap_or((time, "0"));
    let mut seconds = 0;
    for number in whole.split(':') {
        seconds = seconds * 60 + number.parse::<u64>().ok()?;
    }
    let part = format!("{part:0<3}").get(..3)?.parse::<u64>().ok()?;
    Some((days.parse::<u64>().ok()? * 86_400 + seconds) * 1000 + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_print_a_line_are_read() {
        let linux = parse("   12     3    12 Ssl  1-02:03:04 Sun Nov 15 15:11:41 2026").unwrap();
        assert_eq!((linux.parent, linux.group, linux.session, linux.alive), (3, 12, 12, true));
        assert_eq!(linux.own_ms, (86_400 + 2 * 3600 + 3 * 60 + 4) * 1000);
        let bsd = parse("   12     3    11 Z+     0:01.25 Sun Nov 15 15:11:42 2026").unwrap();
        assert_eq!((bsd.session, bsd.alive, bsd.own_ms), (0, false, 1250));
        assert_ne!(linux.began, bsd.began);
        assert_eq!(parse("12 3 cut"), None);
        assert_eq!(parse(""), None);
    }
}
