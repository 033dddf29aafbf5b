//! The newest bytes of a long transcript, in a file of fixed size that is written round and round. Its header says
//! how many bytes went in; it is written after them. A kill between the two harms nothing, because the ring has
//! room for one more write beside the bytes the header vouches for.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

use super::piece::write_at;

const MAGIC: [u8; 8] = *b"ralphtl1";
const HEADER: u64 = 32;
/// The longest single write, and the room for it.
const SLACK: usize = 256 << 10;
/// A header that speaks of more is not ours.
pub(super) const LONGEST: u64 = 1 << 60;
/// How often a header is read again that changes meanwhile.
const TRIES: usize = 16;

#[derive(Debug)]
pub(super) struct Ring {
    file: File,
    /// How much of the transcript's file counts beside this ring.
    pub(super) head: u64,
    keep: u64,
    /// Bytes that went in.
    pub(super) total: u64,
}

impl Ring {
    /// A new ring that keeps the last `keep` bytes of what follows the first `head` bytes of a transcript.
    pub(super) fn create(path: &Path, head: u64, keep: u64) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let ring = Self { file, head, keep, total: 0 };
        ring.write_header().map_err(|(_, error)| error)?;
        Ok(ring)
    }

    /// The ring a crashed run left; nothing if there is none or it had no time to begin.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let [magic, head, keep, total] = match read_header(&file) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        };
        let [head, keep, total] = [head, keep, total].map(u64::from_le_bytes);
        if magic != MAGIC || [head, keep, total].into_iter().any(|length| length > LONGEST) {
            let what = format!(
                "{} is not a transcript file of ralph (unknown header); move it away to read the rest",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Some(Self { file, head, keep, total }))
    }

    /// Looks how many bytes went in by now, where another process writes. Until then the ring is as it was.
    pub(super) fn refresh(&mut self) -> io::Result<()> {
        let [_, _, _, total] = read_header(&self.file)?;
        self.total = self.total.max(u64::from_le_bytes(total).min(LONGEST));
        Ok(())
    }

    /// Adds bytes over the oldest. Says how many it could write when it fails.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let mut done = 0;
        for write in bytes.chunks(SLACK) {
            let outcome = self.write_once(write);
            let written = outcome.as_ref().map_or_else(|(written, _)| *written, |()| write.len());
            self.total += written as u64;
            self.write_header().map_err(|(_, error)| (done, error))?;
            done += written;
            outcome.map_err(|(_, error)| (done, error))?;
        }
        Ok(())
    }

    /// The position of the oldest byte that is kept.
    pub(super) fn oldest(&self) -> u64 {
        self.total.saturating_sub(self.keep)
    }

    /// A position that is far from being written over.
    pub(super) fn middle(&self) -> u64 {
        self.total.saturating_sub(self.keep / 2)
    }

    /// Reads from a position on; 0 at the end.
    pub(super) fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let place = self.place(at);
        let most = self.total.saturating_sub(at).min(self.size() - place);
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(into.len());
        self.file.read_at(into.get_mut(..most).unwrap_or_default(), HEADER + place)
    }

    fn write_once(&self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let place = self.place(self.total);
        let room = usize::try_from(self.size() - place).unwrap_or(usize::MAX);
        let (now, again) = bytes.split_at(room.min(bytes.len()));
        write_at(&self.file, now, HEADER + place)?;
        write_at(&self.file, again, HEADER).map_err(|(done, error)| (now.len() + done, error))
    }

    fn write_header(&self) -> Result<(), (usize, io::Error)> {
        let [head, keep, total] = [self.head, self.keep, self.total].map(u64::to_le_bytes);
        write_at(&self.file, [MAGIC, head, keep, total].as_flattened(), 0)
    }

    fn size(&self) -> u64 {
        self.keep.saturating_add(SLACK as u64)
    }

    fn place(&self, at: u64) -> u64 {
        at % self.size()
    }
}

/// The four fields of a header. They are read until they are the same twice: a write of them may be under way.
fn read_header(file: &File) -> io::Result<[[u8; 8]; 4]> {
    let mut before = [[0; 8]; 4];
    file.read_exact_at(before.as_flattened_mut(), 0)?;
    for _ in 0..TRIES {
        let mut now = [[0; 8]; 4];
        file.read_exact_at(now.as_flattened_mut(), 0)?;
        if now == before {
            return Ok(now);
        }
        before = now;
    }
    Err(io::ErrorKind::WouldBlock.into())
}
