//! What a board has seen since it was asked last: changes, never everything.

use crate::activity_line::ActivityLine;
use crate::card::Card;
use ralph_rules::record::{Attempt, Ms};
use ralph_store::Position;
use serde::Serialize;

/// What is new.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// The newest record that was seen.
    pub position: Position,
    /// Every new record once, in the store's order.
    pub records: Vec<RecordSeen>,
    /// Every run that changed, as it is after its last record.
    pub changes: Vec<CardChange>,
    /// What agents said and did in calls under way.
    pub activity: Vec<RunActivity>,
    /// Everything has to be read again: too much happened, or this is another database.
    pub reset: bool,
    /// Why the database cannot be read now.
    pub trouble: Option<String>,
}

impl News {
    /// Nothing happened.
    pub fn is_empty(&self) -> bool {
        let News { position: _, records, changes, activity, reset, trouble } = self;
        records.is_empty() && changes.is_empty() && activity.is_empty() && !reset && trouble.is_none()
    }
}

/// One record of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordSeen {
    /// Where it stands among all records of the store.
    pub position: Position,
    /// Its run.
    pub run: String,
    /// Its number in the run.
    pub seq: u64,
    /// When it was written, UTC milliseconds.
    pub at: Ms,
    /// What kind of record it is.
    pub kind: String,
}

/// A run that changed: its card with only the latest bar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardChange {
    /// The newest record that the card knows of.
    pub position: Position,
    /// The card; its strip has only the latest bar.
    #[serde(flatten)]
    pub card: Card,
}

impl CardChange {
    /// Of a card as it is at this position.
    pub fn of(mut card: Card, position: Position) -> CardChange {
        let earlier = card.strip.bars.len().saturating_sub(1);
        card.strip.bars.drain(..earlier);
        CardChange { position, card }
    }
}

/// What the agent does, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doing {
    /// In words.
    pub text: String,
    /// UTC milliseconds, where it is known.
    pub since: Option<Ms>,
}

/// The call whose lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShownCall {
    /// The iteration and the attempt in it.
    #[serde(flatten)]
    pub id: Attempt,
    /// A review of the iteration's work, not a call of the agent.
    pub review: bool,
}

/// What an agent said and did in the call under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunActivity {
    /// The run.
    pub run: String,
    /// The call that the lines are of.
    #[serde(flatten)]
    pub call: ShownCall,
    /// New lines; a tool that ended comes again under its number.
    pub lines: Vec<ActivityLine>,
    /// What it does now.
    pub doing: Option<Doing>,
    /// Micro-dollars seen in the call so far, where they can be told.
    pub live_micro: Option<i64>,
}
