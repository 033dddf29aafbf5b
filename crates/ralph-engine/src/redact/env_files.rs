//! Where a workspace keeps its secrets without anybody naming the files: `.env` and `.env.production` and the like, in
//! every directory, ignored by git or not. The search is bounded, the nearest directories come first, and directories that
//! tools fill (`node_modules`, `target`) are left out.

use super::{MOST, Secret, secrets_in_file};
use ralph_tree::is_noise_directory;
use std::collections::VecDeque;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Directories deeper than this are not searched.
const DEEPEST: usize = 8;
/// More files than this are not read.
const MOST_FILES: usize = 64;
/// More values than this are not looked for: they would slow down every line of output.
const MOST_VALUES: usize = 2000;
/// Files that only show which names there are.
const EXAMPLES: [&[u8]; 4] = [b".env.example", b".env.sample", b".env.template", b".env.dist"];

/// The secrets in all of them, as far as the names say that they are secret. At most so many names of files are looked at.
pub fn secrets_in_env_files(workspace: &Path, most_names: usize) -> Vec<(String, Secret)> {
    let mut found = Vec::new();
    let mut left = MOST * 4;
    for path in env_files(workspace, most_names) {
        let size = path.metadata().map_or(0, |meta| meta.len());
        if size > left || found.len() >= MOST_VALUES {
            continue;
        }
        left -= size;
        // What cannot be read holds nothing that the agent could read either, or is no file.
        found.extend(secrets_in_file(&path, false).unwrap_or_default());
    }
    found.truncate(MOST_VALUES);
    found
}

fn env_files(workspace: &Path, mut names: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(workspace.to_path_buf(), 0)]);
    while let Some((dir, depth)) = open.pop_front() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if names == 0 || found.len() >= MOST_FILES {
                return found;
            }
            names -= 1;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let name = name.as_bytes();
            if kind.is_dir() {
                let filled = matches!(name, b".git" | b".ralph") || is_noise_directory(name);
                if depth < DEEPEST && !filled {
                    open.push_back((entry.path(), depth + 1));
                }
            } else if is_env(name) {
                found.push(entry.path());
            }
        }
    }
    found
}

fn is_env(name: &[u8]) -> bool {
    (name == b".env" || name.starts_with(b".env.")) && !EXAMPLES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn all_of_them_are_found_near_ones_first_and_generated_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, value: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("API_KEY={value}\nNAME=ordinary-value-1\n")).unwrap();
        };
        write(".env", "alpha-111-top");
        write(".env.production", "bravo-222-top");
        write("services/api/.env", "charlie-333");
        write("services/api/.env.local", "delta-444-x");
        write(".env.example", "example-555");
        write("node_modules/m/.env", "module-666-x");
        write("a/b/c/d/e/f/g/h/i/j/.env", "deep-777-xx");
        write(".environment", "other-888-x");
        rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("a/.env"), rustix::fs::Mode::RUSR).unwrap();
        let all = |names| {
            let found = secrets_in_env_files(dir.path(), names).into_iter();
            let mut values: Vec<String> = found.map(|(_, v)| v.expose_text().unwrap().to_owned()).collect();
            values.sort();
            values
        };
        assert_eq!(all(1000), ["alpha-111-top", "bravo-222-top", "charlie-333", "delta-444-x"]);
        assert_eq!(all(7), ["alpha-111-top", "bravo-222-top"], "the top has seven names");
    }
}
