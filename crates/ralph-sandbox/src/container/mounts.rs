//! What a plan means for a container: which paths of the user's are mounted into it, and where.
//!
//! An engine sorts mounts by depth and refuses two at one place. The plan is an ordered list in which a later mount covers
//! earlier ones, so those are left out here.

use crate::plan::{LayerFallback, Mount, Plan};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the workspace is mounted a second time, read-only, with the directories above protected paths mounted again inside
/// it: a directory that anything is mounted on cannot be renamed, at whichever path it is reached. Mounted in the workspace
/// itself they would make ordinary renames between them fail.
const PINS: &str = "/run/ralph-pins";
/// Names in the plan's `tmp` of what is shown for `Empty` and `Hide`.
const EMPTY: &str = ".ralph-empty-";
const HIDDEN_DIRECTORY: &str = ".ralph-hidden";
const HIDDEN_FILE: &str = ".ralph-hidden-file";

/// What is at a path outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    File,
    Link,
}

/// Looks at a path itself.
pub(super) fn look(path: &Path) -> Option<Kind> {
    let kind = path.symlink_metadata().ok()?.file_type();
    Some(match kind {
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::File,
    })
}

/// One mount of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EngineMount {
    pub(super) at: PathBuf,
    pub(super) from: From,
    pub(super) writable: bool,
}

/// What is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    Path(PathBuf),
    Layer { lower: PathBuf, upper: PathBuf, work: PathBuf },
}

/// The mounts of a container, and what has to be made for them in the plan's `tmp`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mounts {
    pub(super) list: Vec<EngineMount>,
    pub(super) directories: BTreeSet<PathBuf>,
    pub(super) files: BTreeSet<PathBuf>,
    /// What could not be done.
    pub(super) notes: Vec<String>,
}

impl Mounts {
    /// The mounts of a plan. `look` tells what is at a path outside; what does not exist is passed over. `layers` says whether
    /// the engine can make layers.
    pub(super) fn of(plan: &Plan, layers: bool, look: &impl Fn(&Path) -> Option<Kind>) -> Mounts {
        let mut mounts = Mounts::default();
        for at in ["/tmp", "/var/tmp"] {
            mounts.bind(&plan.tmp, Path::new(at), true);
        }
        let inside = |mount: &&Mount| place(mount).starts_with(&plan.workspace);
        for mount in plan.mounts.iter().filter(|mount| !inside(mount)) {
            mounts.apply(mount, &plan.tmp, layers, look);
        }
        mounts.bind(&plan.workspace, &plan.workspace, true);
        for mount in plan.mounts.iter().filter(inside) {
            mounts.apply(mount, &plan.tmp, layers, look);
        }
        mounts.pin(&plan.workspace);
        mounts.make_mount_points(&plan.tmp, look);
        mounts
    }

    fn apply(&mut self, mount: &Mount, tmp: &Path, layers: bool, look: &impl Fn(&Path) -> Option<Kind>) {
        let Some(kind) = look(place(mount)) else { return self.layer_over_nothing(mount, tmp, look) };
        if let Some(link) = self.written_link(place(mount), look) {
            self.notes.push(format!(
                "{}: passed over, because {} is a link",
                place(mount).display(),
                link.display()
            ));
            return;
        }
        match mount {
            Mount::Hide(path) => self.hide(path, kind, tmp),
            Mount::Empty(path) => {
                let empty = tmp.join(format!("{EMPTY}{}", self.directories.len()));
                self.directories.insert(empty.clone());
                self.bind(&empty, path, true);
            }
            Mount::Show(path) | Mount::Protect(path) => self.bind(path, path, false),
            Mount::Write(path) => self.bind(path, path, true),
            Mount::Layer { at, upper, work, fallback } => {
                let from = From::Layer { lower: at.clone(), upper: upper.clone(), work: work.clone() };
                if layers && ![at, upper, work].into_iter().any(|path| separates_options(path)) {
                    self.add(EngineMount { at: at.clone(), from, writable: true });
                } else {
                    self.without_layer(at, upper, *fallback);
                }
            }
            Mount::Replace { from, at } => self.bind(from, at, false),
        }
    }

    /// A layer whose directory is missing: only its own files are there. Not in a directory of the user's, where the engine would
    /// make the mount point.
    fn layer_over_nothing(&mut self, mount: &Mount, tmp: &Path, look: &impl Fn(&Path) -> Option<Kind>) {
        let Mount::Layer { at, upper, .. } = mount else { return };
        let is_made = self.nearest(at).is_none_or(|above| is_made(above, tmp));
        if is_made && self.written_link(at, look).is_none() {
            self.bind(upper, at, true);
        }
    }

