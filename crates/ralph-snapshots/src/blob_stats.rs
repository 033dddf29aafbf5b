//! Looks at many contents without opening them. Each of their directories is held open meanwhile, which takes a third of
//! the time that whole paths take.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, statat};

use crate::blobs::Blobs;

/// The directories of the contents, as far as they were needed.
pub(crate) struct BlobStats<'a> {
    blobs: &'a Blobs,
    dirs: Vec<Option<OwnedFd>>,
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
        BlobStats { blobs, dirs: Vec::new() }
    }

    /// What there is of a content; none if there is nothing.
    pub(crate) fn of(&mut self, hash: u128) -> Option<BlobStat> {
        let path = self.blobs.path(hash);
        let number = usize::from(hash.to_be_bytes().first().copied().unwrap_or(0));
        if self.dirs.len() <= number {
            self.dirs.resize_with(256, || None);
        }
        let dir = self.dirs.get_mut(number)?;
        if dir.is_none() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            *dir = open(path.parent()?, flags, Mode::empty()).ok();
        }
        statat(dir.as_ref()?, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW)
            .ok()
            .map(|stat| BlobStat::of(&stat))
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
