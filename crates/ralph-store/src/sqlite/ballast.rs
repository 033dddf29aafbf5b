//! A reserve file of one megabyte: on a full disk it is removed, so that the last records of a run still fit.

use crate::disk::disk_free;
use ralph_diagnostics::Discard;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

const SIZE: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Ballast {
    path: PathBuf,
}

impl Ballast {
    pub(super) fn new(path: PathBuf) -> Ballast {
        Ballast { path }
    }

    pub(super) fn size(&self) -> u64 {
        SIZE
    }

    pub(super) fn ready(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|m| m.len() == SIZE)
    }

    /// Puts it in place if it is missing and there is room to spare. Failing is no error: `ready` tells.
    pub(super) fn ensure(&self) {
        let room =
            || self.path.parent().and_then(|dir| disk_free(dir).ok()).is_some_and(|d| d.free > 4 * SIZE);
        if !self.ready() && room() {
            let part = self.path.with_extension(format!("ballast-{}", std::process::id()));
            if let Err(error) = self.fill(&part) {
                Err::<(), _>(error).discard("reserve disk space for the last records");
                let _ = fs::remove_file(&part);
            }
        }
    }

    fn fill(&self, part: &PathBuf) -> io::Result<()> {
        // Noise, because a file system that compresses would give no room back for zeros.
        let mut noise = vec![0u8; usize::try_from(SIZE).unwrap_or(0)];
        blake3::Hasher::new().update(b"ralph ballast").finalize_xof().fill(&mut noise);
        let mut file: File =
            OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(part)?;
        file.write_all(&noise)?;
        file.sync_data()?;
        fs::rename(part, &self.path)
    }

    /// Gives its room back. True when another try makes sense: we removed it, or somebody else just did.
    pub(super) fn release(&self) -> bool {
        let room =
            || self.path.parent().and_then(|dir| disk_free(dir).ok()).is_some_and(|d| d.free > SIZE / 4);
        fs::remove_file(&self.path).is_ok() || room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_once_and_can_be_spent_once() {
        let dir = tempfile::tempdir().unwrap();
        let ballast = Ballast::new(dir.path().join("ralph.ballast"));
        assert!(!ballast.ready());
        ballast.ensure();
        assert!(ballast.ready());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no part file is left");
        assert!(ballast.release());
        assert!(!ballast.ready());
    }

    #[test]
    fn a_short_one_is_no_ballast_and_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let ballast = Ballast::new(dir.path().join("ralph.ballast"));
        fs::write(dir.path().join("ralph.ballast"), "short").unwrap();
        assert!(!ballast.ready());
        ballast.ensure();
        assert!(ballast.ready());
    }
}
