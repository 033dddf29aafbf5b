//! An index on disk, so that the next walk is incremental in another process too.
//!
//! A head, fixed rows, the paths, a checksum over all of it. Whatever is not exactly that (an older version,
//! a torn or flipped byte) is treated as absent: the next walk then reads everything, and nothing is lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::index::{Index, Kind, Row};

const MAGIC: &[u8; 8] = b"RALPHTRE";
/// Grows with every change of the format, of the id and of what the flags mean.
const VERSION: u32 = 2;
const HEAD: usize = 8 + 4 + 16 + 8 + 16 + 8 + 8;
const ROW: usize = 16 + 8 + 8 + 8 + 8 + 4 + 2 + 1 + 1;
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
        let written = fs::write(&draft, self.to_bytes()).and_then(|()| fs::rename(&draft, path));
        written.map_err(|source| {
            // Only our own draft is removed; that it may not exist is fine.
            let _ = fs::remove_file(&draft);
            SaveError { path: path.to_path_buf(), source }
        })
    }

    /// Reads an index back; None if there is none, or none that can be trusted.
    #[must_use]
    pub fn load(path: &Path) -> Option<Index> {
        Index::from_bytes(&fs::read(path).ok()?)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD + self.rows.len() * ROW + self.paths.len() + CHECK);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.began.to_le_bytes());
        out.extend_from_slice(&self.root_rules);
        out.extend_from_slice(&(self.rows.len() as u64).to_le_bytes());
        out.extend_from_slice(&(self.paths.len() as u64).to_le_bytes());
        for row in &self.rows {
            out.extend_from_slice(&row.hash);
            out.extend_from_slice(&row.ino.to_le_bytes());
            out.extend_from_slice(&row.size.to_le_bytes());
            out.extend_from_slice(&row.mtime.to_le_bytes());
            out.extend_from_slice(&row.ctime.to_le_bytes());
            out.extend_from_slice(&row.end.to_le_bytes());
            out.extend_from_slice(&row.mode.to_le_bytes());
            out.extend_from_slice(&[row.kind as u8, row.flags]);
        }
        out.extend_from_slice(&self.paths);
        let check = blake3::hash(&out);
        out.extend_from_slice(check.as_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Index> {
        let (body, check) = bytes.split_last_chunk::<CHECK>()?;
        if blake3::hash(body).as_bytes() != check {
            return None;
        }
        let mut left = Left(body);
        if left.take()? != *MAGIC || u32::from_le_bytes(left.take()?) != VERSION {
            return None;
        }
        let id = u128::from_le_bytes(left.take()?);
        let began = i64::from_le_bytes(left.take()?);
        let root_rules = left.take()?;
        let count = usize::try_from(u64::from_le_bytes(left.take()?)).ok()?;
        let paths = usize::try_from(u64::from_le_bytes(left.take()?)).ok()?;
        if left.0.len() != count.checked_mul(ROW)?.checked_add(paths)? {
            return None;
        }
        let rows: Vec<Row> = (0..count).map(|_| left.row()).collect::<Option<_>>()?;
        let ends = std::iter::once(0).chain(rows.iter().map(|row| row.end as usize));
        let whole = ends.is_sorted() && rows.last().map_or(0, |row| row.end as usize) == paths;
        let paths = left.0.to_vec();
        whole.then_some(Index { rows, paths, id, began, root_rules, ..Index::default() })
    }
}

/// What is left to read.
struct Left<'a>(&'a [u8]);

impl Left<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn row(&mut self) -> Option<Row> {
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
