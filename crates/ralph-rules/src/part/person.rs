//! What people asked for and has not been done yet.

use crate::record::Request;

/// Open requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Person {
    /// End now, by this signal.
    pub stop: Option<i32>,
    /// End after the iteration, by this signal.
    pub stop_after: Option<i32>,
    /// Hold before the next call.
    pub paused: bool,
    /// Do not wait any longer.
    pub skip_wait: bool,
    /// Words for the next prompt.
    pub hints: Vec<String>,
}

impl Person {
    /// `between`: no call is under way. Who says "go on" during one does not mean a wait that comes later.
    pub(crate) fn asked(&mut self, request: &Request, between: bool) {
        match request {
            Request::Stop { after: true, signal } => self.stop_after = Some(*signal),
            Request::Stop { signal, .. } => self.stop = Some(*signal),
            Request::Pause => self.paused = true,
            Request::Continue => {
                self.paused = false;
                self.skip_wait |= between;
            }
            Request::Hint { text } => self.hints.push(text.clone()),
        }
    }

    /// Who resumes a run wants it to go on.
    pub(crate) fn resumed(&mut self) {
        self.stop = None;
        self.stop_after = None;
        self.paused = false;
    }

    /// A hint is used up when a call that carried it ended without a provider's failure.
    pub(crate) fn hints_used(&mut self, carried: u32) {
        let carried = (carried as usize).min(self.hints.len());
        self.hints.drain(..carried);
    }
}
