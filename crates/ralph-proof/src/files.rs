//! One side of the comparison: the files of the baseline, or those of now. Ignored files are not part of it.

use std::collections::BTreeMap;

/// A larger file is not read as text: it is compared and classified by its name alone.
pub const LARGEST_TEXT: usize = 4 << 20;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link; its content is its target.
    Link,
    /// A FIFO, socket, device, or the directory of a submodule: it has no content to compare.
    Other,
}

/// What is known of one file without reading it. Two files with equal facts have equal contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// File, link or something else.
    pub kind: Kind,
    /// The only permission bit that counts, as in git.
    pub executable: bool,
    /// A hash of the content.
    pub hash: u128,
}

/// Reads a content; none where it is gone, too large or cannot be read.
pub type Read<'a> = Box<dyn Fn(&[u8]) -> Option<Vec<u8>> + 'a>;

/// All files of one side, by path. Contents are read when they are asked for.
pub struct Files<'a> {
    facts: BTreeMap<Vec<u8>, FileFacts>,
    read: Read<'a>,
}

impl<'a> Files<'a> {
    /// These files, read by `read`.
    pub fn new(facts: impl IntoIterator<Item = (Vec<u8>, FileFacts)>, read: Read<'a>) -> Files<'a> {
        Files { facts: facts.into_iter().collect(), read }
    }

    /// The facts of one path.
    pub fn get(&self, path: &[u8]) -> Option<FileFacts> {
        self.facts.get(path).copied()
    }

    /// Whether there is a file or link at the path.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.facts.contains_key(path)
    }

    /// Whether anything lies below this directory.
    pub fn contains_dir(&self, dir: &[u8]) -> bool {
        self.below(dir).next().is_some()
    }

    /// Paths below a directory; an empty one stands for the root.
    pub fn below(&self, dir: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut prefix = dir.to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let from = prefix.clone();
        self.facts
            .range(from..)
            .map(|(path, _)| path.as_slice())
            .take_while(move |path| path.starts_with(&prefix))
    }

    /// Every path, in byte order.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.facts.keys().map(Vec::as_slice)
    }

    /// Symbolic links, in byte order.
    pub fn links(&self) -> impl Iterator<Item = &[u8]> {
        self.facts.iter().filter(|(_, facts)| facts.kind == Kind::Link).map(|(path, _)| path.as_slice())
    }

    /// Paths at which the other side has something else or nothing, in byte order.
    pub fn differing<'b>(&'b self, other: &'b Files<'_>) -> impl Iterator<Item = &'b [u8]> {
        let differs = |(path, facts): &(&Vec<u8>, &FileFacts)| other.facts.get(*path) != Some(*facts);
        self.facts.iter().filter(differs).map(|(path, _)| path.as_slice())
    }

    /// A file's bytes or a link's target.
    pub fn bytes(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.facts.get(path)?;
        (self.read)(path)
    }

    /// A regular file as text; none if it is not UTF-8 or larger than [`LARGEST_TEXT`].
    pub fn text(&self, path: &[u8]) -> Option<String> {
        self.get(path).filter(|facts| facts.kind == Kind::File)?;
        (self.read)(path)
            .filter(|bytes| bytes.len() <= LARGEST_TEXT)
            .and_then(|bytes| String::from_utf8(bytes).ok())
    }
}

impl std::fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").field("files", &self.facts.len()).finish_non_exhaustive()
    }
}
