//! Steps: the actions a decision can start. Each is recorded before it begins, is safe to begin twice (except `Call`,
//! which is recovered instead) and closes with exactly one fact.

use crate::money::Micro;
use crate::record::{Attempt, Check, FileRef, Limits, Ms, StoryGrant, Violation};
use serde::{Deserialize, Serialize};

/// Every kind of step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Reserve money and a slot, compose the prompt. Closes with `Admitted` or `Refused`.
    Admit {
        /// Reservation and attempt.
        id: Attempt,
        /// How much to reserve.
        amount: Micro,
        /// Against what.
        limits: Limits,
        /// Which rung of the ladder the prompt is for: 0 is the agent the run began with.
        #[serde(default, skip_serializing_if = "is_zero")]
        rung: u32,
        /// The user wants a call now, whatever other runs know about the provider.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anyway: bool,
        /// For a review, which is no iteration.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        review: bool,
    },
    /// Call the agent. Closes with `CallEnded`, or `CallLost` after a crash.
    Call {
        /// Which attempt.
        id: Attempt,
        /// The prompt to send.
        prompt: FileRef,
        /// How many of the person's hints it carries.
        hints: u32,
        /// Which rung of the ladder: 0 is the agent the run began with.
        rung: u32,
        /// Report when usage plus two of the most expensive turns exceeds this.
        tell_spend_from: Micro,
        /// Report when there was no output for this long.
        tell_silence_after: Ms,
        /// The reviewer is called: it reads and changes nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        review: bool,
    },
    /// Raise the running call's reservation. Closes with `Extended` or `Refused`.
    Extend {
        /// Which reservation.
        id: Attempt,
        /// To how much in all.
        to: Micro,
        /// Against what.
        limits: Limits,
    },
    /// Inspect the workspace. Closes with `Inspected`.
    Inspect {
        /// The tree before the call.
        #[serde(with = "crate::record::tree_id")]
        before: u128,
    },
    /// Restore protected paths. Closes with `Restored`.
    Restore {
        /// Which ones.
        paths: Vec<Violation>,
    },
    /// Split the changes since the baseline into work, oracle and ambiguous. Closes with `Compared`.
    Compare,
    /// Run the user's commands. Closes with `Verified`.
    Verify {
        /// Which verification.
        check: Check,
        /// Each command's deadline.
        deadline: Ms,
    },
    /// Find out which hunks of the change a check notices. Closes with `Mapped`.
    Map {
        /// Longest time for all of it.
        time: Ms,
        /// Each command's deadline.
        deadline: Ms,
    },
    /// Recover the result of a call that was running when ralph was killed. Closes with `CallEnded` or `CallLost`.
    Recover {
        /// Which call.
        id: Attempt,
        /// What was reserved for it.
        reserved: Micro,
    },
    /// Tick the story that was granted, read the plan, take the next story. Closes with `Planned`.
    Plan {
        /// The story to tick.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<StoryGrant>,
        /// The story to set aside.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        aside: Option<String>,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_zero(n: &u32) -> bool {
    *n == 0
}
