//! Layers that share one overlay.
//!
//! An overlay takes the kernel half a millisecond to make and to end. Of `~/.cache` several directories are layers; if their
//! `upper` directories lie below one directory as the caches lie below home, one overlay over `~/.cache` will do, of which each
//! cache is shown alone. Not one over home itself: the kernel refuses an overlay whose `upper` lies below what it covers.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::mount_tree::Tree;
use super::paths::{open, open_below, open_own};
use crate::Mount;

/// A directory and that which receives what is written below it.
type Pair = (PathBuf, PathBuf);

/// The overlays of a plan that several layers share.
#[derive(Debug, Default)]
pub(super) struct SharedLayers {
    /// How many layers each could serve.
    count: HashMap<Pair, usize>,
    /// Those that were made, or could not be.
    made: HashMap<Pair, Option<Tree>>,
}

impl SharedLayers {
    /// Finds out which layers could share one.
    pub fn of(mounts: &[Mount]) -> SharedLayers {
        let mut count = HashMap::new();
        for mount in mounts {
            if let Mount::Layer { at, upper, .. } = mount {
                let (pair, _) = split(at, upper);
                *count.entry(pair).or_insert(0) += 1;
            }
        }
        SharedLayers { count, made: HashMap::new() }
    }

    /// The part of a shared overlay that is the layer at `at`; `None` if it must have its own.
    pub fn part(&mut self, at: &Path, upper: &Path, work: &Path) -> io::Result<Option<Tree>> {
        let (pair, below) = split(at, upper);
        if below.as_os_str().is_empty() || self.count.get(&pair).is_none_or(|count| *count < 2) {
            return Ok(None);
        }
        let made = match self.made.remove(&pair) {
            Some(made) => made,
            // Over a directory in which something is mounted it may be refused, where the layers alone are not.
            None => make(&pair, work).ok(),
        };
        let part = made.as_ref().map(|tree| Tree::copy_of(open_below(tree, &below)?)).transpose();
        self.made.insert(pair, made);
        part
    }
}

/// An overlay that is attached: older kernels copy only from what is attached somewhere.
fn make((over, upper): &Pair, work: &Path) -> io::Result<Tree> {
    let tree = Tree::new_overlay(&open(over)?, &open_own(upper)?, &open_own(work)?)?;
    tree.attach_out_of_sight()?;
    Ok(tree)
}

/// Splits off what both paths end with, but for its first part: a pair that may be shared, and what lies below it.
fn split(at: &Path, upper: &Path) -> (Pair, PathBuf) {
    let (mut pair, mut next) = ((at, upper), (at, upper));
    while let (Some(above), Some(above_upper)) = (next.0.parent(), next.1.parent())
        && next.0.file_name() == next.1.file_name()
    {
        pair = next;
        next = (above, above_upper);
    }
    let below = at.strip_prefix(pair.0).unwrap_or(Path::new("")).to_owned();
    ((pair.0.to_owned(), pair.1.to_owned()), below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_paths_end_with_is_split_off() {
        let split = |at: &str, upper: &str| split(Path::new(at), Path::new(upper));
        let pair = |over: &str, under: &str| (PathBuf::from(over), PathBuf::from(under));
        let cargo = pair("/h/u/.cargo", "/k/up/.cargo");
        assert_eq!(split("/h/u/.cargo/git", "/k/up/.cargo/git"), (cargo, "git".into()));
        assert_eq!(split("/h/u/.npm", "/k/up/.npm"), (pair("/h/u/.npm", "/k/up/.npm"), "".into()));
        assert_eq!(split("/h/u", "/k/home/upper"), (pair("/h/u", "/k/home/upper"), "".into()));
        assert_eq!(split("/a", "/b/a"), (pair("/a", "/b/a"), "".into()));
    }
}
