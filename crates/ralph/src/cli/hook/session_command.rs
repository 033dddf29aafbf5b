//! `/ralph:status` and `/ralph:cancel`, typed in a session: answered by the hook itself, so no model is asked.

use super::answer::Answer;
use super::{cancel, known_process, open_run};
use crate::cli::{Here, runs};
use crate::plain::plain;
use crate::problem::Problem;
use ralph_agents::session_hook::HookInput;
use ralph_engine::home::Home;
use ralph_engine::session::{Binding, SessionProcess};
use ralph_rules::state::State;
use ralph_view::fact_text::money;

/// A command about the run of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionCommand {
    /// How is it?
    Status,
    /// End it.
    Cancel,
}

/// The command that was typed, if it is one of these.
pub fn typed(prompt: &str) -> Option<SessionCommand> {
    match prompt.trim().strip_prefix(['/', '$'])? {
        "ralph:status" => Some(SessionCommand::Status),
        "ralph:cancel" => Some(SessionCommand::Cancel),
        _ => None,
    }
}

/// Does it. What the user typed is not passed on to a model, and the reason is the answer.
pub fn answer(
    command: SessionCommand,
    input: &HookInput,
    bound: Option<&str>,
    here: &Here,
) -> Result<Option<Answer>, Problem> {
    let home = here.home()?;
    let found = bound.map(|run| open_run::find(&home, run)).transpose()?.flatten();
    let text = match (found, command) {
        (None, _) => {
            "This session has no run. /ralph:loop TASK starts one ($ralph:loop in Codex).".to_owned()
        }
        (Some(run), SessionCommand::Status) => standing(&run.state),
        (Some(run), SessionCommand::Cancel) => cancel::cancelled(&binding(input, &run.id), here)?,
    };
    Ok(Some(Answer { refused: Some(plain(&text)), ..Answer::default() }))
}

/// The session that typed this, and its run: known even if the file in the run's folder is lost.
fn binding(input: &HookInput, run: &str) -> Binding {
    Binding {
        run: run.into(),
        client: input.client().agent().into(),
        session: input.session.clone(),
        transcript: input.transcript.clone(),
        process: SessionProcess::of_caller(),
    }
}

fn standing(state: &State) -> String {
    let Some(start) = state.start.as_deref() else { return String::new() };
    let short = runs::short(&start.run);
    let cost = money(state.budget.spent.0, state.budget.unpriced == 0);
    let last = state.objections.first().map(|why| format!(" Last: {}.", why.say())).unwrap_or_default();
    format!(
        "Run {short}: {} of {} iterations done, {cost} of {} spent.{last} `ralph status {short}` shows more.",
        state.calls.done, start.policy.max_iterations, start.policy.max_cost,
    )
}

/// The user has typed something else in a session with a run. Its process may be a new one, if the session was resumed.
pub fn noted(input: &HookInput, run: &str, state: std::path::PathBuf) {
    let home = Home::at(state);
    let Some(known) = Binding::of_run(&home, run) else { return };
    let process = SessionProcess::of_caller();
    if known.process != process {
        let transcript = input.transcript.clone();
        // Nothing depends on it yet: the next stop writes it again, and says why it cannot.
        let binding = Binding { process, transcript, ..known };
        let _ = binding.keep(&home);
        known_process::remember(&binding, &home);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_command_counts() {
        for (prompt, command) in [
            ("/ralph:status", Some(SessionCommand::Status)),
            (" $ralph:cancel\n", Some(SessionCommand::Cancel)),
            ("/ralph:cancel now", None),
            ("ralph:status", None),
            ("what does /ralph:status do?", None),
            ("", None),
        ] {
            assert_eq!(typed(prompt), command, "{prompt}");
        }
    }
}
