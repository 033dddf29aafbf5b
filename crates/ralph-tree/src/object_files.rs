//! The files that hold a repository's objects (packs and loose objects) at one moment: names, sizes and times, also those of
//! the directories that it borrows from. Git never changes such a file; it adds some and removes some. So two moments
//! tell cheaply whether anything may be lost, and only then is git asked what it can still read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_os::{Links, read_regular};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::content::Stat;
use crate::index::Kind;
use crate::odd_places::object_directories;
use crate::repository::Repository;

/// A directory with more loose objects than this is read again only if its times say that a name came or went. Git packs
/// them when there are about 27 in each of its 256 directories.
const ALWAYS_READ: usize = 64;
/// Times this close to the moment they were read may stand for a later change as well (two seconds: some file systems keep
/// no more).
const RACY: i64 = 2_000_000_000;
/// A longer list of shallow commits is not read.
const SHALLOW: u64 = 16 << 20;

/// The object files of one repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFiles {
    /// Inode and time of birth of the repository's directory: another one may have taken its place.
    identity: (u64, i64),
    dirs: Vec<Arc<ObjectDir>>,
    /// Where the history ended, if it was shallow.
    pub shallow: Option<Vec<u8>>,
}

/// One directory of object files.
#[derive(Debug, PartialEq, Eq)]
struct ObjectDir {
    path: PathBuf,
    stamp: (u64, i64, i64),
    /// The stamp tells every later change.
    settled: bool,
    files: usize,
    /// A line for each file in order: name, size, time of its content.
    text: String,
}

/// Object files that were there before and are gone or different now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedObjects {
    /// Names of loose objects whose files are gone.
    pub gone: BTreeSet<String>,
    /// Names of loose objects whose files have another size or time.
    pub altered: BTreeSet<String>,
    /// Packs that are gone or have another size: the path of each without its ending.
    pub packs: BTreeSet<PathBuf>,
    /// Packs of the same size with another time.
    pub rewritten: BTreeSet<PathBuf>,
}

impl ChangedObjects {
    /// Nothing is gone or different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == ChangedObjects::default()
    }
}

impl ObjectFiles {
    /// As they are now. A directory of loose objects in which no name came or went since `earlier` is not read again; after
    /// a step it is, unless it is large, because somebody may have written into a file that was there.
    #[must_use]
    pub fn look(repository: &Repository, earlier: Option<&ObjectFiles>, after_step: bool) -> ObjectFiles {
        let Some(identity) = identity(&repository.common) else { return ObjectFiles::default() };
        let began = now();
        let known: BTreeMap<&Path, &Arc<ObjectDir>> = earlier
            .filter(|earlier| earlier.identity == identity)
            .into_iter()
            .flat_map(|earlier| &earlier.dirs)
            .map(|dir| (dir.path.as_path(), dir))
            .collect();
        let (mut dirs, mut buffer) = (Vec::new(), Vec::new());
        for objects in object_directories(repository) {
            let Ok(top) = open(CWD, &objects) else { continue };
            for name in (0..=255).map(|n| format!("{n:02x}")).chain([PACK.to_owned()]) {
                let path = objects.join(&name);
                let earlier = known.get(path.as_path()).copied();
                let trusted =
                    name != PACK && earlier.is_some_and(|dir| !after_step || dir.files > ALWAYS_READ);
                let earlier = earlier.map(|dir| (dir, trusted));
                dirs.extend(ObjectDir::look(top.as_fd(), path, &name, began, earlier, &mut buffer));
            }
        }
        let shallow = read_regular(&repository.common.join("shallow"), SHALLOW, Links::Follow).ok();
        ObjectFiles { identity, dirs, shallow }
    }

    /// Whether this is the repository that was there before, not another one in its place.
    #[must_use]
    pub fn is_same_repository(&self, before: &ObjectFiles) -> bool {
        self.identity == before.identity && self.identity != (0, 0)
    }

    /// What was there before and is gone or different now.
    #[must_use]
    pub fn changed_since(&self, before: &ObjectFiles) -> ChangedObjects {
        let now: BTreeMap<&Path, &Arc<ObjectDir>> =
            self.dirs.iter().map(|dir| (dir.path.as_path(), dir)).collect();
        let mut changed = ChangedObjects::default();
        for was in &before.dirs {
            let is = now.get(was.path.as_path());
            if is.is_some_and(|is| Arc::ptr_eq(is, was) || is.text == was.text) {
                continue;
            }
            let there: BTreeMap<&str, &str> = is.map(|is| is.lines().collect()).unwrap_or_default();
            for (name, facts) in was.lines() {
                let is = there.get(name).copied();
                if is != Some(facts) {
                    changed.add(&was.path, name, facts, is);
                }
            }
        }
        // What is damaged anyway need not be looked at twice.
        changed.rewritten = &changed.rewritten - &changed.packs;
        changed
    }

    /// The indexes of the packs.
    pub fn pack_indexes(&self) -> impl Iterator<Item = PathBuf> {
        let packs = self.dirs.iter().filter(|dir| dir.path.ends_with(PACK));
        packs.flat_map(|dir| dir.lines().map(|(name, _)| dir.path.join(name))).filter(|path| is(path, "idx"))
    }

