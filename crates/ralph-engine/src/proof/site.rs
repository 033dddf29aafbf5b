//! What every experiment of a proof needs.

use super::baseline::Baseline;
use super::environment::{Environment, Places};
use ralph_os::open_file_beneath;
use ralph_proof::{FileFacts, Files, Kind};
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Index};
use std::io::Read;
use std::path::Path;

/// A larger file is not read: it is classified by its name, and never taken apart.
const LARGEST: u64 = 4 << 20;

/// The files before and now, and where their contents are.
#[derive(Clone, Copy)]
pub struct ProofSite<'a> {
    /// The workspace: rooms are shown at its path, with its dependency folders.
    pub workspace: &'a Path,
    /// Where the current files are: the workspace, or a checkout.
    pub root: &'a Path,
    /// The files before the agent worked.
    pub baseline: &'a Baseline,
    /// The files now.
    pub now: &'a Index,
    /// The baseline's contents.
    pub blobs: &'a Blobs,
    /// The verify commands.
    pub commands: &'a [String],
    /// Globs that add to the oracle or take out of it.
    pub oracle_paths: &'a [String],
    /// Globs for what is work although its name says otherwise.
    pub work_paths: &'a [String],
    /// What lay around the files before the agent worked, if it was recorded.
    pub before: Option<&'a Environment>,
    /// Where to look for it now.
    pub places: &'a Places,
    /// The baseline is a commit, which does not hold the files of submodules: they are taken as they are now.
    pub without_submodules: bool,
    /// Remembers the contents of installed packages between runs.
    pub package_cache: &'a Path,
}

/// A verify command that failed before the agent worked.
#[derive(Clone, Copy, Debug)]
pub struct RedBefore<'a> {
    /// The command.
    pub command: &'a str,
    /// It could not even be run.
    pub not_run: bool,
}

impl<'a> ProofSite<'a> {
    /// The baseline's files for the classification.
    pub(super) fn files_before(&self) -> Files<'a> {
        let site = *self;
        let facts = self.baseline.files().map(|(path, file)| (path, file.facts()));
        Files::new(facts, Box::new(move |path| site.read_before(path)))
    }

    /// The current files for the classification.
    pub(super) fn files_now(&self) -> Files<'a> {
        let site = *self;
        let facts = counted(self.now).map(|entry| (entry.path.to_vec(), facts(&entry)));
        Files::new(facts, Box::new(move |path| site.read_now(path)))
    }

    /// A content of the baseline; none if it is too large to be read.
    pub(super) fn read_before(&self, path: &[u8]) -> Option<Vec<u8>> {
        let file = self.baseline.file(path)?;
        let opened = self.blobs.open(file.hash).ok()?;
        read_bounded(opened)
    }

    /// A current content or a link's target; not through links.
    pub(super) fn read_now(&self, path: &[u8]) -> Option<Vec<u8>> {
        let entry = self.now.get(path)?;
        if entry.kind == ralph_tree::Kind::Symlink {
            return link_target(self.root, path);
        }
        read_bounded(open_file_beneath(self.root, path).ok()?)
    }
}

/// Whether a path lies in a repository inside the workspace, such as a submodule.
pub(super) fn is_nested(index: &Index, path: &[u8]) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.filter_map(|at| path.get(..at)).any(|dir| index.get(&[dir, b"/.git"].concat()).is_some())
}

/// The files and links that count as work.
pub(super) fn counted(index: &Index) -> impl Iterator<Item = Entry<'_>> {
    let is_file = |entry: &Entry<'_>| entry.kind != ralph_tree::Kind::Directory && !entry.is_repository();
    index.entries().filter(move |entry| entry.counts && is_file(entry))
}

pub(super) fn facts(entry: &Entry<'_>) -> FileFacts {
    FileFacts { kind: kind(entry.kind), executable: entry.executable(), hash: entry.hash }
}

pub(super) fn kind(kind: ralph_tree::Kind) -> Kind {
    match kind {
        ralph_tree::Kind::File => Kind::File,
        ralph_tree::Kind::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

pub(super) fn read_bounded(from: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = from.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (size as u64 <= LARGEST).then_some(bytes)
}

pub(super) fn link_target(root: &Path, path: &[u8]) -> Option<Vec<u8>> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let at = root.join(std::ffi::OsStr::from_bytes(path));
    Some(std::fs::read_link(at).ok()?.into_os_string().into_vec())
}
