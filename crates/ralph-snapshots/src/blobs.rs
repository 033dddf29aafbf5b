//! Contents by hash, one file each, never changed once written. The hash is the one in the index, so an index alone says
//! what to look for. A content is written under a temporary name and renamed when complete.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

const BUFFER: usize = 128 * 1024;

/// Contents by hash.
#[derive(Clone, Debug)]
pub struct Blobs {
    dir: PathBuf,
}

impl Blobs {
    /// Contents in this directory, which is created with the first one.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Blobs {
        Blobs { dir: dir.into() }
    }

    /// The path of a content, whether it exists or not.
    #[must_use]
    pub fn path(&self, hash: u128) -> PathBuf {
        let name = format!("{hash:032x}");
        let (two, rest) = name.split_at(2);
        self.dir.join(two).join(rest)
    }

    /// Whether a content is stored.
    #[must_use]
    pub fn has(&self, hash: u128) -> bool {
        self.path(hash).symlink_metadata().is_ok()
    }

    /// Opens a content for reading.
    pub fn open(&self, hash: u128) -> io::Result<File> {
        File::open(self.path(hash))
    }

    /// Copies a content out and checks its hash: a power failure can leave less than was written.
    pub fn copy_to(&self, hash: u128, to: &mut File) -> io::Result<()> {
        let (mut from, mut hasher, mut buffer) = (self.open(hash)?, blake3::Hasher::new(), vec![0; BUFFER]);
        loop {
            let count = from.read(&mut buffer)?;
            let piece = buffer.get(..count).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            hasher.update(piece);
            to.write_all(piece)?;
        }
        if hash_of(&hasher) == hash {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "its saved content is damaged"))
    }

    /// Syncs these contents to disk.
    pub(crate) fn sync(&self, hashes: &[u128]) -> io::Result<()> {
        hashes.iter().try_for_each(|hash| self.open(*hash)?.sync_all())
    }

    /// Stores a file's content and returns its hash: the file may have changed since it was indexed.
    pub fn take(&self, from: &mut File, expected: u128) -> io::Result<u128> {
        let at = self.path(expected);
        let draft = self.draft(&at)?;
        let taken = copy(from, &draft);
        self.settle(taken, &draft)
    }

    /// Stores a few bytes, such as the target of a link.
    pub fn take_bytes(&self, bytes: &[u8]) -> io::Result<u128> {
        let hash = hash_of(blake3::Hasher::new().update(bytes));
        let draft = self.draft(&self.path(hash))?;
        let taken = fs::write(&draft, bytes).map(|()| hash);
        self.settle(taken, &draft)
    }

    fn draft(&self, at: &Path) -> io::Result<PathBuf> {
        let dir = at.parent().unwrap_or(&self.dir);
        if !dir.is_dir() {
            fs::create_dir_all(dir)?;
        }
        Ok(dir.join(format!("draft.{}", std::process::id())))
    }

    fn settle(&self, taken: io::Result<u128>, draft: &Path) -> io::Result<u128> {
        let settled = taken.and_then(|hash| {
            let at = self.path(hash);
            if let Some(dir) = at.parent() {
                fs::create_dir_all(dir)?;
            }
            fs::rename(draft, &at).map(|()| hash)
        });
        if settled.is_err() {
            // A draft that cannot be removed is swept by the next prune.
            let _ = fs::remove_file(draft);
        }
        settled
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Copies a file of any size and forces it to the disk. Holes stay holes: a sparse file of terabytes takes no room.
pub(crate) fn copy_file(from: &mut File, to: &Path) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(to)?;
    if ralph_os::share_blocks(&file, &*from).is_err() {
        let length = from.metadata()?.len();
        let mut at = 0;
        while at < length {
            let start = match rustix::fs::seek(&*from, rustix::fs::SeekFrom::Data(at)) {
                Ok(start) => start,
                Err(rustix::io::Errno::NXIO) => break,
                Err(error) => return Err(error.into()),
            };
            let end = rustix::fs::seek(&*from, rustix::fs::SeekFrom::Hole(start))?;
            from.seek(io::SeekFrom::Start(start))?;
            file.seek(io::SeekFrom::Start(start))?;
            io::copy(&mut Read::by_ref(from).take(end - start), &mut file)?;
            at = end;
        }
        file.set_len(length)?;
    }
    file.sync_all()
}

/// Copies, sharing the blocks where the file system can, and hashes what was copied.
fn copy(from: &mut File, to: &Path) -> io::Result<u128> {
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(to)?;
    let shared = ralph_os::share_blocks(&file, &*from).is_ok();
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BUFFER];
    if shared {
        file.rewind()?;
    }
    loop {
        let count = match if shared { file.read(&mut buffer) } else { from.read(&mut buffer) } {
            Ok(0) => return Ok(hash_of(&hasher)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = buffer.get(..count).unwrap_or_default();
        hasher.update(piece);
        if !shared {
            file.write_all(piece)?;
        }
    }
}

/// The hash as the index has it: the first 128 bits.
fn hash_of(hasher: &blake3::Hasher) -> u128 {
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    u128::from_le_bytes(bytes)
}