    /// As text, for a process that comes after a crash.
    #[must_use]
    pub fn to_text(&self) -> String {
        let (ino, born) = self.identity;
        let mut text = format!("repository {ino} {born}\n");
        if let Some(shallow) = &self.shallow {
            let _ = writeln!(text, "shallow {}", hex(shallow));
        }
        for dir in &self.dirs {
            let (ino, mtime, ctime) = dir.stamp;
            let (settled, files, path) =
                (u8::from(dir.settled), dir.files, hex(dir.path.as_os_str().as_bytes()));
            let _ = writeln!(text, "dir {ino} {mtime} {ctime} {settled} {files} {path}");
            text.push_str(&dir.text);
        }
        text
    }

    /// The same, read back; None if it is incomplete.
    #[must_use]
    pub fn from_text(text: &str) -> Option<ObjectFiles> {
        let mut files = ObjectFiles::default();
        let mut rest = text;
        while !rest.is_empty() {
            let words: Vec<&str> = line(&mut rest)?.split(' ').collect();
            match words[..] {
                ["repository", ino, born] => files.identity = (ino.parse().ok()?, born.parse().ok()?),
                ["shallow", bytes] => files.shallow = Some(from_hex(bytes)?),
                ["dir", ino, mtime, ctime, settled, count, path] => {
                    let from = rest;
                    let count: usize = count.parse().ok()?;
                    for _ in 0..count {
                        line(&mut rest)?;
                    }
                    files.dirs.push(Arc::new(ObjectDir {
                        path: PathBuf::from(std::ffi::OsString::from_vec(from_hex(path)?)),
                        stamp: (ino.parse().ok()?, mtime.parse().ok()?, ctime.parse().ok()?),
                        settled: settled == "1",
                        files: count,
                        text: from.get(..from.len() - rest.len())?.to_owned(),
                    }));
                }
                _ => return None,
            }
        }
        Some(files)
    }
}

impl ChangedObjects {
    fn add(&mut self, dir: &Path, name: &str, was: &str, is: Option<&str>) {
        let size = |facts: &str| facts.split(' ').next().map(ToOwned::to_owned);
        let path = dir.join(name);
        if !dir.ends_with(PACK) {
            let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned() + name;
            if is.is_some() {
                self.altered.insert(id)
            } else {
                self.gone.insert(id)
            };
        } else if is.is_some_and(|is| size(is) == size(was)) {
            self.rewritten.insert(path.with_extension(""));
        } else {
            self.packs.insert(path.with_extension(""));
        }
    }
}

impl ObjectDir {
    /// None where there is no such directory, or none that can be read. `earlier` may be trusted: if its times are the same,
    /// so is what it says of the files.
    fn look(
        above: BorrowedFd<'_>,
        path: PathBuf,
        name: &str,
        began: i64,
        earlier: Option<(&Arc<ObjectDir>, bool)>,
        buffer: &mut Vec<u8>,
    ) -> Option<Arc<ObjectDir>> {
        let fd = open(above, Path::new(name)).ok()?;
        let stat = Stat::of_open(fd.as_fd()).ok()?;
        let stamp = (stat.ino, stat.mtime, stat.ctime);
        let unchanged = earlier.filter(|(dir, _)| dir.stamp == stamp && dir.settled);
        if let Some((same, _)) = unchanged.filter(|(_, trusted)| *trusted) {
            return Some(Arc::clone(same));
        }
        let (files, text) = listed(fd.as_fd(), name == PACK, buffer).ok()?;
        if let Some((same, _)) = unchanged.filter(|(dir, _)| dir.text == text) {
            return Some(Arc::clone(same));
        }
        let settled = stat.ctime.max(stat.mtime) < began.saturating_sub(RACY);
        Some(Arc::new(ObjectDir { path, stamp, settled, files, text }))
    }

    /// Names, each with its size and time.
    fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.lines().filter_map(|line| line.split_once(' '))
    }
}

const PACK: &str = "pack";

/// How many object files a directory has, and a line for each.
fn listed(dir: BorrowedFd<'_>, packs: bool, buffer: &mut Vec<u8>) -> Result<(usize, String), Errno> {
    let mut names = Vec::new();
    ralph_os::each_name(dir, buffer, |name, _| {
        let wanted = name.to_str().is_ok_and(|text| match packs {
            true => is_of_pack(text),
            false => matches!(text.len(), 38 | 62) && text.bytes().all(|b| b.is_ascii_hexdigit()),
        });
        if wanted {
            names.push(name.to_owned());
        }
    })?;
    names.sort_unstable();
    let (mut files, mut text) = (0, String::new());
    for name in names {
        // What went away while it was looked at was not there.
        let Some(stat) = Stat::of(dir, &name).ok().filter(|stat| stat.kind == Kind::File) else { continue };
        let _ = writeln!(text, "{} {} {}", name.to_string_lossy(), stat.size, stat.mtime);
        files += 1;
    }
    Ok((files, text))
}

fn is_of_pack(name: &str) -> bool {
    name.starts_with("pack-")
        && name.bytes().all(|b| b.is_ascii_graphic())
        && (is(Path::new(name), "pack") || is(Path::new(name), "idx"))
}

fn is(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|end| end == ending)
}

fn open(above: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    openat(above, path, flags, Mode::empty())
}

fn identity(dir: &Path) -> Option<(u64, i64)> {
    let fd = open(CWD, dir).ok()?;
    let born = ralph_os::born_at(fd.as_fd(), c".").unwrap_or(0);
    Some((Stat::of_open(fd.as_fd()).ok()?.ino, born))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The next line, with its end taken off.
fn line<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let (line, after) = rest.split_once('\n')?;
    *rest = after;
    Some(line)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
