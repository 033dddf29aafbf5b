//! Filling a room folder: the rules of what may stay first, then what must go, then what is missing.

use super::folder::{RoomFile, Source};
use super::manifest::{Manifest, Stamp, Written};
use super::writer::Writer;
use ralph_diagnostics::Discard;
use ralph_tree::{Entry, Index, Kind, Protect, Tree, hash_bytes, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time between two ticks of the clock that dates files.
pub(super) const CLOCK_TICK: Duration = Duration::from_millis(10);
/// So often directories that cannot be read are opened up before they are removed instead.
const OPENING_ROUNDS: u32 = 16;

/// A fill under way.
pub(super) struct Filling<'a> {
    pub(super) writer: Writer<'a>,
    pub(super) before: Manifest,
    pub(super) wanted: &'a BTreeMap<Vec<u8>, RoomFile>,
    /// What is in place.
    pub(super) files: BTreeMap<Vec<u8>, Written>,
    pub(super) began: Instant,
}

impl Filling<'_> {
    /// Does everything but note the result.
    pub(super) fn run(&mut self, tree: &Path, workspace: &Path) -> io::Result<()> {
        let gitignores = self.write_gitignores()?;
        let seen = self.walk(tree, workspace, gitignores)?;
        self.remove_litter(&seen)?;
        self.write_all(&seen)?;
        self.remove_empty_directories(&seen);
        Ok(())
    }

    /// Puts the ignore rules in place, because they say what may stay. Returns their paths.
    fn write_gitignores(&mut self) -> io::Result<BTreeSet<Vec<u8>>> {
        let rules = |path: &&Vec<u8>| path.as_slice() == b".gitignore" || path.ends_with(b"/.gitignore");
        let paths = self.wanted.keys().filter(rules).filter(|path| !is_in_repository(path));
        let paths: BTreeSet<Vec<u8>> = paths.cloned().collect();
        for path in &paths {
            self.settle(path, self.writer.stamp(path))?;
        }
        Ok(paths)
    }

    /// Lists the folder without reading contents.
    fn walk(&self, tree: &Path, workspace: &Path, gitignores: BTreeSet<Vec<u8>>) -> io::Result<Index> {
        let nothing: [&str; 0] = [];
        let protect = Protect::new(nothing).map_err(io::Error::other)?;
        let tree = Tree::new(tree, protect).as_copy_of(workspace, gitignores);
        let closed = |entry: &Entry<'_>| entry.kind == Kind::Directory && entry.unreadable;
        for _ in 0..OPENING_ROUNDS {
            let seen = tree.walk(None).map_err(io::Error::other)?;
            if !seen.entries().any(|entry| closed(&entry)) {
                return Ok(seen);
            }
            for entry in seen.entries().filter(closed) {
                self.writer.tree.set_mode(entry.path, 0o755)?;
            }
        }
        let seen = tree.walk(None).map_err(io::Error::other)?;
        seen.entries().filter(closed).try_for_each(|entry| self.writer.remove(entry.path))?;
        Ok(seen)
    }

    /// Removes every file that is not wanted: what an earlier fill wrote, and what commands left, if it is not ignored.
    fn remove_litter(&self, seen: &Index) -> io::Result<()> {
        let is_litter =
            |entry: &Entry<'_>| entry.is_repository() || (entry.counts && entry.kind != Kind::Directory);
        for entry in seen.entries().filter(is_litter) {
            if !self.wants(entry.path) {
                self.writer.remove(entry.path)?;
            }
        }
        let gone = |path: &&Vec<u8>| !self.wants(path) && seen.get(path).is_none();
        for path in self.before.files.keys().filter(gone) {
            // A directory that a command made in its place is no file of ours.
            if self.writer.tree.metadata(path).is_some_and(|meta| !meta.is_dir()) {
                self.writer.remove(path)?;
            }
        }
        Ok(())
    }

    fn write_all(&mut self, seen: &Index) -> io::Result<()> {
        let wanted = self.wanted;
        for path in wanted.keys().filter(|path| !is_in_repository(path)) {
            if self.files.contains_key(path) {
                continue;
            }
            let stamp = match seen.get(path) {
                Some(Entry { ino, size, ctime, .. }) => Some(Stamp { ino, size, ctime }),
                None => self.writer.stamp(path),
            };
            self.settle(path, stamp)?;
        }
        Ok(())
    }

    /// Makes sure that a wanted file is in place. `is` is what the path holds now.
    fn settle(&mut self, path: &[u8], is: Option<Stamp>) -> io::Result<()> {
        let Some(file) = self.wanted.get(path) else { return Ok(()) };
        let hash = match &file.source {
            Source::Bytes(bytes) => hash_bytes(bytes),
            Source::Blob | Source::Workspace => file.hash,
        };
        let known = Written { hash, mode: file.mode & 0o777, link: file.link, stamp: is.unwrap_or_default() };
        let unchanged = match self.before.complete {
            true => is.is_some() && self.before.files.get(path) == Some(&known),
            false => is.is_some() && self.writer.is_at(path, file, hash),
        };
        let written = match unchanged {
            true => known,
            false if self.wants_below(path) => {
                let text = format!("{} cannot be both a file and a directory of a room", shown(path));
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            false => {
                self.wait_for_tick();
                Written { stamp: self.writer.write(path, file)?, ..known }
            }
        };
        self.files.insert(path.to_vec(), written);
        Ok(())
    }

    /// What is written now must be newer than what a command wrote a moment ago, for builds that compare times.
    fn wait_for_tick(&self) {
        std::thread::sleep(CLOCK_TICK.saturating_sub(self.began.elapsed()));
    }

    fn remove_empty_directories(&self, seen: &Index) {
        let directories = seen.entries().filter(|entry| entry.counts && entry.kind == Kind::Directory);
        for entry in directories.collect::<Vec<_>>().into_iter().rev() {
            if !self.wants_below(entry.path) {
                // One that is not empty stays: ignored files are in it.
                self.writer.tree.remove_dir(entry.path).discard("remove an empty directory of a room");
            }
        }
    }

    fn wants(&self, path: &[u8]) -> bool {
        self.wanted.contains_key(path) && !is_in_repository(path)
    }

    fn wants_below(&self, dir: &[u8]) -> bool {
        let below = [dir, b"/"].concat();
        self.wanted.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
    }
}

/// A `.git`, or something in one.
fn is_in_repository(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == b".git")
}
