//! Files that a later record relies on: whole on disk before they take their name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file and returns when it is on disk. After a power cut either the old content or the new one is there.
/// Nothing is written if the content is there already.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let draft = PathBuf::from(name);
    let written = File::create(&draft)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| place_durably(&draft, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Lets a draft take the place of a file beside it, and returns when it is on disk.
pub fn place_durably(draft: &Path, path: &Path) -> io::Result<()> {
    File::open(draft)?.sync_data()?;
    fs::rename(draft, path)?;
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_no_draft_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_durably(&path, b"one").unwrap();
        write_durably(&path, b"two").unwrap();
        let made = fs::metadata(&path).unwrap().modified().unwrap();
        write_durably(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(
            fs::metadata(&path).unwrap().modified().unwrap(),
            made,
            "the same content is not written again"
        );
        assert!(write_durably(dir.path(), b"a directory is in the way").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
