//! The way to stdout for output of any size: buffered, and over as soon as nobody reads any more.

use std::io::{self, BufWriter, StdoutLock, Write};

/// Nobody reads any more, or the disk is full.
#[derive(Debug)]
pub struct Gone(pub io::Error);

/// Stdout, buffered.
pub struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    /// Stdout.
    pub fn new() -> Out {
        Out(BufWriter::with_capacity(64 * 1024, io::stdout().lock()))
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        self.0.write_all(bytes).map_err(Gone)
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) -> Result<(), Gone> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Shows what was written so far.
    pub fn flush(&mut self) -> Result<(), Gone> {
        self.0.flush().map_err(Gone)
    }
}
