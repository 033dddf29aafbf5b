//! Paths that git's index hides: "assume unchanged" and "skip the work tree". Read from the index file itself (versions
//! 2 to 4), because git would obey the repository's config. What cannot be read for sure hides nothing.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::content::regular_file;

/// Changes of the path are not looked for.
pub const ASSUMED: u8 = 1;
/// The path is not expected in the work tree.
pub const SKIPPED: u8 = 2;
const LARGEST: u64 = 1 << 30;

/// The paths that are hidden, each with how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// By path within the repository.
    pub paths: BTreeMap<Vec<u8>, u8>,
    stamp: Stamp,
}

/// Inode, size, last write and last change; git writes its index anew each time.
type Stamp = (u64, u64, (i64, i64), (i64, i64));

impl Hidden {
    /// As the index says now; not read again where it is the same file as before.
    #[must_use]
    pub fn read(index: &Path, earlier: Option<&Hidden>) -> Hidden {
        let Some(mut file) = regular_file(index) else { return Hidden::default() };
        let Ok(meta) = file.metadata() else { return Hidden::default() };
        let times = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
        let stamp = (meta.ino(), meta.len(), times.0, times.1);
        if let Some(same) = earlier.filter(|earlier| earlier.stamp == stamp) {
            return same.clone();
        }
        let mut bytes = Vec::new();
        let read = file.by_ref().take(LARGEST).read_to_end(&mut bytes);
        let paths = read.ok().and_then(|_| entries(&bytes, 20).or_else(|| entries(&bytes, 32)));
        Hidden { paths: paths.unwrap_or_default(), stamp }
    }

    /// These paths, as an earlier process read them.
    #[must_use]
    pub fn of(paths: impl IntoIterator<Item = (Vec<u8>, u8)>) -> Hidden {
        Hidden { paths: paths.into_iter().collect(), ..Hidden::default() }
    }

    /// What is hidden now and was not before.
    pub fn more_than<'a>(&'a self, earlier: &'a Hidden) -> impl Iterator<Item = (&'a [u8], u8)> {
        self.paths.iter().filter_map(|(path, how)| {
            let more = how & !earlier.paths.get(path).copied().unwrap_or(0);
            (more != 0).then_some((path.as_slice(), more))
        })
    }
}

/// Every hidden path of an index whose object names are this long.
fn entries(bytes: &[u8], name_len: usize) -> Option<BTreeMap<Vec<u8>, u8>> {
    let number = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let version = number(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut path, mut found) = (12, Vec::new(), BTreeMap::new());
    for _ in 0..number(8)? {
        let start = at;
        at += 40 + name_len;
        let flags = u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
        at += 2;
        let mut how = if flags & 0x8000 != 0 { ASSUMED } else { 0 };
        if version >= 3 && flags & 0x4000 != 0 {
            let more = u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
            at += 2;
            how |= if more & 0x4000 != 0 { SKIPPED } else { 0 };
        }
        if version == 4 {
            let (cut, used) = varint(bytes.get(at..)?)?;
            at += used;
            path.truncate(path.len().checked_sub(cut)?);
        } else {
            path.clear();
        }
        let rest = bytes.get(at..)?;
        let end = rest.iter().position(|b| *b == 0)?;
        path.extend_from_slice(rest.get(..end)?);
        at += end + 1;
        if version != 4 {
            // Entries are filled up with zeros to a multiple of eight.
            let padded = start + (at - start).next_multiple_of(8);
            if path.is_empty() || bytes.get(at..padded)?.iter().any(|b| *b != 0) {
                return None;
            }
            at = padded;
        }
        if how != 0 {
            found.insert(path.clone(), how);
        }
    }
    Some(found)
}

/// A number as git's version 4 writes it, and how many bytes it took.
pub(crate) fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (n, byte) in bytes.iter().take(9).enumerate() {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, n + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}
