//! The file of metrics lines: one a run, whoever writes and however often. A run that went on later gets its line
//! anew in the same place.

use super::place::Place;
use ralph_rules::metrics::RalphMetrics;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The file.
const FILE: &str = "ralph-loops.jsonl";
/// A larger one is only appended to: nobody waits for it to be read.
const MOST: u64 = 64 << 20;
/// How long another writer is waited for; the next run makes up for what was left out.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps these lines: new ones are appended, those of known runs replaced where they differ.
pub(super) fn keep(place: &Place, lock: &Path, lines: &[RalphMetrics]) -> io::Result<()> {
    let _turn = turn(lock)?;
    let mut text = place.read(FILE, MOST)?;
    let (mut fresh, mut changed) = (String::new(), false);
    for line in lines {
        let json = serde_json::to_string(line)?;
        match find(&text, &line.loop_id) {
            None => fresh = fresh + &json + "\n",
            Some((from, to)) if text.get(from..to) != Some(json.as_str()) => {
                text.replace_range(from..to, &json);
                changed = true;
            }
            Some(_) => {}
        }
    }
    if changed {
        return place.replace(FILE, (end_line(text) + &fresh).as_bytes());
    }
    match fresh.as_str() {
        "" => Ok(()),
        _ if text.is_empty() || text.ends_with('\n') => place.append(FILE, fresh.as_bytes()),
        // A line that was torn keeps to itself.
        _ => place.append(FILE, format!("\n{fresh}").as_bytes()),
    }
}

/// Where the line of a run stands.
fn find(text: &str, id: &str) -> Option<(usize, usize)> {
    let mark = format!("\"loopId\":\"{id}\"");
    let at = text.find(&mark)?;
    let from = text.get(..at)?.rfind('\n').map_or(0, |n| n + 1);
    let to = text.get(at..)?.find('\n').map_or(text.len(), |n| at + n);
    Some((from, to))
}

fn end_line(text: String) -> String {
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

/// One writer after the other, over all processes.
fn turn(lock: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(lock)?;
    let began = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(e) if began.elapsed() >= PATIENCE => return Err(e.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::account::RunAccount;
    use ralph_rules::ending::{Reason, Status};
    use std::path::PathBuf;

    fn line(id: &str, reason: Reason) -> RalphMetrics {
        let account = RunAccount {
            run: id.into(),
            ended: Some(5),
            status: Some(Status::Aborted),
            reason: Some(reason),
            ..RunAccount::default()
        };
        RalphMetrics::of(&account, super::super::days::stamp).unwrap()
    }

    struct Bed(tempfile::TempDir);

    impl Bed {
        fn keep(&self, lines: &[RalphMetrics]) {
            keep(&Place::metrics(self.0.path()).unwrap(), &self.0.path().join("lock"), lines).unwrap();
        }

        fn file(&self) -> PathBuf {
            self.0.path().join(".ralph/metrics").join(FILE)
        }

        fn ids(&self) -> Vec<String> {
            let text = std::fs::read_to_string(self.file()).unwrap();
            let lines = text.lines().filter_map(|l| serde_json::from_str::<RalphMetrics>(l).ok());
            lines.map(|l| format!("{}:{}", l.loop_id, l.abort_reason.unwrap_or_default())).collect()
        }
    }

    #[test]
    fn a_run_has_one_line_however_often_it_is_written() {
        let bed = Bed(tempfile::tempdir().unwrap());
        bed.keep(&[line("a", Reason::Stall), line("b", Reason::Interrupted)]);
        bed.keep(&[line("b", Reason::Interrupted)]);
        bed.keep(&[line("b", Reason::MaxIterations), line("c", Reason::Stall)]);
        assert_eq!(bed.ids(), ["a:STALL", "b:MAX_ITERATIONS", "c:STALL"]);
        assert_eq!(std::fs::read_to_string(bed.0.path().join(".ralph/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn a_torn_line_spoils_no_other() {
        let bed = Bed(tempfile::tempdir().unwrap());
        bed.keep(&[line("a", Reason::Stall)]);
        let text = std::fs::read_to_string(bed.file()).unwrap() + "{\"loopId\":\"x";
        std::fs::write(bed.file(), text).unwrap();
        bed.keep(&[line("b", Reason::Stall)]);
        assert_eq!(bed.ids(), ["a:STALL", "b:STALL"]);
    }

    #[test]
    fn many_writers_lose_no_line() {
        let bed = Bed(tempfile::tempdir().unwrap());
        std::thread::scope(|scope| {
            for n in 0..8 {
                let bed = &bed;
                scope.spawn(move || {
                    bed.keep(&[line(&format!("run-{n}-"), Reason::Interrupted)]);
                    bed.keep(&[line(&format!("run-{n}-"), Reason::Stall)]);
                });
            }
        });
        let mut ids = bed.ids();
        ids.sort();
        assert_eq!(ids, (0..8).map(|n| format!("run-{n}-:STALL")).collect::<Vec<_>>());
    }
}
