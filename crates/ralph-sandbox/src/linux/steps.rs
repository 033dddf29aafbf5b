//! The plan's mounts as steps: every source is held before anything is changed, then they are applied in their order.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{fstat, symlinkat};
use rustix::io::Errno;

use super::covers::{Covers, Ground};
use super::failure::Step as _;
use super::mount_points;
use super::mount_tree::{Tree, mount_points_below};
use super::paths::{Found, Paths, is_dir, open, open_link, open_or_make, open_own};
use super::shared_layers::SharedLayers;
use super::sys::{NO_DEV, NO_SUID, READ_ONLY};
use crate::report::Failure;
use crate::{LayerFallback, Mount};

/// A change, ready to be made.
#[derive(Debug)]
pub(super) enum Step {
    /// Something is shown at a path, which is made if it is missing.
    Attach { tree: Tree, at: PathBuf, dir: bool },
    /// An empty read-only directory or file.
    Hide { at: PathBuf, dir: bool },
    /// An empty writable directory of this mode.
    Empty { at: PathBuf, mode: u32 },
    /// A link, where the one of this machine is not seen.
    Link { at: PathBuf, to: PathBuf },
    /// Read-only, inside the workspace.
    Protect { at: PathBuf },
}

impl Step {
    /// Where it changes something.
    pub fn at(&self) -> &Path {
        match self {
            Step::Attach { at, .. } | Step::Hide { at, .. } | Step::Empty { at, .. } => at,
            Step::Protect { at } | Step::Link { at, .. } => at,
        }
    }
}

/// Prepares the steps of a plan.
#[derive(Debug)]
pub(super) struct Preparation<'a> {
    pub paths: Paths,
    pub workspace: &'a Path,
    /// The system's list of mounts.
    pub mounts: Vec<u8>,
    pub shared: SharedLayers,
    /// The layers whose directory is missing, where it would be.
    pub missing_layers: Vec<PathBuf>,
    /// What the steps so far cover.
    pub covers: Covers,
    /// An empty directory, once it is needed.
    pub empty: Option<Tree>,
    pub steps: Vec<Step>,
    pub notes: Vec<String>,
}

