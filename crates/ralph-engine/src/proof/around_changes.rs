//! What changed in the repository around a workspace since the first call. A room is a copy of the workspace alone: it
//! shows what lies around it as it is now, and no experiment can leave that out. So tests and configuration that changed
//! there void the verification, and other files are named.

use super::around::Around;
use super::comparison::{Comparison, named};
use super::site::{ProofSite, counted, facts, link_target, read_bounded};
use crate::room::dependencies;
use ralph_os::open_file_beneath;
use ralph_proof::{Change, Classifier, FileFacts, Files, Inputs, Kind};
use ralph_tree::Kind::Directory;
use ralph_tree::{Entry, Index, TreePath, hash_bytes, hash_file, side_by_side};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What changed around a workspace, each path with the reason why it is what it is.
#[derive(Debug, Default)]
pub(super) struct AroundChanges {
    /// Tests and configuration.
    pub oracle: Vec<String>,
    /// Everything else.
    pub rest: Vec<String>,
    /// Not everything was compared.
    pub cut_short: bool,
}

/// The files around a workspace before the first call and now.
pub(super) struct BothSides {
    before: BTreeMap<Vec<u8>, FileFacts>,
    now: BTreeMap<Vec<u8>, FileFacts>,
}

/// What is known from elsewhere.
pub(super) struct Elsewhere<'a> {
    /// The workspaces of other runs that were active meanwhile, relative to the repository's top.
    pub other_runs: Vec<Vec<u8>>,
    /// Reads a file as the commit before the first call has it.
    pub committed: &'a dyn Fn(&[u8]) -> Option<Vec<u8>>,
}

impl Around {
    /// Walks again, and compares with the files before the first call and the user's later changes; none if nothing
    /// differs.
    pub(super) fn both_sides(&mut self) -> Option<BothSides> {
        self.look();
        let known = |path: &[u8]| {
            let cut = |index: &Index, cut: bool| cut && !index.reaches(path);
            !cut(self.now(), self.now().is_cut_short()) && !cut(self.baseline.index(), self.place.cut_short)
        };
        let mut now: BTreeMap<_, _> =
            counted(self.now()).map(|entry| (entry.path.to_vec(), facts(&entry))).collect();
        let before: BTreeMap<_, _> = self
            .baseline
            .files()
            .map(|(path, file)| (path, file.facts()))
            .filter(|(p, _)| known(p))
            .collect();
        now.retain(|path, _| known(path));
        // A new ignore rule hides a file from the walk, not from those who read it.
        for path in before.keys().filter(|path| !now.contains_key(*path)).cloned().collect::<Vec<_>>() {
            now.extend(on_disk(&self.top, &path).map(|facts| (path, facts)));
        }
        (before != now).then_some(BothSides { before, now })
    }

