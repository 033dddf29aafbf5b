//! The program's stdin. The pump writes whenever the pipe has room, so a program that does not read never blocks ralph.

use std::collections::VecDeque;
use std::io::PipeWriter;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

/// The writing end of stdin and the bytes that wait for it.
#[derive(Debug)]
pub(crate) struct Feed {
    pipe: Option<PipeWriter>,
    waiting: VecDeque<Vec<u8>>,
    /// How much of the first waiting piece is written.
    written: usize,
    close_when_empty: bool,
}

impl Feed {
    pub(crate) fn new(pipe: Option<PipeWriter>) -> Self {
        Self { pipe, waiting: VecDeque::new(), written: 0, close_when_empty: false }
    }

    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        if self.pipe.is_some() && !self.close_when_empty {
            self.waiting.push_back(bytes);
        }
    }

    /// Closes stdin once everything that waits is written.
    pub(crate) fn close(&mut self) {
        self.close_when_empty = true;
        self.close_if_done();
    }

    /// Nobody will read any more: closes at once.
    pub(crate) fn give_up(&mut self) {
        self.pipe = None;
        self.waiting.clear();
    }

    /// The pipe to wait for, while something waits to be written.
    pub(crate) fn pending(&self) -> Option<BorrowedFd<'_>> {
        if self.waiting.is_empty() { None } else { self.pipe.as_ref().map(AsFd::as_fd) }
    }

    /// Writes what fits now.
    pub(crate) fn write(&mut self) {
        while let (Some(pipe), Some(piece)) = (&self.pipe, self.waiting.front()) {
            let rest = piece.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                self.waiting.pop_front();
                self.written = 0;
                continue;
            }
            match rustix::io::write(pipe, rest) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The program closed its stdin or is gone: its right, and no failure.
                Err(_) => self.give_up(),
            }
        }
        self.close_if_done();
    }

    fn close_if_done(&mut self) {
        if self.close_when_empty && self.waiting.is_empty() {
            self.pipe = None;
        }
    }
}
