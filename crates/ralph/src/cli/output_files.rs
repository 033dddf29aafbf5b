//! The files in the workspace that ralph's own output is redirected to: `ralph run --json > run.jsonl`. They grow with every
//! line, so they are left out of what is compared.

use std::io::{stderr, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Relative to the workspace. A `*` in such a name would stand for other files, so a name with one is left alone.
pub fn output_files(workspace: &Path) -> Vec<String> {
    let files = [regular(&stdout()), regular(&stderr())].into_iter().flatten();
    let inside = files.filter_map(|file| Some(file.strip_prefix(workspace).ok()?.to_str()?.to_owned()));
    inside.filter(|file| !file.contains('*')).collect()
}

fn regular(stream: &impl AsFd) -> Option<PathBuf> {
    ralph_os::path_of(stream).filter(|path| path.is_file())
}
