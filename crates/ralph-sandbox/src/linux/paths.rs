//! What a path of a plan leads to. A symbolic link is followed, unless it lies below a directory that programs in the box
//! write for real: an earlier call may have put it there to redirect a mount.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, readlinkat};
use rustix::io::Errno;

/// As the system's own limit.
const MOST_LINKS: usize = 40;

/// Follows links only where no program of a box can have made them.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// Written for real by programs in the box; without links.
    pub written: Vec<PathBuf>,
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// This path, in which there is no link.
    At(PathBuf),
    /// Nothing, or nothing that this user can reach.
    Missing,
    /// A link that is not followed.
    Link(PathBuf),
}

impl Paths {
    /// Where the path leads.
    pub fn find(&self, path: &Path) -> io::Result<Found> {
        Ok(self.open(path)?.0)
    }

    /// Where the path leads, and what is there if there is something.
    pub fn open(&self, path: &Path) -> io::Result<(Found, Option<OwnedFd>)> {
        // One call finds out that there is no link at all, which is nearly always so.
        match open(path) {
            Ok(fd) if is_plain(path) => Ok((Found::At(path.to_owned()), Some(fd))),
            Ok(_) | Err(Errno::LOOP) => match self.follow(path)? {
                Found::At(at) => {
                    let fd = open(&at)?;
                    Ok((Found::At(at), Some(fd)))
                }
                other => Ok((other, None)),
            },
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok((Found::Missing, None)),
            Err(error) => Err(error.into()),
        }
    }

    /// Where a path leads, or would lead if the rest of it were there. None if it leads through a link that is not followed, or
    /// through something that this user cannot reach.
    pub fn place(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        // What is there of it has no link in it, which is nearly always so.
        let above = path.ancestors().map(open).find(|found| !matches!(found, Err(Errno::NOENT)));
        if is_plain(path) && matches!(above, Some(Ok(_))) {
            return Ok(Some(path.to_owned()));
        }
        Ok(self.walk(path)?.ok().map(|walked| walked.at))
    }

    /// The links on the way to where a path leads.
    pub fn links(&self, path: &Path) -> io::Result<Vec<Link>> {
        Ok(self.walk(path)?.map(|walked| walked.links).unwrap_or_default())
    }

    fn follow(&self, path: &Path) -> io::Result<Found> {
        Ok(match self.walk(path)? {
            Ok(walked) if walked.is_there => Found::At(walked.at),
            Ok(_) => Found::Missing,
            Err(found) => found,
        })
    }

    /// Component by component.
    fn walk(&self, path: &Path) -> io::Result<Result<Walked, Found>> {
        let mut walked = Walked { at: PathBuf::from("/"), links: Vec::new(), is_there: true };
        let mut left: VecDeque<OsString> = names(path).collect();
        while let Some(name) = left.pop_front() {
            if name == ".." {
                walked.at.pop();
                continue;
            }
            let next = walked.at.join(&name);
            match readlinkat(CWD, &next, Vec::new()) {
                Ok(_) if self.written.iter().any(|dir| next.starts_with(dir)) => {
                    return Ok(Err(Found::Link(next)));
                }
                Ok(_) if walked.links.len() == MOST_LINKS => return Err(Errno::LOOP.into()),
                Ok(to) => {
                    let to = PathBuf::from(os_string(to.into_bytes()));
                    if to.is_absolute() {
                        walked.at = PathBuf::from("/");
                    }
                    names(&to).rev().for_each(|name| left.push_front(name));
                    walked.links.push(Link { at: next, to });
                }
                // It exists and is not a link.
                Err(Errno::INVAL) => walked.at = next,
                Err(Errno::NOENT) => (walked.at, walked.is_there) = (next, false),
                Err(Errno::NOTDIR | Errno::ACCESS) => return Ok(Err(Found::Missing)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Ok(walked))
    }
}

/// A link on the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Where it is; there is no other link in this path.
    pub at: PathBuf,
    /// What it says.
    pub to: PathBuf,
}

/// A path that was followed.
struct Walked {
    at: PathBuf,
    links: Vec<Link>,
    is_there: bool,
}

fn os_string(bytes: Vec<u8>) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes)
}

