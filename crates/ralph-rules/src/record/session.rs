//! Runs whose agent is a session that somebody else started: which session, and how far its transcripts were read.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The session that does the work of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionGiven {
    /// The client, by the name of its agent.
    pub client: String,
    /// The session's id; a fork of it has another one.
    pub id: String,
    /// Where the client writes the session's transcript.
    pub transcript: String,
    /// The session's process when the run began; 0 if it was not found.
    pub pid: u32,
    /// When that process began; with its id this names one process for good.
    pub began: u64,
    /// How far the transcripts had been written: what was said before the run is not charged to it.
    pub mark: SessionMark,
}

impl SessionGiven {
    /// No session.
    pub const NONE: SessionGiven = SessionGiven {
        client: String::new(),
        id: String::new(),
        transcript: String::new(),
        pid: 0,
        began: 0,
        mark: SessionMark { read: BTreeMap::new(), totals: None, carry: 0 },
    };
}

/// How far the transcripts of a session were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionMark {
    /// Bytes read of each transcript, the subagents' included.
    pub read: BTreeMap<String, u64>,
    /// The totals that a transcript reported last, if the client writes totals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<crate::money::Usage>,
    /// Millionths of a micro-dollar that were used and are not charged yet; below zero if too much was.
    #[serde(skip_serializing_if = "is_zero")]
    pub carry: i64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_zero(n: &i64) -> bool {
    *n == 0
}
