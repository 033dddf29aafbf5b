//! Step Verify: run the user's commands on the workspace as it is, after the agent's processes are dead: by `sh -c`, no
//! terminal, `CI=1`, each with its deadline; then look at the workspace again. Closes with `Verified`.

use crate::bench::Bench;
use crate::protection;
use crate::redact::Stream;
use crate::told::Told;
use crate::transcript::Transcript;
use ralph_rules::prompt::tail;
use ralph_rules::record::{Attempt, Came, Check, CheckResult, FileRef, Ms, Seen, Verified};
use ralph_rules::suite::{Counter, Counts};
use ralph_tend::{Exit, How, Layer, NotStarted, Sink};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The end of a command's output that the journal keeps.
const TAIL: usize = 4 * 1024;
/// What is kept of a command's output.
const CAP: u64 = 16 << 20;
/// Where Python keeps what it compiled while it verifies: bytecode that lies in the workspace may be anybody's.
pub(crate) const BYTECODE: &str = "bytecode";
/// How often the deadline is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Runs every command, also after one has failed: the next prompt should show all that is wrong.
pub fn verify(bench: &Bench, check: Check, deadline: Ms, id: Attempt) -> Told {
    let before = bench.index();
    let mut results = Vec::new();
    for (n, command) in (1..).zip(&bench.start.verify) {
        if bench.under_way.told().is_some() {
            break;
        }
        results.extend(run(
            bench,
            command,
            deadline,
            &file_name(check, id, n),
            id.iteration,
            &Site::Workspace,
        ));
    }
    let interrupted = bench.under_way.told().is_some();
    let after = bench.walk();
    let violations = protection::found(bench, &before, &after);
    Seen::Verified(Verified { check, results, interrupted, tree: after.id(), violations, oracle: None })
        .into()
}

pub(super) fn file_name(check: Check, id: Attempt, n: u32) -> String {
    match check {
        Check::Baseline => format!("000.verify{n}.out"),
        Check::AsIs => format!("{id}.verify{n}.out"),
        Check::WithBaselineOracle => format!("{id}.oracle{n}.out"),
    }
}

/// Where a command is run.
#[derive(Debug)]
pub(super) enum Site {
    /// In the workspace.
    Workspace,
    /// At its path, under a layer that only the command sees.
    Layer(Layer),
    /// In a copy of it.
    Copy(PathBuf),
}

/// Runs one command; none where the layer could not be had.
pub(super) fn run(
    bench: &Bench,
    command: &str,
    deadline: Ms,
    file: &str,
    iteration: u32,
    site: &Site,
) -> Option<CheckResult> {
    let mut launch = bench.launch("sh", iteration);
    launch.args = vec!["-c".into(), command.into()];
    launch.env.push(("CI".into(), "1".into()));
    launch.merge_stderr = true;
    let mut bytecode = bench.folder.join(BYTECODE);
    match site {
        Site::Workspace => {}
        Site::Layer(layer) => {
            launch.layer = Some(layer.clone());
            bytecode = layer.work.with_file_name(BYTECODE);
        }
        Site::Copy(dir) => {
            launch.cwd.clone_from(dir);
            bytecode = dir.with_file_name(format!("view.{BYTECODE}"));
        }
    }
    launch.env.push(("PYTHONPYCACHEPREFIX".into(), bytecode.into()));
    let path = bench.folder.join(file);
    // A verification that ralph's own death cut short is run again, under the same name.
    let _ = std::fs::remove_file(&path);
    let opened = Transcript::create(&path, CAP).map_err(|e| e.to_string());
    let started = opened.and_then(|file| Ok((file, ralph_tend::start(launch).map_err(|e| e.to_string())?)));
    let (kept, (tended, pump)) = match started {
        Ok(started) => started,
        Err(why) => return Some(not_run(command, &why)),
    };
    bench.under_way.started(&tended);
    let redacted = bench.equipment.redactor.stream();
    let mut output = Output { redacted, file: kept, last: VecDeque::new(), tests: Counter::default() };
    let (exit, timed_out) = std::thread::scope(|scope| {
        let (open, over) = channel::<()>();
        let watch = scope.spawn(move || past_deadline(bench, deadline, &over, &tended));
        let exit = pump.run(&mut output);
        drop(open);
        (exit, watch.join().unwrap_or(false))
    });
    bench.under_way.ended();
    bench.sweep_after(&exit);
    if matches!(exit.not_started, Some(NotStarted::Layer { .. })) {
        return None;
    }
    let (tail, output, counts) = output.close(file);
    let how = came(bench, &exit, timed_out);
    let tail = exit.not_started.as_ref().map_or(tail, ToString::to_string);
    let ms = Ms::try_from(exit.ms).unwrap_or(Ms::MAX);
    Some(CheckResult { command: command.into(), how, exit: exit.code, ms, tail, output, counts })
}

/// Ends the command when its deadline passes; true if it did.
fn past_deadline(bench: &Bench, deadline: Ms, over: &Receiver<()>, tended: &ralph_tend::Tended) -> bool {
    let end = bench.clock.ran().saturating_add(deadline);
    while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if bench.clock.ran() >= end {
            tended.end(bench.equipment.end_grace);
            return true;
        }
    }
    false
}

fn came(bench: &Bench, exit: &Exit, timed_out: bool) -> Came {
    match exit.code {
        _ if timed_out => Came::TimedOut,
        _ if bench.under_way.told().is_some() => Came::Interrupted,
        _ if exit.how == How::TenderLost => Came::Failed,
        Some(0) => Came::Passed,
        Some(126 | 127) => Came::NotRun,
        _ => Came::Failed,
    }
}

fn not_run(command: &str, why: &str) -> CheckResult {
    CheckResult {
        command: command.into(),
        how: Came::NotRun,
        exit: None,
        ms: 0,
        tail: why.into(),
        output: FileRef::default(),
        counts: None,
    }
}

/// A command's output on its way to its file, with the end of it in memory.
struct Output<'a> {
    redacted: Stream<'a>,
    file: Transcript,
    last: VecDeque<u8>,
    tests: Counter,
}

impl Output<'_> {
    fn close(self, name: &str) -> (String, FileRef, Option<Counts>) {
        let Output { redacted, mut file, mut last, tests } = self;
        redacted.finish_to(&mut |clean: &[u8]| keep(&mut file, &mut last, clean));
        let bytes: Vec<u8> = last.into();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let kept = file.finish();
        let file = FileRef { file: name.into(), bytes: kept.bytes_kept, hash: kept.blake3, cut: kept.cut };
        (tail(&text, TAIL).to_string(), file, tests.finish())
    }
}

fn keep(file: &mut Transcript, last: &mut VecDeque<u8>, clean: &[u8]) {
    file.write(clean);
    let clean = clean.get(clean.len().saturating_sub(TAIL)..).unwrap_or_default();
    last.extend(clean);
    last.drain(..last.len().saturating_sub(TAIL));
}

impl Sink for Output<'_> {
    fn stdout(&mut self, chunk: &[u8]) {
        let Output { redacted, file, last, tests } = self;
        tests.feed(chunk);
        redacted.push_to(chunk, &mut |clean: &[u8]| keep(file, last, clean));
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.stdout(chunk);
    }
}
