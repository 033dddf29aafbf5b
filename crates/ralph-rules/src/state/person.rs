//! Requests from the user that are still open.

use crate::record::Request;

/// Open requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Person {
    /// Stop now; the signal that asked for it.
    pub stop: Option<i32>,
    /// Stop after the iteration; the signal that asked for it.
    pub stop_after: Option<i32>,
    /// Paused before the next call.
    pub paused: bool,
    /// Skip the current wait.
    pub skip_wait: bool,
    /// A person accepted the work.
    pub accepted: bool,
    /// Hints for the next prompt.
    pub hints: Vec<String>,
}

impl Person {
    /// `between`: no call is under way. Continuing during a call does not skip a wait that comes later.
    pub(crate) fn asked(&mut self, request: &Request, between: bool) {
        match request {
            Request::Stop { after: true, signal } => self.stop_after = Some(*signal),
            Request::Stop { signal, .. } => self.stop = Some(*signal),
            Request::Pause => self.paused = true,
            Request::Continue => {
                self.paused = false;
                self.skip_wait |= between;
            }
            Request::Accept => self.accepted = true,
            Request::Hint { text } => self.hints.push(text.clone()),
        }
    }

    /// Resuming a run withdraws earlier requests to stop or pause.
    pub(crate) fn resumed(&mut self) {
        self.stop = None;
        self.stop_after = None;
        self.paused = false;
        self.accepted = false;
    }

    /// A hint is used up when a call that included it ended without a provider failure.
    pub(crate) fn hints_used(&mut self, carried: u32) {
        let carried = (carried as usize).min(self.hints.len());
        self.hints.drain(..carried);
    }
}
