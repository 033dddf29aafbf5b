//! What a person asked for, from the keyboard, a signal or another terminal.

use serde::{Deserialize, Serialize};

/// A person asked for something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What.
    pub request: Request,
}

/// What a person may ask of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Request {
    /// End the run, resumable.
    Stop {
        /// Let the iteration finish first.
        after: bool,
        /// The signal that asked (2, 15, 1); `ralph stop` counts as 2.
        signal: i32,
    },
    /// Hold before the next call.
    Pause,
    /// Go on; also ends a wait.
    Continue,
    /// The work is accepted as it is: a person has looked at what needs a review.
    Accept,
    /// Words for the next prompt.
    Hint {
        /// The words.
        text: String,
    },
}
