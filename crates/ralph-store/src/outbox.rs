//! The outbox: notes about runs that are to be delivered to somebody. A row is written in the commit of the record that
//! it is about, so that none is lost; whoever is there delivers it under a lease, so that no two processes do it at once.
//! A row names its target by an id: addresses and secrets are not stored here.

use serde::{Deserialize, Serialize};

/// A lease that ends later than this after now was given before the clock was set back; it no longer counts.
pub const LONGEST_LEASE: i64 = 10 * 60 * 1_000;

/// A row that is due later than this after now was scheduled before the clock was set back; it is due.
pub const LONGEST_DELAY: i64 = 2 * 24 * 60 * 60 * 1_000;

/// A note about something that happens later than this after now was written before the clock was set back; it is due,
/// unless it waits for another attempt or for the end of quiet hours. One that is less far ahead is due that soon.
pub const LONGEST_AHEAD: i64 = 60 * 1_000;

/// One note for one target, as it is written. An id that is there already is left as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxRow {
    /// Made of run, record number, event and target, so that the same note is written once.
    pub id: String,
    /// The run it is about.
    pub run: String,
    /// The record it is about.
    pub seq: u64,
    /// What happened, by name.
    pub event: String,
    /// The target's id.
    pub target: String,
    /// When it happened, UTC milliseconds.
    pub at: i64,
    /// When it may be delivered, UTC milliseconds.
    pub due: i64,
    /// Rows of a target with the same word here are delivered as one message.
    pub digest: Option<String>,
    /// What to say, as JSON text that this crate never reads.
    pub body: String,
}

/// What became of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutboxState {
    /// To be delivered.
    #[default]
    Pending,
    /// Delivered; for a target that is never tried twice: handed over.
    Sent,
    /// Given up.
    Failed,
    /// Not delivered on purpose: the target no longer exists, or wants nothing more.
    Dropped,
}

impl OutboxState {
    /// The name that is stored and that scripts read.
    pub fn name(self) -> &'static str {
        match self {
            OutboxState::Pending => "pending",
            OutboxState::Sent => "sent",
            OutboxState::Failed => "failed",
            OutboxState::Dropped => "dropped",
        }
    }

    /// The state behind a stored name. One that this version does not know is nothing to deliver.
    pub fn named(name: &str) -> OutboxState {
        let all = [OutboxState::Pending, OutboxState::Sent, OutboxState::Failed];
        all.into_iter().find(|state| state.name() == name).unwrap_or(OutboxState::Dropped)
    }
}

/// A row with what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxEntry {
    /// The row; `due` is the next attempt.
    pub row: OutboxRow,
    /// What became of it.
    pub state: OutboxState,
    /// Failed attempts so far.
    pub attempts: u32,
    /// When something last became of it, UTC milliseconds.
    pub tried: Option<i64>,
    /// What the last attempt answered.
    pub answer: Option<String>,
    /// Who delivers it, or did last.
    pub owner: Option<String>,
    /// Until when nobody else may.
    pub leased_until: Option<i64>,
}

impl OutboxEntry {
    /// Whether it is to be delivered and nobody does.
    pub fn can_be_leased(&self, now: i64, not_tried_since: Option<i64>) -> bool {
        let again = not_tried_since.is_some_and(|moment| {
            self.waits_for_quiet_hours() || self.attempts > 0 && self.tried < Some(moment)
        });
        let fresh = self.attempts == 0 && self.row.digest.is_none();
        let due = again
            || self.row.due <= now
            || self.row.due > now.saturating_add(LONGEST_DELAY)
            || fresh && self.row.at > now.saturating_add(LONGEST_AHEAD);
        self.state == OutboxState::Pending && due && !self.is_leased(now)
    }

    /// Whether somebody delivers it now.
    pub fn is_leased(&self, now: i64) -> bool {
        self.leased_until.is_some_and(|until| until > now && until <= now.saturating_add(LONGEST_LEASE))
    }

    /// When it was closed; none if it is to be delivered.
    pub fn closed(&self) -> Option<i64> {
        (self.state != OutboxState::Pending).then(|| self.tried.unwrap_or(self.row.at))
    }

    /// Whether it was kept for the end of quiet hours and never tried.
    pub fn waits_for_quiet_hours(&self) -> bool {
        self.state == OutboxState::Pending && self.attempts == 0 && self.row.digest.is_some()
    }
}

/// A request for the next rows of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease<'a> {
    /// Names who asks; no two deliverers share a name.
    pub owner: &'a str,
    /// The target's id.
    pub target: &'a str,
    /// Now, UTC milliseconds.
    pub now: i64,
    /// Until when nobody else may deliver them.
    pub until: i64,
    /// Also rows that wait for another attempt or for the end of quiet hours, unless they were tried at this moment or
    /// later.
    pub not_tried_since: Option<i64>,
}

/// What became of leased rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Delivered.
    Sent,
    /// Failed; to be tried again at this moment.
    Retry(i64),
    /// Failed for good.
    Failed,
    /// Not to be delivered.
    Dropped,
}

impl Delivery {
    /// The state after it.
    pub(crate) fn state(&self) -> OutboxState {
        match self {
            Delivery::Sent => OutboxState::Sent,
            Delivery::Retry(_) => OutboxState::Pending,
            Delivery::Failed => OutboxState::Failed,
            Delivery::Dropped => OutboxState::Dropped,
        }
    }

    /// Whether it counts as a failed attempt.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Delivery::Retry(_) | Delivery::Failed)
    }
}

/// Which rows to list: in the order in which they are due; those that are closed, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxFilter {
    /// Only rows in this state.
    pub state: Option<OutboxState>,
    /// Only this target.
    pub target: Option<String>,
    /// Only this run.
    pub run: Option<String>,
    /// At most this many.
    pub limit: Option<u32>,
}
