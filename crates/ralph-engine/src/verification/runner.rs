//! Runs commands one after another in a room: each by `sh -c` under a supervisor, without a terminal, with `CI=1` and a
//! deadline of active time.

use super::outcome::{not_run, outcome_of};
use super::output::Output;
use super::place::Room;
use crate::clock::Clock;
use crate::leftovers::end_after;
use crate::redact::Redactor;
use crate::sandbox::{Contained, VerifySandbox};
use crate::under_way::UnderWay;
use ralph_proof::failed_tests::failed_tests;
use ralph_rules::record::{CheckOutcome, CheckResult, Ms};
use ralph_supervisor::{Exit, Launch, NotStarted, ProcessHandle, Pump, Sink};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Most names of failing tests in a result.
const FAILED_NAMES: usize = 50;
/// How often the deadline is checked.
const DEADLINE_CHECK: Duration = Duration::from_millis(100);

/// Runs verification commands.
pub struct Runner<'a> {
    /// Supervisor, environment and grace periods. The runner fills in command, directory and overlay.
    pub launch: Launch,
    /// Longest time one command may take.
    pub deadline: Ms,
    /// No command may run longer than to this active time.
    pub until: Option<Ms>,
    /// Whether the commands after one that failed are run, too.
    pub after_failure: bool,
    /// Measures the deadline, so that a suspended machine does not count.
    pub clock: &'a Clock,
    /// Removes secrets from output before any of it is kept.
    pub redactor: &'a Redactor,
    /// Through which another thread interrupts or freezes the command that runs.
    pub under_way: &'a UnderWay,
    /// What contains the commands; none if nothing does.
    pub sandbox: Option<&'a VerifySandbox>,
    /// The run whose tag the processes carry, to find those that a lost supervisor left behind.
    pub run: Option<&'a str>,
}

/// One command to run.
#[derive(Debug)]
pub struct VerifyCommand<'a> {
    /// What the shell is given.
    pub line: &'a str,
    /// The file that keeps its output, if any.
    pub output: Option<PathBuf>,
}

impl Runner<'_> {
    /// Runs every command, by default also after one has failed: the next prompt should show everything that is wrong.
    /// Stops early when interrupted; the results then lack the commands that were not started. An error means that the room
    /// could not be made, so that nothing is known. `on_result` gets each result with the end of the output.
    pub fn run(
        &self,
        commands: &[VerifyCommand<'_>],
        room: &mut Room<'_>,
        on_result: &mut dyn FnMut(&CheckResult, &str),
    ) -> io::Result<Vec<CheckResult>> {
        let mut results = Vec::with_capacity(commands.len());
        self.adapt(room)?;
        for command in commands {
            if self.interrupted() {
                break;
            }
            let (result, text) = match self.attempt(command, room) {
                Some(result) => result,
                None => {
                    room.mount_refused()?;
                    let refused = || io::Error::other("the system refused both the mount and the copy");
                    self.attempt(command, room).ok_or_else(refused)?
                }
            };
            on_result(&result, &text);
            let failed = result.how != CheckOutcome::Passed;
            results.push(result);
            if failed && !self.after_failure {
                break;
            }
        }
        Ok(results)
    }

    /// Makes a room one that the commands can see.
    pub(super) fn adapt(&self, room: &mut Room<'_>) -> io::Result<()> {
        match self.sandbox {
            Some(sandbox) if sandbox.is_container() => room.without_mounts(),
            _ => Ok(()),
        }
    }

    fn interrupted(&self) -> bool {
        self.under_way.interrupted_by().is_some()
    }

    /// Runs one command; `None` if the system refused the room's mounts.
    fn attempt(&self, command: &VerifyCommand<'_>, room: &Room<'_>) -> Option<(CheckResult, String)> {
        let path = command.output.as_deref();
        let mut output = match Output::open(path, self.redactor) {
            Ok(output) => output,
            Err(why) => return Some((not_run(command.line, why.to_string()), String::new())),
        };
        let started = self.launch_in(command.line, room).and_then(|(launch, contained)| {
            let started = ralph_supervisor::start(launch).map_err(|why| why.to_string())?;
            Ok((started, contained))
        });
        let ((process, pump), contained) = match started {
            Ok(started) => started,
            Err(why) => return Some((not_run(command.line, why), String::new())),
        };
        let (exit, timed_out) = self.wait(&process, pump, &mut output);
        self.contained_ended(contained, &exit);
        if matches!(exit.not_started, Some(NotStarted::Overlay { .. } | NotStarted::Room { .. })) {
            return None;
        }
        let output = output.close(path);
        let how = outcome_of(&exit, timed_out, self.interrupted());
        let names = if how == CheckOutcome::Passed { BTreeSet::new() } else { failed_tests(&output.text) };
        let result = CheckResult {
            command: command.line.into(),
            how,
            exit: exit.code,
            ms: Ms::try_from(exit.ms).unwrap_or(Ms::MAX),
            tail: exit.not_started.as_ref().map_or(output.tail, ToString::to_string),
            output: output.file,
            counts: output.counts,
            failed: names.into_iter().take(FAILED_NAMES).collect(),
            missing: None,
        };
        Some((result, output.text))
    }

    /// The launch of a command in a room, contained if the run is; otherwise why it must not be started.
    pub(super) fn launch_in(
        &self,
        line: &str,
        room: &Room<'_>,
    ) -> Result<(Launch, Option<Contained>), String> {
        let mut launch = self.launch.clone();
        launch.program = "sh".into();
        launch.args = vec!["-c".into(), line.into()];
        launch.env.push(("CI".into(), "1".into()));
        launch.merge_stderr = true;
        room.enter(&mut launch);
        let contained = self.sandbox.map(|sandbox| sandbox.contain(&mut launch, room.bytecode()));
        let contained = contained.transpose();
        Ok((launch, contained.map_err(|error| format!("the sandbox cannot be prepared: {error}"))?))
    }

    /// A command that was contained has ended.
    pub(super) fn contained_ended(&self, contained: Option<Contained>, exit: &Exit) {
        if let (Some(sandbox), Some(contained)) = (self.sandbox, contained) {
            sandbox.ended(contained, exit);
        }
    }

    /// Reads the output to its end, and ends the command if its deadline passes; true if it did.
    pub(super) fn wait(&self, process: &ProcessHandle, pump: Pump, output: &mut dyn Sink) -> (Exit, bool) {
        self.under_way.started(process);
        let (exit, timed_out) = std::thread::scope(|scope| {
            let (running, ended) = channel::<()>();
            let deadline = scope.spawn(move || self.end_at_deadline(process, &ended));
            let exit = pump.run(output);
            drop(running);
            (exit, deadline.join().unwrap_or(false))
        });
        self.under_way.ended();
        if let Some(run) = self.run {
            end_after(&exit, run, self.under_way.loss());
        }
        (exit, timed_out)
    }

    fn end_at_deadline(&self, process: &ProcessHandle, ended: &Receiver<()>) -> bool {
        let end = self.clock.ran().saturating_add(self.deadline).min(self.until.unwrap_or(Ms::MAX));
        while ended.recv_timeout(DEADLINE_CHECK) == Err(RecvTimeoutError::Timeout) {
            if self.clock.ran() >= end {
                process.end(self.launch.limits.end_grace);
                return true;
            }
        }
        false
    }
}
