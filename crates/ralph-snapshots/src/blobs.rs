//! Contents by hash, one file each, never changed once written. The hash is the one in the index, so an index alone says
//! what to look for. A content is written as a draft and renamed when complete; it is on disk for certain only after
//! [`Blobs::sync`], so a name alone proves nothing: see [`Blobs::is_whole`].

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const BUFFER: usize = 128 * 1024;
/// Where contents are written before they get their name.
pub(crate) const DRAFTS: &str = "drafts";

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

    /// Whether there is a content of this name. It may be damaged.
    #[must_use]
    pub fn has(&self, hash: u128) -> bool {
        self.path(hash).symlink_metadata().is_ok()
    }

    /// Whether there is a content of this name and size. Whether it is whole is known only after reading it.
    #[must_use]
    pub fn holds(&self, hash: u128, size: u64) -> bool {
        self.path(hash).symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == size)
    }

    /// Opens a content for reading.
    pub fn open(&self, hash: u128) -> io::Result<File> {
        File::open(self.path(hash))
    }

    /// Reads a content and compares it with its name. False also if there is none.
    pub fn is_whole(&self, hash: u128) -> io::Result<bool> {
        match self.copy_to(hash, &mut io::sink()) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Copies a content out and checks its hash: a power failure can leave less than was written.
    pub fn copy_to(&self, hash: u128, to: &mut impl Write) -> io::Result<()> {
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
        Err(io::Error::new(io::ErrorKind::InvalidData, DAMAGED))
    }

    /// Syncs these contents to disk with their names, and other files with them, in one batch.
    pub(crate) fn sync(&self, hashes: &[u128], others: &[PathBuf]) -> io::Result<()> {
        let mut paths: Vec<PathBuf> = hashes.iter().map(|hash| self.path(*hash)).collect();
        let mut dirs: BTreeSet<PathBuf> =
            paths.iter().filter_map(|path| Some(path.parent()?.to_owned())).collect();
        if !dirs.is_empty() {
            // Those above them may be new, too.
            dirs.extend(self.dir.ancestors().take(3).map(Path::to_owned));
        }
        paths.extend(others.iter().cloned());
        paths.extend(dirs);
        ralph_os::sync_batch(&paths)
    }

    /// Stores a file's content and returns its hash: the file may have changed since it was indexed.
    pub fn take(&self, from: &mut File) -> io::Result<u128> {
        self.place(|draft| copy(from, draft))
    }

    /// Stores a few bytes, such as the target of a link.
    pub fn take_bytes(&self, bytes: &[u8]) -> io::Result<u128> {
        self.place(|draft| draft.write_all(bytes).map(|()| hash_of(blake3::Hasher::new().update(bytes))))
    }

    /// Writes a draft and gives it the name of its content. One that is there already, whole or not, is replaced.
    fn place(&self, write: impl FnOnce(&mut File) -> io::Result<u128>) -> io::Result<u128> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = self.dir.join(DRAFTS).join(name);
        let mut draft = made_in(&path, || {
            File::options().read(true).write(true).create(true).truncate(true).open(&path)
        })?;
        let placed = write(&mut draft).and_then(|hash| {
            let at = self.path(hash);
            made_in(&at, || fs::rename(&path, &at)).map(|()| hash)
        });
        if placed.is_err() {
            // What cannot be removed is removed by the next command.
            let _ = fs::remove_file(&path);
        }
        placed
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Why a content is not put back.
pub(crate) const DAMAGED: &str = "its saved content is damaged";

/// Makes something at a path; the directory is created only if it turns out to be missing.
fn made_in<T>(path: &Path, make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match make() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            make()
        }
        other => other,
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
fn copy(from: &mut File, file: &mut File) -> io::Result<u128> {
    let shared = ralph_os::share_blocks(&*file, &*from).is_ok();
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
