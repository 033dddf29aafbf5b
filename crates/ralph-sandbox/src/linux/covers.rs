//! What earlier mounts of a plan have put over a path: where a mount point that is missing can be made without a trace on the
//! user's disk, and which links are out of sight.

use std::path::{Path, PathBuf};

/// What a path lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// A directory of this machine.
    Real,
    /// An empty directory in memory.
    Empty,
    /// A layer: the directories of this machine are seen, and what is made goes to the layer.
    Layer,
}

/// The grounds of the mounts so far, in their order.
#[derive(Debug, Default)]
pub(super) struct Covers(Vec<(PathBuf, Ground)>);

impl Covers {
    /// The next mount.
    pub fn add(&mut self, at: &Path, ground: Ground) {
        self.0.push((at.to_owned(), ground));
    }

    /// Whether a directory that is missing can be made here for this program alone.
    pub fn can_make(&self, at: &Path) -> bool {
        self.over(at) != Ground::Real
    }

    /// Whether a link that is here outside is not seen inside.
    pub fn hide(&self, link: &Path) -> bool {
        self.over(link) == Ground::Empty
    }

    fn over(&self, path: &Path) -> Ground {
        let last = self.0.iter().rev().find(|(at, _)| path.starts_with(at));
        last.map_or(Ground::Real, |(_, ground)| *ground)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_above_a_path_counts() {
        let mut covers = Covers::default();
        for (at, ground) in [
            ("/home/u", Ground::Layer),
            ("/home/u/work", Ground::Empty),
            ("/home/u/work/tools", Ground::Real),
        ] {
            covers.add(Path::new(at), ground);
        }
        let found = |path: &str| (covers.can_make(Path::new(path)), covers.hide(Path::new(path)));
        assert_eq!(found("/home/u/.cache/uv"), (true, false));
        assert_eq!(found("/home/u/work/link"), (true, true));
        assert_eq!(found("/home/u/work/tools/link"), (false, false));
        assert_eq!(found("/data/cache"), (false, false));
    }
}
