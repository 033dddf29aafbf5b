//! Small binary files: a magic word with a version, fields, and a checksum. Whatever is not exactly that, such as a torn
//! file or one of another version, is treated as absent.

use std::fs;
use std::io;
use std::path::Path;

const CHECK: usize = 32;

/// Writes fields one after another.
pub(super) struct Fields(Vec<u8>);

impl Fields {
    pub(super) fn new(magic: &[u8; 8]) -> Fields {
        Fields(magic.to_vec())
    }

    /// A field of fixed size.
    pub(super) fn put<const N: usize>(&mut self, field: [u8; N]) {
        self.0.extend_from_slice(&field);
    }

    /// A field of any size.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        self.put((bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    /// Writes the file in place of an older one, whole or not at all.
    pub(super) fn save(mut self, path: &Path) -> io::Result<()> {
        let check = blake3::hash(&self.0);
        self.0.extend_from_slice(check.as_bytes());
        save(path, &self.0)
    }
}

/// Writes a file in place of an older one, whole or not at all.
pub(super) fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("draft");
    let saved = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    let why = |error: io::Error| {
        let text =
            format!("cannot save {}: {error}; free some space or check its permissions", path.display());
        io::Error::new(error.kind(), text)
    };
    saved.map_err(why)
}

/// Reads fields one after another.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The fields in a file's bytes, if they are whole and of this kind.
    pub(super) fn new(bytes: &'a [u8], magic: &[u8; 8]) -> Option<Reader<'a>> {
        let (body, check) = bytes.split_last_chunk::<CHECK>()?;
        let whole = blake3::hash(body).as_bytes() == check;
        body.strip_prefix(magic.as_slice()).filter(|_| whole).map(Reader)
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(super) fn take_bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u64::from_le_bytes(self.take()?)).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// Whether everything was read.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
