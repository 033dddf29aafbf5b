//! A command's output: redacted, written to its file if it has one, its end kept in memory, its tests counted.

use crate::redact::{Redactor, Stream};
use crate::transcript::Transcript;
use ralph_rules::prompt::tail;
use ralph_rules::record::FileRef;
use ralph_rules::suite::{Counter, Counts};
use ralph_supervisor::Sink;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// How much of the end of an output goes into the result.
const TAIL: usize = 4 * 1024;
/// How much of the end is searched for the names of failing tests.
const SEARCHED: usize = 512 * 1024;
/// How much of an output the file keeps.
const CAP: u64 = 16 << 20;

/// Receives a command's output while it runs.
pub(super) struct Output<'a> {
    redacted: Stream<'a>,
    kept: Kept,
    tests: Counter,
}

/// What remains of the redacted output.
struct Kept {
    file: Option<Transcript>,
    last: VecDeque<u8>,
}

/// What is known of an output once the command has ended.
pub(super) struct Summary {
    pub(super) tail: String,
    pub(super) file: FileRef,
    pub(super) counts: Option<Counts>,
    /// The end of the output, longer than the tail.
    pub(super) text: String,
}

impl<'a> Output<'a> {
    /// Opens the file, if there is one. A verification that a crash cut short runs again under the same name.
    pub(super) fn open(path: Option<&Path>, redactor: &'a Redactor) -> io::Result<Output<'a>> {
        let create = |path: &Path| {
            if let Err(error) = std::fs::remove_file(path)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
            Transcript::create(path, CAP)
        };
        let kept = Kept { file: path.map(create).transpose()?, last: VecDeque::new() };
        Ok(Output { redacted: redactor.stream(), kept, tests: Counter::default() })
    }

    /// Ends the output. `path` is the one it was opened with.
    pub(super) fn close(self, path: Option<&Path>) -> Summary {
        let Output { redacted, mut kept, tests } = self;
        redacted.finish_to(&mut |clean: &[u8]| kept.write(clean));
        let text = String::from_utf8_lossy(&Vec::from(kept.last)).into_owned();
        let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let file = match (kept.file, name) {
            (Some(transcript), Some(file)) => {
                let kept = transcript.finish();
                FileRef { file, bytes: kept.bytes_kept, hash: kept.blake3, cut: kept.cut }
            }
            _ => FileRef::default(),
        };
        Summary { tail: tail(&text, TAIL).to_string(), file, counts: tests.finish(), text }
    }
}

impl Kept {
    fn write(&mut self, clean: &[u8]) {
        if let Some(file) = &mut self.file {
            file.write(clean);
        }
        let clean = clean.get(clean.len().saturating_sub(SEARCHED)..).unwrap_or_default();
        self.last.extend(clean);
        self.last.drain(..self.last.len().saturating_sub(SEARCHED));
    }
}

impl Sink for Output<'_> {
    fn stdout(&mut self, chunk: &[u8]) {
        let Output { redacted, kept, tests } = self;
        tests.feed(chunk);
        redacted.push_to(chunk, &mut |clean: &[u8]| kept.write(clean));
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.stdout(chunk);
    }
}
