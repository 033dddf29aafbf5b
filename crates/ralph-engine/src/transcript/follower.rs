//! A transcript followed from outside while another process writes it: first its file, then the ring beside it, which is
//! written over and over meanwhile. Nothing is passed on that may have been written over, and nothing twice; what was
//! missed is told. A transcript that is finished is read the same way.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use super::{ring::Ring, ring_path, time_index::TimeIndex};

/// Read at a time.
const BLOCK: usize = 64 << 10;
/// How often one look may be overtaken by the writer before it is left for the next one.
const OVERTAKEN: u32 = 8;

/// What a follower passes on.
#[derive(Clone, Copy, Debug)]
pub enum Followed<'a> {
    /// The next bytes.
    Bytes {
        /// Where they are among all bytes that were kept or passed through; the times go by it.
        position: u64,
        /// The bytes.
        bytes: &'a [u8],
        /// When they came.
        times: &'a TimeIndex,
    },
    /// So many bytes are gone: over the cap, or written over before they were read.
    Missed(u64),
}

/// A transcript while it is followed.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<File>,
    /// What was read of the file.
    offset: u64,
    ring: Option<RingPlace>,
    times: TimeIndex,
}

/// How far a ring was read.
#[derive(Debug)]
struct RingPlace {
    ring: Ring,
    at: u64,
}

/// What stands at the offset of a file.
enum Next {
    /// So many bytes of the file, which begin at this position.
    Bytes(usize, u64),
    /// A cut: bytes that were left out, and where the file goes on.
    Cut(u64, u64),
    /// The ring has what comes next.
    Ring(RingPlace),
    End,
}

impl Follower {
    /// Of this transcript, which need not be there yet. Nothing is read yet.
    pub fn at(path: &Path) -> Follower {
        Follower { path: path.to_owned(), file: None, offset: 0, ring: None, times: TimeIndex::of(path) }
    }

    /// Passes on what came since the last time, and stops after about `most` bytes. False: there is no file.
    pub fn read<E: From<io::Error>>(
        &mut self,
        most: u64,
        mut each: impl FnMut(Followed<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if self.file.is_none() {
            self.file = match File::open(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                file => Some(file?),
            };
        }
        let left = if self.ring.is_none() { self.read_file(most, &mut each)? } else { most };
        if let Some(place) = &mut self.ring {
            place.read(left, &mut self.times, &mut each)?;
        }
        Ok(true)
    }

    /// Reads the file, up to where the ring goes on. Says how many bytes may still be read.
    fn read_file<E: From<io::Error>>(
        &mut self,
        mut left: u64,
        each: &mut impl FnMut(Followed<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut block = Vec::new();
        while left > 0 {
            match self.next(&mut block)? {
                Next::End => break,
                Next::Ring(place) => {
                    self.ring = Some(place);
                    break;
                }
                Next::Cut(left_out, tail) => {
                    self.offset = tail;
                    if left_out > 0 {
                        each(Followed::Missed(left_out))?;
                    }
                }
                Next::Bytes(count, position) => {
                    let bytes = block.get(..count).unwrap_or_default();
                    self.offset += count as u64;
                    left = left.saturating_sub(count as u64);
                    each(Followed::Bytes { position, bytes, times: &self.times })?;
                }
            }
        }
        Ok(left)
    }

    /// Reads the next bytes of the file. Only afterwards the ring is looked for: if there is one, or was one meanwhile,
    /// what follows the first part of the file is no longer the next byte of the stream.
    fn next(&mut self, block: &mut Vec<u8>) -> io::Result<Next> {
        let Some(file) = &self.file else { return Ok(Next::End) };
        let more = file.metadata()?.len() > self.offset;
        if more {
            block.resize(BLOCK, 0);
        }
        let read = if more { file.read_at(block, self.offset)? } else { 0 };
        let ring = match Ring::open(&ring_path(&self.path)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::End),
            ring => ring?,
        };
        if read > 0 {
            self.times.refresh();
        }
        if let Some(ring) = ring.filter(|ring| ring.head >= self.offset) {
            return Ok(match usize::try_from(ring.head - self.offset).unwrap_or(usize::MAX).min(read) {
                0 if ring.head == self.offset => Next::Ring(RingPlace { ring, at: 0 }),
                0 => Next::End,
                before => Next::Bytes(before, self.offset),
            });
        }
        if read == 0 {
            return Ok(Next::End);
        }
        let len = file.metadata()?.len();
        let cut = self.times.cut().filter(|cut| cut.head >= self.offset && cut.tail(len) > cut.head);
        let before = cut.map_or(u64::MAX, |cut| cut.head - self.offset);
        Ok(match (cut, usize::try_from(before).unwrap_or(usize::MAX).min(read)) {
            (Some(cut), 0) => Next::Cut(cut.left_out, cut.tail(len)),
            (_, before) => Next::Bytes(before, self.times.position(self.offset, len)),
        })
    }
}

impl RingPlace {
    fn read<E: From<io::Error>>(
        &mut self,
        mut left: u64,
        times: &mut TimeIndex,
        each: &mut impl FnMut(Followed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !refreshed(&mut self.ring)? || self.at >= self.ring.total {
            return Ok(());
        }
        let (mut block, mut overtaken) = (vec![0; BLOCK], 0);
        self.skip_to(self.ring.oldest(), each)?;
        while left > 0 && overtaken < OVERTAKEN {
            let count = self.ring.read_at(self.at, &mut block)?;
            if count == 0 || !refreshed(&mut self.ring)? {
                break;
            }
            if self.at < self.ring.oldest() {
                // Perhaps written over while it was read. At the oldest byte the writer would be ahead again at once.
                overtaken += 1;
                self.skip_to(self.ring.middle(), each)?;
                continue;
            }
            times.refresh();
            let bytes = block.get(..count).unwrap_or_default();
            let position = self.ring.head + self.at;
            self.at += count as u64;
            left = left.saturating_sub(count as u64);
            each(Followed::Bytes { position, bytes, times })?;
        }
        Ok(())
    }

    fn skip_to<E>(&mut self, at: u64, each: &mut impl FnMut(Followed<'_>) -> Result<(), E>) -> Result<(), E> {
        if at <= self.at {
            return Ok(());
        }
        let missed = at - self.at;
        self.at = at;
        each(Followed::Missed(missed))
    }
}

/// Looks how far the writer is; false where its header changes too fast to be read.
fn refreshed(ring: &mut Ring) -> io::Result<bool> {
    match ring.refresh() {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        read => read.map(|()| true),
    }
}
