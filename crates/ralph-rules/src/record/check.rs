//! How a verification closed: the user's commands, run by ralph.

use super::{AnalyzerResult, FileRef, Ms, RoomSeen, RoomSets, SandboxSeen, Violation};
use crate::suite::Counts;
use serde::{Deserialize, Serialize};

/// Which verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Before iteration 1: what was red already. It feeds no counter.
    Baseline,
    /// The workspace as it is.
    AsIs,
    /// The workspace with the baseline's tests restored.
    WithBaselineOracle,
    /// The baseline with some of the changes, in a room of ralph's own.
    InRoom(RoomSets),
}

/// A verification closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// Which one.
    pub check: Check,
    /// One result a command, in order; a command after a failing one is still run.
    pub results: Vec<CheckResult>,
    /// ralph was asked to stop before it was through: no verdict.
    pub interrupted: bool,
    /// The tree afterwards; what verification changed is not the agent's.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// Protected paths that changed during verification.
    pub violations: Vec<Violation>,
    /// What was restored, if it was the baseline's tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<PutBack>,
    /// The room, if it ran in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomSeen>,
    /// What the user's own checks answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub analyzers: Vec<AnalyzerResult>,
    /// What the sandbox of its commands refused, or could not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Box<SandboxSeen>>,
}

/// The baseline's tests, restored over the work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutBack {
    /// How: `layer`, at the workspace's own path, or `copy`, at another.
    pub contained: String,
    /// Which files.
    pub files: Vec<String>,
    /// What the agent had changed in them, at most 8 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

impl Verified {
    /// Every command passed.
    pub fn passed(&self) -> bool {
        !self.interrupted
            && !self.results.is_empty()
            && self.results.iter().all(|r| r.how == CheckOutcome::Passed)
    }

    /// Names of failing tests, of all commands.
    pub fn failed_tests(&self) -> Vec<String> {
        self.results.iter().flat_map(|r| r.failed.iter().cloned()).collect()
    }

    /// The commands that did not pass.
    pub fn failing_commands(&self) -> Vec<String> {
        let failing = self.results.iter().filter(|r| r.how != CheckOutcome::Passed);
        failing.map(|r| r.command.clone()).collect()
    }

    /// Some command could not be run at all.
    pub fn could_not_run(&self) -> bool {
        self.results.iter().any(|r| r.how == CheckOutcome::NotRun)
    }

    /// The tests of all commands; none if no output has counts.
    pub fn counts(&self) -> Option<Counts> {
        let known: Vec<Counts> = self.results.iter().filter_map(|r| r.counts).collect();
        (!known.is_empty()).then(|| known.into_iter().sum())
    }
}

/// How one command came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The command, as the user wrote it.
    pub command: String,
    /// How it ended.
    pub how: CheckOutcome,
    /// Exit code, where it exited.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: Ms,
    /// The end of its output, redacted, at most 4 KiB.
    pub tail: String,
    /// Its output, as kept.
    pub output: FileRef,
    /// The tests it ran, if its output has counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Names of failing tests, the first 50, if its output names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The program without which the command cannot run; looked for only before iteration 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingProgram>,
}

/// A program that a command needs and that cannot be run here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingProgram {
    /// As the command names it; a Python module or a subcommand of cargo without the program before it.
    pub program: String,
    /// Why it cannot be run.
    pub why: Absence,
}

/// Why a program cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// There is no such program.
    NotFound,
    /// There is such a file, but it may not be executed.
    NotExecutable,
    /// Python has no such module.
    NoModule,
    /// Cargo has no such subcommand.
    NoSubcommand,
    /// It runs, but something that it starts cannot be run.
    Started,
}

/// How a command came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// Exit 0.
    Passed,
    /// Another exit, or a signal.
    Failed,
    /// Past its deadline.
    TimedOut,
    /// It could not be run (exit 126 or 127).
    NotRun,
    /// ralph was asked to stop.
    Interrupted,
}
