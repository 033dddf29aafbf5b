//! The names that the contents of many files have in git, found by two processes however many there are. The contents lie
//! in the snapshot store; git reads them by path, because paths decide about line endings and filters. So they are laid
//! out in a directory that stands for the work tree.

use super::git::{Git, GitEntry};
use super::git_error::GitError;
use ralph_os::{Links, read_regular};
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Larger files of attributes are not obeyed.
const LARGEST_ATTRIBUTES: u64 = 16 << 20;

/// A version of a file, as git has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// This one, or none.
    Is(Option<GitEntry>),
    /// Its content is gone.
    NotSaved,
}

/// Versions by path of the repository.
pub type Versions = BTreeMap<Vec<u8>, Version>;

/// The versions of these files, whose contents are laid out in `dir`.
pub fn versions<'e>(
    (git, blobs, dir): (&Git, &Blobs, &Path),
    files: impl Iterator<Item = (&'e [u8], &'e Entry<'e>)>,
) -> Result<Versions, GitError> {
    let (tree, links) = (dir.join("files"), dir.join("links"));
    fs::create_dir_all(&tree)?;
    fs::create_dir_all(&links)?;
    let (mut found, mut in_tree, mut in_links) = (Versions::new(), Vec::new(), Vec::new());
    for (path, entry) in files {
        let mut content = Vec::new();
        if blobs.copy_to(entry.hash, &mut content).is_err() {
            found.insert(path.to_vec(), Version::NotSaved);
        } else if entry.kind == Kind::Symlink {
            let name = in_links.len().to_string().into_bytes();
            write(&links, &name, &content)?;
            in_links.push((path, "120000", name));
        } else {
            let mode = if entry.executable() { "100755" } else { "100644" };
            // git reads paths by line; a path may also be longer here than where it belongs.
            if !path.contains(&b'\n') && !path.starts_with(b"\"") && write(&tree, path, &content).is_ok() {
                in_tree.push((path, mode, path.to_vec()));
            } else {
                let object = git.object(Some(path), &content)?;
                found.insert(path.to_vec(), is(mode, object));
            }
        }
    }
    lay_out_attributes(git.top(), &tree, in_tree.iter().map(|(path, ..)| *path))?;
    for (dir, rows, filters) in [(&tree, in_tree, true), (&links, in_links, false)] {
        if !rows.is_empty() {
            let paths: Vec<&[u8]> = rows.iter().map(|(_, _, at)| at.as_slice()).collect();
            let names = git.objects(dir, &paths, filters)?;
            let rows = rows.iter().zip(names);
            found.extend(rows.map(|((path, mode, _), object)| (path.to_vec(), is(mode, object))));
        }
    }
    Ok(found)
}

fn is(mode: &str, object: String) -> Version {
    Version::Is(Some(GitEntry { mode: mode.to_owned(), object }))
}

fn write(dir: &Path, path: &[u8], content: &[u8]) -> io::Result<()> {
    let file = dir.join(OsStr::from_bytes(path));
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(file, content)
}

/// Copies the `.gitattributes` above these paths, unless one is among them.
fn lay_out_attributes<'p>(top: &Path, tree: &Path, paths: impl Iterator<Item = &'p [u8]>) -> io::Result<()> {
    let above = |path: &'p [u8]| {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes.filter_map(move |at| path.get(..at)).chain([b"".as_slice()])
    };
    for dir in paths.flat_map(above).collect::<BTreeSet<_>>() {
        let name = Path::new(OsStr::from_bytes(dir)).join(".gitattributes");
        let to = tree.join(&name);
        if let Ok(rules) = read_regular(&top.join(&name), LARGEST_ATTRIBUTES, Links::RefuseLast)
            && !to.exists()
        {
            fs::write(to, rules)?;
        }
    }
    Ok(())
}
