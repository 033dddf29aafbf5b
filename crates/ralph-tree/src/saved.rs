//! An index on disk, so that the next walk is incremental in another process too.
//!
//! A head, the chunks, a checksum over all of it. Whatever is not exactly that (a torn or flipped byte, a version from
//! the future) is treated as absent: the next walk then reads everything, and nothing is lost. Both ways go chunk by
//! chunk, so that no second copy of a large index is ever in memory.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chunk::{Chunk, ChunkWriter, Left, ROW, are_ends};
use crate::difference::Difference;
use crate::index::Index;

const MAGIC: &[u8; 8] = b"RALPHTRE";
/// Grows with every change of the format, of the id and of what the flags mean.
const VERSION: u32 = 3;
/// The version without chunks: all rows, then all paths. Snapshots of earlier releases have it.
const WITHOUT_CHUNKS: u32 = 2;
const HEAD: usize = 8 + 4 + 16 + 8 + 16;
const CHECK: usize = 32;

/// An index could not be written; the older one, if any, is still whole.
#[derive(Debug, thiserror::Error)]
#[error("cannot save the tree index {}: {source}; free some space or check the directory's permissions", path.display())]
pub struct SaveError {
    /// Where it was to be.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Index {
    /// Writes the index in place of an older one, whole or not at all. It is not forced to the disk: after a
    /// power cut the older one, this one or none is there. What was skipped is not kept.
    pub fn save(&self, path: &Path) -> Result<(), SaveError> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let draft = PathBuf::from(name);
        let written = self.write(&draft).and_then(|()| fs::rename(&draft, path));
        written.map_err(|source| {
            // Only our own draft is removed; that it may not exist is fine.
            let _ = fs::remove_file(&draft);
            SaveError { path: path.to_path_buf(), source }
        })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut out = Summed { inner: BufWriter::new(File::create(path)?), hasher: blake3::Hasher::new() };
        out.write(&self.head_bytes())?;
        out.write(&(self.chunks.len() as u64).to_le_bytes())?;
        for chunk in &self.chunks {
            let bytes = chunk.to_bytes();
            out.write(&u32::try_from(bytes.len()).map_err(io::Error::other)?.to_le_bytes())?;
            out.write(&bytes)?;
        }
        let check = *out.hasher.finalize().as_bytes();
        out.inner.write_all(&check)?;
        out.inner.flush()
    }

    /// Writes the index in place of an older one and returns when it is on disk. One with the same entries stays.
    pub fn save_durably(&self, path: &Path) -> io::Result<()> {
        let is_there = |there: Index| there.id == self.id && Difference::between(&there, self).is_empty();
        if Index::load_beside(path, self).is_some_and(is_there) {
            return Ok(());
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let draft = PathBuf::from(name);
        let written = self.write(&draft).and_then(|()| ralph_os::place_durably(&draft, path));
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&draft);
        }
        written
    }

    /// Reads an index back; None if there is none, or none that can be trusted.
    #[must_use]
    pub fn load(path: &Path) -> Option<Index> {
        Index::load_beside(path, &Index::default())
    }

    /// The same; chunks that `other` has too are shared with it.
    #[must_use]
    pub fn load_beside(path: &Path, other: &Index) -> Option<Index> {
        let file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        let mut from = Summed { inner: BufReader::new(file), hasher: blake3::Hasher::new() };
        let head: [u8; HEAD] = from.take()?;
        let version = u32::from_le_bytes(*head.get(MAGIC.len()..)?.first_chunk()?);
        let index = match version {
            VERSION => from.chunks(&head, size, other),
            WITHOUT_CHUNKS => from.without_chunks(&head, size, other),
            _ => None,
        }?;
        let check = from.hasher.finalize();
        let mut end = Vec::with_capacity(CHECK + 1);
        from.inner.take(CHECK as u64 + 1).read_to_end(&mut end).ok()?;
        (end == check.as_bytes()).then_some(index)
    }

    /// Everything but the chunks: with them it is an index again.
    #[must_use]
    pub fn head_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.began.to_le_bytes());
        out.extend_from_slice(&self.root_rules);
        out
    }

    /// The index of this head and these chunks; None if the head is none.
    #[must_use]
    pub fn from_chunks(head: &[u8], chunks: Vec<Arc<Chunk>>) -> Option<Index> {
        let mut left = Left(head);
        let (magic, _version) = (left.take::<8>()?, left.take::<4>()?);
        let id = u128::from_le_bytes(left.take()?);
        let began = i64::from_le_bytes(left.take()?);
        let root_rules = left.take()?;
        let whole = magic == *MAGIC && left.0.is_empty();
        whole.then_some(Index { chunks, id, began, root_rules, ..Index::default() })
    }
}

/// A reader or writer that computes the checksum on the way.
struct Summed<T> {
    inner: T,
    hasher: blake3::Hasher,
}

impl<W: Write> Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes)
    }
}

impl<R: Read> Summed<R> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.inner.read_exact(&mut bytes).ok()?;
        self.hasher.update(&bytes);
        Some(bytes)
    }

    /// So many bytes, if the file has them.
    fn bytes(&mut self, count: u64, size: u64, buffer: &mut Vec<u8>) -> Option<()> {
        if count > size {
            return None;
        }
        buffer.resize(usize::try_from(count).ok()?, 0);
        self.inner.read_exact(buffer).ok()?;
        self.hasher.update(buffer);
        Some(())
    }

    fn chunks(&mut self, head: &[u8], size: u64, other: &Index) -> Option<Index> {
        let count = u64::from_le_bytes(self.take()?);
        let (mut buffer, mut chunks) = (Vec::new(), ChunkWriter::default());
        for _ in 0..count {
            let length = u32::from_le_bytes(self.take()?);
            self.bytes(u64::from(length), size, &mut buffer)?;
            chunks.add_chunk(Chunk::from_bytes(&buffer)?, &other.chunks);
        }
        Index::from_chunks(head, chunks.finish(&other.chunks))
    }

    fn without_chunks(&mut self, head: &[u8], size: u64, other: &Index) -> Option<Index> {
        let (count, paths) = (u64::from_le_bytes(self.take()?), u64::from_le_bytes(self.take()?));
        let (mut rows, mut arena) = (Vec::new(), Vec::new());
        self.bytes(count.checked_mul(ROW as u64)?, size, &mut rows)?;
        self.bytes(paths, size, &mut arena)?;
        let mut left = Left(&rows);
        let rows: Vec<_> = (0..count).map(|_| left.row()).collect::<Option<_>>()?;
        if !are_ends(&rows, arena.len()) {
            return None;
        }
        let (mut chunks, mut start) = (ChunkWriter::default(), 0);
        for row in rows {
            let end = row.end as usize;
            chunks.add(arena.get(start..end)?, row, &other.chunks);
            start = end;
        }
        Index::from_chunks(head, chunks.finish(&other.chunks))
    }
}