impl Preparation<'_> {
    /// Appends the steps of one mount.
    pub fn add(&mut self, mount: &Mount) -> Result<(), Failure> {
        match mount {
            Mount::Hide(path) => self.hide(path),
            Mount::Empty(path) => self.empty(path),
            Mount::Show(path) => self.show(path),
            Mount::Write(path) => {
                let written = self.bind("write", path, 0)?;
                self.paths.written.extend(written);
                Ok(())
            }
            Mount::Replace { from, at } => self.replace(from, at),
            Mount::Layer { at, upper, work, fallback } => self.layer(at, upper, work, *fallback),
            Mount::Protect(path) => {
                // A link is mounted on itself: it cannot be replaced then, and nothing is mounted where it leads.
                let link = path.is_symlink() && open_link(path).is_ok();
                let found = if link { None } else { self.open("protect", path)? };
                let at = found.map(|(at, _, _)| at).or_else(|| link.then(|| path.clone()));
                self.steps.extend(at.map(|at| Step::Protect { at }));
                Ok(())
            }
        }
    }

    /// What a path leads to, if it leads somewhere: the path without links, what is there, and whether it is a directory.
    fn open(&mut self, what: &str, path: &Path) -> Result<Option<(PathBuf, OwnedFd, bool)>, Failure> {
        match self.paths.open(path).at(what, path)? {
            (Found::At(at), Some(fd)) => {
                let dir = is_dir(&fd).at(what, path)?;
                Ok(Some((at, fd, dir)))
            }
            (Found::Link(link), _) => {
                let link = if link == path { String::new() } else { format!(" at {}", link.display()) };
                self.notes.push(format!("{what} {}: passed over, a symbolic link{link}", path.display()));
                Ok(None)
            }
            (Found::At(_) | Found::Missing, _) => Ok(None),
        }
    }

    fn hide(&mut self, path: &Path) -> Result<(), Failure> {
        if let Some((at, _, dir)) = self.open("hide", path)? {
            self.covers.add(&at, Ground::Empty);
            self.steps.push(Step::Hide { at, dir });
        }
        Ok(())
    }

    fn empty(&mut self, path: &Path) -> Result<(), Failure> {
        if let Some((at, fd, _)) = self.open("empty", path)? {
            let mode = fstat(fd).at("empty", path)?.st_mode & 0o777 | 0o700;
            self.covers.add(&at, Ground::Empty);
            self.steps.push(Step::Empty { at, mode });
        }
        Ok(())
    }

    /// Shows what is at a path; returns the path without links.
    fn bind(&mut self, what: &str, path: &Path, attributes: u64) -> Result<Option<PathBuf>, Failure> {
        let Some((at, fd, dir)) = self.open(what, path)? else { return Ok(None) };
        let tree = copy(&fd, attributes).at(what, path)?;
        self.attach(tree, at.clone(), dir, Ground::Real);
        Ok(Some(at))
    }

    fn attach(&mut self, tree: Tree, at: PathBuf, dir: bool, ground: Ground) {
        self.covers.add(&at, ground);
        self.steps.push(Step::Attach { tree, at, dir });
    }

    /// Shows what a path leads to, where it lies, and makes the links that lead there and are not seen.
    fn show(&mut self, path: &Path) -> Result<(), Failure> {
        for link in self.paths.links(path).at("show", path)? {
            if self.covers.hide(&link.at) && !self.steps.iter().any(|step| step.at() == link.at) {
                self.steps.push(Step::Link { at: link.at, to: link.to });
            }
        }
        self.bind("show", path, READ_ONLY).map(drop)
    }

    fn replace(&mut self, from: &Path, path: &Path) -> Result<(), Failure> {
        let (Some((_, fd, dir)), Some((at, _, _))) =
            (self.open("replace", from)?, self.open("replace", path)?)
        else {
            return Ok(());
        };
        let tree = copy(&fd, READ_ONLY).at("replace", path)?;
        self.attach(tree, at, dir, Ground::Real);
        Ok(())
    }

    fn layer(
        &mut self,
        path: &Path,
        upper: &Path,
        work: &Path,
        fallback: LayerFallback,
    ) -> Result<(), Failure> {
        let Some((at, lower, _)) = self.open("layer", path)? else {
            return self.layer_over_nothing(path, upper, work);
        };
        let upper_fd = open_own(upper).at("layer", upper)?;
        mount_points::make(&at, upper, &self.missing_layers);
        let made = match self.shared.part(&at, upper, work).at("layer", path)? {
            Some(part) => Ok(part),
            None => Tree::new_overlay(&lower, &upper_fd, &open_own(work).at("layer", work)?),
        };
        match made {
            Ok(tree) => {
                self.attach(tree, at.clone(), true, Ground::Layer);
                self.show_mounts_below(&at)
            }
            Err(error) => {
                self.notes.push(format!("layer {}: {error}; {}", path.display(), fallback.instead()));
                match fallback {
                    LayerFallback::ReadOnly => self.bind("layer", path, READ_ONLY).map(drop),
                    LayerFallback::Write => self.bind("layer", path, 0).map(drop),
                    LayerFallback::Upper => {
                        let tree = copy(&upper_fd, 0).at("layer", upper)?;
                        self.attach(tree, at, true, Ground::Layer);
                        Ok(())
                    }
                }
            }
        }
    }

    /// A layer whose directory is missing. Its mount point is made in what covers the place; where nothing does, it would be made
    /// on the user's disk, so the layer is passed over.
    fn layer_over_nothing(&mut self, path: &Path, upper: &Path, work: &Path) -> Result<(), Failure> {
        let place = self.paths.place(path).at("layer", path)?;
        let Some(at) = place.filter(|at| !at.starts_with(self.workspace) && self.covers.can_make(at)) else {
            return Ok(());
        };
        let tree = match self.shared.part(&at, upper, work).at("layer", path)? {
            Some(part) => part,
            None => self.over_nothing(upper, work).at("layer", path)?,
        };
        self.attach(tree, at, true, Ground::Layer);
        Ok(())
    }

    /// What an earlier call left in `upper` may say that files below it are deleted, which only an overlay understands. An overlay
    /// takes time, so one that nobody has written to goes without.
    fn over_nothing(&mut self, upper: &Path, work: &Path) -> std::io::Result<Tree> {
        let upper_fd = open_own(upper)?;
        if std::fs::read_dir(upper)?.next().is_none() {
            return copy(&upper_fd, 0);
        }
        let empty = match self.empty.take() {
            Some(empty) => empty,
            None => {
                let empty = Tree::new_tmpfs("755")?;
                // Older kernels make overlays only over what is attached somewhere.
                empty.attach_out_of_sight()?;
                empty
            }
        };
        let tree = Tree::new_overlay(&empty, &upper_fd, &open_own(work)?);
        self.empty = Some(empty);
        tree.or_else(|_| copy(&upper_fd, 0))
    }

    /// An overlay shows one file system; what is mounted below it is shown read-only.
    fn show_mounts_below(&mut self, at: &Path) -> Result<(), Failure> {
        for point in mount_points_below(at, &self.mounts) {
            if !point.starts_with(self.workspace) {
                self.bind("show", &point, READ_ONLY)?;
            }
        }
        Ok(())
    }
}

