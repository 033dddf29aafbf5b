//! What makes one index of another. Between two snapshots few files change, so a difference is small where an index of a
//! large workspace has megabytes. Chunks that two indexes share are not looked at. Made and kept by `ralph-snapshots`.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use crate::chunk::{Chunk, ChunkWriter, Row};
use crate::index::{Cursor, Entry, Index};
use crate::path::order;

/// What makes one index of another.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// New and changed entries in walk order, with the head of the later index.
    changed: Index,
    /// Paths that are gone, in walk order.
    gone: Vec<Vec<u8>>,
}

impl Difference {
    /// What makes `later` of `earlier`.
    #[must_use]
    pub fn between(earlier: &Index, later: &Index) -> Difference {
        let (mut changed, mut gone) = (ChunkWriter::default(), Vec::new());
        let (mut left, mut right) = (Cursor::new(earlier), Cursor::new(later));
        loop {
            left.skip_shared(&mut right);
            let (old, new) = (left.row(), right.row());
            let side = match (old, new) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((old, _)), Some((new, _))) => order(old, new),
            };
            match (side, old, new) {
                (Ordering::Less, Some((path, _)), _) => gone.push(path.to_vec()),
                (_, old, Some((path, row)))
                    if side.is_gt() || old.is_none_or(|(_, old)| !old.is_like(row)) =>
                {
                    changed.add(path, *row, &[]);
                }
                _ => {}
            }
            if side.is_le() {
                left.step();
            }
            if side.is_ge() {
                right.step();
            }
        }
        Difference { changed: later.with_chunks(changed.finish(&[])), gone }
    }

    /// Several differences, each of which continues the one before, as one.
    #[must_use]
    pub fn joined(all: impl IntoIterator<Item = Difference>) -> Difference {
        let mut paths: HashMap<Vec<u8>, Option<Row>> = HashMap::new();
        let mut head = Index::default();
        for one in all {
            let mut at = Cursor::new(&one.changed);
            while let Some((path, row)) = at.row() {
                paths.insert(path.to_vec(), Some(*row));
                at.step();
            }
            paths.extend(one.gone.into_iter().map(|path| (path, None)));
            head = one.changed.with_chunks(Vec::new());
        }
        let mut paths: Vec<(Vec<u8>, Option<Row>)> = paths.into_iter().collect();
        paths.sort_unstable_by(|a, b| order(&a.0, &b.0));
        let (mut changed, mut gone) = (ChunkWriter::default(), Vec::new());
        for (path, row) in paths {
            match row {
                Some(row) => changed.add(&path, row, &[]),
                None => gone.push(path),
            }
        }
        Difference { changed: head.with_chunks(changed.finish(&[])), gone }
    }

    /// The later index. Chunks in which nothing changed are shared with the earlier one.
    #[must_use]
    pub fn apply(&self, earlier: &Index) -> Index {
        let mut made = ChunkWriter::default();
        let (mut old, mut new) = (Cursor::new(earlier), Cursor::new(&self.changed));
        let mut gone = self.gone.iter().peekable();
        loop {
            let next = [new.row().map(|(path, _)| path), gone.peek().map(|path| path.as_slice())];
            while old.share_before(&next, &mut made) {}
            let side = match (old.row(), new.row()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((was, _)), Some((is, _))) => order(was, is),
            };
            match (side, old.row(), new.row()) {
                (Ordering::Less, Some((path, row)), _) => {
                    while gone.next_if(|gone| order(gone, path).is_lt()).is_some() {}
                    if gone.peek().is_none_or(|gone| gone.as_slice() != path) {
                        made.add(path, *row, &earlier.chunks);
                    }
                }
                (_, _, Some((path, row))) => made.add(path, *row, &earlier.chunks),
                _ => {}
            }
            if side.is_le() {
                old.step();
            }
            if side.is_ge() {
                new.step();
            }
        }
        self.changed.with_chunks(made.finish(&earlier.chunks))
    }

    /// Nothing was added, changed or removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }

    /// New and changed entries.
    pub fn changed(&self) -> impl Iterator<Item = Entry<'_>> {
        self.changed.entries()
    }

    /// The difference as bytes: the head, the chunks, the paths that are gone; both lists after their lengths.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut add = |bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        add(&self.changed.head_bytes());
        add(&(self.changed.chunks.len() as u64).to_le_bytes());
        self.changed.chunks.iter().for_each(|chunk| add(&chunk.to_bytes()));
        add(&(self.gone.len() as u64).to_le_bytes());
        self.gone.iter().for_each(|path| add(path));
        out
    }

    /// A difference from its bytes; none if they are not exactly that.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Difference> {
        let (head, rest) = part(bytes)?;
        let (stored, rest) = parts(rest)?;
        let (gone, rest) = parts(rest)?;
        if !rest.is_empty() {
            return None;
        }
        let chunks = stored.into_iter().map(|chunk| Some(Arc::new(Chunk::from_bytes(chunk)?)));
        let chunks = chunks.collect::<Option<Vec<_>>>()?;
        let gone = gone.into_iter().map(<[u8]>::to_vec).collect();
        Some(Difference { changed: Index::from_chunks(head, chunks)?, gone })
    }
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

/// As many parts as the first one says.
fn parts(bytes: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let (count, mut rest) = part(bytes)?;
    let mut found = Vec::new();
    for _ in 0..u64::from_le_bytes(count.try_into().ok()?) {
        let (one, more) = part(rest)?;
        found.push(one);
        rest = more;
    }
    Some((found, rest))
}
