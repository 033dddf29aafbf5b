//! When the bytes of a transcript came: agents' lines carry no time. Beside `001.a1.out.jsonl` lies `001.a1.times`, with a
//! mark (position, UTC milliseconds) for the first bytes that came at that time. Marks are only an addition: what cannot
//! be written is left out, and the transcript does not notice. `time_index.rs` reads them.
//!
//! A position counts the bytes as they were kept: those of the file first, then all that went through the ring.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ralph_rules::record::Ms;

use super::{piece::write_at, ring::Ring, ring_reader::remove};
use crate::clock::utc;

pub(super) const MAGIC: [u8; 8] = *b"ralphtm1";
/// The magic, then three numbers about a middle that was cut out: zero until then.
pub(super) const HEADER: u64 = 32;
/// Bytes of one mark: its position and its time, little endian.
pub(super) const MARK: usize = 16;
/// The shortest time between two marks.
const INTERVAL: Duration = Duration::from_millis(250);
/// After so many marks they come half as often: the first half hour is known to 250 ms, the tenth hour to 4 s.
const STEP: u64 = 8 * 1024;
/// No more marks than this (1.3 MB, written in three weeks).
pub(super) const MOST: u64 = 10 * STEP;

/// The index of a transcript; none where the file is not an agent's output.
pub(super) fn path_of(transcript: &Path) -> Option<PathBuf> {
    let attempt = transcript.file_name()?.to_str()?.strip_suffix(".out.jsonl")?;
    Some(transcript.with_file_name(format!("{attempt}.times")))
}

/// Removes the index of a transcript: the file it belongs to is gone, or its bytes are no longer where they were.
pub fn forget_times(transcript: &Path) -> io::Result<()> {
    path_of(transcript).map_or(Ok(()), |index| remove(&index))
}

/// The marks of one transcript while it is written.
#[derive(Debug)]
pub(super) struct TimeMarks {
    file: File,
    count: u64,
    last: Option<Instant>,
    at: Ms,
}

impl TimeMarks {
    /// A new index, readable by its owner only. It must not exist yet.
    pub(super) fn create(transcript: &Path) -> io::Result<TimeMarks> {
        let path = path_of(transcript).ok_or(io::ErrorKind::InvalidInput)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        write_at(&file, [MAGIC, [0; 8], [0; 8], [0; 8]].as_flattened(), 0).map_err(|(_, error)| error)?;
        Ok(TimeMarks { file, count: 0, last: None, at: 0 })
    }

    /// Bytes from this position on are about to be written.
    pub(super) fn mark(&mut self, position: u64) {
        self.mark_at(position, Instant::now(), utc());
    }

    fn mark_at(&mut self, position: u64, now: Instant, utc: Ms) {
        let early = self.last.is_some_and(|last| now.saturating_duration_since(last) < self.interval());
        if early || self.count >= MOST {
            return;
        }
        self.last = Some(now);
        // A clock that was set back does not make a line older than the one before it.
        self.at = self.at.max(utc);
        let mark = [position.to_le_bytes(), self.at.to_le_bytes()];
        if write_at(&self.file, mark.as_flattened(), HEADER + self.count * MARK as u64).is_ok() {
            self.count += 1;
        }
    }

    fn interval(&self) -> Duration {
        INTERVAL.saturating_mul(1 << (self.count / STEP).min(20))
    }
}

/// Notes where the middle of a transcript was cut out, so that what follows is found. An index that is not there, or
/// cannot be written, knows no times behind the cut.
pub(super) fn note_cut(transcript: &Path, ring: &Ring) {
    let Some(path) = path_of(transcript) else { return };
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    let mut magic = [0; MAGIC.len()];
    if file.read_exact_at(&mut magic, 0).is_ok() && magic == MAGIC {
        let cut = [ring.head, ring.oldest(), ring.head + ring.total].map(u64::to_le_bytes);
        let _ = write_at(&file, cut.as_flattened(), MAGIC.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;
    use crate::transcript::TimeIndex;

    fn times(path: &Path, positions: &[u64]) -> Vec<Option<Ms>> {
        let mut index = TimeIndex::of(path);
        index.refresh();
        positions.iter().map(|position| index.at(*position)).collect()
    }

    #[test]
    fn marks_are_private_rare_and_never_go_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.a1.out.jsonl");
        let mut marks = TimeMarks::create(&path).unwrap();
        let (start, ms) = (Instant::now(), Duration::from_millis);
        for (position, after, utc) in
            [(0, 0, 1_000), (10, 249, 1_249), (20, 250, 1_250), (30, 700, 400), (40, 990, 1_400)]
        {
            marks.mark_at(position, start + ms(after), utc);
        }
        assert_eq!(
            times(&path, &[0, 10, 20, 29, 30, 39, 40, 1 << 40]),
            [1_000, 1_000, 1_250, 1_250, 1_250, 1_250, 1_400, 1_400].map(Some)
        );
        let meta = fs::metadata(dir.path().join("001.a1.times")).unwrap();
        assert_eq!((meta.len(), meta.permissions().mode() & 0o777), (HEADER + 4 * MARK as u64, 0o600));
    }

    #[test]
    fn an_index_stays_small_however_long_a_call_takes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.a1.out.jsonl");
        let mut marks = TimeMarks::create(&path).unwrap();
        let start = Instant::now();
        for quarter in 0..400_000_u32 {
            marks.mark_at(u64::from(quarter), start + INTERVAL * quarter, Ms::from(quarter) + 1);
        }
        assert!((4 * STEP..6 * STEP).contains(&marks.count), "{} marks in 28 hours", marks.count);
        let known = times(&path, &[STEP - 1, STEP, STEP + 1]);
        assert_eq!(known, [STEP, STEP, STEP + 2].map(|at| Ms::try_from(at).ok()));
        marks.count = MOST;
        marks.mark_at(u64::MAX, start + INTERVAL * 4_000_000, Ms::MAX);
        assert_eq!(marks.count, MOST);
    }

    #[test]
    fn a_full_disk_loses_marks_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.a1.out.jsonl");
        let mut marks = TimeMarks::create(&path).unwrap();
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let file = std::mem::replace(&mut marks.file, File::options().write(true).open("/dev/full").unwrap());
        marks.mark_at(0, start, 1_000);
        marks.file = file;
        marks.mark_at(10, start + second, 2_000);
        assert_eq!(times(&path, &[0, 9, 10]), [None, None, Some(2_000)]);
    }
}
