//! Looks at many contents without opening them. Their directories are held open meanwhile, as many as may be, which takes
//! a third of the time that whole paths take.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, lstat, open, statat};

use crate::blobs::Blobs;
use crate::open_files::{most_directories, too_many_open};

/// The directories of the contents, as far as they were needed.
pub(crate) struct BlobStats<'a> {
    blobs: &'a Blobs,
    /// By the first byte of the hashes in them.
    dirs: BTreeMap<u8, OwnedFd>,
    most: usize,
}

/// What is told about a content.
pub(crate) struct BlobStat {
    pub(crate) is_file: bool,
    pub(crate) size: u64,
    /// Its last change of any kind, in nanoseconds since 1970.
    pub(crate) changed: i64,
}

impl<'a> BlobStats<'a> {
    pub(crate) fn new(blobs: &'a Blobs) -> BlobStats<'a> {
        BlobStats { blobs, dirs: BTreeMap::new(), most: most_directories() }
    }

    /// What there is of a content; none if there is nothing.
    pub(crate) fn of(&mut self, hash: u128) -> Option<BlobStat> {
        let path = self.blobs.path(hash);
        let stat = match self.dir(hash, path.parent()?) {
            Some(dir) => statat(dir, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW),
            None => lstat(&path),
        };
        stat.ok().map(|stat| BlobStat::of(&stat))
    }

    /// The directory of a content, if it is held open.
    fn dir(&mut self, hash: u128, path: &Path) -> Option<&OwnedFd> {
        let [number, ..] = hash.to_be_bytes();
        if !self.dirs.contains_key(&number) && self.dirs.len() < self.most {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            match open(path, flags, Mode::empty()) {
                Ok(dir) => drop(self.dirs.insert(number, dir)),
                Err(error) if too_many_open(&error.into()) => self.close(),
                Err(_) => {}
            }
        }
        self.dirs.get(&number)
    }

    /// Holds no directory open any more: others need the handles.
    pub(crate) fn close(&mut self) {
        self.dirs.clear();
        self.most = 0;
    }
}

impl BlobStat {
    /// The widths of these numbers differ from system to system; none is cut in practice.
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::unnecessary_cast)]
    fn of(stat: &Stat) -> BlobStat {
        let seconds = (stat.st_ctime as i64).saturating_mul(1_000_000_000);
        BlobStat {
            is_file: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
            size: stat.st_size as u64,
            changed: seconds.saturating_add(stat.st_ctime_nsec as i64),
        }
    }
}
