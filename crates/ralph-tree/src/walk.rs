//! The walk: every directory once, in order, by one thread, relative to open directories.
//!
//! For each name: is it noise, ignored, protected (`noise`, `ignores`, `protect`), does its stat say what the
//! last index said, and if not, what is its hash (`content`). An older index in the same order runs along,
//! so that no lookup is needed; where the rules did not change, its flags are taken over unasked.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::chunk::{ChunkWriter, Row};
use crate::content::{Reader, Stat};
use crate::ignores::{Compiled, CopyRules, Rules};
use crate::index::{COUNTS, Cursor, Index, Kind, NOISE, PROTECTED, Skipped, UNREADABLE, short};
use crate::listing::{Item, Listing};
use crate::noise::{is_byte_code, is_noise};
use crate::own_files::OwnFiles;
use crate::path::{order, shown};
use crate::protect::Protect;
use crate::tree::WalkError;

/// A change this soon before the last walk may have been followed by another with the same ctime, because
/// the kernel stamps files by a coarse clock.
const RACY: i64 = 20_000_000;
/// The same for file systems that keep whole seconds only.
const RACY_SECONDS: i64 = 2_000_000_000;
/// So many directories are held open on the way down; those above are opened again on the way back.
const HELD: usize = 64;
/// Nothing can be opened by a path anywhere near this long.
const LONGEST: usize = 8192;
const MOST_SKIPPED: usize = 256;
/// Files of the work tree that git reads whatever it does.
const GIT_READS: [&[u8]; 3] = [b".gitattributes", b".gitignore", b".gitmodules"];

/// A directory that is being walked.
struct Frame {
    /// None while it is closed to save descriptors.
    fd: Option<OwnedFd>,
    /// Device and inode, noted when it is closed.
    identity: (u64, u64),
    listing: Listing,
    next: usize,
    /// How many bytes of the path lead to its entries.
    path_len: usize,
    flags: u8,
    rules: Rules,
    /// The last walk saw this directory under the same rules: its flags hold.
    familiar: bool,
}

/// One walk under way.
pub(crate) struct Walk<'a> {
    root: &'a Path,
    protect: &'a Protect,
    own: &'a OwnFiles,
    compiled: &'a mut Compiled,
    before: &'a Index,
    /// The place in `before` that the walk has reached.
    reached: Cursor<'a>,
    reader: Reader,
    scratch: Vec<u8>,
    path: Vec<u8>,
    index: Index,
    chunks: ChunkWriter,
    /// Only what is protected is looked at.
    guarding: bool,
    /// Nothing is ignored.
    whole: bool,
    /// What is walked has some of a workspace's files; contents are not read.
    copy: Option<&'a CopyRules>,
    /// What is walked lies around a workspace.
    around: Option<Around<'a>>,
}

/// The walk of a repository around a workspace: every directory is looked through, but only what is asked for is kept.
struct Around<'a> {
    /// The workspace, which has a walk of its own.
    workspace: &'a [u8],
    /// So many names may still be looked at.
    left: usize,
}

/// More names around a workspace are not looked at: the rest of a huge repository would cost more than the run.
const MOST_AROUND: usize = 100_000;

