//! Finds saved contents that are not what their names say, for `ralph doctor`. Changes nothing.

use std::fs;
use std::io;

use ralph_tree::{Entry, Index, Kind, TreePath};

use crate::blobs::Blobs;
use crate::snapshot_store::is_kept;

/// Files and links of this state whose saved content is missing or has another size. Of files nothing is read. Not every
/// file system tells the size of a link, so those are read: they are small.
#[must_use]
pub fn wrong_size(blobs: &Blobs, state: &Index) -> Vec<TreePath> {
    let wrong = |entry: &Entry<'_>| match entry.kind {
        Kind::File => !blobs.holds(entry.hash, entry.size),
        Kind::Symlink => !blobs.is_whole(entry.hash).unwrap_or(false),
        _ => false,
    };
    let kept = state.entries().filter(|entry| entry.matters() && is_kept(entry));
    kept.filter(wrong).map(|entry| entry.path.into()).collect()
}

/// Reads every content; returns how many there are, and the names of those that are damaged.
pub fn damaged_contents(blobs: &Blobs) -> io::Result<(u64, Vec<u128>)> {
    let (mut count, mut damaged) = (0, Vec::new());
    for folder in fs::read_dir(blobs.dir()).into_iter().flatten().flatten() {
        for entry in fs::read_dir(folder.path())?.flatten() {
            let name =
                format!("{}{}", folder.file_name().to_string_lossy(), entry.file_name().to_string_lossy());
            let (Ok(hash), 32) = (u128::from_str_radix(&name, 16), name.len()) else { continue };
            count += 1;
            if !blobs.is_whole(hash)? {
                damaged.push(hash);
            }
        }
    }
    damaged.sort_unstable();
    Ok((count, damaged))
}
