//! Files that a room shows instead of the workspace's own, written as the upper directory of an overlay or into a copy.

use super::tree_copy;
use ralph_supervisor::Overlay;
use ralph_tree::TreePath;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What a room shows at one path.
#[derive(Debug)]
pub enum Replacement {
    /// A file with this content.
    File {
        /// The content.
        content: Vec<u8>,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it points.
        target: Vec<u8>,
    },
    /// Nothing, although the workspace has a file there.
    Hidden,
}

/// The paths that differ between a room and the workspace.
#[derive(Debug, Default)]
pub struct Replacements(Vec<(TreePath, Replacement)>);

impl FromIterator<(TreePath, Replacement)> for Replacements {
    fn from_iter<T: IntoIterator<Item = (TreePath, Replacement)>>(iter: T) -> Replacements {
        Replacements(iter.into_iter().collect())
    }
}

impl Replacements {
    /// Also hides a directory: ralph's own state, where it lies in the workspace.
    #[must_use]
    pub fn hiding(mut self, dir: Option<&TreePath>) -> Replacements {
        self.0.extend(dir.map(|dir| (dir.clone(), Replacement::Hidden)));
        self
    }

    /// Writes them as the upper directory of an overlay over `workspace`, below `dir`.
    pub(super) fn overlay(&self, workspace: &Path, dir: &Path) -> io::Result<Overlay> {
        tree_copy::remove(dir)?;
        let (upper, work) = (dir.join("upper"), dir.join("work"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        copy_mode(workspace, &upper)?;
        for (path, replacement) in &self.0 {
            create_parents(workspace, &upper, path.as_bytes())?;
            let at = upper.join(OsStr::from_bytes(path.as_bytes()));
            match replacement {
                Replacement::Hidden => ralph_os::make_whiteout(&at)?,
                other => other.write(&at)?,
            }
        }
        Ok(Overlay { over: workspace.to_owned(), upper, work })
    }

    /// Makes a copy of the workspace below `dir` and writes them into it.
    pub(super) fn copy(&self, workspace: &Path, dir: &Path) -> io::Result<PathBuf> {
        tree_copy::remove(dir)?;
        let copy = dir.join("copy");
        let hidden: Vec<PathBuf> = self
            .0
            .iter()
            .filter(|(_, replacement)| matches!(replacement, Replacement::Hidden))
            .map(|(path, _)| workspace.join(path.as_path()))
            .collect();
        tree_copy::copy(workspace, &copy, &hidden)?;
        for (path, replacement) in &self.0 {
            clear(&copy, path.as_bytes())?;
            if !matches!(replacement, Replacement::Hidden) {
                let at = copy.join(OsStr::from_bytes(path.as_bytes()));
                fs::create_dir_all(at.parent().unwrap_or(&copy))?;
                replacement.write(&at)?;
            }
        }
        Ok(copy)
    }
}

impl Replacement {
    /// With the current time: a build must not take what it made from the replaced content for up to date.
    fn write(&self, at: &Path) -> io::Result<()> {
        match self {
            Replacement::File { content, mode } => {
                let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(at)?;
                file.write_all(content)?;
                file.set_permissions(fs::Permissions::from_mode(*mode))
            }
            Replacement::Link { target } => std::os::unix::fs::symlink(OsStr::from_bytes(target), at),
            Replacement::Hidden => Ok(()),
        }
    }
}

/// Creates the parent directories of a path, with the permissions they have in the workspace.
fn create_parents(workspace: &Path, upper: &Path, path: &[u8]) -> io::Result<()> {
    for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let dir = OsStr::from_bytes(path.get(..at).unwrap_or_default());
        match fs::create_dir(upper.join(dir)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made?;
                copy_mode(&workspace.join(dir), &upper.join(dir))?;
            }
        }
    }
    Ok(())
}

fn copy_mode(from: &Path, to: &Path) -> io::Result<()> {
    let mode = from.symlink_metadata().ok().filter(fs::Metadata::is_dir).map_or(0o755, |meta| meta.mode());
    fs::set_permissions(to, fs::Permissions::from_mode(mode & 0o7777 | 0o700))
}

/// Removes what is at a path of the copy, or a file or link where one of its parent directories belongs.
fn clear(dir: &Path, path: &[u8]) -> io::Result<()> {
    let ends =
        path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).chain([path.len()]);
    for end in ends {
        let at = dir.join(OsStr::from_bytes(path.get(..end).unwrap_or_default()));
        match at.symlink_metadata() {
            Ok(meta) if meta.is_dir() && end == path.len() => return tree_copy::remove(&at),
            Ok(meta) if !meta.is_dir() => return fs::remove_file(&at),
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_below_its_own_workspace_leaves_out_what_is_hidden() {
        let temp = tempfile::tempdir().unwrap();
        for (path, text) in [("a", "1"), (".state/ralph/secret", "2"), (".state/other", "3")] {
            fs::create_dir_all(temp.path().join(path).parent().unwrap()).unwrap();
            fs::write(temp.path().join(path), text).unwrap();
        }
        let own = TreePath::from(b".state/ralph".as_slice());
        let dir = temp.path().join(".state/ralph/runs/1/view");
        let copy = Replacements::default().hiding(Some(&own)).copy(temp.path(), &dir).unwrap();
        let there = ["a", ".state/other", ".state/ralph"].map(|path| copy.join(path).exists());
        assert_eq!(there, [true, true, false]);
    }
}
