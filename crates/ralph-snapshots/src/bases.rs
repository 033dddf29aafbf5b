//! Indexes that moments build on. A moment is kept as its difference from one of these, so that a hundred runs of a large
//! workspace share one index. Every folder that uses a base has a hard link to it: nothing else is needed to read the
//! folder, and a base that no folder uses any more is recognised by its link count.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ralph_tree::{Difference, Index};

const SUFFIX: &str = "base";
/// A difference larger than this part of its base asks for a new base: each first moment of a run repeats it.
const LARGE: u64 = 32;
/// A small difference is never worth a new base.
const SMALL: u64 = 16 * 1024;

/// The bases of one workspace.
#[derive(Clone, Debug)]
pub struct Bases {
    dir: PathBuf,
}

/// A base in a folder that uses it.
pub(crate) struct LinkedBase {
    /// Its name: a hash of the index.
    pub(crate) id: u128,
    /// From the base to the index it was asked for.
    pub(crate) difference: Difference,
    /// Its bytes, if it is new.
    pub(crate) new_bytes: u64,
    /// Its files, to be synced if it is new.
    pub(crate) files: Vec<PathBuf>,
}

impl Bases {
    pub(crate) fn at(dir: PathBuf) -> Bases {
        Bases { dir }
    }

    /// A base for this index, linked into `folder`.
    pub(crate) fn link(&self, folder: &Path, index: &Index) -> io::Result<LinkedBase> {
        if let Some((path, base)) = self.newest(index) {
            let difference = Difference::between(&base, index);
            let bytes = path.metadata()?.len();
            if difference.to_bytes().len() as u64 <= SMALL.max(bytes / LARGE) {
                let id = id_of(&path).ok_or(io::ErrorKind::InvalidData)?;
                let files = link(&path, &path_in(folder, id))?;
                return Ok(LinkedBase { id, difference, new_bytes: 0, files });
            }
        }
        fs::create_dir_all(&self.dir)?;
        let draft = self.dir.join("new");
        index.save(&draft).map_err(|error| error.source)?;
        let id = id_of(&draft).ok_or(io::ErrorKind::InvalidData)?;
        let path = path_in(&self.dir, id);
        fs::rename(&draft, &path)?;
        let mut files = link(&path, &path_in(folder, id))?;
        let new_bytes = path.metadata()?.len();
        files.extend([path, self.dir.clone()]);
        Ok(LinkedBase { id, difference: Difference::between(index, index), new_bytes, files })
    }

    /// The base that was written last, if it can be read; in memory it shares what it can with `index`.
    fn newest(&self, index: &Index) -> Option<(PathBuf, Index)> {
        let written = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
        let path = self.paths().into_iter().max_by_key(written)?;
        let base = Index::load_beside(&path, index)?;
        Some((path, base))
    }

    /// Removes the bases that no folder uses, but not the newest. Returns the bytes that are left.
    pub(crate) fn remove_unused(&self) -> io::Result<u64> {
        let mut all: Vec<(std::time::SystemTime, PathBuf, fs::Metadata)> = Vec::new();
        for path in self.paths() {
            let meta = path.metadata()?;
            all.push((meta.modified()?, path, meta));
        }
        all.sort_by_key(|(written, ..)| std::cmp::Reverse(*written));
        let mut left = 0;
        for (n, (_, path, meta)) in all.iter().enumerate() {
            match n > 0 && meta.nlink() == 1 {
                true => fs::remove_file(path)?,
                false => left += meta.len(),
            }
        }
        Ok(left)
    }

    fn paths(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == SUFFIX))
            .collect()
    }
}

/// Reads the base of a folder; in memory it shares what it can with `other`. None if it is lost or damaged; an error if
/// that cannot be told, because it may be read another time.
pub(crate) fn load(folder: &Path, id: u128, other: &Index) -> io::Result<Option<Index>> {
    let path = path_in(folder, id);
    if let Some(base) = Index::load_beside(&path, other).filter(|_| id_of(&path) == Some(id)) {
        return Ok(Some(base));
    }
    match File::open(&path).and_then(|mut file| io::copy(&mut file, &mut io::sink())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(None),
    }
}

/// Whether a file in a run's folder is a base that others share.
#[must_use]
pub fn is_shared_base(path: &Path, meta: &fs::Metadata) -> bool {
    path.extension().is_some_and(|extension| extension == SUFFIX) && meta.nlink() > 1
}

pub(crate) fn path_in(folder: &Path, id: u128) -> PathBuf {
    folder.join(format!("{id:032x}.{SUFFIX}"))
}

/// The name of a base: the beginning of the checksum that ends it.
fn id_of(path: &Path) -> Option<u128> {
    let mut file = File::open(path).ok()?;
    let mut check = [0; 16];
    file.seek(SeekFrom::End(-32)).ok()?;
    file.read_exact(&mut check).ok()?;
    Some(u128::from_le_bytes(check))
}

/// Links a base into a folder; a file system without hard links gets a copy. Returns what is to be synced.
fn link(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::hard_link(from, to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => drop(fs::copy(from, to)?),
    }
    Ok(vec![to.to_owned()])
}
