//! One call's transcript, read piece by piece as far as it goes. What is still being written is read on later: only the
//! file itself is followed, and what a very long call keeps beside it comes when the call has ended.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Read at a time.
const PIECE: usize = 64 * 1024;

/// A transcript while it is read.
pub struct Transcript {
    path: PathBuf,
    file: Option<File>,
    piece: Vec<u8>,
}

impl Transcript {
    /// The file may not be there yet.
    pub fn at(path: &Path) -> Transcript {
        Transcript { path: path.to_owned(), file: None, piece: vec![0; PIECE] }
    }

    /// Hands over what came since the last time. False: there is no file.
    pub fn read<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        if self.file.is_none() {
            self.file = match File::open(&self.path) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(error.into()),
            };
        }
        let Some(file) = &mut self.file else { return Ok(false) };
        loop {
            match file.read(&mut self.piece) {
                Ok(0) => return Ok(true),
                Ok(n) => each(self.piece.get(..n).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