impl<'a> Walk<'a> {
    pub fn new(
        root: &'a Path,
        (protect, own, guarding, whole): (&'a Protect, &'a OwnFiles, bool, bool),
        before: &'a Index,
        compiled: &'a mut Compiled,
    ) -> Walk<'a> {
        let index = Index { began: now(), ..Index::default() };
        let (reader, scratch, path) = (Reader::new(), Vec::new(), Vec::new());
        Walk {
            root,
            protect,
            own,
            compiled,
            before,
            reached: Cursor::new(before),
            chunks: ChunkWriter::default(),
            reader,
            scratch,
            path,
            index,
            guarding,
            whole,
            copy: None,
            around: None,
        }
    }

    /// What is walked lies around a workspace that begins at this path.
    pub fn around(self, workspace: Option<&'a [u8]>) -> Walk<'a> {
        Walk { around: workspace.map(|workspace| Around { workspace, left: MOST_AROUND }), ..self }
    }

    /// What is walked has some of a workspace's files, under these rules; contents are not read.
    pub fn of_copy(self, copy: Option<&'a CopyRules>) -> Walk<'a> {
        Walk { copy, ..self }
    }

    /// Walks everything below the root.
    pub fn run(mut self) -> Result<Index, WalkError> {
        let mut above = Vec::new();
        let mut here = self.begin()?;
        loop {
            if let Some(below) = self.next_directory(&mut here)? {
                above.push(std::mem::replace(&mut here, below));
                if let Some(far) = above.len().checked_sub(HELD).and_then(|at| above.get_mut(at)) {
                    far.let_go();
                }
            } else if let Some(mut parent) = above.pop() {
                self.come_back(&mut parent, &here)?;
                here = parent;
            } else {
                break;
            }
        }
        self.index.chunks = std::mem::take(&mut self.chunks).finish(&self.before.chunks);
        self.index.files_hashed = self.reader.files;
        self.index.bytes_hashed = self.reader.bytes;
        self.index.id = self.index.compute_id();
        Ok(self.index)
    }

    fn begin(&mut self) -> Result<Frame, WalkError> {
        let failed = |error: Errno| WalkError::Root { root: self.root.to_path_buf(), source: error.into() };
        let fd = open_directory(CWD, self.root, OFlags::empty()).map_err(failed)?;
        let listing = Listing::read(fd.as_fd(), &mut self.scratch).map_err(failed)?;
        let key = *blake3::Hasher::new().update(self.protect.key()).finalize().as_bytes();
        let around = self.compiled.outside(self.copy.map_or(self.root, |copy| &copy.workspace), &key);
        let rules = self.rules_inside(&around, fd.as_fd(), &listing);
        let familiar = self.before.root_rules == rules.key;
        self.index.root_rules = rules.key;
        let fd = Some(fd);
        let flags = if self.guarding { NOISE } else { COUNTS };
        Ok(Frame { fd, identity: (0, 0), listing, next: 0, path_len: 0, flags, rules, familiar })
    }

    /// The rules in the directory at hand, given those around it.
    fn rules_inside(&mut self, around: &Rules, fd: BorrowedFd<'_>, listing: &Listing) -> Rules {
        match self.copy {
            Some(copy) => self.compiled.inside_copy(around, fd, listing, copy, &self.path),
            None => self.compiled.inside(around, fd, listing, self.root, &self.path),
        }
    }

    /// Goes on in a directory until another one is to be entered; None at its end.
    fn next_directory(&mut self, here: &mut Frame) -> Result<Option<Frame>, WalkError> {
        while let Some(item) = here.listing.item(here.next) {
            let Some(fd) = here.fd.as_ref() else { break };
            here.next += 1;
            let name = here.listing.name(item);
            self.path.truncate(here.path_len);
            self.path.extend_from_slice(name.to_bytes());
            if let Some(below) = self.visit(here, fd.as_fd(), name, item)? {
                return Ok(Some(below));
            }
        }
        Ok(None)
    }

    fn visit(
        &mut self,
        here: &Frame,
        fd: BorrowedFd<'_>,
        name: &CStr,
        item: Item,
    ) -> Result<Option<Frame>, WalkError> {
        let kind = match item.kind {
            Some(kind) => kind,
            None => match Stat::of(fd, name) {
                Ok(stat) => stat.kind,
                Err(error) => return self.pass_over(error).map(|()| None),
            },
        };
        let noise = is_noise(name.to_bytes(), kind);
        if self.own.has(&self.path, kind) || self.is_left_out_around() {
            return Ok(None);
        }
        let executed = is_byte_code(name.to_bytes()) && here.flags & PROTECTED != 0;
        if noise && !executed && !self.protect.names(&self.path) {
            return self.note_repository(fd, name, kind).map(|()| None);
        }
        let old = self.seen_before().filter(|row| row.kind == kind);
        let flags = match old {
            Some(row) if here.familiar => row.flags & !UNREADABLE,
            _ => self.judge(here, kind, noise),
        };
        if kind == Kind::Directory {
            return self.enter(here, fd, name, flags, old);
        }
        if flags & (COUNTS | PROTECTED) != 0 {
            self.look_at(fd, name, kind, flags, old)?;
        }
        Ok(None)
    }

    /// Whether the path at hand is the workspace itself, seen from around it, or too far to be looked at.
    fn is_left_out_around(&mut self) -> bool {
        let Some(around) = &mut self.around else { return false };
        around.left = around.left.saturating_sub(1);
        self.index.cut_short |= around.left == 0;
        around.left == 0 || around.workspace == self.path
    }

    /// Whether what counts as work around a workspace is asked for, and nothing else.
    fn asks_for_work_around(&self) -> bool {
        self.around.is_some() && !self.guarding
    }

    /// Whether a directory is looked through although nothing in it counts.
    fn is_searched(&self, here: &Frame) -> bool {
        self.protect.names(&self.path) || self.around.is_some() && !here.rules.ignore(&self.path, true)
    }

    /// A repository's own directory, or the file that points to it, is noise; that it is there, and which one it is,
    /// is kept all the same.
    fn note_repository(&mut self, fd: BorrowedFd<'_>, name: &CStr, kind: Kind) -> Result<(), WalkError> {
        if name.to_bytes() != b".git" || self.guarding {
            return Ok(());
        }
        let old = self.seen_before().filter(|row| row.kind == kind);
        if kind != Kind::Directory {
            return self.look_at(fd, name, kind, NOISE, old);
        }
        match Stat::of_birth(fd, name) {
            Ok(stat) => {
                self.keep(&stat, NOISE, [0; 16]);
                Ok(())
            }
            Err(error) => self.pass_over(error),
        }
    }

    /// What the path at hand is to us: work, protected, noise.
    fn judge(&self, here: &Frame, kind: Kind, noise: bool) -> u8 {
        let path = &self.path;
        // A link in the place of a protected directory stands for it.
        let like_dir = matches!(kind, Kind::Directory | Kind::Symlink);
        let mut flags = here.flags & (PROTECTED | NOISE);
        // Git waits for ever on a pipe in the place of a file that it reads in every directory.
        let blocks_git = kind == Kind::Special && GIT_READS.contains(&name_of(path));
        if flags & PROTECTED == 0 && (blocks_git || self.protect.hits(path, like_dir)) {
            flags |= PROTECTED;
        }
        if noise {
            flags |= NOISE;
        }
        let may_count = here.flags & COUNTS != 0 && flags & NOISE == 0 && kind != Kind::Special;
        if may_count && (self.whole || !here.rules.ignore(path, kind == Kind::Directory)) {
            flags |= COUNTS;
        }
        flags
    }

    /// Opens a directory. Ignored ones are entered too, because a protected path may lie in them.
    fn enter(
        &mut self,
        here: &Frame,
        fd: BorrowedFd<'_>,
        name: &CStr,
        flags: u8,
        old: Option<&Row>,
    ) -> Result<Option<Frame>, WalkError> {
        if flags & NOISE != 0 && flags & PROTECTED == 0 && !self.is_searched(here) {
            return Ok(None);
        }
        if self.asks_for_work_around() && flags & COUNTS == 0 {
            return Ok(None);
        }
        let whole = match Stat::of(fd, name) {
            Ok(stat) => stat,
            Err(error) => return self.pass_over(error).map(|()| None),
        };
        let stat = Stat { mtime: 0, ctime: 0, size: 0, ..whole };
        let opened = open_directory(fd, name, OFlags::NOFOLLOW).and_then(|below| {
            let long = self.path.len() >= LONGEST;
            if long {
                Err(Errno::NAMETOOLONG)
            } else {
                Ok((Listing::read(below.as_fd(), &mut self.scratch)?, below))
            }
        });
        let (listing, below) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.pass_over(error)?;
                // Its times are all that tells whether somebody looked into it or changed it.
                self.keep(&whole, flags | UNREADABLE, [0; 16]);
                return Ok(None);
            }
        };
        let len = self.path.len();
        self.path.push(b'/');
        let rules = self.rules_inside(&here.rules, below.as_fd(), &listing);
        self.path.truncate(len);
        let familiar = old.is_some_and(|row| row.hash == rules.key);
        self.keep(&stat, flags, rules.key);
        self.path.push(b'/');
        let fd = Some(below);
        Ok(Some(Frame { fd, identity: (0, 0), listing, next: 0, path_len: len + 1, flags, rules, familiar }))
    }

    /// Keeps a file, link or special file, with its hash from the last walk if that still holds.
    fn look_at(
        &mut self,
        fd: BorrowedFd<'_>,
        name: &CStr,
        kind: Kind,
        flags: u8,
        old: Option<&Row>,
    ) -> Result<(), WalkError> {
        let stat = match Stat::of(fd, name) {
            Ok(stat) if stat.kind == kind => stat,
            Ok(_) => return self.pass_over(Errno::LOOP),
            Err(error) => return self.pass_over(error),
        };
        let known = match self.copy {
            Some(_) => Some([0; 16]),
            None => old.filter(|row| self.still_holds(row, &stat)).map(|row| row.hash),
        };
        if let Some(hash) = known {
            self.keep(&stat, flags, hash);
            return Ok(());
        }
        let read = match kind {
            Kind::File => self.reader.file(fd, name),
            Kind::Symlink => self.reader.link(fd, name).map(|hash| (stat, hash)),
            _ => Ok((stat, [0; 16])),
        };
        match read {
            Ok((stat, hash)) => self.keep(&stat, flags, hash),
            Err(error) if gone(error) || error == Errno::LOOP => self.pass_over(error)?,
            Err(error) => {
                self.pass_over(error)?;
                self.keep(&stat, flags | UNREADABLE, stand_in(&stat));
            }
        }
        Ok(())
    }

    fn still_holds(&self, row: &Row, stat: &Stat) -> bool {
        let same = (row.ino, row.size, row.mtime, row.ctime) == (stat.ino, stat.size, stat.mtime, stat.ctime);
        let margin = if row.ctime % 1_000_000_000 == 0 { RACY_SECONDS } else { RACY };
        same && row.ctime < self.before.began.saturating_sub(margin) && row.flags & UNREADABLE == 0
    }

    /// The last walk's row for the path at hand. Both walks go in the same order, so this only moves on.
    fn seen_before(&mut self) -> Option<&'a Row> {
        while let Some((path, row)) = self.reached.row() {
            if path == self.path {
                return Some(row);
            }
            if order(path, &self.path).is_gt() {
                break;
            }
            self.reached.step();
        }
        None
    }

    fn keep(&mut self, stat: &Stat, flags: u8, hash: [u8; 16]) {
        let asked = if self.asks_for_work_around() { COUNTS } else { PROTECTED };
        if self.around.is_some() && flags & asked == 0 {
            return;
        }
        let Stat { kind, mode, ino, size, mtime, ctime } = *stat;
        let row = Row { hash, ino, size, mtime, ctime, end: 0, mode, kind, flags };
        self.chunks.add(&self.path, row, &self.before.chunks);
    }

    /// Leaves out the path at hand. What vanished in the meantime needs no word; running out of resources
    /// ends the walk, because the rest would look deleted.
    fn pass_over(&mut self, error: Errno) -> Result<(), WalkError> {
        if matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOMEM) {
            return Err(WalkError::Exhausted { path: shown(&self.path), source: error.into() });
        }
        if !gone(error) && self.index.skipped.len() < MOST_SKIPPED {
            let changed = matches!(error, Errno::LOOP | Errno::NOTDIR);
            let why = if changed { "changed while it was looked at".to_owned() } else { error.to_string() };
            self.index.skipped.push(Skipped { path: self.path.as_slice().into(), why });
        }
        Ok(())
    }

    /// Opens the directory above again if it was closed on the way down.
    fn come_back(&mut self, parent: &mut Frame, from: &Frame) -> Result<(), WalkError> {
        let (None, Some(below)) = (&parent.fd, &from.fd) else { return Ok(()) };
        let again = open_directory(below.as_fd(), c"..", OFlags::empty());
        match again.and_then(|fd| Ok((identity(fd.as_fd())?, fd))) {
            Ok((identity, fd)) if identity == parent.identity => parent.fd = Some(fd),
            other => {
                self.path.truncate(parent.path_len.saturating_sub(1));
                self.pass_over(other.err().unwrap_or(Errno::NOTDIR))?;
            }
        }
        Ok(())
    }
}

impl Frame {
    fn let_go(&mut self) {
        if let Some(known) = self.fd.as_ref().and_then(|fd| identity(fd.as_fd()).ok()) {
            self.identity = known;
            self.fd = None;
        }
    }
}

fn identity(fd: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    ralph_os::identity(fd)
}

fn open_directory(at: BorrowedFd<'_>, path: impl rustix::path::Arg, more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    openat(at, path, flags, Mode::empty())
}

fn gone(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::STALE)
}

/// Stands for a content that cannot be read: another file in its place, or another length, is noticed.
fn stand_in(stat: &Stat) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for number in [stat.ino, stat.size, stat.mtime.cast_unsigned()] {
        hasher.update(&number.to_le_bytes());
    }
    short(&hasher)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}
