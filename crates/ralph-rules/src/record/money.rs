//! Reservations and spend: what the ledger granted, refused and saw.

use super::{Attempt, Ms};
use crate::failure::Class;
use crate::money::{Micro, Usage};
use serde::{Deserialize, Serialize};

/// The ledger granted a reservation; the prompt is composed and the tree before the call is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// Reservation and attempt.
    pub id: Attempt,
    /// How much was reserved.
    pub grant: Micro,
    /// The composed prompt.
    pub prompt: FileRef,
    /// The tree right before the call: what differs from the last one is not the agent's.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// The mistake in the user's templates, if ralph's own had to be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_failed: Option<String>,
    /// The calendar day the call is charged to, in the user's time zone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub day: String,
    /// Why there is no snapshot of the workspace before this call, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_snapshot: Option<String>,
}

/// A file kept beside the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// Name within the run's folder.
    pub file: String,
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3, hex.
    pub hash: String,
    /// Bytes omitted in the middle because of the size limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Who said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refuser {
    /// The run's own cap.
    RunCap,
    /// The day's cap over all runs.
    DayCap,
    /// Calls per hour.
    CallsPerHour,
    /// Tokens per hour.
    TokensPerHour,
    /// The provider is known to be down or limited.
    Provider,
    /// Too little free disk.
    Disk,
    /// The database is no longer where it was.
    Store,
    /// A person asked to stop before the reservation was made.
    Person,
}

/// A reservation or an extension was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Who refused.
    pub by: Refuser,
    /// What stood on the meter.
    pub total: i64,
    /// Its limit.
    pub cap: i64,
    /// When it may be granted, where known.
    pub until: Option<Ms>,
    /// What exactly was wrong, for the refusals that need words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// How the provider fails, if it was refused for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
}

impl Refused {
    /// Nothing can be recorded safely any more.
    pub fn is_unsafe(&self) -> bool {
        matches!(self.by, Refuser::Disk | Refuser::Store)
    }

    /// Who refused, in words.
    pub fn words(&self) -> String {
        match self.by {
            Refuser::RunCap => "the run's budget does not allow another call".into(),
            Refuser::DayCap => "today's budget does not allow another call".into(),
            Refuser::CallsPerHour => "too many calls in the last hour".into(),
            Refuser::TokensPerHour => "too many tokens in the last hour".into(),
            Refuser::Provider => self.class.map_or("the provider is busy", |class| class.words()).into(),
            Refuser::Disk | Refuser::Store => self.what.clone(),
            Refuser::Person => "a person asked to stop".into(),
        }
    }

    /// The step was interrupted: a person asked to stop.
    pub fn by_person() -> Refused {
        Refused::unsafe_now(Refuser::Person, String::new())
    }

    /// Refused because something is wrong here, in these words.
    pub fn unsafe_now(by: Refuser, what: String) -> Refused {
        Refused { by, total: 0, cap: 0, until: None, what, class: None }
    }
}

/// What all runs have spent or reserved on a calendar day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaySpend {
    /// The day in the user's zone, such as `2026-11-15`.
    pub date: String,
    /// How much, this call included.
    pub spent: Micro,
}

/// A reservation was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extended {
    /// To this much in all.
    pub to: Micro,
}

/// Usage seen in the running call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Cost so far.
    pub total: Micro,
    /// The most expensive model turn so far.
    pub dearest: Micro,
    /// Tokens so far.
    pub usage: Usage,
}
