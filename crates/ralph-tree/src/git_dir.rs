//! Where a repository keeps its own files: `.git` as a directory, or as a file that points to one
//! (linked worktrees, submodules). Read as plain files, because git would obey the repository's config.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::content::small_file;

/// A repository's own directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitDir {
    /// This work tree's own: HEAD and its log.
    pub own: PathBuf,
    /// Shared by all work trees: refs, packed-refs, info.
    pub common: PathBuf,
}

impl GitDir {
    /// The repository whose work tree begins at `dir`, if one does.
    pub fn at(dir: &Path) -> Option<GitDir> {
        let dot_git = dir.join(".git");
        let own = if dot_git.metadata().ok()?.is_dir() {
            dot_git
        } else {
            let text = small_file(&dot_git, 8192)?;
            dir.join(line_path(text.strip_prefix(b"gitdir:")?)?)
        };
        // Git too takes a directory without HEAD for no repository.
        own.join("HEAD").symlink_metadata().ok()?;
        let common = small_file(&own.join("commondir"), 8192);
        let common = common.and_then(|text| Some(own.join(line_path(&text)?))).unwrap_or_else(|| own.clone());
        Some(GitDir { own, common })
    }

    /// The repository around `dir`, with the top of its work tree: the nearest one above or at it.
    pub fn around(dir: &Path) -> Option<(&Path, GitDir)> {
        dir.ancestors().find_map(|top| Some((top, GitDir::at(top)?)))
    }
}

/// The first line of a file as a path.
fn line_path(text: &[u8]) -> Option<PathBuf> {
    let line = text.split(|&byte| byte == b'\n').next()?.trim_ascii();
    (!line.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(line)))
}
