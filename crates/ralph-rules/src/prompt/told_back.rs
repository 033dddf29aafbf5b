//! What the agent reported wrongly, told back to it in its next prompt: what it said, then what ralph saw.

use crate::claim::Code;
use crate::objection::Objection;
use crate::record::CheckOutcome;
use crate::state::State;

/// The sentence for an objection that is about a wrong report; none if what was said or seen is no longer known, such as
/// after a call that failed.
pub(super) fn told_back(objection: &Objection, state: &State) -> Option<String> {
    let block = state.claim.block.as_ref();
    let plan = &state.tasks.file;
    let (said, saw) = match objection {
        Objection::VerificationFailed { command, how, exit, claimed: true } => {
            let saw = Objection::VerificationFailed {
                command: command.clone(),
                how: *how,
                exit: *exit,
                claimed: false,
            };
            ("that everything is done".into(), saw.say())
        }
        Objection::Lint { lint: Code::TestsStatusNotAsRun, .. } => {
            let saw =
                if state.checks.passed() { "every verify command passed".into() } else { failed(state)? };
            (block?.tests?.word().to_owned(), saw)
        }
        Objection::Lint { lint: Code::FilesModifiedNotAsCounted, .. } => {
            (counted(block?.files_modified?, "modified file"), format!("{} changed", state.trees.files))
        }
        Objection::Lint { lint: Code::CompleteWithTasksRemaining, .. } => {
            let open = state.tasks.pending()?.into();
            ("COMPLETE".to_owned(), format!("{plan} has {}", counted(open, "open item")))
        }
        Objection::Lint { lint: Code::TasksCompletedNotAsCounted, .. } => {
            let (ticked, _) = state.tasks.ticked_and_open()?;
            let said = counted(block?.tasks_completed?, "completed task");
            (said, format!("{} ticked in {plan}", counted(ticked, "item")))
        }
        _ => return None,
    };
    Some(format!("you reported {said}; {saw}"))
}

fn failed(state: &State) -> Option<String> {
    let failing = state.checks.failing().filter(|result| result.how == CheckOutcome::Failed)?;
    Some(match failing.exit {
        Some(code) => format!("`{}` failed with exit code {code}", failing.command),
        None => format!("`{}` failed", failing.command),
    })
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
