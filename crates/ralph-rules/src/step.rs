//! What may be begun in the world. Each step is recorded before it is begun, is safe to begin twice (except
//! `Call`, which is recovered instead) and closes with exactly one fact.

use crate::money::Micro;
use crate::record::{Attempt, Check, FileRef, Limits, Ms, Violation};
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
        /// A person wants it tried now, whatever other runs know of the provider.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anyway: bool,
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
        /// Tell when usage plus two of the dearest turns passes this.
        tell_spend_from: Micro,
        /// Tell when it has been silent this long.
        tell_silence_after: Ms,
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
    /// Look at the workspace. Closes with `Inspected`.
    Inspect {
        /// The tree before the call.
        #[serde(with = "crate::record::tree_id")]
        before: u128,
    },
    /// Put protected paths back. Closes with `Restored`.
    Restore {
        /// Which ones.
        paths: Vec<Violation>,
    },
    /// Run the user's commands. Closes with `Verified`.
    Verify {
        /// Which verification.
        check: Check,
        /// Each command's deadline.
        deadline: Ms,
    },
    /// Find out what became of a call that was open when ralph died. Closes with `CallEnded` or `CallLost`.
    Recover {
        /// Which call.
        id: Attempt,
        /// What was reserved for it.
        reserved: Micro,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_zero(n: &u32) -> bool {
    *n == 0
}
