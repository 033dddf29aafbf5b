//! The lines of `.gitignore` that ralph needs, and only where git does not leave those files alone already.

use ::ignore::gitignore::GitignoreBuilder;
use ralph_os::{Links, read_regular};
use std::path::Path;

/// What must not be committed: the views, and one person's own settings.
const LINES: [(&str, bool); 2] = [(".ralph/", true), ("ralph.local.toml", false)];

/// The git repository a directory belongs to: a `.git` that is a file, or a directory with a HEAD.
pub fn repository(workspace: &Path) -> Option<&Path> {
    let is_one = |dir: &&Path| {
        let git = dir.join(".git");
        git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
    };
    workspace.ancestors().find(is_one)
}

/// The lines that are missing; none outside a repository.
pub fn missing(workspace: &Path) -> Vec<&'static str> {
    if repository(workspace).is_none() {
        return Vec::new();
    }
    let mut builder = GitignoreBuilder::new(workspace);
    for file in [".git/info/exclude", ".gitignore"] {
        let text = read_regular(&workspace.join(file), 1 << 20, Links::Follow).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            let _ = builder.add_line(None, line);
        }
    }
    let Ok(known) = builder.build() else { return LINES.map(|(line, _)| line).to_vec() };
    let ignored =
        |(line, is_dir): &(&str, bool)| known.matched(line.trim_end_matches('/'), *is_dir).is_ignore();
    LINES.iter().filter(|line| !ignored(line)).map(|(line, _)| *line).collect()
}

/// What is appended to a `.gitignore` that holds these bytes now: its line ends stay what they are.
pub fn addition(present: &[u8], lines: &[&str]) -> String {
    let end = if present.windows(2).any(|two| two == b"\r\n") { "\r\n" } else { "\n" };
    let mut text = String::new();
    if !present.is_empty() && !present.ends_with(b"\n") {
        text.push_str(end);
    }
    for line in lines {
        text.push_str(line);
        text.push_str(end);
    }
    text
}
