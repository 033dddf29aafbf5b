//! The index: everything one walk kept, in walk order. It consists of chunks (`chunk`), and a walk takes over those in
//! which nothing changed: several indexes of one workspace take little more memory than one.
//!
//! Made by `walk`, kept on disk by `saved`, compared by `changes` and `violations`.

use std::sync::Arc;

use crate::chunk::{Chunk, ChunkWriter, Row};
use crate::path::{TreePath, order};

/// The entry counts as work: neither ignored nor noise.
pub(crate) const COUNTS: u8 = 1;
/// The entry lies under a protected glob.
pub(crate) const PROTECTED: u8 = 2;
/// A noise directory, entered only because a protected glob names something in it.
pub(crate) const NOISE: u8 = 4;
/// The content could not be read; its hash stands for the stat instead, and it is tried again each time.
pub(crate) const UNREADABLE: u8 = 8;

/// What kind of thing a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; never followed.
    Symlink,
    /// A fifo, socket or device; never opened.
    Special,
}

/// One path as the walk saw it. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Relative to the root, as bytes.
    pub path: &'a [u8],
    /// File, directory, link or special.
    pub kind: Kind,
    /// Permission bits, `0o7777` at most.
    pub mode: u16,
    /// Inode number.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last write.
    pub mtime: i64,
    /// Last change of anything; cannot be set by a program.
    pub ctime: i64,
    /// Content (link: target), as 128 bits of blake3. Says nothing for directories and special files.
    pub hash: u128,
    /// Counts as progress when it changes.
    pub counts: bool,
    /// Must not change.
    pub protected: bool,
    /// The content could not be read; `hash` then stands for inode, size and mtime.
    pub unreadable: bool,
}

impl Entry<'_> {
    /// A `.git`: the directory of a repository, or what points to one.
    #[must_use]
    pub fn is_repository(&self) -> bool {
        self.path == b".git" || self.path.ends_with(b"/.git")
    }

    /// Something that ralph compares and puts back: work, or protected.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.counts || self.protected
    }

    /// The only permission bit that is part of the work, as in git.
    #[must_use]
    pub fn executable(&self) -> bool {
        self.kind == Kind::File && self.mode & 0o100 != 0
    }
}

/// Something the walk could not look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What was left out; with all it holds if it is a directory.
    pub path: TreePath,
    /// Why, in words.
    pub why: String,
}

/// What one walk found.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(crate) chunks: Vec<Arc<Chunk>>,
    pub(crate) id: u128,
    /// When the walk began, in nanoseconds since 1970: what changed after it is not trusted by stat alone.
    pub(crate) began: i64,
    /// The key of the ignore rules at the root; each directory's row has its own as hash.
    pub(crate) root_rules: [u8; 16],
    pub(crate) skipped: Vec<Skipped>,
    /// The walk ended before the last name, because there were too many.
    pub(crate) cut_short: bool,
    pub(crate) files_hashed: u64,
    pub(crate) bytes_hashed: u64,
}

impl Index {
    /// The tree id: equal for equal work (paths, kinds, executable bits, contents of all that counts).
    #[must_use]
    pub fn id(&self) -> u128 {
        self.id
    }

    /// Every entry the walk kept, in walk order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.chunks.iter().flat_map(|chunk| (0..chunk.rows().len()).filter_map(|at| entry(chunk, at)))
    }

    /// Its chunks, in walk order.
    pub fn chunks(&self) -> impl Iterator<Item = &Arc<Chunk>> {
        self.chunks.iter()
    }

    /// How many entries are kept, directories included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows().len()).sum()
    }

    /// True if the workspace holds nothing that is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The entry of one path.
    #[must_use]
    pub fn get(&self, path: &[u8]) -> Option<Entry<'_>> {
        let after = self.chunks.partition_point(|chunk| order(chunk.path_at(0), path).is_le());
        let chunk = self.chunks.get(after.checked_sub(1)?)?;
        entry(chunk, chunk.place_of(path)).filter(|entry| entry.path == path)
    }

    /// Where repositories begin: every `.git`, whatever it is. It is neither work nor protected.
    pub fn repositories(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(Entry::is_repository)
    }

    /// The same paths with the same kinds, modes and contents; work and protected paths alike.
    #[must_use]
    pub fn same_contents(&self, other: &Index) -> bool {
        let same = |a: &Entry<'_>, b: &Entry<'_>| {
            let flags = |e: &Entry<'_>| (e.counts, e.protected, e.unreadable);
            (a.path, a.kind, a.mode, a.hash, flags(a)) == (b.path, b.kind, b.mode, b.hash, flags(b))
        };
        side_by_side(self, other).all(|pair| matches!(pair, (Some(a), Some(b)) if same(&a, &b)))
    }

    /// What could not be looked at, at most 256 of them.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Whether the walk ended early because there were too many names. Not kept with a saved index.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// Whether a path lies within what a walk that was cut short looked at.
    #[must_use]
    pub fn reaches(&self, path: &[u8]) -> bool {
        let last = self.chunks.last().and_then(|chunk| entry(chunk, chunk.rows().len().checked_sub(1)?));
        last.is_some_and(|last| order(path, last.path).is_le())
    }

    /// How many files this walk had to read.
    #[must_use]
    pub fn files_hashed(&self) -> u64 {
        self.files_hashed
    }

    /// How many bytes this walk had to read.
    #[must_use]
    pub fn bytes_hashed(&self) -> u64 {
        self.bytes_hashed
    }

    /// Other entries with the head of this index.
    pub(crate) fn with_chunks(&self, chunks: Vec<Arc<Chunk>>) -> Index {
        Index { chunks, id: self.id, began: self.began, root_rules: self.root_rules, ..Index::default() }
    }

    /// The hash behind [`Index::id`]. Times, inodes and other permission bits are left out, so that putting
    /// everything back gives the same id again.
    pub(crate) fn compute_id(&self) -> u128 {
        const FULL: usize = 64 * 1024;
        let mut hasher = blake3::Hasher::new();
        let mut batch = Vec::with_capacity(FULL + 8192);
        let work = |row: &Row| row.flags & COUNTS != 0 && row.kind != Kind::Directory;
        for chunk in &self.chunks {
            for (at, row) in chunk.rows().iter().enumerate().filter(|(_, row)| work(row)) {
                let path = chunk.path_at(at);
                batch.extend_from_slice(&path.len().to_le_bytes());
                batch.extend_from_slice(path);
                let executable = row.kind == Kind::File && row.mode & 0o100 != 0;
                batch.extend_from_slice(&[u8::from(row.kind == Kind::Symlink), u8::from(executable)]);
                batch.extend_from_slice(&row.hash);
            }
            if batch.len() >= FULL {
                hasher.update(&batch);
                batch.clear();
            }
        }
        hasher.update(&batch);
        u128::from_le_bytes(short(&hasher))
    }
}

