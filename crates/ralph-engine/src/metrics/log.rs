//! The file of metrics: one JSON line per run, however many processes write and however often. A run that was resumed
//! gets its line replaced.

use crate::workspace_files::{Durable, WorkspaceFiles};
use ralph_rules::metrics::RalphMetrics;
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A larger file is refused: reading it would take too long.
const MOST: u64 = 64 << 20;
/// How long to wait for another writer; the next run writes what was left out.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes these lines: appends new ones, replaces those of known runs where they differ.
pub(super) fn write(
    files: &WorkspaceFiles,
    path: &str,
    lock: &Path,
    lines: &[RalphMetrics],
) -> io::Result<()> {
    let _lock = take(lock)?;
    let mut text = files.read(path, MOST)?;
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
        return files.replace(path, (end_line(text) + &fresh).as_bytes(), Durable::Yes);
    }
    match fresh.as_str() {
        "" => Ok(()),
        _ if text.is_empty() || text.ends_with('\n') => files.append(path, fresh.as_bytes()),
        // A line that a crash cut short must not swallow the next one.
        _ => files.append(path, format!("\n{fresh}").as_bytes()),
    }
}

/// The range of a run's line.
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

/// Takes the lock that all writers of all processes share.
fn take(lock: &Path) -> io::Result<File> {
    // Without waiting: a pipe in its place would wait for somebody to read it.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags).open(lock)?;
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

    const FILE: &str = ".ralph/metrics/ralph-loops.jsonl";

    fn line(id: &str, reason: Reason) -> RalphMetrics {
        let account = RunAccount {
            run: id.into(),
            ended: Some(5),
            status: Some(Status::Aborted),
            reason: Some(reason),
            ..RunAccount::default()
        };
        RalphMetrics::of(&account, super::super::calendar::stamp).unwrap()
    }

    struct Workspace(tempfile::TempDir);

    impl Workspace {
        fn write(&self, lines: &[RalphMetrics]) {
            let files = WorkspaceFiles::open(self.0.path()).unwrap();
            write(&files, FILE, &self.0.path().join("lock"), lines).unwrap();
        }

        fn file(&self) -> PathBuf {
            self.0.path().join(FILE)
        }

        fn ids(&self) -> Vec<String> {
            let text = std::fs::read_to_string(self.file()).unwrap();
            let lines = text.lines().filter_map(|l| serde_json::from_str::<RalphMetrics>(l).ok());
            lines.map(|l| format!("{}:{}", l.loop_id, l.abort_reason.unwrap_or_default())).collect()
        }
    }

    #[test]
    fn a_run_has_one_line_however_often_it_is_written() {
        let workspace = Workspace(tempfile::tempdir().unwrap());
        workspace.write(&[line("a", Reason::Stall), line("b", Reason::Interrupted)]);
        workspace.write(&[line("b", Reason::Interrupted)]);
        workspace.write(&[line("b", Reason::MaxIterations), line("c", Reason::Stall)]);
        assert_eq!(workspace.ids(), ["a:STALL", "b:MAX_ITERATIONS", "c:STALL"]);
        assert_eq!(std::fs::read_to_string(workspace.0.path().join(".ralph/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn a_torn_line_spoils_no_other() {
        let workspace = Workspace(tempfile::tempdir().unwrap());
        workspace.write(&[line("a", Reason::Stall)]);
        let text = std::fs::read_to_string(workspace.file()).unwrap() + "{\"loopId\":\"x";
        std::fs::write(workspace.file(), text).unwrap();
        workspace.write(&[line("b", Reason::Stall)]);
        assert_eq!(workspace.ids(), ["a:STALL", "b:STALL"]);
    }

    #[test]
    fn many_writers_lose_no_line() {
        let workspace = Workspace(tempfile::tempdir().unwrap());
        std::thread::scope(|scope| {
            for n in 0..8 {
                let workspace = &workspace;
                scope.spawn(move || {
                    workspace.write(&[line(&format!("run-{n}-"), Reason::Interrupted)]);
                    workspace.write(&[line(&format!("run-{n}-"), Reason::Stall)]);
                });
            }
        });
        let mut ids = workspace.ids();
        ids.sort();
        assert_eq!(ids, (0..8).map(|n| format!("run-{n}-:STALL")).collect::<Vec<_>>());
    }
}
