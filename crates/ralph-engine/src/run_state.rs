//! The state a run is in. The read model's rows, `list`, `status`, `logs` and the views all ask here, so that they agree.

use ralph_rules::ending::{Status, outside_signal};
use ralph_rules::next::{Next, next};
use ralph_rules::record::Ms;
use ralph_rules::state::{Phase, State};
use ralph_rules::step::Step;

/// The state a run is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// An agent or ralph itself works on it.
    Running,
    /// Its work is being verified or proven.
    Verifying,
    /// A person asked to stop it now, and what is under way is being ended.
    Stopping,
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
    /// A session that somebody else started works on it; the client's hooks continue it.
    InSession,
}

impl RunState {
    /// The state that the journal tells. Whether the process is still there is not in a journal: see [`RunState::alive`].
    pub fn of(state: &State) -> RunState {
        if let Some(ending) = state.ending {
            return RunState::Ended(ending.status());
        }
        if is_being_stopped(state) {
            return RunState::Stopping;
        }
        match state.phase {
            Phase::Verifying(_) | Phase::Mapping | Phase::Comparing => return RunState::Verifying,
            _ if !is_between_steps(state) => return RunState::Running,
            _ => {}
        }
        match next(state).next {
            Next::Wait { wake } if wake.at.is_some() => RunState::Waiting { until: wake.at },
            Next::Wait { .. } if state.person.paused => RunState::Paused,
            _ => RunState::Running,
        }
    }

    /// The state once this is decided, before the decision is applied.
    pub fn after(state: &State, decided: &Next) -> RunState {
        match decided {
            Next::Exit(ending) => RunState::Ended(ending.status()),
            _ if is_being_stopped(state) => RunState::Stopping,
            Next::Do(Step::Verify { .. } | Step::Map { .. } | Step::Compare) => RunState::Verifying,
            Next::Do(_) => RunState::Running,
            Next::Interrupt(_) | Next::Wait { .. } => RunState::of(state),
        }
    }

    /// The state with its process looked at: an open run that no process works on has crashed, unless a person asked it
    /// to stop and then ended it by force.
    pub fn alive(self, alive: bool) -> RunState {
        match self {
            RunState::Stopping if !alive => RunState::Ended(Status::Interrupted),
            open if open.is_open() && !alive => RunState::Crashed,
            known => known,
        }
    }

    /// All of them; a wait without its end.
    pub const ALL: [RunState; 11] = [
        RunState::Running,
        RunState::Verifying,
        RunState::Stopping,
        RunState::Waiting { until: None },
        RunState::Paused,
        RunState::Crashed,
        RunState::InSession,
        RunState::Ended(Status::Completed),
        RunState::Ended(Status::Aborted),
        RunState::Ended(Status::Error),
        RunState::Ended(Status::Interrupted),
    ];

    /// The state behind a name that [`RunState::name`] gave.
    pub fn named(name: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// The name that scripts read.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running => "RUNNING",
            RunState::Verifying => "VERIFYING",
            RunState::Stopping => "STOPPING",
            RunState::Waiting { .. } => "WAITING",
            RunState::Paused => "PAUSED",
            RunState::Crashed => "CRASHED",
            RunState::InSession => "IN_SESSION",
            RunState::Ended(status) => status.name(),
        }
    }

    /// Neither ended nor crashed.
    pub fn is_open(self) -> bool {
        !matches!(self, RunState::Ended(_) | RunState::Crashed)
    }
}

/// Whether nothing is under way, so that what comes next may be a wait.
pub fn is_between_steps(state: &State) -> bool {
    matches!(state.phase, Phase::Ready | Phase::Inspected | Phase::Judging | Phase::Refused(_))
}

/// Whether a person asked to stop now. After a shutdown's signal a run works until it has ended: one that is killed before
/// has crashed, and was not stopped by a person.
fn is_being_stopped(state: &State) -> bool {
    state.person.stop.is_some_and(|signal| outside_signal(signal).is_none())
}
