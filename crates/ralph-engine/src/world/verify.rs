//! Step Verify: run the user's commands on the workspace as it is, after the agent's processes are dead: by `sh -c`, no
//! terminal, `CI=1`, each with its deadline; then look at the workspace again. Closes with `Verified`.

use crate::observation::Observation;
use crate::protection;
use crate::redact::Stream;
use crate::step_context::StepContext;
use crate::transcript::Transcript;
use ralph_rules::prompt::tail;
use ralph_rules::record::{Attempt, Check, CheckOutcome, CheckResult, FileRef, Ms, Seen, Verified};
use ralph_rules::suite::{Counter, Counts};
use ralph_supervisor::{Exit, How, Layer, NotStarted, Sink};
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
pub fn verify(ctx: &StepContext, check: Check, deadline: Ms, id: Attempt) -> Observation {
    let before = ctx.index();
    let mut results = Vec::new();
    for (n, command) in (1..).zip(&ctx.start.verify) {
        if ctx.under_way.interrupted_by().is_some() {
            break;
        }
        results.extend(run(ctx, command, deadline, &file_name(check, id, n), id.iteration, &Site::Workspace));
    }
    let interrupted = ctx.under_way.interrupted_by().is_some();
    let after = ctx.walk();
    let violations = protection::found(ctx, &before, &after);
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
    ctx: &StepContext,
    command: &str,
    deadline: Ms,
    file: &str,
    iteration: u32,
    site: &Site,
) -> Option<CheckResult> {
    let mut launch = ctx.launch("sh", iteration);
    launch.args = vec!["-c".into(), command.into()];
    launch.env.push(("CI".into(), "1".into()));
    launch.merge_stderr = true;
    let mut bytecode = ctx.folder.join(BYTECODE);
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
    let path = ctx.folder.join(file);
    // A verification that ralph's own death cut short is run again, under the same name.
    let _ = std::fs::remove_file(&path);
    let opened = Transcript::create(&path, CAP).map_err(|e| e.to_string());
    let started =
        opened.and_then(|file| Ok((file, ralph_supervisor::start(launch).map_err(|e| e.to_string())?)));
    let (kept, (process, pump)) = match started {
        Ok(started) => started,
        Err(why) => return Some(not_run(command, &why)),
    };
    ctx.under_way.started(&process);
    let redacted = ctx.deps.redactor.stream();
    let mut output = Output { redacted, file: kept, last: VecDeque::new(), tests: Counter::default() };
    let (exit, timed_out) = std::thread::scope(|scope| {
        let (open, over) = channel::<()>();
        let watch = scope.spawn(move || past_deadline(ctx, deadline, &over, &process));
        let exit = pump.run(&mut output);
        drop(open);
        (exit, watch.join().unwrap_or(false))
    });
    ctx.under_way.ended();
    ctx.sweep_after(&exit);
    if matches!(exit.not_started, Some(NotStarted::Layer { .. })) {
        return None;
    }
    let (tail, output, counts) = output.close(file);
    let how = came(ctx, &exit, timed_out);
    let tail = exit.not_started.as_ref().map_or(tail, ToString::to_string);
    let ms = Ms::try_from(exit.ms).unwrap_or(Ms::MAX);
    Some(CheckResult { command: command.into(), how, exit: exit.code, ms, tail, output, counts })
}

/// Ends the command when its deadline passes; true if it did.
fn past_deadline(
    ctx: &StepContext,
    deadline: Ms,
    over: &Receiver<()>,
    process: &ralph_supervisor::ProcessHandle,
) -> bool {
    let end = ctx.clock.ran().saturating_add(deadline);
    while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if ctx.clock.ran() >= end {
            process.end(ctx.deps.end_grace);
            return true;
        }
    }
    false
}

fn came(ctx: &StepContext, exit: &Exit, timed_out: bool) -> CheckOutcome {
    match exit.code {
        _ if timed_out => CheckOutcome::TimedOut,
        _ if ctx.under_way.interrupted_by().is_some() => CheckOutcome::Interrupted,
        _ if exit.how == How::SupervisorLost => CheckOutcome::Failed,
        Some(0) => CheckOutcome::Passed,
        Some(126 | 127) => CheckOutcome::NotRun,
        _ => CheckOutcome::Failed,
    }
}

fn not_run(command: &str, why: &str) -> CheckResult {
    CheckResult {
        command: command.into(),
        how: CheckOutcome::NotRun,
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
