//! What is seen of a path by the mounts of a plan, with the links of home directories followed.

use super::facts::Facts;
use crate::{Backend, LayerFallback, Mount};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program's own, or empty, in every backend.
const NOT_SEEN: &[&str] = &["/run", "/tmp", "/var/tmp", "/dev"];

/// The mounts of a plan outside its workspace, as far as they are known.
pub(super) struct Sight<'a> {
    facts: &'a Facts,
    links: BTreeMap<&'a Path, &'a Path>,
    covers: Vec<(PathBuf, bool)>,
}

impl<'a> Sight<'a> {
    pub fn of(facts: &'a Facts, mounts: &[Mount]) -> Sight<'a> {
        let links = facts.links.iter().map(|link| (link.at.as_path(), link.to.as_path())).collect();
        let mut sight = Sight { facts, links, covers: Vec::new() };
        mounts.iter().for_each(|mount| sight.add(mount));
        sight
    }

    /// The next mount.
    pub fn add(&mut self, mount: &Mount) {
        let (at, is_seen) = match mount {
            Mount::Hide(at) | Mount::Empty(at) | Mount::Replace { at, .. } => (at, false),
            Mount::Show(at) | Mount::Write(at) | Mount::Protect(at) => (at, true),
            Mount::Layer { at, fallback, .. } => {
                (at, self.facts.overlay || *fallback != LayerFallback::Upper)
            }
        };
        self.covers.push((self.real(at), is_seen));
    }

    /// Whether what is at a path outside is seen inside.
    pub fn sees(&self, path: &Path) -> bool {
        let path = self.real(path);
        let on_the_disk = !matches!(self.facts.backend, Backend::Container(_));
        let last = self.covers.iter().rev().find(|(at, _)| path.starts_with(at));
        last.map_or(on_the_disk && !NOT_SEEN.iter().any(|dir| path.starts_with(dir)), |(_, seen)| *seen)
    }

    /// What a path leads to by the links that are known.
    pub fn real(&self, path: &Path) -> PathBuf {
        let link = path.ancestors().find_map(|above| Some((above, *self.links.get(above)?)));
        match link {
            Some((at, to)) => to.join(path.strip_prefix(at).unwrap_or(Path::new(""))),
            None => path.to_path_buf(),
        }
    }
}
