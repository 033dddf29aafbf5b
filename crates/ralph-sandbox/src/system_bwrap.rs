//! Where the system's bubblewrap is.

use std::path::{Path, PathBuf};

/// Only from here is bubblewrap used: elsewhere anybody may have put a program of that name.
const DIRECTORIES: [&str; 3] = ["/usr/bin", "/bin", "/usr/local/bin"];

/// The system's bubblewrap, if it is installed.
#[must_use]
pub fn system_bwrap() -> Option<PathBuf> {
    let places = DIRECTORIES.map(|dir| Path::new(dir).join("bwrap"));
    places.into_iter().find(|program| program.is_file())
}
