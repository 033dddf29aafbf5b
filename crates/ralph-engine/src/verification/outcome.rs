//! What a finished command means for the verification.

use ralph_rules::record::{CheckOutcome, CheckResult, FileRef};
use ralph_supervisor::{Exit, NotStarted};

/// How a command ended. Exit codes 126 and 127 are the shell's: the command could not be run or was not found.
pub(super) fn outcome_of(exit: &Exit, timed_out: bool, interrupted: bool) -> CheckOutcome {
    match exit.code {
        _ if timed_out => CheckOutcome::TimedOut,
        _ if interrupted => CheckOutcome::Interrupted,
        _ if exit.supervisor_lost => CheckOutcome::Failed,
        _ if matches!(exit.not_started, Some(NotStarted::Sandbox { .. })) => CheckOutcome::NotRun,
        Some(0) => CheckOutcome::Passed,
        Some(126 | 127) => CheckOutcome::NotRun,
        _ => CheckOutcome::Failed,
    }
}

/// The result of a command that could not be started.
pub fn not_run(command: &str, why: impl Into<String>) -> CheckResult {
    CheckResult {
        command: command.into(),
        how: CheckOutcome::NotRun,
        exit: None,
        ms: 0,
        tail: why.into(),
        output: FileRef::default(),
        counts: None,
        failed: Vec::new(),
        missing: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_supervisor::How;

    fn exit(code: i32) -> Exit {
        Exit {
            code: Some(code),
            signal: None,
            not_started: None,
            outlived: 0,
            left: 0,
            how: How::Ended,
            supervisor_lost: false,
            drained: true,
            notes: Vec::new(),
            ms: 1,
        }
    }

    #[test]
    fn an_exit_code_counts_only_where_the_command_ended_by_itself() {
        let passed = exit(0);
        assert_eq!(outcome_of(&passed, false, false), CheckOutcome::Passed);
        assert_eq!(outcome_of(&passed, true, true), CheckOutcome::TimedOut);
        assert_eq!(outcome_of(&passed, false, true), CheckOutcome::Interrupted);
        assert_eq!(
            outcome_of(&Exit { supervisor_lost: true, ..exit(0) }, false, false),
            CheckOutcome::Failed
        );
    }

    #[test]
    fn a_command_whose_sandbox_could_not_be_built_was_not_run() {
        let why = NotStarted::Sandbox { errno: 1, text: "unshare".into() };
        let exit = Exit { code: None, not_started: Some(why), ..exit(0) };
        assert_eq!(outcome_of(&exit, false, false), CheckOutcome::NotRun);
    }

    #[test]
    fn a_command_that_the_shell_cannot_find_was_not_run() {
        assert_eq!(outcome_of(&exit(127), false, false), CheckOutcome::NotRun);
        assert_eq!(outcome_of(&exit(126), false, false), CheckOutcome::NotRun);
        assert_eq!(outcome_of(&exit(1), false, false), CheckOutcome::Failed);
    }
}
