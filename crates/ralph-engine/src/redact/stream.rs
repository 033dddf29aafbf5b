//! Cleans output that arrives in chunks. Clean stretches are handed on where they lie; only what cannot be judged
//! yet is copied and held: some bytes of an unfinished line, at most one unfinished secret.

use super::{Redactor, fresh::BEFORE, scan::Swallow};

/// How much of a new chunk is first joined to what is held, to settle that.
const JOIN: usize = 256;

/// One stream being cleaned. What comes out does not depend on how the input was cut into chunks, and a line comes
/// out as soon as its line break is in, unless it is inside a secret of several lines.
#[derive(Debug)]
pub struct Stream<'r> {
    redactor: &'r Redactor,
    /// The last bytes of what came in: first some that are settled and only tell what precedes, then those held.
    tail: Vec<u8>,
    settled: usize,
    swallow: Swallow,
}

impl<'r> Stream<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, tail: Vec::new(), settled: 0, swallow: Swallow::default() }
    }

    /// Takes the next bytes and gives on what is clean by now, in order, piece by piece.
    pub fn push_to(&mut self, chunk: &[u8], out: &mut impl FnMut(&[u8])) {
        let Some(from) = self.settle(chunk, out) else { return };
        let stop = self.redactor.scan(chunk, from, false, &mut self.swallow, out);
        self.tail.clear();
        self.tail.extend_from_slice(chunk.get(stop.saturating_sub(BEFORE)..).unwrap_or_default());
        self.settled = stop.min(BEFORE);
    }

    /// Takes the next bytes and appends what is clean by now.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.push_to(chunk, &mut |clean| out.extend_from_slice(clean));
    }

    /// Nothing follows: gives on what is still held, and says how many secrets there were in all.
    pub fn finish_to(mut self, out: &mut impl FnMut(&[u8])) -> u64 {
        self.redactor.scan(&self.tail, self.settled, true, &mut self.swallow, out);
        self.swallow.found
    }

    /// Nothing follows: appends what is still held.
    pub fn finish(self, out: &mut Vec<u8>) {
        self.finish_to(&mut |clean| out.extend_from_slice(clean));
    }

    /// Bytes held in memory at this moment.
    pub fn held(&self) -> usize {
        self.tail.len()
    }

    /// Joins as much of the chunk to the tail as it takes to settle all of the tail. Answers where in the chunk to go
    /// on without copying, or nothing when the chunk was used up.
    fn settle(&mut self, chunk: &[u8], out: &mut impl FnMut(&[u8])) -> Option<usize> {
        if self.tail.is_empty() {
            return Some(0);
        }
        let old = self.tail.len();
        let mut joined = 0;
        let mut join = JOIN;
        while joined < chunk.len() {
            let upto = chunk.len().min(joined + join);
            self.tail.extend_from_slice(chunk.get(joined..upto).unwrap_or_default());
            joined = upto;
            self.settled = self.redactor.scan(&self.tail, self.settled, false, &mut self.swallow, out);
            if self.settled >= old + BEFORE && joined < chunk.len() {
                return Some(self.settled - old);
            }
            join *= 2;
        }
        let known = self.settled.saturating_sub(BEFORE);
        self.tail.drain(..known);
        self.settled -= known;
        None
    }
}
