//! Files of the repository that are made from the code, compared with what the code makes now. `RALPH_BLESS=1` writes
//! them anew.

use std::fs;
use std::path::Path;

/// Fails where the file is not what it should be.
pub fn compare(path: &str, made: &str) {
    if std::env::var_os("RALPH_BLESS").is_some() {
        fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
        fs::write(path, made).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    let name = Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
    assert!(kept == made, "{name} is stale: write it anew with RALPH_BLESS=1 cargo test -p ralph");
}
