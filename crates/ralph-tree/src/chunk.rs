//! A stretch of an index: some hundred rows with their paths. Two indexes of nearly the same tree share all stretches but
//! those in which something changed, in memory and where they are stored.
//!
//! Where a chunk ends is decided by the paths alone, so a file that was added moves the border of no other chunk.

use std::sync::Arc;

use crate::index::Kind;
use crate::path::order;

/// A chunk ends after one path in so many, on average.
const MEAN: u64 = 256;
/// No chunk has more rows, whatever the paths are.
const MOST: usize = 4096;
/// Bytes of one row where it is stored.
pub(crate) const ROW: usize = 16 + 8 + 8 + 8 + 8 + 4 + 2 + 1 + 1;

/// One entry, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub hash: [u8; 16],
    pub ino: u64,
    pub size: u64,
    pub mtime: i64,
    pub ctime: i64,
    /// Where the path ends among the paths of the chunk; it begins where the row before ends.
    pub end: u32,
    pub mode: u16,
    pub kind: Kind,
    pub flags: u8,
}

/// Some hundred rows with their paths, in walk order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    rows: Vec<Row>,
    paths: Vec<u8>,
}

impl Chunk {
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The path of the row at this place; empty past the end.
    pub(crate) fn path_at(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |row| row.end);
        let end = self.rows.get(at).map_or(start, |row| row.end);
        self.paths.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The place of the first path that is not before this one.
    pub(crate) fn place_of(&self, path: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.rows.len());
        while low < high {
            let middle = low.midpoint(high);
            if order(self.path_at(middle), path).is_lt() { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The chunk as it is stored: how many rows, the rows, their paths.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + self.rows.len() * ROW + self.paths.len());
        out.extend_from_slice(&u32::try_from(self.rows.len()).unwrap_or(u32::MAX).to_le_bytes());
        for row in &self.rows {
            row.write(&mut out);
        }
        out.extend_from_slice(&self.paths);
        out
    }

    /// The chunk that these bytes are; none if they are no chunk.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Chunk> {
        let mut left = Left(bytes);
        let count = u32::from_le_bytes(left.take()?) as usize;
        let rows: Vec<Row> = (0..count).map(|_| left.row()).collect::<Option<_>>()?;
        let whole = are_ends(&rows, left.0.len());
        let paths = left.0.to_vec();
        whole.then_some(Chunk { rows, paths })
    }
}

/// Whether the rows' paths lie one after the other in so many bytes.
pub(crate) fn are_ends(rows: &[Row], paths: usize) -> bool {
    let ends = std::iter::once(0).chain(rows.iter().map(|row| row.end as usize));
    ends.is_sorted() && rows.last().map_or(0, |row| row.end as usize) == paths
}

impl Row {
    /// The same but for where the path lies.
    pub fn is_like(&self, other: &Row) -> bool {
        Row { end: 0, ..*self } == Row { end: 0, ..*other }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash);
        out.extend_from_slice(&self.ino.to_le_bytes());
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.mtime.to_le_bytes());
        out.extend_from_slice(&self.ctime.to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&self.mode.to_le_bytes());
        out.extend_from_slice(&[self.kind as u8, self.flags]);
    }
}

/// What is left to read of stored bytes.
pub(crate) struct Left<'a>(pub &'a [u8]);

impl Left<'_> {
    pub fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub fn row(&mut self) -> Option<Row> {
        Some(Row {
            hash: self.take()?,
            ino: u64::from_le_bytes(self.take()?),
            size: u64::from_le_bytes(self.take()?),
            mtime: i64::from_le_bytes(self.take()?),
            ctime: i64::from_le_bytes(self.take()?),
            end: u32::from_le_bytes(self.take()?),
            mode: u16::from_le_bytes(self.take()?),
            kind: kind(self.take::<1>()?)?,
            flags: u8::from_le_bytes(self.take()?),
        })
    }
}

fn kind(byte: [u8; 1]) -> Option<Kind> {
    [Kind::File, Kind::Directory, Kind::Symlink, Kind::Special].into_iter().find(|kind| [*kind as u8] == byte)
}

/// Puts rows into chunks, and takes those over that another index has already.
#[derive(Debug, Default)]
pub(crate) struct ChunkWriter {
    now: Chunk,
    done: Vec<Arc<Chunk>>,
}

impl ChunkWriter {
    /// Adds a row; where its path ends is filled in here.
    pub fn add(&mut self, path: &[u8], row: Row, other: &[Arc<Chunk>]) {
        self.now.paths.extend_from_slice(path);
        let end = u32::try_from(self.now.paths.len()).unwrap_or(u32::MAX);
        self.now.rows.push(Row { end, ..row });
        if is_border(path) || self.now.rows.len() >= MOST {
            self.close(other);
        }
    }

    /// Adds a chunk that was stored, as it is.
    pub fn add_chunk(&mut self, chunk: Chunk, other: &[Arc<Chunk>]) {
        self.now = chunk;
        self.close(other);
    }

    /// Adds a chunk of another index as it is; false if a chunk is being written.
    pub fn share(&mut self, chunk: &Arc<Chunk>) -> bool {
        let between = self.now.rows.is_empty();
        if between {
            self.done.push(Arc::clone(chunk));
        }
        between
    }

    /// All chunks.
    pub fn finish(mut self, other: &[Arc<Chunk>]) -> Vec<Arc<Chunk>> {
        self.close(other);
        self.done.shrink_to_fit();
        self.done
    }

    fn close(&mut self, other: &[Arc<Chunk>]) {
        if self.now.rows.is_empty() {
            return;
        }
        let first = self.now.path_at(0);
        let at = other.partition_point(|chunk| order(chunk.path_at(0), first).is_lt());
        if let Some(same) = other.get(at).filter(|chunk| ***chunk == self.now) {
            self.done.push(Arc::clone(same));
        } else {
            self.done.push(Arc::new(self.now.clone()));
        }
        self.now.rows.clear();
        self.now.paths.clear();
    }
}

/// Whether a chunk ends with this path: told from its last bytes, mixed well.
fn is_border(path: &[u8]) -> bool {
    let (rest, last) = path.split_last_chunk::<8>().unwrap_or((path, &[0; 8]));
    let before = rest.split_last_chunk::<8>().map_or(rest.len() as u64, |(_, it)| u64::from_le_bytes(*it));
    let mixed = u64::from_le_bytes(*last).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ before.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 & (MEAN - 1) == 0
}
