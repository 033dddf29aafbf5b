//! A transcript read again: the file alone, or the file and the ring of one that was never finished. Joining can be
//! repeated: until the ring is removed, only the first part of the file counts.

use std::{
    fs::{self, File},
    io::{self, Cursor, Read},
    path::Path,
};

use super::{Kept, left_out_line, piece::Piece, ring::Ring, ring_path, time_marks::note_cut};

const BLOCK: usize = 256 << 10;

/// Finishes a transcript that a crash left unfinished, and says what is in it. Safe to call on a finished one.
pub fn recover(path: &Path) -> io::Result<Kept> {
    match Ring::open(&ring_path(path))? {
        Some(ring) => {
            let mut head = Piece::reopen(path, ring.head)?;
            Ok(join(&mut head, &ring, path))
        }
        None => {
            let kept = Piece::reopen(path, u64::MAX)?.kept();
            remove(&ring_path(path))?;
            Ok(kept)
        }
    }
}

/// The bytes that are kept of a transcript, finished or not, as `finish` would join them.
pub fn read_back(path: &Path) -> io::Result<impl Read + Send + use<>> {
    let head = File::open(path)?;
    let ring = Ring::open(&ring_path(path))?;
    let counts = ring.as_ref().map_or(u64::MAX, |ring| ring.head);
    let left_out = ring.as_ref().map(left_out).unwrap_or_default();
    Ok(head.take(counts).chain(Cursor::new(left_out)).chain(RingReader::new(ring)))
}

/// Appends the ring to the file and removes it. If that fails both stay as they are, readable by `read_back`.
pub(super) fn join(head: &mut Piece, ring: &Ring, path: &Path) -> Kept {
    let start = head.len();
    let mut kept = match append_ring(head, ring) {
        Ok(()) => {
            let mut kept = head.kept();
            note_cut(path, ring);
            if kept.trouble.is_none() {
                kept.trouble = remove(&ring_path(path)).err();
            }
            kept
        }
        Err(error) => {
            let undone = head.take_back(start).and_then(|()| read_back(path));
            Kept { trouble: Some(error), ..undone.and_then(hashed).unwrap_or_else(|_| head.kept()) }
        }
    };
    kept.bytes_total = start + ring.total;
    kept.cut = ring.oldest();
    kept
}

fn append_ring(head: &mut Piece, ring: &Ring) -> io::Result<()> {
    head.append(&left_out(ring)).map_err(|(_, error)| error)?;
    let mut block = vec![0; BLOCK];
    let mut at = ring.oldest();
    loop {
        let read = ring.read_at(at, &mut block)?;
        if read == 0 {
            return Ok(());
        }
        head.append(block.get(..read).unwrap_or_default()).map_err(|(_, error)| error)?;
        at += read as u64;
    }
}

/// The line between the pieces; nothing if they meet.
fn left_out(ring: &Ring) -> Vec<u8> {
    match ring.oldest() {
        0 => Vec::new(),
        bytes => left_out_line(bytes),
    }
}

fn hashed(mut from: impl Read) -> io::Result<Kept> {
    let mut hasher = blake3::Hasher::new();
    let len = io::copy(&mut from, &mut hasher)?;
    let blake3 = hasher.finalize().to_hex().to_string();
    Ok(Kept { bytes_total: len, bytes_kept: len, cut: 0, blake3, trouble: None })
}

/// Removes a ring or an index; one that is gone already is as good.
pub(super) fn remove(beside: &Path) -> io::Result<()> {
    match fs::remove_file(beside) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// What a ring keeps, oldest first.
struct RingReader {
    ring: Option<Ring>,
    at: u64,
}

impl RingReader {
    fn new(ring: Option<Ring>) -> Self {
        let at = ring.as_ref().map_or(0, Ring::oldest);
        Self { ring, at }
    }
}

impl Read for RingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(ring) = &self.ring else { return Ok(0) };
        let read = ring.read_at(self.at, into)?;
        self.at += read as u64;
        Ok(read)
    }
}