    /// Splits what differs.
    pub(super) fn changes(
        &self,
        sides: &BothSides,
        site: (&ProofSite<'_>, &Comparison),
        elsewhere: &Elsewhere<'_>,
    ) -> AroundChanges {
        let changes = self.classified(sides, site, elsewhere.committed, |classifier| classifier.changes());
        let around = changes.into_iter().filter(|change| self.in_workspace(&change.path).is_none());
        self.sorted(around, &elsewhere.other_runs)
    }

    /// Files that decide about the work and were written since, even if the old content is back.
    pub(super) fn rewritten(
        &mut self,
        before: &Index,
        site: (&ProofSite<'_>, &Comparison),
        other_runs: impl FnOnce(&Path) -> Vec<Vec<u8>>,
    ) -> Vec<String> {
        self.look();
        let stamp = |entry: Option<Entry<'_>>| entry.map(|e| (e.ino, e.size, e.mtime, e.ctime, e.hash));
        let pairs = side_by_side(before, self.now()).filter(|(old, new)| stamp(*old) != stamp(*new));
        let files = pairs.filter_map(|(old, new)| new.or(old)).filter(|entry| entry.kind != Directory);
        let mut files: Vec<Vec<u8>> = files.map(|entry| entry.path.to_vec()).collect();
        if files.is_empty() {
            return Vec::new();
        }
        let other_runs = other_runs(&self.top);
        files.retain(|path| !other_runs.iter().any(|dir| is_inside(path, dir)));
        let of = |index: &Index| counted(index).map(|e| (e.path.to_vec(), facts(&e))).collect();
        let sides = BothSides { before: of(before), now: of(self.now()) };
        self.classified(&sides, site, &|_| None, |classifier| files.retain(|path| classifier.guards(path)));
        files.iter().map(|path| from_workspace(&self.place.within, path)).collect()
    }

    /// Asks the classification of the whole repository. Commands and paths are seen from its top.
    fn classified<T>(
        &self,
        sides: &BothSides,
        (site, comparison): (&ProofSite<'_>, &Comparison),
        committed: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
        ask: impl FnOnce(&Classifier<'_>) -> T,
    ) -> T {
        let read_now = |path: &[u8]| match self.in_workspace(path) {
            Some(path) => site.read_now(path),
            None => read(&self.top, path, sides.now.get(path)?),
        };
        let read_before = |path: &[u8]| match self.in_workspace(path) {
            Some(path) => site.read_before(path),
            None if sides.before.get(path) == sides.now.get(path) => read_now(path),
            None => {
                let was = sides.before.get(path)?;
                committed(path).filter(|bytes| hash_bytes(bytes) == was.hash)
            }
        };
        let inside_before = site.baseline.files().map(|(path, file)| (path, file.facts()));
        let inside_now = counted(site.now).map(|entry| (entry.path.to_vec(), facts(&entry)));
        let before = Files::new(self.whole(&sides.before, inside_before), Box::new(read_before));
        let now = Files::new(self.whole(&sides.now, inside_now), Box::new(read_now));
        let python = site.places.python_sites(site.workspace, &comparison.dependencies);
        ask(&Classifier::new(Inputs {
            before: &before,
            now: &now,
            commands: &self.commands_from_top(site.commands),
            oracle_paths: site.oracle_paths,
            work_paths: site.work_paths,
            installed: &|name| dependencies::has_module(name, &python),
        }))
    }

    /// A path of the repository as one of the workspace, if it lies there.
    fn in_workspace<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(self.place.within.as_slice())?.strip_prefix(b"/")
    }

    /// The files of the whole repository.
    fn whole(
        &self,
        around: &BTreeMap<Vec<u8>, FileFacts>,
        inside: impl Iterator<Item = (Vec<u8>, FileFacts)>,
    ) -> Vec<(Vec<u8>, FileFacts)> {
        let from_top = |path: Vec<u8>| [self.place.within.as_slice(), b"/", path.as_slice()].concat();
        let inside = inside.map(|(path, facts)| (from_top(path), facts));
        around.clone().into_iter().chain(inside).collect()
    }

    fn sorted(&self, changes: impl Iterator<Item = Change>, other_runs: &[Vec<u8>]) -> AroundChanges {
        let mut found = AroundChanges { cut_short: self.is_cut_short(), ..AroundChanges::default() };
        for change in changes {
            let path = from_workspace(&self.place.within, &change.path);
            let of_other_run = other_runs.iter().any(|dir| is_inside(&change.path, dir));
            if of_other_run {
                found.rest.push(format!("{path} (another run works there)"));
            } else if change.has_oracle() && !change.layout_only {
                found.oracle.push(named(&path, &change));
            } else {
                found.rest.push(named(&path, &change));
            }
        }
        found
    }

    /// Not everything around the workspace was looked at.
    pub(super) fn is_cut_short(&self) -> bool {
        self.place.cut_short || self.now().is_cut_short()
    }

    /// Whether a file outside the workspace is compared here, by its path in words.
    pub(super) fn compares(&self, shown: &str) -> bool {
        let top = ralph_tree::shown(self.top.as_os_str().as_bytes());
        let Some(path) = shown.strip_prefix(&top).and_then(|path| path.strip_prefix('/')) else {
            return false;
        };
        let counts = |path: &[u8]| self.now().get(path).is_some_and(|entry| entry.counts);
        self.baseline.file(path.as_bytes()).is_some() || counts(path.as_bytes())
    }

    fn commands_from_top(&self, commands: &[String]) -> Vec<String> {
        let within = String::from_utf8_lossy(&self.place.within).replace('\'', r"'\''");
        commands.iter().map(|command| format!("cd '{within}'\n{command}")).collect()
    }
}

/// What is at a path that no walk looked at.
fn on_disk(top: &Path, path: &[u8]) -> Option<FileFacts> {
    let at = top.join(OsStr::from_bytes(path));
    let meta = at.symlink_metadata().ok()?;
    if meta.is_symlink() {
        let hash = hash_bytes(&link_target(top, path)?);
        return Some(FileFacts { kind: Kind::Link, executable: false, hash });
    }
    let hash = hash_file(open_file_beneath(top, path).ok()?).ok()?;
    Some(FileFacts { kind: Kind::File, executable: meta.mode() & 0o100 != 0, hash })
}

fn read(top: &Path, path: &[u8], facts: &FileFacts) -> Option<Vec<u8>> {
    match facts.kind {
        Kind::Link => link_target(top, path),
        Kind::File => read_bounded(open_file_beneath(top, path).ok()?),
        Kind::Other => None,
    }
}

fn is_inside(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"))
}

/// A path of the repository as it is written in the workspace: `../b/x.py`.
fn from_workspace(within: &[u8], path: &[u8]) -> String {
    let parts = |path: &[u8]| path.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (dirs, path) = (parts(within), parts(path));
    let shared = dirs.iter().zip(&path).take_while(|(a, b)| a == b).count();
    let up = vec![b"..".to_vec(); dirs.len() - shared];
    let all: Vec<Vec<u8>> = up.into_iter().chain(path.into_iter().skip(shared)).collect();
    TreePath::from(all.join(&b'/').as_slice()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_the_workspace_sees_them() {
        for (within, path, shown) in [
            ("a", "conftest.py", "../conftest.py"),
            ("packages/a", "packages/b/t.py", "../b/t.py"),
            ("packages/a", "Makefile", "../../Makefile"),
            ("packages/a", "packages/ab", "../ab"),
        ] {
            assert_eq!(from_workspace(within.as_bytes(), path.as_bytes()), shown);
        }
    }
}
