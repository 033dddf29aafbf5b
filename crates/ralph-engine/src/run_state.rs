//! The state a run is in. The read model's rows, `list`, `status`, `logs` and the views all ask here, so that they agree.

use ralph_rules::ending::Status;
use ralph_rules::next::{Next, next};
use ralph_rules::record::Ms;
use ralph_rules::state::{Phase, State};

/// The state a run is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// An agent, a verification or ralph itself works on it.
    Running,
    /// It waits for a limit or an outage to pass; until when, where that is known.
    Waiting {
        /// The moment, UTC.
        until: Option<Ms>,
    },
    /// A person paused it.
    Paused,
    /// It ended.
    Ended(Status),
    /// Its process is gone and wrote no ending.
    Crashed,
}

impl RunState {
    /// The state that the journal tells. Whether the process is still there is not in a journal: see [`RunState::alive`].
    pub fn of(state: &State) -> RunState {
        if let Some(ending) = state.ending {
            return RunState::Ended(ending.status());
        }
        if !is_between_steps(state) {
            return RunState::Running;
        }
        match next(state).next {
            Next::Wait { wake } if wake.at.is_some() => RunState::Waiting { until: wake.at },
            Next::Wait { .. } if state.person.paused => RunState::Paused,
            _ => RunState::Running,
        }
    }

    /// The state with its process looked at: an open run that no process works on has crashed.
    pub fn alive(self, alive: bool) -> RunState {
        if self.is_open() && !alive { RunState::Crashed } else { self }
    }

    /// The state behind a name that [`RunState::name`] gave.
    pub fn named(name: &str) -> Option<RunState> {
        const STATES: [RunState; 8] = [
            RunState::Running,
            RunState::Waiting { until: None },
            RunState::Paused,
            RunState::Crashed,
            RunState::Ended(Status::Completed),
            RunState::Ended(Status::Aborted),
            RunState::Ended(Status::Error),
            RunState::Ended(Status::Interrupted),
        ];
        STATES.into_iter().find(|state| state.name() == name)
    }

    /// The name that scripts read.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running => "RUNNING",
            RunState::Waiting { .. } => "WAITING",
            RunState::Paused => "PAUSED",
            RunState::Crashed => "CRASHED",
            RunState::Ended(Status::Completed) => "COMPLETED",
            RunState::Ended(Status::Aborted) => "ABORTED",
            RunState::Ended(Status::Error) => "ERROR",
            RunState::Ended(Status::Interrupted) => "INTERRUPTED",
        }
    }

    /// Neither ended nor crashed.
    pub fn is_open(self) -> bool {
        matches!(self, RunState::Running | RunState::Waiting { .. } | RunState::Paused)
    }
}

/// Whether nothing is under way, so that what comes next may be a wait.
pub fn is_between_steps(state: &State) -> bool {
    matches!(state.phase, Phase::Ready | Phase::Inspected | Phase::Judging | Phase::Refused(_))
}
