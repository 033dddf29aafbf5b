//! A file that is only added to, hashed on the way.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

use super::Kept;

#[derive(Debug)]
pub(super) struct Piece {
    file: File,
    len: u64,
    hasher: blake3::Hasher,
}

impl Piece {
    /// A new file that only its owner may read.
    pub(super) fn create_new(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self::on(file))
    }

    /// An existing file, of which only the first `len` bytes count; what follows is cut off.
    pub(super) fn reopen(path: &Path, len: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() > len {
            file.set_len(len)?;
        }
        let mut piece = Self::on(file);
        piece.len = io::copy(&mut &piece.file, &mut piece.hasher)?;
        Ok(piece)
    }

    pub(super) fn on(file: File) -> Self {
        Self { file, len: 0, hasher: blake3::Hasher::new() }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Adds bytes at the end. Says how many it could write when it fails.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let outcome = write_at(&self.file, bytes, self.len);
        let done = outcome.as_ref().map_or_else(|(done, _)| *done, |()| bytes.len());
        self.hasher.update(bytes.get(..done).unwrap_or_default());
        self.len += done as u64;
        outcome
    }

    /// Takes back what was added after the first `len` bytes. The hash is of no use afterwards.
    pub(super) fn take_back(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.len = len;
        Ok(())
    }

    /// Makes the file durable and says what is in it.
    pub(super) fn kept(&self) -> Kept {
        Kept {
            bytes_total: self.len,
            bytes_kept: self.len,
            cut: 0,
            blake3: self.hasher.finalize().to_hex().to_string(),
            // An empty file has nothing to make durable, and most stderr files are empty.
            trouble: if self.len == 0 { None } else { self.file.sync_data().err() },
        }
    }
}

/// Writes all bytes at a place. Says how many it could write when it fails.
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> Result<(), (usize, io::Error)> {
    let mut done = 0;
    while let Some(rest) = bytes.get(done..)
        && !rest.is_empty()
    {
        match file.write_at(rest, at + done as u64) {
            Ok(0) => return Err((done, io::ErrorKind::WriteZero.into())),
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err((done, e)),
        }
    }
    Ok(())
}
