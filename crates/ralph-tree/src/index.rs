//! The index: everything one walk kept, in walk order, compact enough to hold two of them at 100,000 files.
//!
//! Made by `walk`, kept on disk by `saved`, compared by `changes` and `violations`. Paths lie end to end in
//! one arena; a row is 56 bytes and knows only where its path ends.

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

/// One entry, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub hash: [u8; 16],
    pub ino: u64,
    pub size: u64,
    pub mtime: i64,
    pub ctime: i64,
    /// Where the path ends in the arena; it begins where the row before ends.
    pub end: u32,
    pub mode: u16,
    pub kind: Kind,
    pub flags: u8,
}

/// What one walk found.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(crate) rows: Vec<Row>,
    pub(crate) paths: Vec<u8>,
    pub(crate) id: u128,
    /// When the walk began, in nanoseconds since 1970: what changed after it is not trusted by stat alone.
    pub(crate) began: i64,
    /// The key of the ignore rules at the root; each directory's row has its own as hash.
    pub(crate) root_rules: [u8; 16],
    pub(crate) skipped: Vec<Skipped>,
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
        (0..self.rows.len()).filter_map(|at| self.entry(at))
    }

    /// How many entries are kept, directories included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if the workspace holds nothing that is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The entry of one path.
    #[must_use]
    pub fn get(&self, path: &[u8]) -> Option<Entry<'_>> {
        let (mut low, mut high) = (0, self.rows.len());
        while low < high {
            let middle = low.midpoint(high);
            if order(self.path_at(middle), path).is_lt() { low = middle + 1 } else { high = middle }
        }
        self.entry(low).filter(|entry| entry.path == path)
    }

    /// Where repositories begin: every `.git`, whatever it is. It is neither work nor protected.
    pub fn repositories(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(Entry::is_repository)
    }

    /// The same paths with the same kinds, modes and contents; work and protected paths alike.
    #[must_use]
    pub fn same_contents(&self, other: &Index) -> bool {
        let row = |row: &Row| (row.hash, row.end, row.mode, row.kind, row.flags);
        self.paths == other.paths && self.rows.iter().map(row).eq(other.rows.iter().map(row))
    }

    /// What could not be looked at, at most 256 of them.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
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

    /// The path of the row at this place; empty past the end.
    pub(crate) fn path_at(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |row| row.end);
        let end = self.rows.get(at).map_or(start, |row| row.end);
        self.paths.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The entry at this place.
    pub(crate) fn entry(&self, at: usize) -> Option<Entry<'_>> {
        let row = self.rows.get(at)?;
        Some(Entry {
            path: self.path_at(at),
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

    /// The hash behind [`Index::id`]. Times, inodes and other permission bits are left out, so that putting
    /// everything back gives the same id again.
    pub(crate) fn compute_id(&self) -> u128 {
        const FULL: usize = 64 * 1024;
        let mut hasher = blake3::Hasher::new();
        let mut batch = Vec::with_capacity(FULL + 8192);
        let work = |row: &Row| row.flags & COUNTS != 0 && row.kind != Kind::Directory;
        for (at, row) in self.rows.iter().enumerate().filter(|(_, row)| work(row)) {
            let path = self.path_at(at);
            batch.extend_from_slice(&path.len().to_le_bytes());
            batch.extend_from_slice(path);
            let executable = row.kind == Kind::File && row.mode & 0o100 != 0;
            batch.extend_from_slice(&[u8::from(row.kind == Kind::Symlink), u8::from(executable)]);
            batch.extend_from_slice(&row.hash);
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

/// Two indexes side by side: each path once, with what it was and what it is.
pub fn side_by_side<'a>(
    before: &'a Index,
    after: &'a Index,
) -> impl Iterator<Item = (Option<Entry<'a>>, Option<Entry<'a>>)> {
    let (mut left, mut right) = (0, 0);
    std::iter::from_fn(move || {
        let pair = (before.entry(left), after.entry(right));
        let side = match &pair {
            (None, None) => return None,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => order(old.path, new.path),
        };
        left += usize::from(side.is_le());
        right += usize::from(side.is_ge());
        Some((pair.0.filter(|_| side.is_le()), pair.1.filter(|_| side.is_ge())))
    })
}
