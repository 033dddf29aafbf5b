//! The error that the last iteration ended with, as it was when it was seen first: for the prompt. Whether it is the same
//! error is the guard's judgement (`guard/repeat.rs`).

use crate::fingerprint::Fingerprint;

/// The first of several iterations in a row that ended with the same error.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstError {
    /// The error's fingerprint.
    pub hash: String,
    /// What was printed then, bounded.
    pub output: String,
}

impl FirstError {
    /// How much of a final message is kept, from its end. A verification's output is cut when it is recorded.
    pub(super) const MESSAGE_BYTES: usize = 4 * 1024;
}

/// What was printed with this error first, after one more iteration closed; `output` is only needed for another error.
pub(super) fn since(
    before: Option<FirstError>,
    error: Option<&Fingerprint>,
    output: impl FnOnce() -> String,
) -> Option<FirstError> {
    let error = error?;
    before.filter(|first| first.hash == error.hash).or_else(|| {
        let hash = error.hash.clone();
        Some(FirstError { hash, output: output() })
    })
}
