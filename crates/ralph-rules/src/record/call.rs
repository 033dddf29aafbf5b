//! How a call of the agent ended. Each call that was begun has exactly one closing record.

use super::{Attempt, DaySpend, FileRef, Ms, SandboxSeen, SessionMark};
use crate::claim::ReportedStatus;
use crate::failure::Class;
use crate::money::{Micro, Usage};
use crate::next::Why;
use serde::{Deserialize, Serialize};

/// A call closed: by itself, or because ralph ended it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallEnded {
    /// Which attempt.
    pub id: Attempt,
    /// The final message, at most its last 64 KiB: the only text a claim is read from.
    pub text: String,
    /// Its true length.
    pub text_bytes: u64,
    /// The status fields of a JSON reply, of which the text is a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ReportedStatus>,
    /// Why the call failed, if it did.
    pub failure: Option<Failure>,
    /// Why ralph ended it, if it did.
    pub ended_by: Option<Why>,
    /// What it is charged.
    pub charged: Micro,
    /// How the amount is known.
    pub price: PriceFrom,
    /// Cost as the agent reported it, this call's part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Micro>,
    /// Cost by the price table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Micro>,
    /// Totals of the conversation, if it was continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ConversationTotals>,
    /// Tokens.
    pub usage: Usage,
    /// Conversation id.
    pub session: Option<String>,
    /// Model as the agent reported it.
    pub model: Option<String>,
    /// Tools it was refused.
    pub denials: Vec<String>,
    /// Exit code, where it exited.
    pub exit: Option<i32>,
    /// Signal, where one ended it.
    pub signal: Option<i32>,
    /// Processes that outlived the program and were ended.
    pub outlived: u32,
    /// How long the call took.
    pub ms: Ms,
    /// What the agent printed, as kept.
    pub transcript: FileRef,
    /// Found in the transcript after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
    /// Cost of the day over all runs, this call included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<DaySpend>,

    /// How far the transcripts of the session were read for this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_mark: Option<Box<SessionMark>>,
    /// What its sandbox refused, or could not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Box<SandboxSeen>>,
}

/// An agent's figures for a whole conversation, as reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationTotals {
    /// Cost.
    pub cost: Option<Micro>,
    /// Tokens.
    pub usage: Usage,
}

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceFrom {
    /// The agent reported it.
    Reported,
    /// Computed from tokens and the price table.
    Computed,
    /// Ralph ended the call: counted as what was seen until then. The turn that was under way is not in it.
    Seen,
    /// Unknown: counted as the reservation.
    Unpriced,
}

impl PriceFrom {
    /// Whether the amount is the call's real cost; otherwise it is shown with a `~`.
    pub fn is_exact(self) -> bool {
        matches!(self, PriceFrom::Reported | PriceFrom::Computed)
    }
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The class, which decides what follows.
    pub class: Class,
    /// The agent's own words, shortened.
    pub message: String,
    /// When it may work again, UTC.
    pub reset_at: Option<Ms>,
}

/// A call was running when ralph was killed, and its transcript has no final event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallLost {
    /// Which attempt.
    pub id: Attempt,
    /// Booked: the larger of the reservation and the usage seen in the transcript.
    pub charged: Micro,
    /// Tokens seen in the transcript.
    pub usage: Usage,
    /// Processes found alive and ended.
    pub outlived: u32,
    /// What is left of the transcript.
    pub transcript: FileRef,
}

/// The running call has printed nothing and no tool is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silent {
    /// For how long.
    pub ms: Ms,
}