    /// The mount that a path lies in.
    fn nearest(&self, path: &Path) -> Option<&EngineMount> {
        let above = self.list.iter().filter(|mount| path.starts_with(&mount.at));
        above.max_by_key(|mount| mount.at.components().count())
    }

    fn without_layer(&mut self, at: &Path, upper: &Path, fallback: LayerFallback) {
        match fallback {
            LayerFallback::ReadOnly => self.bind(at, at, false),
            LayerFallback::Write => self.bind(at, at, true),
            LayerFallback::Upper => self.bind(upper, at, true),
        }
        let why = "the engine cannot make one here";
        self.notes.push(format!("layer {}: {why}; {}", at.display(), fallback.instead()));
    }

    /// A link on the way to a path, in a directory that the program writes: it could lead to anything of the user's.
    fn written_link<'a>(&self, path: &'a Path, look: &impl Fn(&Path) -> Option<Kind>) -> Option<&'a Path> {
        let above = self.list.iter().filter(|mount| mount.writable && path.starts_with(&mount.at));
        let above = above.max_by_key(|mount| mount.at.components().count())?;
        path.ancestors().take_while(|it| *it != above.at).find(|it| look(it) == Some(Kind::Link))
    }

    /// Only what is mounted from outside has to be hidden; all other files are the image's, or made for this call.
    fn hide(&mut self, path: &Path, kind: Kind, tmp: &Path) {
        let covered = self.nearest(path).is_some_and(|mount| !is_made(mount, tmp));
        match kind {
            Kind::Directory if covered => {
                self.directories.insert(tmp.join(HIDDEN_DIRECTORY));
                self.bind(&tmp.join(HIDDEN_DIRECTORY), path, false);
            }
            Kind::File if covered => {
                self.files.insert(tmp.join(HIDDEN_FILE));
                self.bind(&tmp.join(HIDDEN_FILE), path, false);
            }
            _ => self.list.retain(|mount| !mount.at.starts_with(path)),
        }
    }

    fn bind(&mut self, from: &Path, at: &Path, writable: bool) {
        self.add(EngineMount { at: at.to_owned(), from: From::Path(from.to_owned()), writable });
    }

    fn add(&mut self, mount: EngineMount) {
        self.list.retain(|earlier| !earlier.at.starts_with(&mount.at));
        self.list.push(mount);
    }

    /// Keeps every directory between the workspace and a mount inside it from being renamed.
    fn pin(&mut self, workspace: &Path) {
        let inside = self.list.iter().filter_map(|mount| mount.at.strip_prefix(workspace).ok());
        let above = inside.flat_map(|path| path.ancestors().skip(1)).filter(|path| *path != Path::new(""));
        let above: BTreeSet<PathBuf> = above.map(Path::to_owned).collect();
        if above.is_empty() {
            return;
        }
        self.bind(workspace, Path::new(PINS), false);
        for path in above {
            self.bind(&workspace.join(&path), &Path::new(PINS).join(&path), false);
        }
    }

    /// An engine makes missing mount points as root, which then cannot be removed by the user. So those that lie in `tmp`
    /// are made before; all others exist, or are made in the image's throwaway layer.
    fn make_mount_points(&mut self, tmp: &Path, look: &impl Fn(&Path) -> Option<Kind>) {
        let (mut directories, mut files) = (BTreeSet::new(), BTreeSet::new());
        for mount in &self.list {
            let above =
                self.list.iter().filter(|other| other.at != mount.at && mount.at.starts_with(&other.at));
            let Some(above) = above.max_by_key(|other| other.at.components().count()) else { continue };
            let (From::Path(from), Ok(rest)) = (&above.from, mount.at.strip_prefix(&above.at)) else {
                continue;
            };
            if !from.starts_with(tmp) {
                continue;
            }
            let is_file = matches!(&mount.from, From::Path(from)
                if self.files.contains(from) || look(from).is_some_and(|kind| kind == Kind::File));
            if is_file {
                files.insert(from.join(rest))
            } else {
                directories.insert(from.join(rest))
            };
        }
        self.directories.extend(directories);
        self.files.extend(files);
    }
}

/// Whether what is mounted was made for this call.
fn is_made(mount: &EngineMount, tmp: &Path) -> bool {
    matches!(&mount.from, From::Path(from) if from.starts_with(tmp))
}

/// Whether the options of an overlay would be read as others.
fn separates_options(path: &Path) -> bool {
    path.as_os_str().as_bytes().iter().any(|byte| b":,\"\\".contains(byte))
}

/// The path that a mount is about.
fn place(mount: &Mount) -> &Path {
    match mount {
        Mount::Hide(path) | Mount::Empty(path) | Mount::Show(path) | Mount::Write(path) => path,
        Mount::Layer { at, .. } | Mount::Replace { at, .. } => at,
        Mount::Protect(path) => path,
    }
}

#[cfg(test)]
mod tests;