/// The first 128 bits of a hash: enough that nobody finds two contents with the same one by chance.
pub(crate) fn short(hasher: &blake3::Hasher) -> [u8; 16] {
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    bytes
}

/// The entry at a place of a chunk.
fn entry(chunk: &Chunk, at: usize) -> Option<Entry<'_>> {
    let row = chunk.rows().get(at)?;
    Some(Entry {
        path: chunk.path_at(at),
        kind: row.kind,
        mode: row.mode,
        ino: row.ino,
        size: row.size,
        mtime: row.mtime,
        ctime: row.ctime,
        hash: u128::from_le_bytes(row.hash),
        counts: row.flags & COUNTS != 0,
        protected: row.flags & PROTECTED != 0,
        unreadable: row.flags & UNREADABLE != 0,
    })
}

/// A place in an index.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    chunks: &'a [Arc<Chunk>],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(index: &'a Index) -> Cursor<'a> {
        Cursor { chunks: &index.chunks, at: 0 }
    }

    /// The row here and its path; none at the end.
    pub fn row(&self) -> Option<(&'a [u8], &'a Row)> {
        let chunk = self.chunks.first()?;
        Some((chunk.path_at(self.at), chunk.rows().get(self.at)?))
    }

    pub fn step(&mut self) {
        let Some((chunk, rest)) = self.chunks.split_first() else { return };
        self.at += 1;
        if self.at >= chunk.rows().len() {
            (self.chunks, self.at) = (rest, 0);
        }
    }

    fn entry(&self) -> Option<Entry<'a>> {
        entry(self.chunks.first()?, self.at)
    }

    /// The chunk that begins here.
    fn begins(&self) -> Option<&'a Arc<Chunk>> {
        self.chunks.first().filter(|_| self.at == 0)
    }

    fn skip_chunk(&mut self) {
        (self.chunks, self.at) = (self.chunks.get(1..).unwrap_or_default(), 0);
    }

    /// Leaves out chunks that begin here and that the other index has here, too.
    pub fn skip_shared(&mut self, other: &mut Cursor<'_>) {
        while let (Some(old), Some(new)) = (self.begins(), other.begins())
            && Arc::ptr_eq(old, new)
        {
            self.skip_chunk();
            other.skip_chunk();
        }
    }

    /// Hands a chunk over as a whole, if one begins here and ends before all of these paths.
    pub fn share_before(&mut self, paths: &[Option<&[u8]>], to: &mut ChunkWriter) -> bool {
        let Some(chunk) = self.begins() else { return false };
        let last = chunk.path_at(chunk.rows().len().saturating_sub(1));
        let is_before = paths.iter().flatten().all(|path| order(last, path).is_lt());
        let shared = is_before && to.share(chunk);
        if shared {
            self.skip_chunk();
        }
        shared
    }
}

/// Two indexes side by side: each path once, with what it was and what it is. Chunks that the two share are left out,
/// because nothing in them differs.
pub fn side_by_side<'a>(
    before: &'a Index,
    after: &'a Index,
) -> impl Iterator<Item = (Option<Entry<'a>>, Option<Entry<'a>>)> {
    let (mut left, mut right) = (Cursor::new(before), Cursor::new(after));
    std::iter::from_fn(move || {
        left.skip_shared(&mut right);
        let pair = (left.entry(), right.entry());
        let side = match &pair {
            (None, None) => return None,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => order(old.path, new.path),
        };
        if side.is_le() {
            left.step();
        }
        if side.is_ge() {
            right.step();
        }
        Some((pair.0.filter(|_| side.is_le()), pair.1.filter(|_| side.is_ge())))
    })
}
