//! Which records are worth a note to somebody who is not watching, and why the run is where it is, in ralph's own words.
//! A note follows from one record alone, so that a run that is resumed, rebuilt or replayed never repeats one. What an
//! agent, a command or a file says is not part of a note: it may leave the machine.

use crate::ending::{Ending, Reason, Status};
use crate::guard::time::Moment;
use crate::next::{Next, next};
use crate::objection::Objection;
use crate::policy::MINUTE;
use crate::record::{Decision, Fact, Ms, Record, Seen};
use crate::state::{Phase, State};

/// Waiting is worth a note from this time on, over all waits until the provider answers again.
const NOTABLE_WAIT: Ms = 10 * MINUTE;
/// A single wait that is worth a note even if an earlier one was noted.
const LONG_WAIT: Ms = 60 * MINUTE;

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A run started.
    Started,
    /// A run completed.
    Completed,
    /// A run stopped: a limit, a failure, or a signal that nobody typed.
    Stopped,
    /// A run needs a person's decision.
    Blocked,
    /// A run waits for a provider or a rate limit for a notable time.
    Waiting,
    /// A limit is close.
    Budget,
    /// A run's process is gone and wrote no ending. Not a record: noted by whoever sees it.
    Crashed,
}

impl Event {
    /// Every event.
    pub const ALL: [Event; 7] = [
        Event::Started,
        Event::Completed,
        Event::Stopped,
        Event::Blocked,
        Event::Waiting,
        Event::Budget,
        Event::Crashed,
    ];

    /// The name in the configuration and for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Event::Started => "started",
            Event::Completed => "completed",
            Event::Stopped => "stopped",
            Event::Blocked => "blocked",
            Event::Waiting => "waiting",
            Event::Budget => "budget",
            Event::Crashed => "crashed",
        }
    }

    /// The event of this name.
    pub fn of(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// A record that is worth a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub event: Event,
    /// The record.
    pub seq: u64,
    /// When.
    pub at: Ms,
    /// Why, in ralph's own words.
    pub why: String,
    /// When a wait ends.
    pub until: Option<Ms>,
}

/// The note that a record is worth, if any. `state` has every fact up to the record applied, and no decision that
/// follows it.
pub fn notice(state: &State, record: &Record) -> Option<Notice> {
    let note = |event, why: String, until| Some(Notice { event, seq: record.seq, at: record.at, why, until });
    match &record.fact {
        Fact::Seen(Seen::RunStarted(_)) => note(Event::Started, "the run has started".into(), None),
        // A person or the clock does not begin a wait: it was noted when it began, maybe by another process.
        Fact::Seen(Seen::Asked(_) | Seen::Woke | Seen::Resumed(_)) => None,
        Fact::Seen(Seen::PolicyChanged(_) | Seen::CallsFound(_)) => None,
        Fact::Seen(_) => wait(state).and_then(|(why, until)| note(Event::Waiting, why, Some(until))),
        Fact::Decided(Decision { next: Next::Exit(ending), reasons }) => {
            note(at_end(ending)?, why(ending, reasons), None)
        }
        Fact::Decided(Decision { reasons, .. }) => {
            // A later decision repeats an alert, for the prompt.
            let new = |o: &&Objection| o.is_alert() && !state.alerts.was_reported(o);
            let near: Vec<String> = reasons.iter().filter(new).map(Objection::say).collect();
            if near.is_empty() { None } else { note(Event::Budget, near.join("; "), None) }
        }
    }
}

/// What an ending is noted as. Nobody is told what they just did themselves: Ctrl-C, `ralph stop` and `ralph accept`.
/// SIGTERM and SIGHUP also come from a shutdown or a closed terminal, so they are noted.
pub fn at_end(ending: &Ending) -> Option<Event> {
    match ending.reason {
        Reason::Accepted => None,
        Reason::Interrupted => ending.outside_signal().map(|_| Event::Stopped),
        Reason::Blocked
        | Reason::NeedsReview
        | Reason::OracleChanged
        | Reason::ProhibitedPath
        | Reason::PermissionDenied => Some(Event::Blocked),
        _ if ending.status() == Status::Completed => Some(Event::Completed),
        _ => Some(Event::Stopped),
    }
}

