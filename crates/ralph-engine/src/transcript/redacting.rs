//! The one way agent output gets into a file: cleaned, then kept.

use std::time::Instant;

use super::{Kept, Transcript};
use crate::redact::{Redactor, Stream};

/// A transcript that takes raw output and writes only what is clean.
#[derive(Debug)]
pub struct Redacting<'r> {
    stream: Stream<'r>,
    transcript: Transcript,
}

impl<'r> Redacting<'r> {
    /// Cleans what goes into this transcript.
    pub fn new(transcript: Transcript, redactor: &'r Redactor) -> Self {
        Self { stream: redactor.stream(), transcript }
    }

    /// Takes the next raw bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.push_to(bytes, &mut |clean| self.transcript.write(clean));
    }

    /// As `Transcript::tick`.
    pub fn tick(&mut self, now: Instant) {
        self.transcript.tick(now);
    }

    /// As `Transcript::due`.
    pub fn due(&self) -> Option<Instant> {
        self.transcript.due()
    }

    /// The stream is at its end: writes what was held and finishes the transcript. The lengths are of the clean bytes.
    pub fn finish(mut self) -> Kept {
        self.stream.finish_to(&mut |clean| self.transcript.write(clean));
        self.transcript.finish()
    }
}
