//! What one attempt said, kept in a file: the first half of the cap as it comes, then the newest half in a ring
//! beside it, joined at the end with a line that says how much was left out. Memory stays small whatever comes.
//! What comes here has been through a `redact::Stream`; after a crash `transcript/ring_reader.rs` reads both pieces again.
//! `transcript/time_marks.rs` keeps beside an agent's output when its bytes came. Other processes follow a transcript with
//! `transcript/follower.rs`.

mod follower;
mod piece;
mod ring;
mod ring_reader;
mod time_index;
mod time_marks;

pub use follower::{Followed, Follower};
pub use ring_reader::{read_back, recover};
pub use time_index::TimeIndex;
pub use time_marks::forget_times;

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use piece::Piece;
use ralph_diagnostics::Discard;
use ring::Ring;
use time_marks::TimeMarks;

/// How much of a transcript is kept unless told otherwise.
pub const CAP: u64 = 64 << 20;
/// What was written is in the file after this long.
pub const FLUSH: Duration = Duration::from_millis(100);
/// Bytes gathered before they are written.
const BUFFER: usize = 64 << 10;

/// What was kept of a transcript.
#[derive(Debug, Default)]
pub struct Kept {
    /// Bytes the stream had.
    pub bytes_total: u64,
    /// Bytes in the file, with the lines that say what is missing.
    pub bytes_kept: u64,
    /// Bytes of the stream that are not in the file: over the cap, or not writable.
    pub cut: u64,
    /// BLAKE3 of the bytes in the file, in hex.
    pub blake3: String,
    /// The first error while writing; the file holds all that could be written.
    pub trouble: Option<io::Error>,
}

/// One attempt's transcript while it is written. Errors do not stop it: they are told at `finish`.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    head: Piece,
    head_cap: u64,
    ring: Option<Ring>,
    ring_cap: u64,
    times: Option<TimeMarks>,
    buffer: Vec<u8>,
    flushed: Instant,
    total: u64,
    /// Bytes that could not be written: all of them, and those no line in the file tells of yet.
    lost: u64,
    untold: u64,
    trouble: Option<io::Error>,
}

impl Transcript {
    /// A new file, readable by its owner only, that will hold about `cap` bytes. It must not exist yet.
    pub fn create(path: &Path, cap: u64) -> io::Result<Self> {
        let head = Piece::create_new(path)?;
        // The ring and the times of an earlier file of this name, removed since, would be taken for those of this one.
        ring_reader::remove(&ring_path(path))?;
        forget_times(path)?;
        Ok(Self::on(head, path, cap))
    }

    /// The same for an agent's output as it comes (`.out.jsonl`), with an index of when its bytes came. Without room for
    /// the index there is none.
    pub fn create_with_times(path: &Path, cap: u64) -> io::Result<Self> {
        let mut transcript = Self::create(path, cap)?;
        match TimeMarks::create(path) {
            Ok(times) => transcript.times = Some(times),
            trouble => trouble.discard("create the index of a transcript's times"),
        }
        Ok(transcript)
    }

    fn on(head: Piece, path: &Path, cap: u64) -> Self {
        Self {
            path: path.to_owned(),
            head,
            head_cap: cap / 2,
            ring: None,
            ring_cap: cap - cap / 2,
            times: None,
            buffer: Vec::with_capacity(BUFFER),
            flushed: Instant::now(),
            total: 0,
            lost: 0,
            untold: 0,
            trouble: None,
        }
    }