/// The wait that begins now, if it is worth a note: why, and until when. Short waits that follow each other count
/// together, so an outage is noted once, when it has lasted for a while.
fn wait(state: &State) -> Option<(String, Ms)> {
    let (since, first, why) = match &state.phase {
        Phase::Refused(refused) => {
            let class = refused.class.map(|class| class.words().to_owned());
            let first = state.faults.waiting_since.filter(|_| class.is_some());
            let window = || format!("{} of {} used in the last hour", refused.total, refused.cap);
            (state.refused_at, first.unwrap_or(state.refused_at), class.unwrap_or_else(window))
        }
        Phase::Ready | Phase::Inspected | Phase::Judging => {
            let fault = state.faults.last.as_ref()?;
            let since = Moment { at: fault.at, ran: fault.ran };
            (since, state.faults.waiting_since.unwrap_or(since), fault.class.words().to_owned())
        }
        _ => return None,
    };
    let Next::Wait { wake } = next(state).next else { return None };
    let until = wake.at?;
    let was_notable = since.at.saturating_sub(first.at) >= NOTABLE_WAIT;
    let is_notable = until.saturating_sub(first.at) >= NOTABLE_WAIT;
    let is_long = until.saturating_sub(since.at) >= LONG_WAIT;
    (is_long || is_notable && !was_notable).then_some((why, until))
}

/// Why a run ended, without anything that an agent, a command or a file says.
pub fn why(ending: &Ending, reasons: &[Objection]) -> String {
    if ending.outside_signal().is_some() {
        return ending.why(reasons);
    }
    let own: Vec<String> = reasons.iter().filter(|o| is_own_words(o)).map(Objection::say).collect();
    if own.is_empty() { by_reason(ending).into() } else { own.join("; ") }
}

/// Whether `say` has only numbers and words of ralph's own.
fn is_own_words(objection: &Objection) -> bool {
    use Objection as O;
    matches!(
        objection,
        O::ClaimAndProof { .. }
            | O::ClaimUnverified { .. }
            | O::SignalsRunning { .. }
            | O::ProofAlone
            | O::PlanComplete { .. }
            | O::NothingToDo
            | O::TestsShowWork { .. }
            | O::NothingShowsWork
            | O::NothingToShow { .. }
            | O::GreenWithoutWork
            | O::NothingDiffers
            | O::GreenOutsideRoom
            | O::GradeBelow { .. }
            | O::Flaky
            | O::RestoreLimit { .. }
            | O::NoProgress { .. }
            | O::TestOnly { .. }
            | O::OutputDecline { .. }
            | O::WaitTooLong { .. }
            | O::NoWait { .. }
            | O::RateWindow { .. }
            | O::CostReached { .. }
            | O::DayReached { .. }
            | O::IterationsReached { .. }
            | O::TimeReached { .. }
            | O::StoriesComplete { .. }
    )
}

/// The same for endings whose reasons repeat what others say.
fn by_reason(ending: &Ending) -> &'static str {
    match ending.reason {
        Reason::GatePassed | Reason::CompletionSignals if ending.verified => {
            "the agent says it is done and verification passed"
        }
        Reason::GatePassed | Reason::CompletionSignals => "the agent says it is done; nothing verified it",
        Reason::AlreadyComplete => "there was nothing to do",
        Reason::Accepted => "accepted by a person",
        Reason::MaxIterations => "all iterations are used",
        Reason::CostLimit => "the cost limit is reached",
        Reason::DailyBudget => "the daily budget is reached",
        Reason::TimeLimit => "the time limit is reached",
        Reason::Stall => "no progress",
        Reason::SameError5x => "the same error again and again",
        Reason::TestSaturation => "only tests changed",
        Reason::OutputDecline => "the final messages shrank",
        Reason::CircuitOpen => "the breaker of the workspace is open",
        Reason::PermissionDenied => "the agent was denied tools that it needs",
        Reason::Blocked => "the agent needs an answer",
        Reason::ProhibitedPath => "protected paths were changed",
        Reason::OracleChanged => "verification passes only with the changed tests",
        Reason::NeedsReview => "a person has to decide whether the work is right",
        Reason::RateLimit => "the provider's limit lasts longer than ralph waits",
        Reason::AgentUnavailable => "the agent cannot be used",
        Reason::Interrupted => "a person stopped it",
        Reason::BaselineTimedOut => "verification timed out before the agent had done anything",
        Reason::VerifyCannotRun => "a verify command cannot run",
        Reason::StoreUnsafe => "the disk is nearly full, or the database is gone",
        Reason::WorkspaceLost => "the workspace was moved, unmounted or deleted",
        Reason::WorkspaceUnwritable => "the workspace cannot be written",
        Reason::PlanUnusable => "the plan cannot be used",
    }
}
