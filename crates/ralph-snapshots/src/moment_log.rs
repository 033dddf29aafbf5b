//! The moments of one run: states of its workspace, each with a name, in one file that only grows. The first is kept as
//! its difference from a base (`bases`), each later one as its difference from the one before, so that a moment costs
//! what changed. A record that a power cut left incomplete, and what follows it, is cut off.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ralph_tree::{Difference, Index};

use crate::bases::{self, Bases};
use crate::moment_record::{HEAD, Record, head, parse};

/// Name of the file in a folder of moments.
const FILE: &str = "moments";

/// The moments of one run.
#[derive(Debug)]
pub struct MomentLog {
    folder: PathBuf,
    bases: Bases,
    end: Mutex<Option<End>>,
}

/// The end of the file, as this process knows it.
#[derive(Debug)]
struct End {
    length: u64,
    /// The last moment.
    index: Arc<Index>,
    /// Names that were given to exactly this state.
    names: BTreeSet<String>,
}

/// What is to be synced after a moment was added.
#[derive(Debug, Default)]
pub struct Added {
    /// Files and directories.
    pub files: Vec<PathBuf>,
    /// Bytes that were written.
    pub bytes: u64,
}

impl MomentLog {
    /// The moments in this folder, which must exist when the first one is added.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>, bases: Bases) -> MomentLog {
        MomentLog { folder: folder.into(), bases, end: Mutex::new(None) }
    }

    /// Adds a moment. It is on disk after the returned files were synced. If the last state has this name already,
    /// nothing is written. Earlier moments that cannot be read just now stay: that is an error.
    pub fn add(&self, name: &str, index: &Arc<Index>) -> io::Result<Added> {
        let mut end = self.end();
        let mut added = Added::default();
        if end.is_none() {
            *end = self.read_end()?;
        }
        let (difference, length) = match &mut *end {
            Some(end) => {
                let difference = Difference::between(&end.index, index);
                if difference.is_empty() && end.names.contains(name) {
                    return Ok(added);
                }
                (difference, end.length)
            }
            None => {
                let base = self.bases.link(&self.folder, index)?;
                write_at(&self.path(), 0, &head(base.id))?;
                added.files.extend(base.files);
                // The folder and those above it may be new, too.
                added.files.extend(self.folder.ancestors().take(3).map(Path::to_owned));
                added.bytes += base.new_bytes + HEAD as u64;
                (base.difference, HEAD as u64)
            }
        };
        let same = difference.is_empty();
        let bytes = Record { name: name.to_owned(), difference }.to_bytes();
        let mut names = end.take().map(|end| end.names).unwrap_or_default();
        // Until it is written, the end is not known.
        write_at(&self.path(), length, &bytes)?;
        names.retain(|_| same);
        names.insert(name.to_owned());
        let length = length + bytes.len() as u64;
        *end = Some(End { length, index: Arc::clone(index), names });
        added.files.push(self.path());
        added.bytes += bytes.len() as u64;
        Ok(added)
    }

    /// Whether the last state is this one and has such a name.
    #[must_use]
    pub fn ends_with(&self, index: &Index, is_name: impl Fn(&str) -> bool) -> bool {
        let named = |end: &&End| end.names.iter().any(|name| is_name(name));
        self.end().as_ref().filter(named).is_some_and(|end| Difference::between(&end.index, index).is_empty())
    }

    /// The state at the last moment of such a name.
    #[must_use]
    pub fn load(folder: &Path, is_name: impl Fn(&str) -> bool) -> Option<Index> {
        load_beside(folder, is_name, &Index::default())
    }

    /// The same of this log; in memory it shares what it can with the moment that was added last.
    #[must_use]
    pub fn state(&self, is_name: impl Fn(&str) -> bool) -> Option<Index> {
        let last = self.end().as_ref().map(|end| Arc::clone(&end.index)).unwrap_or_default();
        load_beside(&self.folder, is_name, &last)
    }

    /// The states at all moments of such a name, oldest first.
    pub fn states(&self, is_name: impl Fn(&str) -> bool) -> impl Iterator<Item = Index> {
        let read = read(&self.folder).ok().flatten();
        let whole = read.and_then(|(base, records)| {
            Some((bases::load(&self.folder, base, &Index::default()).ok()??, records))
        });
        let (mut index, records) = whole.unwrap_or_default();
        records.into_iter().filter_map(move |record| {
            index = record.difference.apply(&index);
            is_name(&record.name).then(|| index.clone())
        })
    }

    /// The names of all moments, oldest first.
    #[must_use]
    pub fn names(folder: &Path) -> Vec<String> {
        let read = read(folder).ok().flatten();
        read.map(|(_, records)| records.into_iter().map(|record| record.name).collect()).unwrap_or_default()
    }

    /// None if there is nothing to continue.
    fn read_end(&self) -> io::Result<Option<End>> {
        let Some((base, records)) = read(&self.folder)? else { return Ok(None) };
        let length = HEAD + records.iter().map(Record::length).sum::<usize>();
        let Some(name) = records.last().map(|record| record.name.clone()) else { return Ok(None) };
        let base = bases::load(&self.folder, base, &Index::default())?;
        let index = base.map(|base| Arc::new(state(&base, records)));
        Ok(index.map(|index| End { length: length as u64, index, names: BTreeSet::from([name]) }))
    }

    fn path(&self) -> PathBuf {
        path(&self.folder)
    }

    fn end(&self) -> MutexGuard<'_, Option<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn load_beside(folder: &Path, is_name: impl Fn(&str) -> bool, other: &Index) -> Option<Index> {
    let (base, records) = read(folder).ok()??;
    let last = records.iter().rposition(|record| is_name(&record.name))?;
    let base = bases::load(folder, base, other).ok()??;
    Some(state(&base, records.into_iter().take(last + 1)))
}

/// The file of a folder.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// All whole records with the name of their base; none without a file whose head is whole. A file that cannot be read
/// may hold moments, so that is an error.
pub(crate) fn read(folder: &Path) -> io::Result<Option<(u128, Vec<Record>)>> {
    match fs::read(path(folder)) {
        Ok(bytes) => Ok(parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The state after these records, the first of which is a difference from `base`.
pub(crate) fn state(base: &Index, records: impl IntoIterator<Item = Record>) -> Index {
    Difference::joined(records.into_iter().map(|record| record.difference)).apply(base)
}

/// Writes at a place and cuts off what followed it.
fn write_at(path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create(true).truncate(false).open(path)?;
    file.set_len(at)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}
