//! Writing the files: each is made whole or not at all, and what is there already is left alone.

use ralph_os::{Links, open_regular, read_regular};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It was not there and is now.
    Written,
    /// It was there; not a byte was changed.
    LeftAlone,
}

/// Something of this name is there, if only a link to nowhere.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Makes a file, unless something is there.
pub fn make(path: &Path, text: &str) -> io::Result<Done> {
    if is_there(path) {
        return Ok(Done::LeftAlone);
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().permissions(mode()).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(Done::Written),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(Done::LeftAlone),
        Err(e) => Err(e.error),
    }
}

/// An ordinary file: the user's umask decides who else may read it.
fn mode() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

/// Replaces a file that is ralph's own, where its text differs.
pub fn refresh(path: &Path, text: &str) -> io::Result<()> {
    let same = read_regular(path, text.len() as u64, Links::Follow);
    if same.is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(());
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().permissions(mode()).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|e| e.error)
}

/// Adds to the end of a regular file of the workspace, made where it is not there. A link is nobody's to follow.
pub fn append(path: &Path, text: &str) -> io::Result<()> {
    if is_there(path) {
        open_regular(path, Links::RefuseLast)?;
    }
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
}
