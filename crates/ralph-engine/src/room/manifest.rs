//! What a room folder was filled with, so that the next fill knows which files are still as they were written.

use super::bytes::{Fields, Reader};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The last character is the version.
const MAGIC: &[u8; 8] = b"RLPROOM1";

/// What changes when somebody writes to a file, even if its old content is put back: the last change cannot be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) ino: u64,
    pub(super) size: u64,
    /// Nanoseconds since 1970.
    pub(super) ctime: i64,
}

/// One file as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) hash: u128,
    pub(super) mode: u32,
    pub(super) link: bool,
    pub(super) stamp: Stamp,
}

/// Everything a folder was filled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The last fill was completed. Otherwise the paths are all that may have been written, and the rest says nothing.
    pub(super) complete: bool,
    /// The latest second that a Python file was dated, see `writer.rs`.
    pub(super) latest_second: i64,
    pub(super) files: BTreeMap<Vec<u8>, Written>,
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        let ctime = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
        Stamp { ino: meta.ino(), size: meta.len(), ctime }
    }
}

impl Stamp {
    pub(super) fn put(self, fields: &mut Fields) {
        fields.put(self.ino.to_le_bytes());
        fields.put(self.size.to_le_bytes());
        fields.put(self.ctime.to_le_bytes());
    }

    pub(super) fn take(fields: &mut Reader<'_>) -> Option<Stamp> {
        Some(Stamp {
            ino: u64::from_le_bytes(fields.take()?),
            size: u64::from_le_bytes(fields.take()?),
            ctime: i64::from_le_bytes(fields.take()?),
        })
    }
}

impl Manifest {
    /// The manifest in this file; an incomplete one if there is none that can be trusted.
    pub(super) fn load(path: &Path) -> Manifest {
        fs::read(path).ok().and_then(|bytes| Manifest::parse(&bytes)).unwrap_or_default()
    }

    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let mut fields = Fields::new(MAGIC);
        fields.put([u8::from(self.complete)]);
        fields.put(self.latest_second.to_le_bytes());
        for (path, file) in &self.files {
            fields.put_bytes(path);
            fields.put(file.hash.to_le_bytes());
            fields.put(file.mode.to_le_bytes());
            fields.put([u8::from(file.link)]);
            file.stamp.put(&mut fields);
        }
        fields.save(path)
    }

    fn parse(bytes: &[u8]) -> Option<Manifest> {
        let mut fields = Reader::new(bytes, MAGIC)?;
        let complete = fields.take()? == [1];
        let latest_second = i64::from_le_bytes(fields.take()?);
        let mut files = BTreeMap::new();
        while !fields.is_empty() {
            let path = fields.take_bytes()?.to_vec();
            let hash = u128::from_le_bytes(fields.take()?);
            let mode = u32::from_le_bytes(fields.take()?);
            let link = fields.take()? == [1];
            files.insert(path, Written { hash, mode, link, stamp: Stamp::take(&mut fields)? });
        }
        Some(Manifest { complete, latest_second, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_and_a_damaged_one_is_incomplete() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("manifest");
        let stamp = Stamp { ino: 1, size: 2, ctime: -3 };
        let written = Written { hash: 7 << 90, mode: 0o755, link: true, stamp };
        let files = BTreeMap::from([(b"a/\xff".to_vec(), written)]);
        let manifest = Manifest { complete: true, latest_second: 9, files };
        manifest.save(&at).unwrap();
        assert_eq!(Manifest::load(&at), manifest);
        let bytes = fs::read(&at).unwrap();
        for torn in [&bytes[..bytes.len() - 1], &[&bytes[..20], b"x", &bytes[21..]].concat(), b""] {
            fs::write(&at, torn).unwrap();
            assert_eq!(Manifest::load(&at), Manifest::default());
        }
        fs::remove_file(&at).unwrap();
        assert_eq!(Manifest::load(&at), Manifest::default());
    }
}