    /// Takes the next bytes of the stream.
    pub fn write(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.buffer.len() + bytes.len() >= BUFFER {
            self.flush();
        }
        if bytes.len() >= BUFFER {
            self.keep(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
            self.tick(Instant::now());
        }
    }

    /// Writes what was gathered if it has waited long enough. To be called when nothing comes, too.
    pub fn tick(&mut self, now: Instant) {
        if now.saturating_duration_since(self.flushed) >= FLUSH {
            self.flush();
            self.flushed = now;
        }
    }

    /// Writes what was gathered now.
    pub fn flush(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.keep(&buffer);
        buffer.clear();
        self.buffer = buffer;
    }

    /// Joins the pieces, makes the file durable and says what is in it.
    pub fn finish(mut self) -> Kept {
        self.flush();
        let mut kept = match &self.ring {
            None => self.head.kept(),
            Some(ring) => ring_reader::join(&mut self.head, ring, &self.path),
        };
        kept.bytes_total = self.total;
        kept.cut += self.lost;
        kept.trouble = self.trouble.take().or(kept.trouble);
        kept
    }

    fn keep(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // Before the bytes: whoever reads them then finds when they came.
        let position = self.position();
        if let Some(times) = &mut self.times {
            times.mark(position);
        }
        if self.untold > 0 {
            let note = gap(self.untold, "could not be written here");
            if self.put(&note).is_ok() {
                self.untold = 0;
            }
        }
        if let Err((done, error)) = self.put(bytes) {
            let missing = (bytes.len() - done) as u64;
            self.lost += missing;
            self.untold += missing;
            self.trouble.get_or_insert(error);
        }
    }

    /// Bytes that are in the file, or went into the ring.
    fn position(&self) -> u64 {
        self.head.len() + self.ring.as_ref().map_or(0, |ring| ring.total)
    }

    /// Head first, the rest into the ring. Says how far it came when it fails.
    fn put(&mut self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let room = usize::try_from(self.head_cap.saturating_sub(self.head.len())).unwrap_or(usize::MAX);
        let (head, tail) = bytes.split_at(if self.ring.is_some() { 0 } else { room.min(bytes.len()) });
        self.head.append(head)?;
        if tail.is_empty() {
            return Ok(());
        }
        let at_head = |error| (head.len(), error);
        let ring = match &mut self.ring {
            Some(ring) => ring,
            none => none.insert(
                Ring::create(&ring_path(&self.path), self.head.len(), self.ring_cap).map_err(at_head)?,
            ),
        };
        ring.append(tail).map_err(|(done, error)| (head.len() + done, error))
    }
}

impl Drop for Transcript {
    /// Not finished, perhaps because of a panic: what was gathered is still written, for `recover` to find.
    fn drop(&mut self) {
        self.flush();
    }
}

/// Where the ring of a transcript lies.
fn ring_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tail");
    name.into()
}

/// The line that stands where bytes of the stream were left out.
pub fn left_out_line(bytes: u64) -> Vec<u8> {
    gap(bytes, "left out here")
}

/// The line that stands where bytes are missing.
fn gap(bytes: u64, why: &str) -> Vec<u8> {
    format!("\n\u{2026}[ralph: {bytes} bytes {why}]\u{2026}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read};

    use super::*;

    fn full() -> Piece {
        Piece::on(File::options().write(true).open("/dev/full").unwrap())
    }

    #[test]
    fn a_full_disk_does_not_stop_the_stream() {
        let dir = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::on(full(), &dir.path().join("full"), CAP);
        for _ in 0..10 {
            transcript.write(&[b'x'; BUFFER]);
        }
        let kept = transcript.finish();
        assert_eq!(
            (kept.bytes_total, kept.bytes_kept, kept.cut),
            (10 * BUFFER as u64, 0, 10 * BUFFER as u64)
        );
        assert_eq!(kept.trouble.unwrap().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn when_the_disk_has_room_again_the_file_says_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("again");
        let mut transcript = Transcript::on(full(), &path, CAP);
        transcript.write(b"lost");
        transcript.flush();
        transcript.head = Piece::create_new(&path).unwrap();
        transcript.write(b"kept");
        let kept = transcript.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "\n\u{2026}[ralph: 4 bytes could not be written here]\u{2026}\nkept");
        assert_eq!((kept.bytes_total, kept.bytes_kept, kept.cut), (8, text.len() as u64, 4));
        assert_eq!(kept.blake3, blake3::hash(text.as_bytes()).to_hex().to_string());
        assert_eq!(kept.trouble.unwrap().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn pieces_that_cannot_be_joined_stay_readable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("apart");
        let mut transcript = Transcript::create(&path, 8).unwrap();
        transcript.write(b"0123456789");
        transcript.flush();
        // Every append from now on fails, as on a disk that is full.
        transcript.head = Piece::on(File::open(&path).unwrap());
        let kept = transcript.finish();
        assert!(kept.trouble.is_some());
        let mut text = String::new();
        read_back(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "0123\n\u{2026}[ralph: 2 bytes left out here]\u{2026}\n6789");
        let kept = recover(&path).unwrap();
        assert!(kept.trouble.is_none() && !ring_path(&path).exists());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
