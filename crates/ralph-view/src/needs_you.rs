//! Whether a run needs a person. Pure; `card.rs` supplies the facts.

use ralph_engine::run_state::RunState;
use ralph_rules::ending::Status;

/// What is known of a run besides its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// A later run was started in the same workspace: whoever started it has seen this one.
    pub superseded: bool,
    /// A person put it away, and it has not changed since.
    pub put_away: bool,
    /// A signal ended it that no person's stop sends: a shutdown, a logout, a closed terminal.
    pub by_signal: bool,
}

/// Whether anybody has to look at the run: it ended otherwise than completed or by a person, or it crashed; nothing newer
/// is in its workspace; nobody put it away.
pub fn needs_you(state: RunState, standing: Standing) -> bool {
    let stuck = match state {
        RunState::Crashed | RunState::Ended(Status::Aborted | Status::Error) => true,
        RunState::Ended(Status::Interrupted) => standing.by_signal,
        RunState::Ended(Status::Completed) => false,
        RunState::Running
        | RunState::Verifying
        | RunState::Stopping
        | RunState::Waiting { .. }
        | RunState::Paused
        | RunState::InSession => false,
    };
    stuck && !standing.superseded && !standing.put_away
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ended_by_itself_and_was_not_seen_since_needs_somebody() {
        let stuck = [RunState::Crashed, RunState::Ended(Status::Aborted), RunState::Ended(Status::Error)];
        let fine = [
            RunState::Running,
            RunState::Verifying,
            RunState::Stopping,
            RunState::Waiting { until: None },
            RunState::Waiting { until: Some(1) },
            RunState::Paused,
            RunState::InSession,
            RunState::Ended(Status::Completed),
            RunState::Ended(Status::Interrupted),
        ];
        let seen = [(false, false, true), (true, false, false), (false, true, false), (true, true, false)];
        for (superseded, put_away, needed) in seen {
            let standing = Standing { superseded, put_away, by_signal: false };
            let killed = Standing { by_signal: true, ..standing };
            assert_eq!(needs_you(RunState::Ended(Status::Interrupted), killed), needed, "{killed:?}");
            assert!(!needs_you(RunState::Ended(Status::Completed), killed));
            for state in stuck {
                assert_eq!(needs_you(state, standing), needed, "{state:?} {standing:?}");
            }
            for state in fine {
                assert!(!needs_you(state, standing), "{state:?} {standing:?}");
            }
        }
    }
}
