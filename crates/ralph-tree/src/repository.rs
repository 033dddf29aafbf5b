//! The repositories of a workspace: where each keeps its own files, and which of those git obeys.
//!
//! `git_dir` finds the directories; the caller walks them with [`Tree::guarding`](crate::Tree::guarding), compares
//! what git obeys like any protected path, and looks at history only where a ref moved.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git_dir::GitDir;
use crate::ignores::is_ignored_around;
use crate::index::{Index, Kind};
use crate::path::shown;

/// What git obeys in a repository's own directory: whoever writes one of these runs code, or hides files, the next
/// time the user calls git.
pub const OBEYED: &[&str] = &[
    "/config",
    "/config.worktree",
    "/hooks/",
    "/info/attributes",
    "/info/exclude",
    "/info/grafts",
    "/info/sparse-checkout",
    "/objects/info/alternates",
    "/objects/info/http-alternates",
    "/commondir",
    "/gitdir",
    // Remotes as git wrote them before it had a config, which it still reads.
    "/remotes/",
    "/branches/",
    // Of linked work trees: a config of their own, and where everything else lies.
    "/worktrees/*/config.worktree",
    "/worktrees/*/commondir",
];

/// Where a repository keeps its refs.
pub const REFS: &[&str] = &["/HEAD", "/packed-refs", "/refs/", "/reftable/"];

/// One repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Its directory as people know it: relative where it lies in the workspace.
    pub name: String,
    /// This work tree's own directory.
    pub own: PathBuf,
    /// Shared by all its work trees.
    pub common: PathBuf,
    /// Where its files begin, relative to the workspace.
    pub files: Vec<u8>,
    /// Where the workspace begins, relative to the repository's files.
    pub within: Vec<u8>,
}

impl Repository {
    /// Its own directory and, where that is another one, the shared one; each with the name it is shown under.
    pub fn directories(&self) -> impl Iterator<Item = (&Path, String)> {
        let common = (self.common != self.own)
            .then(|| (self.common.as_path(), shown(self.common.as_os_str().as_bytes())));
        [(self.own.as_path(), self.name.clone())].into_iter().chain(common)
    }

    /// Where its files begin, if the workspace is only a part of them.
    #[must_use]
    pub fn top_around(&self, workspace: &Path) -> Option<PathBuf> {
        let depth = Path::new(OsStr::from_bytes(&self.within)).components().count();
        let top = workspace.ancestors().nth(depth).filter(|_| depth > 0)?;
        (!is_ignored_around(workspace)).then(|| top.to_path_buf())
    }

    /// A path of the repository as one of the workspace; none where it lies outside.
    #[must_use]
    pub fn in_workspace(&self, path: &[u8]) -> Option<Vec<u8>> {
        let path = match self.within.as_slice() {
            b"" => path,
            within => path.strip_prefix(within)?.strip_prefix(b"/")?,
        };
        Some(if self.files.is_empty() { path.to_vec() } else { [&self.files, &b"/"[..], path].concat() })
    }
}

/// The repository around the workspace first, then those that begin in it, as a walk found them.
#[must_use]
pub fn repositories(root: &Path, index: &Index) -> Vec<Repository> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let around = GitDir::around(&root).map(|(top, git)| {
        let within = root.strip_prefix(top).map(bytes).unwrap_or_default();
        (Vec::new(), within, git)
    });
    let inner = index.repositories().filter(|entry| entry.path != b".git").filter_map(|entry| {
        let dir = entry.path.strip_suffix(b"/.git")?;
        let path = root.join(OsStr::from_bytes(dir));
        Some((dir.to_vec(), Vec::new(), GitDir::at(&path)?))
    });
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for (files, within, git) in around.into_iter().chain(inner) {
        let (Ok(own), Ok(common)) = (git.own.canonicalize(), git.common.canonicalize()) else { continue };
        if !seen.insert(own.clone()) {
            continue;
        }
        let name = own.strip_prefix(&root).unwrap_or(&own);
        let name = shown(name.as_os_str().as_bytes());
        found.push(Repository { name, own, common, files, within });
    }
    found
}

/// The own and the shared directory of the repository whose work tree begins in a directory, without links.
#[must_use]
pub fn repository_at(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = GitDir::at(dir)?;
    Some((git.own.canonicalize().ok()?, git.common.canonicalize().ok()?))
}

/// Directories that git takes for repositories without a work tree, as a walk found them, relative to its root. Whoever calls
/// git in one runs what its config and its hooks say, though no `.git` tells of it.
pub fn bare_repositories(index: &Index) -> impl Iterator<Item = &[u8]> {
    index.entries().filter(|entry| entry.kind != Kind::Directory).filter_map(|entry| {
        let slash = entry.path.strip_suffix(b"HEAD").filter(|dir| dir.is_empty() || dir.ends_with(b"/"))?;
        let is = |name: &str, kinds: &[Kind]| {
            index.get(&[slash, name.as_bytes()].concat()).is_some_and(|it| kinds.contains(&it.kind))
        };
        let directory = &[Kind::Directory, Kind::Symlink];
        let own = is("objects", directory) && is("refs", directory);
        // Objects and refs may also lie where this file says.
        let elsewhere = is("commondir", &[Kind::File, Kind::Symlink]);
        (own || elsewhere).then(|| slash.strip_suffix(b"/").unwrap_or_default())
    })
}
