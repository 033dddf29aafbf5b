//! Symbolic links: what the oracle's links point at belongs to the oracle too.

use std::collections::{BTreeMap, BTreeSet};

use super::paths;
use crate::files::Files;

/// A link that points to a link is followed this far.
const DEEPEST: usize = 8;

/// The links of both sides, with the paths they point at.
#[derive(Clone, Debug, Default)]
pub struct Links {
    targets: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
}

impl Links {
    pub fn new(before: &Files<'_>, now: &Files<'_>) -> Links {
        let mut targets: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for side in [before, now] {
            for link in side.links() {
                let target = side.bytes(link).and_then(|target| paths::join(paths::parent(link), &target));
                targets.entry(link.to_vec()).or_default().extend(target);
            }
        }
        Links { targets }
    }

    /// What these links point at, through other links, too.
    pub fn behind(&self, is_oracle: impl Fn(&[u8]) -> bool) -> BTreeSet<Vec<u8>> {
        let mut found = BTreeSet::new();
        for link in self.targets.keys().filter(|link| is_oracle(link)) {
            let mut ends = vec![link.clone()];
            for _ in 0..DEEPEST {
                ends = ends
                    .iter()
                    .flat_map(|end| self.step(end))
                    .filter(|end| found.insert(end.clone()))
                    .collect();
                if ends.is_empty() {
                    break;
                }
            }
        }
        found
    }

    /// One step: the path with a link in it replaced by what it points at.
    fn step(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let ends = slashes.chain([path.len()]);
        let found = ends.filter_map(|at| Some((self.targets.get(path.get(..at)?)?, path.get(at..)?))).next();
        let (targets, rest) = found.unzip();
        targets.into_iter().flatten().map(|target| [target, rest.unwrap_or_default()].concat()).collect()
    }

    /// The paths that a path means, if there are links in it.
    pub fn followed(&self, path: &[u8]) -> Vec<Vec<u8>> {
        if self.targets.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut ends = vec![path.to_vec()];
        for _ in 0..DEEPEST {
            ends = ends
                .iter()
                .flat_map(|end| self.step(end))
                .filter(|end| !found.contains(end))
                .take(16)
                .collect();
            if ends.is_empty() {
                break;
            }
            found.extend(ends.iter().cloned());
        }
        found
    }
}
