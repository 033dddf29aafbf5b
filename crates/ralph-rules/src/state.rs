//! The state of a run: a fold over its records. Each part keeps its own counters; `apply` passes every record to the parts
//! it concerns. Thresholds are not known here; `next.rs` compares the state with the policy and decides.

mod apply;
mod calls;
mod checks;
mod closing;
mod first_error;
mod person;
mod proof;
mod recent;
mod reviews;
mod stories;
mod tasks;
mod trees;

pub use calls::Calls;
pub use checks::Checks;
pub use first_error::FirstError;
pub use person::Person;
pub use proof::{ProofState, RoomRun};
pub use recent::{IterationSummary, RecentIterations};
pub use reviews::{Review, Reviews};
pub use stories::{GrantedStory, Stories};
pub use tasks::Tasks;
pub use trees::Trees;

use crate::breaker::Circuit;
use crate::claim::Claim;
use crate::claim_check::ClaimCheck;
use crate::failure::Faults;
use crate::gate::Signals;
use crate::guard::alerts::Alerts;
use crate::guard::budget::Budget;
use crate::guard::decline::Decline;
use crate::guard::denials::Denials;
use crate::guard::repeat::Repeat;
use crate::guard::saturation::Saturation;
use crate::guard::stall::Stall;
use crate::guard::time::Moment;
use crate::ladder::Ladder;
use crate::objection::Objection;
use crate::record::*;
use std::collections::BTreeSet;

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// When the last record was written.
    pub at: Ms,
    /// Active time at the last record.
    pub ran: Ms,
    /// When the run began.
    pub started_at: Ms,
    /// The last record's position.
    pub seq: u64,
    /// What the run was given.
    pub start: Option<Box<RunStarted>>,
    /// What is under way.
    pub phase: Phase,
    /// Iterations and attempts.
    pub calls: Calls,
    /// The workspace as seen.
    pub trees: Trees,
    /// Verification results.
    pub checks: Checks,
    /// The proof of the current files.
    pub proof: ProofState,
    /// What reviewers said.
    pub reviews: Reviews,
    /// The bound plan.
    pub tasks: Tasks,
    /// What the last call claimed.
    pub claim: Claim,
    /// How the claims of the last iteration compare with what ralph observed.
    pub claim_check: ClaimCheck,
    /// The last iterations' claims, for the gate.
    pub signals: Signals,
    /// Failed calls.
    pub faults: Faults,
    /// Requests of people.
    pub person: Person,
    /// The run's money.
    pub budget: Budget,
    /// Iterations without progress.
    pub stall: Stall,
    /// The same error again.
    pub repeat: Repeat,
    /// When that error was seen first.
    pub first_error: Option<FirstError>,
    /// Only tests touched.
    pub saturation: Saturation,
    /// Shrinking answers.
    pub decline: Decline,
    /// Refused tools.
    pub denials: Denials,
    /// Who works: the rung of the ladder.
    pub ladder: Ladder,
    /// What the last iterations did.
    pub recent: RecentIterations,
    /// The breaker's changes.
    pub circuit: Circuit,
    /// Limits that came near.
    pub alerts: Alerts,
    /// What the latest judgement objected to: for the next prompt.
    pub objections: Vec<Objection>,
    /// When a reservation was refused last.
    pub refused_at: Moment,
    /// Why the workspace cannot be worked in, if it cannot.
    pub unusable: Option<WorkspaceUnusable>,
    /// How far the clock was found behind an earlier record, at most.
    pub clock_behind: Option<Ms>,
    /// How the run, or this process's part of it, ended.
    pub ending: Option<crate::ending::Ending>,

    /// A session that somebody else started does the work.
    pub in_session: bool,
    /// How far its transcripts were read.
    pub session_mark: SessionMark,
    /// The stories of the plan, if they are taken one by one.
    pub stories: Stories,
    /// What the sandbox refused, or could not do, so far.
    pub sandbox: SandboxSeen,
}

/// What is under way. A step that was begun stays in its phase until the record that closes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// No record yet.
    #[default]
    NotStarted,
    /// An iteration may begin.
    Ready,
    /// A reservation was requested.
    Admitting {
        /// A person asked to stop, and the step was told.
        interrupted: bool,
    },
    /// It was granted.
    Admitted,
    /// It was refused.
    Refused(Refused),
    /// The agent works.
    Calling {
        /// Active time when it began.
        since: Ms,
        /// The reservation is being raised.
        extending: bool,
    },
    /// The agent was told to stop; its remaining output is still read.
    Ending,
    /// ralph was killed while the agent worked.
    Lost,
    /// The result of that call is being recovered.
    Recovering,
    /// The call ended.
    Answered,
    /// The workspace is being inspected.
    Inspecting,
    /// It was inspected.
    Inspected,
    /// Protected paths are being restored. Verification is repeated afterwards, unless only tools changed them while it ran.
    Restoring {
        /// The verdict is next.
        judged: bool,
    },
    /// The changes since the baseline are being split.
    Comparing,
    /// The verify commands run.
    Verifying(Check),
    /// Hunks of the change are put back, to see which ones a check notices.
    Mapping,
    /// The iteration is complete; the verdict is next.
    Judging,
    /// The plan is being read, and ticked where a story was granted.
    Planning,
    /// The run is over for good.
    Over,
}

impl State {
    /// The last record's moment.
    pub fn now(&self) -> Moment {
        Moment { at: self.at, ran: self.ran }
    }

    /// Who is called, or was called last: the reviewer during a review, otherwise the agent of the current rung.
    pub fn caller<'s>(&self, start: &'s RunStarted) -> &'s AgentChoice {
        start.caller(self.ladder.rung, self.reviews.under_way())
    }

    /// Whether this call is a review, made or under way.
    pub fn is_review(&self, id: Attempt) -> bool {
        self.reviews.has(id) || self.reviews.under_way() && self.calls.id == id
    }

    /// Whether there is anything to verify with.
    pub fn verifies(&self) -> bool {
        self.commands().next().is_some()
    }

    /// The verify commands that apply now: the run's, those of the stories that were granted, so that no later story
    /// breaks them, and those of the story that is worked on. A story repeats no command of before it.
    pub fn commands(&self) -> impl Iterator<Item = &String> {
        let run = self.start.iter().flat_map(|start| &start.verify);
        let current = self.stories.current.iter().flat_map(|story| &story.verify);
        let granted = self.stories.granted.iter().flat_map(|story| &story.verify);
        let mut seen: BTreeSet<&String> = run.clone().collect();
        run.chain(granted.chain(current).filter(move |command| seen.insert(*command)))
    }
}
