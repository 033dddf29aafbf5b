//! Errors that the caller has decided to live with.

use std::fmt::Display;

/// Takes the place of `let _ =` where the error may explain something later: a file that stayed, a process that could
/// not be signalled, a copy that was not made.
pub trait Discard {
    /// Continues without the result. A failure is logged as a warning; `what` says what was attempted.
    fn discard(self, what: &str);
}

impl<T, E: Display> Discard for Result<T, E> {
    fn discard(self, what: &str) {
        if let Err(error) = self {
            tracing::warn!(%error, "failed: {what}");
        }
    }
}