/// Absolute and without `..`.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == Component::ParentDir)
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    };
    path.components().filter_map(part).collect::<Vec<_>>().into_iter()
}

/// Opens what a path leads to, which must not have a link in it.
pub(super) fn open(path: &Path) -> Result<OwnedFd, Errno> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Opens a link itself, if nothing above it is one.
pub(super) fn open_link(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Opens what a path leads to, through links as well: for ralph's own directories.
pub(super) fn open_own(path: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// Opens what lies below a directory; never through a link.
pub(super) fn open_below(dir: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    openat2(dir, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

/// Whether a descriptor is a directory's.
pub(super) fn is_dir(fd: impl AsFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode) == FileType::Directory)
}

/// Opens a place to mount on, which is made if it is missing: what was there has been covered by an earlier mount.
pub(super) fn open_or_make(path: &Path, dir: bool) -> Result<OwnedFd, Errno> {
    match open(path) {
        Err(Errno::NOENT) => {}
        other => return other,
    }
    let mut at = open(Path::new("/"))?;
    let mut names = names(path).peekable();
    while let Some(name) = names.next() {
        at = step_into(&at, &name, dir || names.peek().is_some())?;
    }
    Ok(at)
}

fn step_into(dir: &OwnedFd, name: &OsStr, make_dir: bool) -> Result<OwnedFd, Errno> {
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(dir, name, look, Mode::empty()) {
        Err(Errno::NOENT) if make_dir => mkdirat(dir, name, Mode::from_raw_mode(0o755))?,
        Err(Errno::NOENT) => {
            let make = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            openat(dir, name, make, Mode::from_raw_mode(0o644)).map(drop)?;
        }
        other => return other,
    }
    openat(dir, name, look, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_only_where_no_program_of_a_box_can_make_them() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("work/deep")).unwrap();
        std::fs::create_dir_all(root.join("home/real")).unwrap();
        symlink("real", root.join("home/link")).unwrap();
        symlink(root.join("home"), root.join("work/deep/out")).unwrap();
        symlink("../work/deep/out", root.join("home/through")).unwrap();
        symlink("round", root.join("home/round")).unwrap();
        let paths = Paths { written: vec![root.join("work")] };
        let find = |path: &str| paths.find(&root.join(path)).map_err(|error| error.raw_os_error());
        assert_eq!(find("home/real"), Ok(Found::At(root.join("home/real"))));
        assert_eq!(find("home/link"), Ok(Found::At(root.join("home/real"))));
        assert_eq!(find("home/link/../link"), Ok(Found::At(root.join("home/real"))));
        assert_eq!(find("home/none/x"), Ok(Found::Missing));
        assert_eq!(find("work/deep"), Ok(Found::At(root.join("work/deep"))));
        assert_eq!(find("work/deep/out"), Ok(Found::Link(root.join("work/deep/out"))));
        assert_eq!(find("work/deep/out/real"), Ok(Found::Link(root.join("work/deep/out"))));
        assert_eq!(find("home/through/real"), Ok(Found::Link(root.join("work/deep/out"))));
        assert_eq!(find("home/round"), Err(Some(Errno::LOOP.raw_os_error())));
        assert_eq!(paths.place(&root.join("home/link/a/b")).unwrap(), Some(root.join("home/real/a/b")));
        assert_eq!(paths.place(&root.join("home/through/a")).unwrap(), None);
        let passed = [Link { at: root.join("home/link"), to: "real".into() }];
        assert_eq!(paths.links(&root.join("home/link/a")).unwrap(), passed);
    }

    #[test]
    fn a_missing_place_is_made_and_a_link_in_the_way_is_refused() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        assert!(is_dir(open_or_make(&root.join("a/b"), true).unwrap()).unwrap());
        assert!(!is_dir(open_or_make(&root.join("c/file"), false).unwrap()).unwrap());
        symlink(root.join("a"), root.join("link")).unwrap();
        assert!(open_or_make(&root.join("link/b"), true).is_err());
        assert!(open_or_make(&root.join("link/new"), true).is_err());
        assert!(!root.join("a/new").exists());
    }
}