/// Where the directories of layers would be that are missing.
pub(super) fn missing_layers(mounts: &[Mount], paths: &Paths) -> Vec<PathBuf> {
    let layers = mounts.iter().filter_map(|mount| match mount {
        Mount::Layer { at, .. } => paths.place(at).ok().flatten(),
        _ => None,
    });
    layers.filter(|place| matches!(open(place), Err(Errno::NOENT))).collect()
}

/// A copy of what is at a descriptor, without set-uid programs and devices.
pub(super) fn copy(fd: impl AsFd, attributes: u64) -> std::io::Result<Tree> {
    let tree = Tree::copy_of(fd)?;
    tree.set(attributes | NO_SUID | NO_DEV)?;
    Ok(tree)
}

/// Makes a link, in directories that are made if they are missing.
fn make_link(at: &Path, to: &Path) -> std::io::Result<()> {
    let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Ok(()) };
    match symlinkat(to, open_or_make(parent, true)?, name) {
        Err(Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

/// Applies steps outside the workspace and, after it was mounted, those inside.
#[derive(Debug)]
pub(super) struct Applied {
    /// An empty read-only directory and file, to be shown wherever something is hidden.
    pub blank: Blank,
    /// Become read-only in the end: mount points may still have to be made in them.
    pub closed_later: Vec<Tree>,
}

/// An empty read-only directory and an empty read-only file.
#[derive(Debug)]
pub(super) struct Blank {
    pub dir: OwnedFd,
    pub file: OwnedFd,
}

impl Applied {
    /// Makes a change. `below` are the places where something is to be mounted later.
    pub fn apply(&mut self, step: Step, below: &[PathBuf]) -> Result<(), Failure> {
        match step {
            Step::Attach { tree, at, dir } => {
                open_or_make(&at, dir).map_err(Into::into).and_then(|to| tree.attach(to)).at("mount", &at)
            }
            Step::Hide { at, dir: true } if below.iter().any(|it| *it != at && it.starts_with(&at)) => {
                let tree = self.new_dir(&at, "755")?;
                self.closed_later.push(tree);
                Ok(())
            }
            Step::Hide { at, dir } => {
                let blank = if dir { &self.blank.dir } else { &self.blank.file };
                let hidden = Tree::copy_of(blank).and_then(|tree| tree.attach(open_or_make(&at, dir)?));
                hidden.at("hide", &at)
            }
            Step::Empty { at, mode } => self.new_dir(&at, &format!("{mode:o}")).map(drop),
            Step::Link { at, to } => make_link(&at, &to).at("link", &at),
            Step::Protect { at } => super::workspace::protect(&at),
        }
    }

    fn new_dir(&self, at: &Path, mode: &str) -> Result<Tree, Failure> {
        let made = Tree::new_tmpfs(mode).and_then(|tree| {
            tree.attach(open_or_make(at, true)?)?;
            Ok(tree)
        });
        made.at("empty directory", at)
    }
}
