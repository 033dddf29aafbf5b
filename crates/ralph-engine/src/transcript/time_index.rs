//! When the lines of a transcript came, read from the marks beside it (`time_marks.rs`), also while they are written. An
//! old transcript has none: then no time is known.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use ralph_rules::record::Ms;

use super::{
    ring::LONGEST,
    time_marks::{HEADER, MAGIC, MARK, MOST, path_of},
};

/// Marks read at a time.
const BLOCK: usize = 64;

/// The marks of a transcript that were read so far.
#[derive(Debug, Default)]
pub struct TimeIndex {
    path: Option<PathBuf>,
    file: Option<File>,
    marks: Vec<(u64, Ms)>,
    cut: Option<Cut>,
}

/// The middle of a transcript that is not in its file any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Bytes of the file before the line that says so.
    pub(super) head: u64,
    /// Bytes that were left out.
    pub(super) left_out: u64,
    /// The position of the file's end.
    total: u64,
}

impl Cut {
    /// Where the newest bytes begin in a file of this length.
    pub(super) fn tail(&self, len: u64) -> u64 {
        len.saturating_sub(self.total.saturating_sub(self.head + self.left_out))
    }

    /// The position of a byte behind the cut: counted from the end.
    fn position(&self, offset: u64, len: u64) -> u64 {
        self.total.saturating_sub(len.saturating_sub(offset))
    }
}

impl TimeIndex {
    /// Of this transcript. Nothing is read yet.
    pub fn of(transcript: &Path) -> TimeIndex {
        TimeIndex { path: path_of(transcript), ..TimeIndex::default() }
    }

    /// Reads the marks that were added. A torn last one is left for the next time; what makes no sense is not read.
    pub fn refresh(&mut self) {
        if self.file.is_none() {
            self.file = self.path.as_ref().and_then(|path| File::open(path).ok());
        }
        let Some(file) = &self.file else { return };
        let mut header = [[0; 8]; 4];
        if file.read_exact_at(header.as_flattened_mut(), 0).is_err() {
            return;
        }
        let [magic, head, left_out, total] = header;
        if magic != MAGIC {
            return;
        }
        let [head, left_out, total] = [head, left_out, total].map(u64::from_le_bytes);
        let sound = total <= LONGEST && head.checked_add(left_out).is_some_and(|before| before <= total);
        self.cut = (total > 0 && sound).then_some(Cut { head, left_out, total });
        let mut block = [[[0; 8]; 2]; BLOCK];
        while (self.marks.len() as u64) < MOST {
            let at = HEADER + (self.marks.len() * MARK) as u64;
            let Ok(read) = file.read_at(block.as_flattened_mut().as_flattened_mut(), at) else { return };
            if add(&mut self.marks, block.get(..read / MARK).unwrap_or_default()) < BLOCK {
                return;
            }
        }
    }

    /// When the byte at a position came, UTC, as far as it is known. A little too early: up to the time between two marks.
    pub fn at(&self, position: u64) -> Option<Ms> {
        let before = self.marks.partition_point(|(from, _)| *from <= position);
        self.marks.get(before.checked_sub(1)?).map(|(_, at)| *at)
    }

    /// When the byte at an offset of a finished transcript's file of this length came, also behind a cut.
    pub fn at_offset(&self, offset: u64, len: u64) -> Option<Ms> {
        self.at(self.position(offset, len))
    }

    pub(super) fn position(&self, offset: u64, len: u64) -> u64 {
        match &self.cut {
            Some(cut) if offset >= cut.head => cut.position(offset, len),
            _ => offset,
        }
    }

    pub(super) fn cut(&self) -> Option<Cut> {
        self.cut
    }
}

/// Adds marks as long as they make sense, and says how many did.
fn add(marks: &mut Vec<(u64, Ms)>, more: &[[[u8; 8]; 2]]) -> usize {
    for (n, [position, at]) in more.iter().enumerate() {
        let (position, at) = (u64::from_le_bytes(*position), Ms::from_le_bytes(*at));
        let last = marks.last().copied().unwrap_or((0, 1));
        if position < last.0 || position > LONGEST || at < last.1 {
            return n;
        }
        marks.push((position, at));
    }
    more.len()
}
